package sorting

import (
	"maps"
	"slices"
	"sort"
	"time"

	"a2atap/proxy/a2a"
)

// A Grouping is what exchanges stand under.
type Grouping uint8

// The groupings.
const (
	Flat       Grouping = iota // under nothing
	ByTask                     // under their context, and there under their task
	ByWorkflow                 // under the exchange that began their workflow
	Groupings                  // not a grouping: how many there are
)

// An Arrangement is exchanges in an order, under headings if they are grouped. Its rows are what is seen: headings, and
// the exchanges that are not folded away. Rows and places in the order count from 0. It is for one goroutine at a time.
type Arrangement struct {
	under           Grouping
	seqs            []uint32 // in order
	rank            []uint32 // place in seqs and 1, by number; 0 for those that are not in it
	groups          []group  // in order, outer ones before their inner ones; none if it is flat
	at              []uint32 // row of each group, and at the end how many rows there are
	laid            int      // how often the folds had changed then
	tallies         []uint32
	tasks, contexts names
}

// A group is a heading and the exchanges under it. In between an outer heading has its inner ones.
type group struct {
	began, ended int64
	key          Key
	size         float32
	first, own   uint32 // exchanges that stand right under it, in seqs
	all          uint32 // exchanges with those of inner headings
	lowest       uint32 // number
	failed       uint32
	tally        uint32 // where its tallies begin
	task         uint32 // that it is about, if it is one
	level, worst uint8
	folded       bool
}

// A tally is a state, in the highest byte, and how many tasks are in it.
const tallyBits = 24

// A Kind says what a heading stands for.
type Kind uint8

// The kinds of headings.
const (
	None Kind = iota // no heading: what has none of its own
	Context
	Task
	Workflow
)

// A Key tells headings of the arrangements of one Table apart, also when there are more later.
type Key struct {
	Kind         Kind
	Outer, Inner uint32
}

// Folds say which headings are folded. The zero Folds, and nil, fold none.
type Folds struct {
	all     bool
	except  map[Key]bool
	changes int
}

// Clone returns a copy.
func (f *Folds) Clone() *Folds { return &Folds{f.all, maps.Clone(f.except), f.changes} }

// Folded reports whether a heading is folded.
func (f *Folds) Folded(k Key) bool {
	return f != nil && k.Kind != None && f.all != (len(f.except) > 0 && f.except[k])
}

// Fold folds or unfolds a heading.
func (f *Folds) Fold(k Key, fold bool) {
	f.changes++
	if fold == f.all {
		delete(f.except, k)
		return
	}
	if f.except == nil {
		f.except = make(map[Key]bool)
	}
	f.except[k] = true
}

// FoldAll folds or unfolds all headings, also those to come.
func (f *Folds) FoldAll(fold bool) { f.all, f.except, f.changes = fold, nil, f.changes+1 }

// All reports whether all headings are folded, but for those that were unfolded since.
func (f *Folds) All() bool { return f.all }

// Lay folds the headings as f says. It does nothing if they are folded so already.
func (a *Arrangement) Lay(f *Folds) {
	if f != nil && a.at != nil && a.laid == f.changes {
		return
	}
	for i := range a.groups {
		a.groups[i].folded = f.Folded(a.groups[i].key)
	}
	a.count()
	if f != nil {
		a.laid = f.changes
	}
}

// Fold folds or unfolds a heading, by its number, here and in f.
func (a *Arrangement) Fold(n int, fold bool, f *Folds) {
	a.Lay(f)
	f.Fold(a.groups[n].key, fold)
	a.groups[n].folded, a.laid = fold, f.changes
	a.count()
}

// count finds out in which row each group begins.
func (a *Arrangement) count() {
	a.at = slices.Grow(a.at[:0], len(a.groups)+1)
	rows, hidden := uint32(0), false
	for i := range a.groups {
		g := &a.groups[i]
		a.at = append(a.at, rows)
		if g.level == 0 {
			hidden = g.folded
		} else if hidden {
			continue
		}
		rows += g.heading()
		if !g.folded {
			rows += g.own
		}
	}
	if len(a.groups) == 0 {
		rows = uint32(len(a.seqs))
	}
	a.at = append(a.at, rows)
}

// heading returns how many rows the heading takes.
func (g *group) heading() uint32 {
	if g.key.Kind == None {
		return 0
	}
	return 1
}

// Rows returns how many rows are seen.
func (a *Arrangement) Rows() int { return int(a.at[len(a.at)-1]) }

// Len returns how many exchanges there are, folded or not.
func (a *Arrangement) Len() int { return len(a.seqs) }

// Grouped reports whether there are headings.
func (a *Arrangement) Grouped() bool { return a.under != Flat }

// A Row is what is seen in one line: an exchange, or a heading.
type Row struct {
	Exchange uint64 // 0 for a heading
	Heading  int    // its number, for Heading; -1 for an exchange
	Level    int    // how many headings it stands under
}

