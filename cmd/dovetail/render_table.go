package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dovetail-sh/dovetail/internal/cluster"
	"github.com/dovetail-sh/dovetail/internal/plan"
)

// How much of a plan the short table shows. What it leaves out it counts; the
// wide one shows everything.
const (
	maxNodeRows  = 40
	maxStanding  = 10
	maxGroups    = 12
	maxGroupPods = 4
)

// barWidths are the widths of a bar to try, the last of which is none.
var barWidths = []int{8, 5, 0}

const hoursPerMonth = 730

// look is how a table is drawn.
type look struct {
	wide   bool
	colour bool
	width  int // of the terminal; 0: as wide as it gets

	currency string // of the prices, such as USD
}

// page is the text of a plan as it is put together.
type page struct {
	strings.Builder
	look
}

// renderTable writes a plan for a person.
func renderTable(w io.Writer, r *result, l look) error {
	p := &page{look: l}
	p.newNodes(r.report.NewNodes)
	p.totals(&r.report)
	p.standing(r.report.ExistingNodes)
	p.leftOut(r.report.Unschedulable)
	p.remarks("Warnings", yellow, r.report.Warnings)
	p.remarks("Assumed", plain, r.notes)
	_, err := io.WriteString(w, p.String())
	return err
}

// heading begins a section.
func (p *page) heading(format string, args ...any) {
	if p.Len() > 0 {
		p.WriteByte('\n')
	}
	p.WriteString(bold.paint(fmt.Sprintf(format, args...), p.colour) + "\n")
}

// more says what a section does not show.
func (p *page) more(format string, args ...any) {
	p.WriteString(gap + dim.paint("… and "+fmt.Sprintf(format, args...), p.colour) + "\n")
}

// nodeRow is one line of the nodes to launch: equal nodes taken together, or a
// single one.
type nodeRow struct {
	node     *plan.NewNode // the first of them
	count    int
	pods     int
	asked    cluster.Resources
	given    cluster.Resources
	types    int // the fewest that one of them may be launched as
	zones    int
	estimate bool
}

func (p *page) newNodes(nodes []plan.NewNode) {
	if len(nodes) == 0 {
		p.heading("No node to launch")
		return
	}
	p.heading("%s to launch", count(len(nodes), "node"))
	rows := nodeRows(nodes, !p.wide)
	shown := rows
	if !p.wide {
		shown = rows[:min(len(rows), maxNodeRows)]
	}
	p.fittingTable(shown).write(&p.Builder, p.colour)
	if rest := rows[len(shown):]; len(rest) > 0 {
		n, price := 0, 0.0
		for _, r := range rest {
			n += r.count
			price += float64(r.count) * r.node.PricePerHour
		}
		p.more("%s more for %s an hour (-o wide lists every node)", count(n, "node"), p.money(price))
	}
}

// fittingTable makes a table of nodes as rich as the terminal is wide.
func (p *page) fittingTable(rows []nodeRow) *table {
	var t *table
	for _, bars := range barWidths {
		t = p.nodeTable(rows, bars)
		if p.width == 0 || t.width() <= p.width {
			return t
		}
	}
	t.drop("CHOICES")
	return t
}

// nodeRows groups nodes that look alike, the group that costs most first; or
// makes a row of each, in the plan's order.
func nodeRows(nodes []plan.NewNode, grouped bool) []nodeRow {
	type key struct {
		pool, instanceType, zone, capacityType string
		price                                  float64
	}
	index := make(map[key]int)
	var rows []nodeRow
	for i := range nodes {
		n := &nodes[i]
		k := key{n.NodePool, n.InstanceType, n.Zone, n.CapacityType, n.PricePerHour}
		at, ok := index[k]
		if !ok || !grouped {
			at = len(rows)
			index[k] = at
			rows = append(rows, nodeRow{node: n, types: len(n.InstanceTypes), zones: len(n.Zones)})
		}
		r := &rows[at]
		r.count++
		r.pods += len(n.Pods)
		r.asked = r.asked.Add(n.Requests)
		r.given = r.given.Add(n.Allocatable)
		r.types = min(r.types, len(n.InstanceTypes))
		r.zones = min(r.zones, len(n.Zones))
		r.estimate = r.estimate || n.Estimate
	}
	if grouped {
		slices.SortStableFunc(rows, func(a, b nodeRow) int {
			return cmp.Or(
				cmp.Compare(float64(b.count)*b.node.PricePerHour, float64(a.count)*a.node.PricePerHour),
				cmp.Compare(a.node.InstanceType, b.node.InstanceType),
				cmp.Compare(a.node.Zone, b.node.Zone),
				cmp.Compare(a.node.CapacityType, b.node.CapacityType))
		})
	}
	return rows
}

