package source

import (
	"fmt"
	"slices"
	"strings"
)

// pairZones finds which zone name stands for which zone id. A row has both as
// lists that are sorted each for itself, so a row alone does not tell; but a name
// is in the rows that its id is in, and no two zones of a region offer quite the
// same types. Returned is the id by region and letter; "" where the rows do not
// settle it.
func pairZones(rows [][]string) (map[string]string, error) {
	names := make(map[string]*strings.Builder) // zone name → the rows it is in
	ids := make(map[string]*strings.Builder)   // region/zone id → the rows it is in
	note := func(in map[string]*strings.Builder, key string, row int) {
		if in[key] == nil {
			in[key] = new(strings.Builder)
		}
		fmt.Fprintf(in[key], "%d ", row)
	}
	for n, row := range rows {
		letters, zoneIDs := strings.Split(row[2], "|"), strings.Split(row[3], "|")
		if len(letters) != len(zoneIDs) {
			return nil, fmt.Errorf("row %d: %d zones and %d zone ids", n+2, len(letters), len(zoneIDs))
		}
		for i := range letters {
			note(names, row[0]+letters[i], n)
			note(ids, row[0]+"/"+zoneIDs[i], n)
		}
	}
	byRows := make(map[string][]string)
	for key, where := range ids {
		byRows[where.String()] = append(byRows[where.String()], key)
	}
	out := make(map[string]string, len(names))
	for name, where := range names {
		found := slices.Sorted(slices.Values(byRows[where.String()]))
		if len(found) == 1 {
			_, out[name], _ = strings.Cut(found[0], "/")
		}
	}
	return out, nil
}