// Row returns a row, from 0 to Rows less one.
func (a *Arrangement) Row(i int) Row {
	if len(a.groups) == 0 {
		return Row{Exchange: uint64(a.seqs[i]), Heading: -1}
	}
	// The last group that begins at the row or before it: those before it at the same row have none.
	n := sort.Search(len(a.groups), func(n int) bool { return a.at[n] > uint32(i) }) - 1
	g := &a.groups[n]
	below := uint32(i) - a.at[n]
	if below < g.heading() {
		return Row{Heading: n, Level: int(g.level)}
	}
	return Row{
		Exchange: uint64(a.seqs[g.first+below-g.heading()]), Heading: -1, Level: int(uint32(g.level) + g.heading()),
	}
}

// groupOf returns the group right above the exchange at a place.
func (a *Arrangement) groupOf(place uint32) int {
	return sort.Search(len(a.groups), func(n int) bool { return a.groups[n].first > place }) - 1
}

// outer returns the outer group of a group, or the group itself.
func (a *Arrangement) outer(n int) int {
	for n > 0 && a.groups[n].level > 0 {
		n--
	}
	return n
}

// RowOf returns the row of an exchange, or of the heading that hides it. It returns false if it is not in the
// arrangement.
func (a *Arrangement) RowOf(exchange uint64) (row int, there bool) {
	if exchange >= uint64(len(a.rank)) || a.rank[exchange] == 0 {
		return 0, false
	}
	place := a.rank[exchange] - 1
	if len(a.groups) == 0 {
		return int(place), true
	}
	n := a.groupOf(place)
	g := &a.groups[n]
	switch seen := a.at[n+1] - a.at[n]; {
	case seen > g.heading():
		return int(a.at[n] + g.heading() + place - g.first), true
	case seen > 0:
		return int(a.at[n]), true
	}
	return int(a.at[a.outer(n)]), true
}

// RowOfHeading returns the row of a heading, or of the one that hides it. It returns false if there is none of the key.
// Where it is likely to have the number near, that is looked at first.
func (a *Arrangement) RowOfHeading(k Key, near int) (row int, there bool) {
	n := near
	if n < 0 || n >= len(a.groups) || a.groups[n].key != k {
		n = slices.IndexFunc(a.groups, func(g group) bool { return g.key == k })
	}
	if n < 0 {
		return 0, false
	}
	if a.at[n] == a.at[n+1] {
		n = a.outer(n)
	}
	return int(a.at[n]), true
}

// Keys returns the keys of the headings above an exchange, the outer one first.
func (a *Arrangement) Keys(exchange uint64) []Key {
	if exchange >= uint64(len(a.rank)) || a.rank[exchange] == 0 || len(a.groups) == 0 {
		return nil
	}
	n := a.groupOf(a.rank[exchange] - 1)
	var keys []Key
	if o := a.outer(n); o != n {
		keys = append(keys, a.groups[o].key)
	}
	if a.groups[n].key.Kind != None {
		keys = append(keys, a.groups[n].key)
	}
	return keys
}

// At returns the exchange at a place of the order, whether it is seen or not.
func (a *Arrangement) At(place int) uint64 { return uint64(a.seqs[place]) }

// Place returns the place of an exchange in the order, or -1.
func (a *Arrangement) Place(exchange uint64) int {
	if exchange >= uint64(len(a.rank)) {
		return -1
	}
	return int(a.rank[exchange]) - 1
}

// Newest returns the highest number of an exchange, 0 if there is none.
func (a *Arrangement) Newest() uint64 {
	for n := len(a.rank) - 1; n > 0; n-- {
		if a.rank[n] > 0 {
			return uint64(n)
		}
	}
	return 0
}

// A Heading is what exchanges stand under, and what they come to.
type Heading struct {
	Key       Key
	Context   string // its id; empty if there is none
	Task      string // the same
	Workflow  uint64 // the exchange that began it
	Exchanges int
	First     uint64        // the lowest number of them
	Began     time.Time     // zero if not known
	Took      time.Duration // from then on to the last moment that is known
	Size      int64         // bytes of bodies; from 16 MB on roughly
	Worst     uint8         // as in Plan
	Failed    int           // exchanges that have
	States    []StateCount  // of the tasks
}

// A StateCount says how many tasks are in a state.
type StateCount struct {
	State a2a.State
	Count int
}

// Heading returns a heading by its number.
func (a *Arrangement) Heading(n int) Heading {
	g := &a.groups[n]
	h := Heading{
		Key: g.key, Exchanges: int(g.all), First: uint64(g.lowest), Took: time.Duration(g.ended - g.began),
		Size: int64(g.size), Worst: g.worst, Failed: int(g.failed), Task: a.tasks.of(g.task),
	}
	switch g.key.Kind {
	case Context, Task:
		h.Context = a.contexts.of(g.key.Outer)
	case Workflow:
		h.Workflow = uint64(g.key.Outer)
	}
	if g.began > 0 {
		h.Began = time.Unix(0, g.began).UTC()
	}
	end := len(a.tallies)
	if n+1 < len(a.groups) {
		end = int(a.groups[n+1].tally)
	}
	for _, t := range a.tallies[g.tally:end] {
		h.States = append(h.States, StateCount{a2a.State(t >> tallyBits), int(t & (1<<tallyBits - 1))})
	}
	return h
}

// PlaceOf returns the place of the exchange in a row, or of the first one under the heading there.
func (a *Arrangement) PlaceOf(row Row) int {
	if row.Heading < 0 {
		return a.Place(row.Exchange)
	}
	return int(a.groups[row.Heading].first)
}
