package scheduling

import "math"

// This file solves the fractional covering problem
//
//	least Σ price(t)·x(t)  with  Σ room(t)·x(t) ≥ demand,  x ≥ 0
//
// over node types by the revised simplex method, columns priced out on the fly.
// It has one row for each resource, so a basis is a tiny matrix. Its dual
// values are what a unit of each resource is worth: weights w ≥ 0 with
// w·room(t) ≤ price(t) for every type, and w·demand is a lower bound on the
// price of any real plan (weak duality).

// offer is a column of the linear program.
type offer struct {
	price float64
	room  *vec
}

type weights [maxDims]float64

func (w *weights) of(v *vec, nd int) float64 {
	x := 0.0
	for d := 0; d < nd; d++ {
		x += w[d] * float64(v[d])
	}
	return x
}

const (
	simplexSteps = 100
	simplexSlack = 1e-9
)

// simplex is the state of one run. Rows are the resources in demand, scaled so
// that the demand of each is 1.
type simplex struct {
	offers []offer
	rows   []int // dimension of each row
	scale  []float64
	inv    [maxDims][maxDims]float64 // inverse of the basis
	cost   [maxDims]float64          // of the basis columns
	level  [maxDims]float64          // values of the basis columns
}

// cover solves the problem. ok is false where a demanded resource is offered
// by no type; its weight is then 0 and the rest is solved.
func cover(offers []offer, demand *vec, nd int) (w weights, ok bool) {
	ok = true
	lp := simplex{offers: offers}
	for d := 0; d < nd; d++ {
		if demand[d] <= 0 {
			continue
		}
		cheapest := math.Inf(1)
		for i := range offers {
			if r := offers[i].room[d]; r > 0 {
				cheapest = min(cheapest, offers[i].price/float64(r))
			}
		}
		if math.IsInf(cheapest, 1) {
			ok = false
			continue
		}
		r := len(lp.rows)
		lp.rows = append(lp.rows, d)
		lp.scale = append(lp.scale, float64(demand[d]))
		// The artificial column of a row costs a little more than any dual
		// value can be, so that it leaves the basis.
		lp.inv[r][r] = 1
		lp.cost[r] = cheapest * float64(demand[d]) * (1 + 1e-6)
		lp.level[r] = 1
	}
	if len(lp.rows) == 0 {
		return w, ok
	}
	for step := 0; step < simplexSteps; step++ {
		if !lp.step(step) {
			break
		}
	}
	dual := lp.dual()
	for r, d := range lp.rows {
		w[d] = max(0, dual[r]) / lp.scale[r]
	}
	w.makeFeasible(offers, nd)
	return w, ok
}

// makeFeasible scales the weights down until no type is worth more than it costs.
func (w *weights) makeFeasible(offers []offer, nd int) {
	worst := 1.0
	for i := range offers {
		if v := w.of(offers[i].room, nd); v > offers[i].price {
			worst = min(worst, offers[i].price/v)
		}
	}
	if worst < 1 {
		for d := 0; d < nd; d++ {
			w[d] *= worst
		}
	}
}

func (lp *simplex) dual() (y [maxDims]float64) {
	m := len(lp.rows)
	for r := 0; r < m; r++ {
		for k := 0; k < m; k++ {
			y[r] += lp.cost[k] * lp.inv[k][r]
		}
	}
	return y
}

// step brings the most underpriced column into the basis; false when there is none.
func (lp *simplex) step(n int) bool {
	m := len(lp.rows)
	y := lp.dual()
	best, bestGain, price := -1, simplexSlack, 0.0
	for i := range lp.offers {
		v := 0.0
		for r, d := range lp.rows {
			v += y[r] * float64(lp.offers[i].room[d]) / lp.scale[r]
		}
		if gain := v/lp.offers[i].price - 1; gain > bestGain {
			best, bestGain, price = i, gain, lp.offers[i].price
			if n > simplexSteps/2 {
				break // the first one will do: no cycle can last
			}
		}
	}
	var a [maxDims]float64
	if best >= 0 {
		for r, d := range lp.rows {
			a[r] = float64(lp.offers[best].room[d]) / lp.scale[r]
		}
	} else {
		surplus := -1
		for r := 0; r < m; r++ {
			if y[r] < -simplexSlack && (surplus < 0 || y[r] < y[surplus]) {
				surplus = r
			}
		}
		if surplus < 0 {
			return false
		}
		a[surplus] = -1
	}
	return lp.pivot(&a, price)
}

// pivot exchanges the column for the one that blocks it first.
func (lp *simplex) pivot(a *[maxDims]float64, price float64) bool {
	m := len(lp.rows)
	var dir [maxDims]float64
	for r := 0; r < m; r++ {
		for k := 0; k < m; k++ {
			dir[r] += lp.inv[r][k] * a[k]
		}
	}
	leave, least := -1, math.Inf(1)
	for r := 0; r < m; r++ {
		if dir[r] > 1e-12 {
			if t := lp.level[r] / dir[r]; t < least {
				leave, least = r, t
			}
		}
	}
	if leave < 0 {
		return false
	}
	p := dir[leave]
	for k := 0; k < m; k++ {
		lp.inv[leave][k] /= p
	}
	lp.level[leave] = least
	for r := 0; r < m; r++ {
		if r == leave || dir[r] == 0 {
			continue
		}
		for k := 0; k < m; k++ {
			lp.inv[r][k] -= dir[r] * lp.inv[leave][k]
		}
		lp.level[r] = max(0, lp.level[r]-dir[r]*least)
	}
	lp.cost[leave] = price
	return true
}
