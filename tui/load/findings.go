package load

import (
	"slices"

	"a2atap/analyzer/analysis"
)

// maxListed bounds the findings kept for display. Further findings are counted, and their exchanges are marked.
const maxListed = 20_000

// A Findings has the findings so far, in order of detection, with an index by exchange.
type Findings struct {
	List       []analysis.Finding // at most maxListed
	ByExchange map[uint64][]int   // indices into List
	Marks      []uint8            // for each exchange, by Seq: 0, or 1 plus the worst severity
	Counts     [analysis.Error + 1]int
}

func (l *Findings) Add(findings []analysis.Finding) {
	if l.ByExchange == nil {
		l.ByExchange = make(map[uint64][]int)
	}
	for _, f := range findings {
		if f.Revises {
			l.remove(&f)
		}
		l.mark(&f)
		if seq := f.Place.Exchange; len(l.List) < maxListed {
			l.ByExchange[seq] = append(l.ByExchange[seq], len(l.List))
			l.List = append(l.List, f)
		}
	}
}

// remove removes the findings that another finding replaces.
func (l *Findings) remove(by *analysis.Finding) {
	var marked []uint64
	whole := len(l.List) < maxListed
	l.List = slices.DeleteFunc(slices.Clone(l.List), func(g analysis.Finding) bool {
		if !by.TakesPlaceOf(&g) {
			return false
		}
		l.Counts[g.Severity]--
		marked = append(marked, g.Place.Exchange)
		return true
	})
	if marked == nil {
		return
	}
	if whole {
		for _, seq := range marked {
			l.Marks[seq] = 0
		}
	}
	clear(l.ByExchange)
	for i := range l.List {
		f := &l.List[i]
		seq := f.Place.Exchange
		l.ByExchange[seq] = append(l.ByExchange[seq], i)
		l.Marks[seq] = max(l.Marks[seq], uint8(f.Severity)+1)
	}
}

// mark counts a finding and marks its exchange.
func (l *Findings) mark(f *analysis.Finding) {
	seq := f.Place.Exchange
	l.Counts[f.Severity]++
	l.reach(int(seq) + 1)
	l.Marks[seq] = max(l.Marks[seq], uint8(f.Severity)+1)
}

// reach extends the marks to at least n.
func (l *Findings) reach(n int) {
	if missing := n - len(l.Marks); missing > 0 {
		l.Marks = append(l.Marks, make([]uint8, missing)...)
	}
}

func (l *Findings) Total() int {
	n := 0
	for _, c := range l.Counts {
		n += c
	}
	return n
}

// Worst returns the worst severity found in an exchange, and whether it has findings.
func (l *Findings) Worst(seq uint64) (analysis.Severity, bool) {
	if seq >= uint64(len(l.Marks)) || l.Marks[seq] == 0 {
		return 0, false
	}
	return analysis.Severity(l.Marks[seq] - 1), true
}

// WorstOfAll returns the worst severity of all findings, and whether there are findings.
func (l *Findings) WorstOfAll() (analysis.Severity, bool) {
	for _, s := range analysis.WorstFirst {
		if l.Counts[s] > 0 {
			return s, true
		}
	}
	return 0, false
}

// Of returns the findings of one exchange in a new slice.
func (l *Findings) Of(seq uint64) []analysis.Finding {
	var found []analysis.Finding
	for _, i := range l.ByExchange[seq] {
		found = append(found, l.List[i])
	}
	return found
}

// Snapshot returns the current findings for commands. Later findings do not change the result.
func (l *Findings) Snapshot() Snapshot { return Snapshot(l.List[:len(l.List):len(l.List)]) }

// A Snapshot is some findings, in order of detection.
type Snapshot []analysis.Finding

// Among returns the findings of some exchanges.
func (f Snapshot) Among(seqs []uint64) map[uint64][]analysis.Finding {
	found := make(map[uint64][]analysis.Finding)
	for i := range f {
		if _, mine := slices.BinarySearch(seqs, f[i].Place.Exchange); mine {
			found[f[i].Place.Exchange] = append(found[f[i].Place.Exchange], f[i])
		}
	}
	return found
}

// Within returns the findings of the exchanges from..to, for filters that run in a command.
func (l *Findings) Within(from, to uint64) map[uint64][]analysis.Finding {
	found := make(map[uint64][]analysis.Finding)
	if to-from < uint64(len(l.ByExchange)) {
		for seq := from; seq <= to; seq++ {
			if list := l.Of(seq); list != nil {
				found[seq] = list
			}
		}
		return found
	}
	for seq := range l.ByExchange {
		if seq >= from && seq <= to {
			found[seq] = l.Of(seq)
		}
	}
	return found
}

// Next returns the first exchange after seq (before it, if step is -1) that has a finding, or 0.
func (l *Findings) Next(seq uint64, step int) uint64 {
	last := uint64(len(l.Marks))
	if step < 0 {
		seq = min(seq, last)
		for seq > 1 {
			if seq--; l.Marks[seq] > 0 {
				return seq
			}
		}
		return 0
	}
	for seq++; seq < last; seq++ {
		if l.Marks[seq] > 0 {
			return seq
		}
	}
	return 0
}

// NextOf is Next among the exchanges of a sorted list.
func (l *Findings) NextOf(seqs []uint64, seq uint64, step int) uint64 {
	i, there := slices.BinarySearch(seqs, seq)
	if there || step < 0 {
		i += step
	}
	for ; i >= 0 && i < len(seqs); i += step {
		if _, marked := l.Worst(seqs[i]); marked {
			return seqs[i]
		}
	}
	return 0
}
