package tidy

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"
)

// MaxLines is how long a production file may grow. What is longer has more
// than one reason to change.
const MaxLines = 700

// CheckLength applies MaxLines to a production Go file. Generated files are
// read by nobody and are let off.
func CheckLength(name string, src []byte) []Violation {
	lines := bytes.Count(src, []byte("\n"))
	if lines <= MaxLines || generated.Match(src) {
		return nil
	}
	return []Violation{{name, fmt.Sprintf("%d lines, more than %d", lines, MaxLines),
		"a file has one reason to change: split it by what changes together"}}
}

var generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

// phrase is something that no file of the tree may contain. The patterns are
// put together from pieces so that this file does not contain them either.
type phrase struct {
	pattern *regexp.Regexp
	what    string
	why     string
}

var phrases = []phrase{
	{
		regexp.MustCompile(`(?:^|[^\w./~$})-])(/(?:` + strings.Join([]string{"work", "tmp", "root", "home", "Users"}, "|") + `)/[\w.-]+)`),
		"an absolute path of a machine",
		"it holds on one machine only: use a path relative to the tree, a flag, $HOME or mktemp",
	},
	{
		regexp.MustCompile(`(` + strings.Join([]string{
			`proxy\.golang` + `\.org`, `sum\.golang` + `\.org`, `goproxy` + `\.\w+`,
			`registry\.npmjs` + `\.org`, `registry\.yarnpkg` + `\.com`,
			`(?:files\.)?python` + `hosted\.org`, `pypi` + `\.org`, `(?:index\.|static\.)?crates` + `\.io`,
			`repo1?\.maven` + `\.\w+`, `deb\.debian` + `\.org`,
		}, "|") + `)`),
		"the host of a package registry",
		"where packages come from is the setting of the machine that builds, not of the tree",
	},
	{
		regexp.MustCompile(`\b(` + "TO" + "DO" + `|` + "FIX" + "ME" + `)\b`),
		"a note to oneself",
		"finish it, or file an issue and state the limit in the documentation",
	},
}

// CheckText looks through one file of the tree, whatever its kind, for what no
// file may contain. Binary files are let off.
func CheckText(name string, data []byte) []Violation {
	if bytes.IndexByte(data[:min(len(data), 8000)], 0) >= 0 || !utf8.Valid(data[:runeEnd(data)]) {
		return nil
	}
	var out []Violation
	for _, p := range phrases {
		for _, m := range p.pattern.FindAllSubmatchIndex(data, -1) {
			line := bytes.Count(data[:m[2]], []byte("\n")) + 1
			out = append(out, Violation{fmt.Sprintf("%s:%d", name, line),
				fmt.Sprintf("%s: %s", p.what, data[m[2]:m[3]]), p.why})
		}
	}
	return sorted(out)
}

// runeEnd is where the first 8,000 bytes end without cutting a character.
func runeEnd(data []byte) int {
	end := min(len(data), 8000)
	for end > 0 && end < len(data) && !utf8.RuneStart(data[end]) {
		end--
	}
	return end
}
