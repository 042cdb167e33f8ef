package scheduling

import (
	"fmt"
	"os"
)

func (pk *packer) dump() {
	for _, p := range pk.out {
		v := 0.0
		for _, l := range p.loads {
			v += l.it.value0 * float64(l.k)
		}
		c := p.pool.u.cols[p.col]
		room := p.pool.room[c.typ]
		fmt.Fprintf(os.Stderr, "%3d x %-16s %-10s %-9s $%.4f eff %.3f/%.3f cpu %.3f mem %.3f pods %d/%d loads %d\n", p.count, p.pool.u.types[c.typ].Name, c.off.Zone, c.off.CapacityType, p.price, v/p.price, v/p.price, float64(p.req[0])/float64(room[0]), float64(p.req[1])/float64(room[1]), p.req[2], room[2], len(p.loads))
	}
	lots := 0.0
	for _, it := range pk.s.items {
		n := int64(0)
		for _, m := range it.members {
			n += int64(len(m.pods)) / m.per
		}
		lots += it.value0 * float64(n)
	}
	fmt.Fprintln(os.Stderr, "worth of all", lots)
}

func envf(k string, d float64) float64 {
	if v := os.Getenv(k); v != "" {
		fmt.Sscanf(v, "%g", &d)
	}
	return d
}
