package api

import (
	"bytes"
	"strings"
)

// plainToJSON converts the YAML that kubectl prints, and most of what people
// write, to JSON: block mappings and lists, scalars of one line, literal blocks.
// It is thirty times as fast as a parser for all of YAML and needs no tree. What
// it does not know for certain it leaves to that parser, mistakes included: ok
// is false then. What it does convert has the same meaning. The one mistake that
// it tells itself is a key that stands twice.
func plainToJSON(text []byte) (out []byte, problems []yamlProblem, ok bool) {
	if !isPlainText(text) {
		return nil, nil, false
	}
	p := plainYAML{text: text, out: make([]byte, 0, len(text)+len(text)/8+16)}
	if !p.nextLine() {
		return nil, nil, false
	}
	if !p.block(0, 0) || p.pos < len(p.text) {
		return nil, nil, false
	}
	if p.more > 0 || len(p.twice) > 0 {
		return nil, p.duplicates(), true
	}
	return p.out, nil, true
}

// maxPlainDepth is how deep plainToJSON follows.
const maxPlainDepth = 100

// isPlainText refuses the characters that are line breaks or not allowed in
// YAML, besides the line feed and the carriage return before it.
func isPlainText(text []byte) bool {
	for i, c := range text {
		switch {
		case c >= ' ' && c < 0x7f, c == '\n', c == '\t':
		case c == '\r':
			if i+1 >= len(text) || text[i+1] != '\n' {
				return false
			}
		case c < ' ', c == 0x7f:
			return false
		case c == 0xC2: // U+0080 to U+009F: controls, and the break NEL
			if i+1 < len(text) && text[i+1] < 0xA0 {
				return false
			}
		case c == 0xE2: // U+2028 and U+2029: breaks
			if bytes.HasPrefix(text[i:], []byte("\u2028")) || bytes.HasPrefix(text[i:], []byte("\u2029")) {
				return false
			}
		case c == 0xEF: // U+FEFF, U+FFFE, U+FFFF
			if bytes.HasPrefix(text[i:], []byte("\uFEFF")) || bytes.HasPrefix(text[i:], []byte{0xEF, 0xBF, 0xBE}) || bytes.HasPrefix(text[i:], []byte{0xEF, 0xBF, 0xBF}) {
				return false
			}
		}
	}
	return true
}

// plainYAML is a conversion under way. Between values it stands at the first
// byte after the indentation of a line that says something, or at the end.
type plainYAML struct {
	text   []byte
	pos    int
	column int // of pos in its line
	out    []byte
	depth  int

	twice []repeatedKey // at most maxProblems
	more  int           // beyond those
}

// repeatedKey is a key that its mapping has had before.
type repeatedKey struct {
	pos  int // of its line, behind the indentation
	name []byte
}

// duplicates are the problems of the keys that stand twice.
func (p *plainYAML) duplicates() []yamlProblem {
	out := make([]yamlProblem, 0, len(p.twice)+1)
	line, from := 1, 0
	for _, k := range p.twice {
		line += bytes.Count(p.text[from:k.pos], []byte{'\n'})
		from = k.pos
		out = append(out, yamlProblem{line, keyTwice(string(k.name))})
	}
	return withMore(out, p.more)
}

// nextLine goes to the next line that says something, from the beginning of a
// line. It is false where a tab indents: that is for the other parser.
func (p *plainYAML) nextLine() bool {
	for p.pos < len(p.text) {
		start := p.pos
		for p.pos < len(p.text) && p.text[p.pos] == ' ' {
			p.pos++
		}
		if p.pos == len(p.text) {
			break
		}
		p.column = p.pos - start
		switch p.text[p.pos] {
		case '\t':
			return false
		case '\n', '\r', '#':
			p.skipLine()
		default:
			return p.column > 0 || !isMarker(p.text[p.pos:])
		}
	}
	p.column = -1
	return true
}

// skipLine goes behind the end of the line.
func (p *plainYAML) skipLine() { p.pos += lineLength(p.text[p.pos:]) }

// rest is the text from pos to the end of the line, without the break.
func (p *plainYAML) rest() []byte {
	line := p.text[p.pos : p.pos+lineLength(p.text[p.pos:])]
	line = bytes.TrimSuffix(line, []byte{'\n'})
	return bytes.TrimSuffix(line, []byte{'\r'})
}

