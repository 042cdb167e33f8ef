package scheduling

import (
	"fmt"
	"os"
)

var debugPinned func(s *solver)

func init() {
	debugPinned = func(s *solver) {
		bySig := map[int32]*vec{}
		var sigs []int32
		for _, it := range s.items {
			if bySig[it.sig] == nil {
				bySig[it.sig] = &vec{}
				sigs = append(sigs, it.sig)
			}
			bySig[it.sig].addTimes(&it.req, it.n, s.nd)
		}
		println("pinned bound", int(1000*s.fractionalBound(len(sigs), func(i int) (int32, *vec) { return sigs[i], bySig[sigs[i]] })))
	}
}

var debugOn = os.Getenv("DTDEBUG") != ""

func (pk *packer) dump() {
	if !debugOn {
		return
	}
	fmt.Fprintf(os.Stderr, "run %+v price %.3f nodes %d unplaced %d\n", pk.opt, pk.price, pk.nodes, pk.unplaced())
	if os.Getenv("DTDEBUG") != "2" {
		return
	}
	for _, p := range pk.out {
		v, v0 := 0.0, 0.0
		for _, l := range p.loads {
			v += l.it.value * float64(l.k)
			v0 += l.it.value0 * float64(l.k)
		}
		c := p.pool.u.cols[p.col]
		room := p.pool.room[c.typ]
		fmt.Fprintf(os.Stderr, "%3d x %-16s %-10s %-9s $%.4f eff %.3f/%.3f cpu %.3f mem %.3f pods %d/%d loads %d\n", p.count, p.pool.u.types[c.typ].Name, c.off.Zone, c.off.CapacityType, p.price, v/p.price, v0/p.price, float64(p.req[0])/float64(room[0]), float64(p.req[1])/float64(room[1]), p.req[2], room[2], len(p.loads))
	}
}

func (r *round) export(s *solver, n []int64) {
	if os.Getenv("DTLP") == "" {
		return
	}
	f, _ := os.Create(os.Getenv("DTLP"))
	defer f.Close()
	for i, sg := range r.segs {
		for _, c := range sg.cands {
			fmt.Fprintf(f, "C %d %g %d %d %d %s %s\n", i, c.price, c.room[0], c.room[1]>>20, c.room[2], sg.pool.u.types[c.typ].Name, sg.pool.u.cols[c.col].off.Zone)
		}
	}
	for i := range r.lots {
		l := &r.lots[i]
		c := int64(0)
		for _, it := range l.items {
			c += n[it.id]
		}
		fmt.Fprintf(f, "L %d %d %d", c, l.req[0], l.req[1]>>20)
		for k, sg := range r.segs {
			for _, x := range l.segs {
				if x == sg {
					fmt.Fprintf(f, " %d", k)
				}
			}
		}
		fmt.Fprintln(f)
	}
}
