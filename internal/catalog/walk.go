package catalog

import "slices"

// The columns of a table, in the order in which they are written. A column is
// added at the end, with a new magic word.
var (
	wireTexts = []func(*Facts) *string{
		func(f *Facts) *string { return &f.Arch },
		func(f *Facts) *string { return &f.CPUManufacturer },
		func(f *Facts) *string { return &f.Hypervisor },
	}
	wireNumbers = []func(*Facts) *int64{
		func(f *Facts) *int64 { return &f.VCPUs },
		func(f *Facts) *int64 { return &f.MemoryMiB },
		func(f *Facts) *int64 { return &f.ClockMHz },
		func(f *Facts) *int64 { return &f.ENIs },
		func(f *Facts) *int64 { return &f.DefaultCardENIs },
		func(f *Facts) *int64 { return &f.NetworkCards },
		func(f *Facts) *int64 { return &f.IPv4PerENI },
		func(f *Facts) *int64 { return &f.BranchENIs },
		func(f *Facts) *int64 { return &f.EFAs },
		func(f *Facts) *int64 { return &f.NetworkMbps },
		func(f *Facts) *int64 { return &f.EBSMbps },
		func(f *Facts) *int64 { return &f.LocalNVMeGB },
		func(f *Facts) *int64 { return &f.LocalDiskGB },
		func(f *Facts) *int64 { return &f.LocalDisks },
		func(f *Facts) *int64 { return &f.EBSVolumes },
	}
	wireFlags = []func(*Facts) *bool{
		func(f *Facts) *bool { return &f.BareMetal },
		func(f *Facts) *bool { return &f.Flex },
		func(f *Facts) *bool { return &f.Burstable },
		func(f *Facts) *bool { return &f.EncryptionInTransit },
		func(f *Facts) *bool { return &f.NestedVirt },
		func(f *Facts) *bool { return &f.NoSpot },
		func(f *Facts) *bool { return &f.CapacityBlock },
	}
)

// walkTable goes over everything that a table holds.
func walkTable(w *wire, t *Table) {
	w.text(&t.Stamp)
	list(w, &t.Types, maxWireTypes)
	walkNames(w, t.Types)
	for _, column := range wireTexts {
		walkWords(w, t.Types, column)
	}
	for _, column := range wireNumbers {
		for i := range t.Types {
			w.number(column(&t.Types[i]))
		}
	}
	for _, column := range wireFlags {
		for i := range t.Types {
			w.flag(column(&t.Types[i]))
		}
	}
	for i := range t.Types {
		walkDevices(w, &t.Types[i])
	}
	list(w, &t.Regions, maxWireList)
	for i := range t.Regions {
		walkRegion(w, &t.Regions[i], len(t.Types))
		if w.err == nil && i > 0 && t.Regions[i].Name <= t.Regions[i-1].Name {
			w.fail("the regions are not sorted by name at %q", t.Regions[i].Name)
		}
	}
}

// walkNames goes over the sorted names of the types.
func walkNames(w *wire, types []Facts) {
	before := ""
	for i := range types {
		name := types[i].Name
		shared := int64(0)
		for w.writing && int(shared) < min(len(before), len(name)) && before[shared] == name[shared] {
			shared++
		}
		w.number(&shared)
		if shared > int64(len(before)) {
			w.fail("the name of type %d does not continue the one before", i)
		}
		if w.err != nil {
			return
		}
		rest := ""
		if w.writing {
			rest = name[shared:]
		}
		w.text(&rest)
		if !w.writing {
			types[i].Name = before[:shared] + rest
		}
		if i > 0 && types[i].Name <= before {
			w.fail("the types are not sorted by name at %q", types[i].Name)
		}
		before = types[i].Name
	}
}

// walkWords goes over a column of strings that are few and come often.
func walkWords(w *wire, types []Facts, column func(*Facts) *string) {
	var words []string
	if w.writing {
		for i := range types {
			words = append(words, *column(&types[i]))
		}
		slices.Sort(words)
		words = slices.Compact(words)
	}
	list(w, &words, maxWireList)
	for i := range words {
		w.text(&words[i])
	}
	for i := range types {
		var at int64
		if w.writing {
			n, _ := slices.BinarySearch(words, *column(&types[i]))
			at = int64(n)
		}
		w.number(&at)
		if w.err == nil && at >= int64(len(words)) {
			w.fail("type %d uses a word that is not listed", i)
		}
		if w.err != nil {
			return
		}
		if !w.writing {
			*column(&types[i]) = words[at]
		}
	}
}

// walkDevices goes over the GPUs and accelerators of a type.
func walkDevices(w *wire, f *Facts) {
	list(w, &f.GPUs, maxWireList)
	for i := range f.GPUs {
		g := &f.GPUs[i]
		w.text(&g.Name)
		w.text(&g.Manufacturer)
		w.number(&g.Count)
		w.number(&g.MemoryMiB)
	}
	has := f.Neuron != nil
	w.flag(&has)
	if !has || w.err != nil {
		return
	}
	if f.Neuron == nil {
		f.Neuron = new(Neuron)
	}
	w.text(&f.Neuron.Name)
	w.number(&f.Neuron.Devices)
	w.number(&f.Neuron.Cores)
}

// walkRegion goes over one region of a table of n types.
func walkRegion(w *wire, r *Region, n int) {
	w.text(&r.Name)
	w.text(&r.Currency)
	list(w, &r.Zones, maxZones)
	for i := range r.Zones {
		w.text(&r.Zones[i].Name)
		w.text(&r.Zones[i].ID)
	}
	for i := range column(w, &r.Prices, n) {
		w.number(&r.Prices[i])
	}
	for i := range column(w, &r.Offered, n) {
		w.number(&r.Offered[i])
		if w.err == nil && r.Offered[i]>>len(r.Zones) != 0 {
			w.fail("region %s offers type %d in a zone that is not listed", r.Name, i)
		}
	}
	for i := range column(w, &r.Spot, n) {
		w.number(&r.Spot[i].Saving)
		if w.err == nil && r.Spot[i].Saving > 100 {
			w.fail("region %s saves %d per cent on type %d", r.Name, r.Spot[i].Saving, i)
		}
	}
	for i := range r.Spot {
		w.number(&r.Spot[i].Interruption)
	}
}

// column walks whether a list of a region is known, and returns it: one entry a
// type where it is, nothing where it is not.
func column[T any](w *wire, s *[]T, n int) []T {
	if w.writing && len(*s) != 0 && len(*s) != n {
		w.fail("a column of %d entries for %d types", len(*s), n)
	}
	known := len(*s) != 0
	w.flag(&known)
	if w.err != nil || !known {
		return nil
	}
	if !w.writing {
		*s = make([]T, n)
	}
	return *s
}