// nodeTable lays out rows of nodes; bars is the width of a bar, 0 for none.
func (p *page) nodeTable(rows []nodeRow, bars int) *table {
	first := column{"NODES", true}
	if p.wide {
		first = column{"NAME", false}
	}
	t := &table{columns: []column{first, {"TYPE", false}, {"ZONE", false}, {"CAPACITY", false}, {strings.TrimSpace(p.sign()) + "/HOUR", true},
		{"PODS", true}, {"CPU", !p.wide && bars == 0}, {"MEMORY", !p.wide && bars == 0}, {"CHOICES", false}, {"NODEPOOL", false}}}
	for _, r := range rows {
		n := r.node
		name := cell{strconv.Itoa(r.count), bold}
		if p.wide {
			name = cell{n.Name, bold}
		}
		price := fmt.Sprintf("%.4f", n.PricePerHour)
		if r.estimate {
			price = "~" + price
		}
		t.add(name, cell{n.InstanceType, plain}, cell{n.Zone, plain}, cell{n.CapacityType, capacityStyle(n.CapacityType)},
			cell{price, plain}, cell{strconv.Itoa(r.pods), plain},
			p.utilisation(&r, cluster.CPU, bars), p.utilisation(&r, cluster.Memory, bars),
			cell{choices(r.types, r.zones), dim}, cell{n.NodePool, plain})
	}
	return t
}

func capacityStyle(capacityType string) style {
	switch capacityType {
	case cluster.Spot:
		return green
	case cluster.Reserved:
		return cyan
	}
	return plain
}

// utilisation is the cell of what is asked for of a resource.
func (p *page) utilisation(r *nodeRow, resource string, bars int) cell {
	asked, given := r.asked.Get(resource), r.given.Get(resource)
	share := 0.0
	if given > 0 {
		share = float64(asked) / float64(given)
	}
	text := fmt.Sprintf("%3.0f%%", share*100)
	if bars > 0 {
		text = bar(share, bars) + " " + text
	}
	if p.wide {
		text += fmt.Sprintf(" of %s", amount(resource, given))
	}
	s := plain
	switch {
	case share >= 0.8:
		s = green
	case share < 0.4:
		s = yellow
	}
	return cell{text, s}
}