// block converts the list, mapping or scalar that begins at pos, which must
// stand at least at the column least. parent is the column of what holds it.
func (p *plainYAML) block(least, parent int) bool {
	if p.column < least || p.depth >= maxPlainDepth {
		return false
	}
	p.depth++
	defer func() { p.depth-- }()
	line := p.rest()
	if isDash(line) && line[0] == '-' {
		return p.list(p.column)
	}
	if _, after, ok := p.mappingKey(line); ok && after > 0 {
		return p.mapping(p.column)
	}
	return p.scalar(parent)
}

// list converts a list whose dashes stand at a column.
func (p *plainYAML) list(column int) bool {
	p.out = append(p.out, '[')
	for first := true; p.column == column; first = false {
		line := p.rest()
		if line[0] != '-' || !isDash(line) {
			break
		}
		if !first {
			p.out = append(p.out, ',')
		}
		spaces := 1
		for spaces < len(line) && line[spaces] == ' ' {
			spaces++
		}
		if !p.item(line[spaces:], spaces, column) {
			return false
		}
	}
	p.out = append(p.out, ']')
	return true
}

// item converts what stands after a dash.
func (p *plainYAML) item(rest []byte, spaces, column int) bool {
	if len(rest) > 0 && rest[0] != '#' {
		p.pos += spaces
		p.column += spaces
		return p.block(column+1, column)
	}
	p.skipLine()
	if !p.nextLine() {
		return false
	}
	if p.column > column {
		return p.block(column+1, column)
	}
	p.out = append(p.out, "null"...)
	return true
}

// mapping converts a mapping whose keys stand at a column.
func (p *plainYAML) mapping(column int) bool {
	var keys keySet
	p.out = append(p.out, '{')
	for first := true; p.column == column; first = false {
		line := p.rest()
		name, after, ok := p.mappingKey(line)
		if !ok || after == 0 {
			return false
		}
		if !keys.add(name) {
			p.repeated(name)
		}
		if !first {
			p.out = append(p.out, ',')
		}
		p.out = appendText(p.out, name)
		p.out = append(p.out, ':')
		for after < len(line) && line[after] == ' ' {
			after++
		}
		if !p.member(line[after:], after, column) {
			return false
		}
	}
	p.out = append(p.out, '}')
	return p.column < column
}

// repeated notes that the key at pos has stood in its mapping before.
func (p *plainYAML) repeated(name []byte) {
	if len(p.twice) == maxProblems {
		p.more++
		return
	}
	p.twice = append(p.twice, repeatedKey{p.pos, name})
}

// member converts what stands after a key.
func (p *plainYAML) member(rest []byte, spaces, column int) bool {
	if len(rest) > 0 && rest[0] != '#' {
		p.pos += spaces
		p.column += spaces
		return p.scalar(column)
	}
	p.skipLine()
	if !p.nextLine() {
		return false
	}
	switch {
	case p.column > column:
		return p.block(column+1, column)
	case p.column == column && p.text[p.pos] == '-' && isDash(p.rest()):
		return p.list(column)
	}
	p.out = append(p.out, "null"...)
	return true
}

// mappingKey reads the key that a line begins with. after is where the text
// behind its colon begins, 0 when there is no key. It is not ok when this cannot
// be told.
func (p *plainYAML) mappingKey(line []byte) (name []byte, after int, ok bool) {
	if line[0] == '"' || line[0] == '\'' {
		name, end, ok := quoted(line)
		if !ok || end >= len(line) || line[end] != ':' || !endsKey(line, end) {
			return nil, 0, ok
		}
		return name, end + 1, end < 1000
	}
	i := 0
	for i < len(line) && isKeyByte(line[i]) {
		i++
	}
	if i == 0 || i == len(line) || line[i] != ':' || !endsKey(line, i) {
		return nil, 0, true
	}
	kind := kindOfPlain(line[:i])
	return line[:i], i + 1, kind == plainString && i < 1000
}

// endsKey tells whether a colon at i is that of a key.
func endsKey(line []byte, i int) bool { return i+1 == len(line) || line[i+1] == ' ' }

func isKeyByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c == '.' || c == '/'
}

// scalar converts a value of one line, or a literal block, and goes to the next
// line that says something. A line that stands deeper than the parent would
// continue the value: that is for the other parser.
func (p *plainYAML) scalar(parent int) bool {
	line := p.rest()
	switch c := line[0]; {
	case c == '|':
		return p.literal(line[1:], parent)
	case c == '"' || c == '\'':
		text, end, ok := quoted(line)
		if !ok || !isOver(line[end:]) {
			return false
		}
		p.out = appendText(p.out, text)
	case bytes.HasPrefix(line, []byte("[]")) && isOver(line[2:]):
		p.out = append(p.out, "[]"...)
	case bytes.HasPrefix(line, []byte("{}")) && isOver(line[2:]):
		p.out = append(p.out, "{}"...)
	default:
		if !p.plain(line) {
			return false
		}
	}
	p.skipLine()
	return p.nextLine() && p.column <= parent
}

// isOver tells whether nothing comes but perhaps a comment.
func isOver(rest []byte) bool {
	trimmed := bytes.TrimLeft(rest, " ")
	return len(trimmed) == 0 || trimmed[0] == '#' && len(trimmed) < len(rest)
}

// plain converts a scalar without quotes.
func (p *plainYAML) plain(line []byte) bool {
	if strings.IndexByte(",[]{}#&*!|>'\"%@`?:=<", line[0]) >= 0 || isDash(line) && line[0] == '-' || bytes.IndexByte(line, '\t') >= 0 {
		return false
	}
	if i := bytes.Index(line, []byte(" #")); i >= 0 {
		line = line[:i]
	}
	line = bytes.TrimRight(line, " ")
	if bytes.Contains(line, []byte(": ")) || line[len(line)-1] == ':' {
		return false
	}
	switch kindOfPlain(line) {
	case plainString:
		p.out = appendText(p.out, line)
	case plainInt:
		p.out = append(p.out, line...)
	case plainTrue:
		p.out = append(p.out, "true"...)
	case plainFalse:
		p.out = append(p.out, "false"...)
	case plainFloat:
		out, ok := appendFloat(p.out, line)
		if !ok {
			return false
		}
		p.out = out
	case plainNull:
		p.out = append(p.out, "null"...)
	default:
		// A number in another form: so few that the other parser may say, in
		// a list, where it cannot be anything else than a scalar.
		list, problems := libraryToJSON(append([]byte("- "), line...), 1<<10)
		if len(problems) > 0 {
			return false
		}
		p.out = append(p.out, list[1:len(list)-1]...)
	}
	return true
}

// literal converts a literal block, of which the header is what stands after the
// bar.
func (p *plainYAML) literal(header []byte, parent int) bool {
	chomp := byte(0)
	if len(header) > 0 && (header[0] == '-' || header[0] == '+') {
		chomp, header = header[0], header[1:]
	}
	if !isOver(header) {
		return false
	}
	p.skipLine()
	p.out = append(p.out, '"')
	indent, breaks, wrote := -1, 0, false
	for p.pos < len(p.text) {
		line := p.rest()
		spaces, next := indentation(line)
		if indent < 0 && next != 0 {
			if spaces <= parent || next == '\t' {
				break
			}
			indent = spaces
		}
		if next != 0 && spaces < indent {
			break
		}
		if next == 0 && (indent < 0 && spaces > 0 || indent >= 0 && spaces > indent) {
			return false // spaces that count, or that decide
		}
		if next != 0 {
			for ; breaks > 0; breaks-- {
				p.out = append(p.out, `\n`...)
			}
			p.out = appendEscaped(p.out, line[indent:])
			wrote = true
		}
		breaks++
		p.skipLine()
	}
	if !wrote || p.pos == len(p.text) && p.text[p.pos-1] != '\n' {
		return false
	}
	switch chomp {
	case 0:
		p.out = append(p.out, `\n`...)
	case '+':
		for ; breaks > 0; breaks-- {
			p.out = append(p.out, `\n`...)
		}
	}
	p.out = append(p.out, '"')
	return p.nextLine() && p.column <= parent
}
