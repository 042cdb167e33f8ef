package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v2"
)

// yamlProblem is what is wrong with a YAML document; line counts from 1 at the
// beginning of the document, 0 when it is not known.
type yamlProblem struct {
	line    int
	message string
}

// maxTree is how long a YAML document may be that needs the parser for all of
// YAML, which takes some fifty times as much memory, and twice that for a list
// of single letters.
const maxTree = 8 << 20

// maxProblems is how many problems of one document are told; a document with
// more is broken in one way, many times.
const maxProblems = 100

// withMore adds how many problems there are beyond those that are told.
func withMore(problems []yamlProblem, more int) []yamlProblem {
	if more == 0 {
		return problems
	}
	return append(problems, yamlProblem{message: strconv.Itoa(more) + " more mistakes like these"})
}

// yamlToJSON converts one YAML document to JSON, with the meaning that kubectl
// gives it: YAML 1.1, so that an unquoted yes or on is true. A document that
// grows beyond the limit by its aliases is refused.
func yamlToJSON(text []byte, limit int) (out []byte, problems []yamlProblem) {
	if out, problems, ok := plainToJSON(text); ok {
		return out, problems
	}
	if len(text) > maxTree {
		return nil, []yamlProblem{{message: "it is " + strconv.Itoa(len(text)>>20) + " MiB long and has anchors, flow style or mistakes, which take too much memory in a document of more than " +
			strconv.Itoa(maxTree>>20) + " MiB; give it as JSON, or split it"}}
	}
	return libraryToJSON(text, limit)
}

// libraryToJSON is yamlToJSON for all of YAML.
func libraryToJSON(text []byte, limit int) (out []byte, problems []yamlProblem) {
	if len(text) > minAliasKeys {
		if name := aliasAsKey(text); name != "" {
			return nil, []yamlProblem{{message: "the alias *" + shorten(name) + " stands for a key; write the key itself"}}
		}
	}
	v, err := parseYAML(text)
	if err != nil {
		return nil, problemsOf(err)
	}
	w := jsonWriter{limit: limit}
	if err := w.value(v, 0); err != nil {
		return nil, problemsOf(err)
	}
	return w.Bytes(), nil
}

// parseYAML parses a document. The parser is of another project and reads input
// from anywhere: a mistake of its own must not end the program.
func parseYAML(text []byte) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("cannot be read as YAML: %v", r)
		}
	}()
	err = yaml.UnmarshalStrict(text, &v)
	return v, err
}

var yamlLine = regexp.MustCompile(`^(?:yaml: )?line (\d+): `)

// problemsOf takes an error of the parser apart into lines and messages.
func problemsOf(err error) []yamlProblem {
	messages := []string{err.Error()}
	var several *yaml.TypeError
	if errors.As(err, &several) {
		messages = several.Errors
	}
	more := max(len(messages)-maxProblems, 0)
	messages = messages[:len(messages)-more]
	out := make([]yamlProblem, 0, len(messages)+1)
	for _, m := range messages {
		p := yamlProblem{message: strings.TrimPrefix(m, "yaml: ")}
		if found := yamlLine.FindStringSubmatch(m); found != nil {
			p.line, _ = strconv.Atoi(found[1])
			p.message = m[len(found[0]):]
		}
		p.message = mendYAML(p.message)
		out = append(out, p)
	}
	return withMore(out, more)
}

// minAliasKeys is how long a document must be for aliases as keys to matter.
const minAliasKeys = 64 << 10

var (
	yamlAnchor   = regexp.MustCompile(`&([0-9A-Za-z_-]+)`)
	yamlAliasKey = regexp.MustCompile(`\*([0-9A-Za-z_-]+)\s*:|\?\s+\*([0-9A-Za-z_-]+)`)
)

