package api

import (
	"bytes"
)

// A List that kubectl prints as YAML is one document, be it 200 MB long, and a
// YAML parser builds all of it in memory, many times its size. Its items stand
// at one indentation and begin with a dash, so that it can be cut into them
// without knowing more of YAML than this.

// yamlCut is a YAML document cut into the items of its list.
type yamlCut struct {
	header []byte // the document without the items
	items  []yamlPiece
}

// yamlPiece is a part of a document.
type yamlPiece struct {
	line int // of the document, from 1
	text []byte
}

// minCut is the size from which cutting is worth its while.
const minCut = 64 << 10

// cutList cuts a document at the items of its top-level list called items. It
// tells whether there is such a list in block style.
func cutList(text []byte) (yamlCut, bool) {
	var cut yamlCut
	if len(text) < minCut {
		return cut, false
	}
	start := topLevelItems(text)
	if start < 0 {
		return cut, false
	}
	line := 1 + bytes.Count(text[:start], []byte{'\n'})
	pos, indent, begin, beginLine := start, -1, -1, 0
	flush := func(end int) {
		if begin >= 0 {
			cut.items = append(cut.items, yamlPiece{beginLine, text[begin:end]})
		}
	}
	for ; pos < len(text); line++ {
		end := pos + lineLength(text[pos:])
		spaces, c := indentation(text[pos:end])
		if c != 0 && c != '#' {
			if indent < 0 {
				indent = spaces
			}
			dash := spaces == indent && c == '-' && isDash(text[pos+spaces:end])
			if spaces < indent || spaces == indent && !dash {
				break
			}
			if dash {
				flush(pos)
				begin, beginLine = pos, line
			}
		}
		pos = end
	}
	flush(pos)
	cut.header = append(append([]byte{}, text[:start]...), text[pos:]...)
	return cut, len(cut.items) > 1
}

// topLevelItems is where the line after "items:" begins, -1 when there is none
// at the outermost level.
func topLevelItems(text []byte) int {
	for pos := 0; pos < len(text); {
		end := pos + lineLength(text[pos:])
		if rest, ok := bytes.CutPrefix(text[pos:end], []byte("items:")); ok && len(bytes.TrimSpace(rest)) == 0 {
			return end
		}
		pos = end
	}
	return -1
}

// lineLength is the length of the first line with its line break.
func lineLength(text []byte) int {
	if i := bytes.IndexByte(text, '\n'); i >= 0 {
		return i + 1
	}
	return len(text)
}

// indentation counts the spaces at the beginning of a line and gives the byte
// after them, 0 when nothing comes.
func indentation(line []byte) (spaces int, next byte) {
	for spaces < len(line) && line[spaces] == ' ' {
		spaces++
	}
	if spaces == len(line) || line[spaces] == '\n' || line[spaces] == '\r' {
		return spaces, 0
	}
	return spaces, line[spaces]
}

// isDash tells whether a text begins with the dash of an item.
func isDash(text []byte) bool {
	return len(text) == 1 || text[1] == ' ' || text[1] == '\n' || text[1] == '\r'
}

// yamlList reads a list that has been cut. It returns false when it has done
// nothing, because the document is no list or cannot be read in pieces: an
// anchor may stand in one item and its alias in another.
func (l *loader) yamlList(o Object, d document, cut yamlCut) bool {
	header, problems := yamlToJSON(cut.header, aliasLimit(len(cut.header)))
	if len(problems) > 0 {
		return false
	}
	e := readEnvelope(header)
	apiVersion, kind, ok := listOf(e.apiVersion, e.kind, []byte{'['})
	if !ok {
		return false
	}
	raws := make([][]byte, len(cut.items))
	for i, piece := range cut.items {
		raw, problems := yamlToJSON(piece.text, aliasLimit(len(piece.text)))
		if len(problems) > 0 && len(d.text) <= maxTree {
			return false
		}
		if len(problems) > 0 {
			o.Item = i + 1
			l.badYAML(o, piece.text, d.line+piece.line-1, problems)
			raw, o.Item = nil, 0
		}
		raws[i] = raw
	}
	for i, raw := range raws {
		// A piece is a list of one item.
		eachElement(raw, func(item []byte) bool {
			l.item(o, item, apiVersion, kind, i+1, 0)
			return !l.enough()
		})
		if l.enough() {
			break
		}
	}
	return true
}
