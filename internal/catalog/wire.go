package catalog

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"
)

// The format of a table: gzip over the magic word and then the walk of
// walkTable, column by column. Whole numbers are varints; a string is its length
// and its bytes; the strings of a column with few values are a list of the
// values and an index a row; names say how much they share with the one before.
const wireMagic = "dovetail instance types 1\n"

// Bounds of what a table may hold, so that a damaged one costs an error and not
// the memory of the machine.
const (
	maxWireBytes = 64 << 20
	maxWireTypes = 100_000
	maxWireList  = 10_000
)

// Encode writes a table. The same table gives the same bytes.
func Encode(t *Table) ([]byte, error) {
	raw, err := encodeWire(t)
	if err != nil {
		return nil, fmt.Errorf("write the instance type table: %w", err)
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, fmt.Errorf("write the instance type table: %w", err)
	}
	if _, err := z.Write(raw); err != nil {
		return nil, fmt.Errorf("write the instance type table: %w", err)
	}
	if err := z.Close(); err != nil {
		return nil, fmt.Errorf("write the instance type table: %w", err)
	}
	return packed.Bytes(), nil
}

// encodeWire writes what is inside of the compression.
func encodeWire(t *Table) ([]byte, error) {
	w := &wire{writing: true, out: []byte(wireMagic)}
	walkTable(w, t)
	return w.out, w.err
}

// Decode reads what Encode wrote. An error means that the bytes are damaged or
// of another version.
func Decode(data []byte) (*Table, error) {
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("read the instance type table: %w", err)
	}
	raw, err := io.ReadAll(io.LimitReader(z, maxWireBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read the instance type table: %w", err)
	}
	if len(raw) > maxWireBytes {
		return nil, fmt.Errorf("read the instance type table: it is larger than %d bytes", maxWireBytes)
	}
	t, err := decodeWire(string(raw))
	if err != nil {
		return nil, fmt.Errorf("read the instance type table: %w", err)
	}
	return t, nil
}

// decodeWire reads what is inside of the compression.
func decodeWire(raw string) (*Table, error) {
	in, ok := strings.CutPrefix(raw, wireMagic)
	if !ok {
		return nil, errors.New("it does not begin as one of this version does")
	}
	w := &wire{in: in}
	t := new(Table)
	walkTable(w, t)
	if w.err == nil && w.in != "" {
		w.err = fmt.Errorf("%d bytes are left over", len(w.in))
	}
	return t, w.err
}

// wire goes over a table in one direction: writing appends to out what the
// pointers point to, reading takes from in and stores it there. One walk for both
// cannot disagree with itself. After an error every method does nothing.
type wire struct {
	writing bool
	out     []byte
	in      string
	err     error
}

func (w *wire) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf(format, args...)
	}
}

// number walks one whole number that is not negative.
func (w *wire) number(v *int64) {
	switch {
	case w.err != nil:
	case w.writing:
		if *v < 0 {
			w.fail("%d is negative", *v)
			return
		}
		w.out = binary.AppendUvarint(w.out, uint64(*v))
	default:
		*v = w.readNumber()
	}
}

func (w *wire) readNumber() int64 {
	var v uint64
	for i := 0; i < len(w.in) && i < binary.MaxVarintLen64-1; i++ {
		c := w.in[i]
		v |= uint64(c&0x7f) << (7 * i)
		if c < 0x80 {
			w.in = w.in[i+1:]
			return int64(v)
		}
	}
	w.fail("a number is cut short")
	return 0
}

// length walks the length of a list.
func (w *wire) length(n, limit int) int {
	v := int64(n)
	w.number(&v)
	if v > int64(limit) {
		w.fail("a list of %d is longer than %d", v, limit)
	}
	if w.err != nil {
		return 0
	}
	return int(v)
}

// text walks one string.
func (w *wire) text(s *string) {
	n := w.length(len(*s), maxWireBytes)
	switch {
	case w.err != nil:
	case w.writing:
		w.out = append(w.out, *s...)
	case n > len(w.in):
		w.fail("a string is cut short")
	default:
		*s, w.in = w.in[:n], w.in[n:]
	}
}

// flag walks one truth value.
func (w *wire) flag(b *bool) {
	var v int64
	if *b {
		v = 1
	}
	w.number(&v)
	if !w.writing {
		*b = v != 0
	}
}

// list walks the length of a list and makes room for it when reading.
func list[T any](w *wire, s *[]T, limit int) {
	n := w.length(len(*s), limit)
	if !w.writing && w.err == nil && n > 0 {
		*s = make([]T, n)
	}
}