// aliasAsKey names an alias that stands for a key, "" when there is none. The
// parser writes out each key that stands twice, and by an alias a line of five
// bytes can hold a key of megabytes.
func aliasAsKey(text []byte) string {
	if bytes.IndexByte(text, '&') < 0 || !yamlAliasKey.Match(text) {
		return ""
	}
	anchors := map[string]bool{}
	for _, found := range yamlAnchor.FindAllSubmatch(text, -1) {
		anchors[string(found[1])] = true
	}
	for _, found := range yamlAliasKey.FindAllSubmatch(text, -1) {
		if name := string(found[1]) + string(found[2]); anchors[name] {
			return name
		}
	}
	return ""
}

// keyTwice is what is said of a key that stands in one mapping twice.
func keyTwice(name string) string {
	return "the key " + strconv.Quote(shorten(name)) + " stands here twice; keep one"
}

var yamlTwice = regexp.MustCompile(`^key ("?)(.*?)"? already set in map$`)

// mendYAML says what to do about the mistakes that people make most.
func mendYAML(message string) string {
	if found := yamlTwice.FindStringSubmatch(message); found != nil {
		return keyTwice(found[2])
	}
	switch {
	case strings.Contains(message, "mapping values are not allowed"):
		message += "; check the indentation, and put a value that holds a colon in quotes"
	case strings.Contains(message, "did not find expected key"):
		message += "; check the indentation of this line and of those before it"
	}
	return message
}

// jsonWriter writes what the YAML parser made as JSON, keys in order.
type jsonWriter struct {
	bytes.Buffer
	limit int
}

func (w *jsonWriter) value(v any, depth int) error {
	if depth > maxDepth {
		return errors.New("lists and objects nest deeper than " + strconv.Itoa(maxDepth) + " levels")
	}
	if w.Len() > w.limit {
		return errors.New("grows by its aliases beyond " + strconv.Itoa(w.limit>>20) + " MiB; write it without aliases")
	}
	switch v := v.(type) {
	case map[any]any:
		return w.object(v, depth)
	case []any:
		return w.list(v, depth)
	case string:
		w.text(v)
	case bool:
		w.WriteString(strconv.FormatBool(v))
	case nil:
		w.WriteString("null")
	case int:
		w.WriteString(strconv.Itoa(v))
	case int64:
		w.WriteString(strconv.FormatInt(v, 10))
	case uint64:
		w.WriteString(strconv.FormatUint(v, 10))
	case float64:
		return w.float(v)
	case time.Time:
		w.text(v.Format(time.RFC3339Nano))
	default:
		return fmt.Errorf("holds a value of the YAML type %T, which JSON does not have", v)
	}
	return nil
}

func (w *jsonWriter) object(m map[any]any, depth int) error {
	byName := make(map[string]any, len(m))
	for k, v := range m {
		name, err := keyText(k)
		if err != nil {
			return err
		}
		if _, twice := byName[name]; twice {
			return errors.New("the key " + strconv.Quote(shorten(name)) + " stands twice in one object; keep one")
		}
		byName[name] = v
	}
	w.WriteByte('{')
	for i, name := range sortedKeys(byName) {
		if i > 0 {
			w.WriteByte(',')
		}
		w.text(name)
		w.WriteByte(':')
		if err := w.value(byName[name], depth+1); err != nil {
			return err
		}
	}
	w.WriteByte('}')
	return nil
}

// keyText writes a key as the string that JSON needs.
func keyText(k any) (string, error) {
	switch k := k.(type) {
	case string:
		return k, nil
	case int, int64, uint64, bool:
		return fmt.Sprint(k), nil
	case float64:
		return strconv.FormatFloat(k, 'g', -1, 64), nil
	}
	return "", fmt.Errorf("has a key that is not a string (%v); put it in quotes", k)
}

func (w *jsonWriter) list(l []any, depth int) error {
	w.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			w.WriteByte(',')
		}
		if err := w.value(v, depth+1); err != nil {
			return err
		}
	}
	w.WriteByte(']')
	return nil
}

func (w *jsonWriter) float(f float64) error {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return errors.New("holds a number that is infinite or not a number; put it in quotes where a string is meant")
	}
	b, err := json.Marshal(f)
	w.Write(b)
	return err
}

func (w *jsonWriter) text(s string) {
	b, _ := json.Marshal(s) // of a string this cannot fail
	w.Write(b)
}
