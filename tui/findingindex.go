package tui

import (
	"slices"

	"a2atap/analyzer"
)

// maxListed bounds the findings that are kept for display. Further ones are counted, and their exchanges are marked.
const maxListed = 20_000

// A findingIndex holds the findings so far, in the order in which they were made, and finds those of an exchange.
type findingIndex struct {
	list       []analyzer.Finding // at most maxListed
	byExchange map[uint64][]int   // indices into list
	marks      []uint8            // for each exchange, by Seq: 0, or the worst severity and 1
	counts     [analyzer.Error + 1]int
}

func (l *findingIndex) add(findings []analyzer.Finding) {
	if l.byExchange == nil {
		l.byExchange = make(map[uint64][]int)
	}
	for _, f := range findings {
		if f.Revises {
			l.remove(&f)
		}
		l.mark(&f)
		if seq := f.Place.Exchange; len(l.list) < maxListed {
			l.byExchange[seq] = append(l.byExchange[seq], len(l.list))
			l.list = append(l.list, f)
		}
	}
}

// remove takes those findings off the list that another one takes the place of.
func (l *findingIndex) remove(by *analyzer.Finding) {
	before := len(l.list)
	l.list = slices.DeleteFunc(slices.Clone(l.list), func(g analyzer.Finding) bool {
		if !by.TakesPlaceOf(&g) {
			return false
		}
		l.counts[g.Severity]--
		return true
	})
	if len(l.list) == before {
		return
	}
	clear(l.byExchange)
	for i := range l.list {
		seq := l.list[i].Place.Exchange
		l.byExchange[seq] = append(l.byExchange[seq], i)
	}
}

// mark counts a finding and marks its exchange.
func (l *findingIndex) mark(f *analyzer.Finding) {
	seq := f.Place.Exchange
	l.counts[f.Severity]++
	l.reach(int(seq) + 1)
	l.marks[seq] = max(l.marks[seq], uint8(f.Severity)+1)
}

// reach makes room for so many marks.
func (l *findingIndex) reach(n int) {
	if missing := n - len(l.marks); missing > 0 {
		l.marks = append(l.marks, make([]uint8, missing)...)
	}
}

// merge adds the counts and marks of another index, not its list.
func (l *findingIndex) merge(other *findingIndex) {
	for s, n := range other.counts {
		l.counts[s] += n
	}
	l.reach(len(other.marks))
	for seq, mark := range other.marks {
		l.marks[seq] = max(l.marks[seq], mark)
	}
}

func (l *findingIndex) total() int {
	n := 0
	for _, c := range l.counts {
		n += c
	}
	return n
}

// worst returns the worst severity found in an exchange, and whether anything was.
func (l *findingIndex) worst(seq uint64) (analyzer.Severity, bool) {
	if seq >= uint64(len(l.marks)) || l.marks[seq] == 0 {
		return 0, false
	}
	return analyzer.Severity(l.marks[seq] - 1), true
}

// worstOfAll returns the worst severity there is, and whether there is a finding.
func (l *findingIndex) worstOfAll() (analyzer.Severity, bool) {
	for s := analyzer.Error; ; s-- {
		if l.counts[s] > 0 {
			return s, true
		}
		if s == analyzer.Note {
			return 0, false
		}
	}
}

// of returns the findings of one exchange. They are the caller's.
func (l *findingIndex) of(seq uint64) []analyzer.Finding {
	var found []analyzer.Finding
	for _, i := range l.byExchange[seq] {
		found = append(found, l.list[i])
	}
	return found
}

// listed returns the findings as they are now, for commands: what comes later does not change them.
func (l *findingIndex) listed() findings { return findings(l.list[:len(l.list):len(l.list)]) }

// findings are some findings, in the order in which they were made.
type findings []analyzer.Finding

// among returns the findings of some exchanges.
func (f findings) among(seqs []uint64) map[uint64][]analyzer.Finding {
	found := make(map[uint64][]analyzer.Finding)
	for i := range f {
		if _, mine := slices.BinarySearch(seqs, f[i].Place.Exchange); mine {
			found[f[i].Place.Exchange] = append(found[f[i].Place.Exchange], f[i])
		}
	}
	return found
}

// within returns the findings of the exchanges from..to, for filters that run in a command.
func (l *findingIndex) within(from, to uint64) map[uint64][]analyzer.Finding {
	found := make(map[uint64][]analyzer.Finding)
	if to-from < uint64(len(l.byExchange)) {
		for seq := from; seq <= to; seq++ {
			if list := l.of(seq); list != nil {
				found[seq] = list
			}
		}
		return found
	}
	for seq := range l.byExchange {
		if seq >= from && seq <= to {
			found[seq] = l.of(seq)
		}
	}
	return found
}

// next returns the first exchange after seq (before it, if step is -1) that has a finding, or 0.
func (l *findingIndex) next(seq uint64, step int) uint64 {
	last := uint64(len(l.marks))
	if step < 0 {
		seq = min(seq, last)
		for seq > 1 {
			if seq--; l.marks[seq] > 0 {
				return seq
			}
		}
		return 0
	}
	for seq++; seq < last; seq++ {
		if l.marks[seq] > 0 {
			return seq
		}
	}
	return 0
}

// nextOf is next among the exchanges of a sorted list.
func (l *findingIndex) nextOf(seqs []uint64, seq uint64, step int) uint64 {
	i, there := slices.BinarySearch(seqs, seq)
	if there || step < 0 {
		i += step
	}
	for ; i >= 0 && i < len(seqs); i += step {
		if _, marked := l.worst(seqs[i]); marked {
			return seqs[i]
		}
	}
	return 0
}
