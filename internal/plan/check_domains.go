package plan

import "slices"

// domains is where a node may be by one topology key: one of some values, or
// nowhere, for a node without the label.
type domains struct {
	known   bool
	values  []int32
	nowhere bool
}

// certain is the one domain that a node is in; ok is false when it may be in
// several or in none.
func (d *domains) certain() (int32, bool) {
	if len(d.values) == 1 && !d.nowhere {
		return d.values[0], true
	}
	return 0, false
}

func (d *domains) has(v int32) bool { return slices.Contains(d.values, v) }

func (d *domains) add(v int32) {
	if v < 0 {
		d.nowhere = true
	} else if !slices.Contains(d.values, v) {
		d.values = append(d.values, v)
	}
}

// domainsOf is where the nodes of a kind may be by a key other than the hostname.
func (t *topology) domainsOf(key, kind int32) *domains {
	if t.domains[key] == nil {
		t.domains[key] = make([]domains, len(t.kinds))
	}
	d := &t.domains[key][kind]
	if d.known {
		return d
	}
	d.known = true
	k := &t.kinds[kind]
	switch {
	case k.choice != nil:
		column := t.c.column(k.choice.t, t.keys[key])
		for _, o := range k.choice.among(column.byOffer) {
			d.add(column.at(o))
		}
	case k.site.plan != nil:
		d.nowhere = true
	default:
		d.add(t.siteValue(k.site, key))
	}
	return d
}

// siteValue is the value that a node which is there has for a key, -1 for none.
func (t *topology) siteValue(s *site, key int32) int32 {
	if v, ok := s.label(t.keys[key]); ok {
		return t.c.value(v)
	}
	return -1
}

// at is where a site may be by a key. By hostname each site is a domain of its
// own, numbered as the sites are.
func (t *topology) at(key, site int32) domains {
	if key == hostKey {
		return domains{values: []int32{site}}
	}
	return *t.domainsOf(key, t.kindOf[site])
}

// chosen is the domain that a site is in when every launch takes what the report
// calls its choice, -1 for none.
func (t *topology) chosen(key, site int32) int32 {
	if key == hostKey {
		return site
	}
	s := t.c.sites[site]
	if s.choice != nil {
		o := s.choice.pick(s.plan)
		if o < 0 {
			o = s.choice.cheapest
		}
		return t.c.column(s.choice.t, t.keys[key]).at(o)
	}
	if s.plan != nil {
		return -1
	}
	d := t.domainsOf(key, t.kindOf[site])
	if v, ok := d.certain(); ok {
		return v
	}
	return -1
}