// amount is a resource for people: cores, or GiB to one digit.
func amount(resource string, n int64) string {
	if resource == cluster.CPU {
		return fmt.Sprintf("%.2f", float64(n)/1000)
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
}

func choices(types, zones int) string {
	return count(types, "type") + " × " + count(zones, "zone")
}

// totals says what the plan comes to.
func (p *page) totals(r *plan.Report) {
	s := r.Summary
	standing := 0
	for i := range r.ExistingNodes {
		standing += len(r.ExistingNodes[i].Pods)
	}
	line := func(label, format string, args ...any) {
		p.WriteString(gap + dim.paint(fmt.Sprintf("%-8s", label), p.colour) + fmt.Sprintf(format, args...) + "\n")
	}
	p.WriteByte('\n')
	if s.NewNodes > 0 {
		estimate := ""
		if s.Estimates {
			estimate = " · prices marked ~ are estimates"
		}
		line("price", "%s an hour, about %s a month%s", bold.paint(p.money(s.PricePerHour), p.colour), p.money(s.PricePerHour*hoursPerMonth), estimate)
		if s.LowerBoundPerHour > 0 {
			line("bound", "%s an hour is the least that any plan could cost; this is %s that",
				p.money(s.LowerBoundPerHour), bold.paint(fmt.Sprintf("%.3f ×", s.PricePerHour/s.LowerBoundPerHour), p.colour))
		}
		line("use", "%.1f%% of the new nodes' cpu and %.1f%% of their memory is asked for", s.CPUUtilization*100, s.MemoryUtilization*100)
	}
	line("pods", "%s", podsLine(s, standing))
	line("time", "%s to plan", duration(s.SolveSeconds))
}

func podsLine(s plan.Summary, standing int) string {
	if s.Pods == 0 {
		return "none waits for a node"
	}
	parts := []string{fmt.Sprintf("%s on new nodes", thousands(s.Scheduled-standing))}
	if standing > 0 {
		parts = append(parts, fmt.Sprintf("%s on standing nodes", thousands(standing)))
	}
	if left := s.Pods - s.Scheduled; left > 0 {
		parts = append(parts, fmt.Sprintf("%s left out", thousands(left)))
	}
	verb := "wait"
	if s.Pods == 1 {
		verb = "waits"
	}
	return fmt.Sprintf("%s %s: %s", count(s.Pods, "pod"), verb, strings.Join(parts, ", "))
}

// standing lists the nodes that stand, or are on their way, and take pods.
func (p *page) standing(nodes []plan.ExistingNode) {
	if len(nodes) == 0 {
		return
	}
	p.heading("%s that %s already and %s pods", count(len(nodes), "node"), plural(len(nodes), "stands", "stand"), plural(len(nodes), "takes", "take"))
	shown := slices.Clone(nodes)
	slices.SortStableFunc(shown, func(a, b plan.ExistingNode) int {
		return cmp.Or(cmp.Compare(len(b.Pods), len(a.Pods)), cmp.Compare(a.Name, b.Name))
	})
	if !p.wide {
		shown = shown[:min(len(shown), maxStanding)]
	}
	t := &table{columns: []column{{"PODS", true}, {"NODE", false}, {"NODEPOOL", false}, {"", false}}}
	if p.wide {
		t.columns[3].title = "WHICH"
	}
	for i := range shown {
		n := &shown[i]
		remark := ""
		if n.InFlight {
			remark = "on its way"
		}
		if p.wide {
			remark = strings.Join(podNames(n.Pods), " ")
		}
		t.add(cell{strconv.Itoa(len(n.Pods)), plain}, cell{n.Name, plain}, cell{cmp.Or(n.NodePool, "-"), plain}, cell{remark, dim})
	}
	t.write(&p.Builder, p.colour)
	if rest := len(nodes) - len(shown); rest > 0 {
		p.more("%s more (-o wide lists them with their pods)", count(rest, "node"))
	}
}

// leftOut lists the pods that go nowhere, those with equal reasons together.
func (p *page) leftOut(left []plan.LeftOut) {
	if len(left) == 0 {
		return
	}
	p.heading("%s left out", count(len(left), "pod"))
	groups := groupLeftOut(left)
	shown, pods := groups, len(left)
	if !p.wide {
		shown, pods = groups[:min(len(groups), maxGroups)], maxGroupPods
	}
	for _, g := range shown {
		names := strings.Join(g.pods[:min(len(g.pods), pods)], ", ")
		if rest := len(g.pods) - pods; rest > 0 {
			names += fmt.Sprintf(" and %s more", thousands(rest))
		}
		p.WriteString(gap + red.paint(strconv.Itoa(len(g.pods))+" ×", p.colour) + " " + names + "\n")
		for _, reason := range g.reasons {
			p.wrapped(reason, "      - ", "        ")
		}
	}
	if rest := groups[len(shown):]; len(rest) > 0 {
		n := 0
		for _, g := range rest {
			n += len(g.pods)
		}
		p.more("%s more for other reasons (-o wide lists them; --explain POD tells of one)", count(n, "pod"))
	}
}

// remarks lists what a person should know about the plan.
func (p *page) remarks(title string, s style, texts []string) {
	if len(texts) == 0 {
		return
	}
	p.heading("%s", s.paint(title, p.colour))
	for _, text := range texts {
		p.wrapped(text, "  - ", "    ")
	}
}

// wrapped writes text broken at spaces to the terminal's width.
func (p *page) wrapped(text, first, rest string) {
	line := first
	empty := true
	for _, word := range strings.Fields(text) {
		if !empty && p.width > 0 && len([]rune(line))+1+len([]rune(word)) > p.width {
			p.WriteString(line + "\n")
			line, empty = rest, true
		}
		if !empty {
			line += " "
		}
		line += word
		empty = false
	}
	p.WriteString(line + "\n")
}

// count is a number of things.
func count(n int, what string) string {
	return thousands(n) + " " + plural(n, what, what+"s")
}

func plural(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// thousands writes a number with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// money writes a price: small ones to a hundredth of a cent, as AWS does.
func (l look) money(x float64) string {
	if x < 100 {
		return l.sign() + fmt.Sprintf("%.4f", x)
	}
	cents := int(x*100 + 0.5)
	return l.sign() + fmt.Sprintf("%s.%02d", thousands(cents/100), cents%100)
}

// sign is what stands before a price.
func (l look) sign() string {
	if l.currency == "USD" || l.currency == "" {
		return "$"
	}
	return l.currency + " "
}

// duration writes seconds for people.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d < time.Millisecond:
		return "under 1 ms"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	}
	return fmt.Sprintf("%.2f s", seconds)
}
