package main

import (
	"slices"
	"strings"
	"unicode/utf8"
)

// style is how a cell looks on a terminal.
type style string

const (
	plain  style = ""
	bold   style = "1"
	dim    style = "2"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// paint wraps text in a style where colour is wanted.
func (s style) paint(text string, colour bool) string {
	if !colour || s == plain || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

// cell is a text and how it looks.
type cell struct {
	text  string
	style style
}

// column is a heading and which way its cells are aligned.
type column struct {
	title string
	right bool
}

// table is rows of cells under columns; a row has as many cells as there are
// columns.
type table struct {
	columns []column
	rows    [][]cell
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

// drop takes a column out.
func (t *table) drop(title string) {
	at := slices.IndexFunc(t.columns, func(c column) bool { return c.title == title })
	t.columns = slices.Delete(t.columns, at, at+1)
	for i := range t.rows {
		t.rows[i] = slices.Delete(t.rows[i], at, at+1)
	}
}

// widths are the columns' widths in characters, all of which are of single
// width in what this command prints.
func (t *table) widths() []int {
	w := make([]int, len(t.columns))
	for i, c := range t.columns {
		w[i] = utf8.RuneCountInString(c.title)
	}
	for _, row := range t.rows {
		for i, c := range row {
			w[i] = max(w[i], utf8.RuneCountInString(c.text))
		}
	}
	return w
}

// width is that of the widest line.
func (t *table) width() int {
	sum := 0
	for _, w := range t.widths() {
		sum += w + len(gap)
	}
	return sum
}

const gap = "  "

// write appends the table to b, each line after a gap.
func (t *table) write(b *strings.Builder, colour bool) {
	widths := t.widths()
	head := make([]cell, len(t.columns))
	for i, c := range t.columns {
		head[i] = cell{c.title, dim}
	}
	t.line(b, head, widths, colour)
	for _, row := range t.rows {
		t.line(b, row, widths, colour)
	}
}

func (t *table) line(b *strings.Builder, row []cell, widths []int, colour bool) {
	last := len(row) - 1
	for last > 0 && row[last].text == "" {
		last--
	}
	for i, c := range row[:last+1] {
		b.WriteString(gap)
		pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(c.text))
		switch {
		case t.columns[i].right:
			b.WriteString(pad + c.style.paint(c.text, colour))
		case i == last: // no spaces at the end of a line
			b.WriteString(c.style.paint(c.text, colour))
		default:
			b.WriteString(c.style.paint(c.text, colour) + pad)
		}
	}
	b.WriteByte('\n')
}

// bar draws a share of 0 to 1 in width characters, to an eighth of one.
func bar(share float64, width int) string {
	const eighths = " ▏▎▍▌▋▊▉"
	n := min(max(int(share*float64(width)*8+0.5), 0), width*8)
	out := strings.Repeat("█", n/8)
	if n%8 > 0 {
		out += string([]rune(eighths)[n%8])
	}
	return out + strings.Repeat("·", width-utf8.RuneCountInString(out))
}
