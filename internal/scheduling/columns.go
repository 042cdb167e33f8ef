package scheduling

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/dovetail-sh/dovetail/internal/cluster"
)

// column is an available offering: one type in one zone with one capacity type.
type column struct {
	typ   int32
	price float64
	off   *cluster.Offering
}

// universe is a list of instance types as columns of a bit matrix. The columns
// of a type are neighbours. Pools with the same types share one.
type universe struct {
	types   []cluster.InstanceType
	cols    []column
	first   []int32 // first[t] to first[t+1] are the columns of type t
	keys    map[string]*keyIndex
	sets    map[string]bitset // requirement → columns
	outside map[string]bitset // key and domains → columns in none of them; nil: none
	priced  []int32           // columns, the cheapest first
	// reserves tells whether a column is reserved capacity.
	reserves bool
}

// keyIndex is what the columns say of one label key: an index into dict for
// each type or column, -1 where the label is absent.
type keyIndex struct {
	perColumn bool
	dict      []string
	val       []int32
}

func newUniverse(types []cluster.InstanceType) *universe {
	types = inOrder(types)
	u := &universe{types: types, first: make([]int32, len(types)+1), keys: map[string]*keyIndex{}, outside: map[string]bitset{}, sets: map[string]bitset{}}
	n := 0
	for t := range types {
		n += len(types[t].Offerings)
	}
	u.cols = make([]column, 0, n)
	for t := range types {
		u.first[t] = int32(len(u.cols))
		for o := range types[t].Offerings {
			off := &types[t].Offerings[o]
			if off.Unavailable || off.ReservationID != "" && off.ReservationCount <= 0 {
				continue
			}
			u.cols = append(u.cols, column{typ: int32(t), price: off.Price, off: off})
			u.reserves = u.reserves || off.ReservationID != ""
		}
	}
	u.first[len(types)] = int32(len(u.cols))
	return u
}

// inOrder returns types by name with their offerings by zone, capacity type and
// reservation, so that the order of a catalogue does not matter. What is in order
// already is shared.
func inOrder(types []cluster.InstanceType) []cluster.InstanceType {
	byName := func(a, b cluster.InstanceType) int { return strings.Compare(a.Name, b.Name) }
	byZone := func(a, b cluster.Offering) int {
		return cmp.Or(strings.Compare(a.Zone, b.Zone), strings.Compare(a.CapacityType, b.CapacityType), strings.Compare(a.ReservationID, b.ReservationID))
	}
	owned := false
	own := func() {
		if !owned {
			types, owned = slices.Clone(types), true
		}
	}
	if !slices.IsSortedFunc(types, byName) {
		own()
		slices.SortStableFunc(types, byName)
	}
	for i := range types {
		if !slices.IsSortedFunc(types[i].Offerings, byZone) {
			own()
			types[i].Offerings = slices.Clone(types[i].Offerings)
			slices.SortStableFunc(types[i].Offerings, byZone)
		}
	}
	return types
}

// columnLabel reads a label that differs between offerings of a type.
func columnLabel(off *cluster.Offering, key string) (string, bool) {
	var v string
	switch key {
	case cluster.LabelZone:
		v = off.Zone
	case cluster.LabelZoneID:
		v = off.ZoneID
	case cluster.LabelCapacityType:
		v = off.CapacityType
	case cluster.LabelReservationID:
		v = off.ReservationID
	case cluster.LabelReservationType:
		v = off.ReservationType
	case labelInterruptible:
		if off.ReservationID != "" {
			v = strconv.FormatBool(off.ReservationInterruptible)
		}
	}
	return v, v != ""
}

const labelInterruptible = "karpenter.k8s.aws/capacity-reservation-interruptible"

func perColumnKey(key string) bool {
	switch key {
	case cluster.LabelZone, cluster.LabelZoneID, cluster.LabelCapacityType, cluster.LabelReservationID, cluster.LabelReservationType, labelInterruptible:
		return true
	}
	return false
}

func typeLabel(t *cluster.InstanceType, key string) (string, bool) {
	if v, ok := t.Labels[key]; ok {
		return v, true
	}
	switch key {
	case cluster.LabelInstanceType:
		return t.Name, true
	case cluster.LabelArch:
		return t.Arch, t.Arch != ""
	case cluster.LabelOS:
		return t.OS, t.OS != ""
	}
	return "", false
}

// index reads a key's labels once.
func (u *universe) index(key string) *keyIndex {
	if k, ok := u.keys[key]; ok {
		return k
	}
	k := &keyIndex{perColumn: perColumnKey(key)}
	ids := map[string]int32{}
	add := func(v string, ok bool) {
		if !ok {
			k.val = append(k.val, -1)
			return
		}
		id, known := ids[v]
		if !known {
			id = int32(len(k.dict))
			ids[v] = id
			k.dict = append(k.dict, v)
		}
		k.val = append(k.val, id)
	}
	if k.perColumn {
		for i := range u.cols {
			add(columnLabel(u.cols[i].off, key))
		}
	} else {
		for t := range u.types {
			add(typeLabel(&u.types[t], key))
		}
	}
	u.keys[key] = k
	return k
}

// describes tells whether a key is a matter of the instance type or offering,
// rather than a label that a NodePool gives to its nodes.
func (u *universe) describes(key string) bool {
	return perColumnKey(key) || cluster.IsWellKnownLabel(key) && key != cluster.LabelNodePool || len(u.index(key).dict) > 0
}

// allowed returns the columns whose label fits; the set is shared, not to be changed.
func (u *universe) allowed(key string, v values) bitset {
	id := key + "\x00" + v.key()
	if b, ok := u.sets[id]; ok {
		return b
	}
	k := u.index(key)
	fits := make([]bool, len(k.dict))
	for i, s := range k.dict {
		fits[i] = v.has(s)
	}
	b := newBitset(len(u.cols))
	for i, id := range k.val {
		if id < 0 && !v.absent || id >= 0 && !fits[id] {
			continue
		}
		if k.perColumn {
			b.set(i)
		} else {
			b.setRange(int(u.first[i]), int(u.first[i+1]))
		}
	}
	u.sets[id] = b
	return b
}

// of is the index into dict of a column's label, -1 where it has none.
func (k *keyIndex) of(u *universe, col int) int32 {
	if k.perColumn {
		return k.val[col]
	}
	return k.val[u.cols[col].typ]
}

// columnValue is the label of a column, whatever level the key is of.
func (u *universe) columnValue(key string, col int) (string, bool) {
	k := u.index(key)
	i := col
	if !k.perColumn {
		i = int(u.cols[col].typ)
	}
	if k.val[i] < 0 {
		return "", false
	}
	return k.dict[k.val[i]], true
}

// valuesIn lists the different labels of some columns, ordered.
func (u *universe) valuesIn(key string, cols bitset) []string {
	k := u.index(key)
	seen := make([]bool, len(k.dict))
	cols.each(func(c int) {
		i := c
		if !k.perColumn {
			i = int(u.cols[c].typ)
		}
		if k.val[i] >= 0 {
			seen[k.val[i]] = true
		}
	})
	var out []string
	for i, s := range seen {
		if s {
			out = append(out, k.dict[i])
		}
	}
	sort.Strings(out)
	return out
}
