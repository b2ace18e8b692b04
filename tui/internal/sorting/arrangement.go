package sorting

import (
	"maps"
	"slices"
	"sort"
	"time"

	"a2atap/proxy/a2a"
)

// A Grouping is how exchanges are grouped.
type Grouping uint8

// The groupings.
const (
	Flat       Grouping = iota // not grouped
	ByTask                     // by context, and within it by task
	ByWorkflow                 // by the exchange that began the workflow
	Groupings                  // not a grouping: the number of groupings
)

// An Arrangement is a sorted list of exchanges, under headings if they are grouped. Its rows are the visible lines:
// headings, and the exchanges that are not folded away. Rows and places in the order count from 0. It is not safe for
// concurrent use.
type Arrangement struct {
	under           Grouping
	seqs            []uint32 // in order
	rank            []uint32 // place in seqs plus 1, by number; 0 for exchanges not in it
	groups          []group  // in order, outer ones before their inner ones; empty if flat
	at              []uint32 // first row of each group, and finally the number of rows
	laid            int      // the value of Folds.changes at the last Lay
	tallies         []uint32
	tasks, contexts names
}

// A group is a heading and the exchanges under it. The inner headings of an outer one come in between.
type group struct {
	began, ended int64
	key          Key
	size         float32
	first, own   uint32 // exchanges directly under it, in seqs
	all          uint32 // exchanges including those of inner headings
	lowest       uint32 // lowest exchange number
	failed       uint32
	tally        uint32 // start of its tallies
	task         uint32 // its task, if it is about one
	level, worst uint8
	folded       bool
}

// A tally holds a state in the highest byte, and the number of tasks in that state in the lower tallyBits bits.
const tallyBits = 24

// A Kind is the kind of a heading.
type Kind uint8

// The kinds of headings.
const (
	None Kind = iota // no heading: for exchanges without a group
	Context
	Task
	Workflow
)

// A Key identifies a heading in the arrangements of one Table, even if later ones have more headings.
type Key struct {
	Kind         Kind
	Outer, Inner uint32
}

// Folds are the folded headings. The zero value, and nil, fold none.
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

// FoldAll folds or unfolds all headings, including later ones.
func (f *Folds) FoldAll(fold bool) { f.all, f.except, f.changes = fold, nil, f.changes+1 }

// All reports whether all headings are folded, except for those unfolded since.
func (f *Folds) All() bool { return f.all }

// Lay folds the headings as in f. It does nothing if they already are.
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

// count computes the first row of each group.
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

// heading returns the number of rows of the heading itself.
func (g *group) heading() uint32 {
	if g.key.Kind == None {
		return 0
	}
	return 1
}

// Rows returns the number of visible rows.
func (a *Arrangement) Rows() int { return int(a.at[len(a.at)-1]) }

// Len returns the number of exchanges, including folded ones.
func (a *Arrangement) Len() int { return len(a.seqs) }

// Grouped reports whether there are headings.
func (a *Arrangement) Grouped() bool { return a.under != Flat }

// A Row is a visible line: an exchange or a heading.
type Row struct {
	Exchange uint64 // 0 for a heading
	Heading  int    // its number, for Heading; -1 for an exchange
	Level    int    // number of headings above it
}

// Row returns row i, from 0 to Rows minus one.
func (a *Arrangement) Row(i int) Row {
	if len(a.groups) == 0 {
		return Row{Exchange: uint64(a.seqs[i]), Heading: -1}
	}
	// Find the last group that begins at or before the row: earlier groups at the same row have no rows.
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

// groupOf returns the innermost group of the exchange at a place.
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

// RowOfHeading returns the row of a heading, or of the heading that hides it. It returns false if no heading has the
// key. It tries number near first.
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

// At returns the exchange at a place in the order, visible or not.
func (a *Arrangement) At(place int) uint64 { return uint64(a.seqs[place]) }

// Place returns the place of an exchange in the order, or -1.
func (a *Arrangement) Place(exchange uint64) int {
	if exchange >= uint64(len(a.rank)) {
		return -1
	}
	return int(a.rank[exchange]) - 1
}

// Newest returns the highest number of an exchange, or 0.
func (a *Arrangement) Newest() uint64 {
	for n := len(a.rank) - 1; n > 0; n-- {
		if a.rank[n] > 0 {
			return uint64(n)
		}
	}
	return 0
}

// A Heading is the heading of a group of exchanges, with their totals.
type Heading struct {
	Key       Key
	Context   string // its id; may be empty
	Task      string // the same
	Workflow  uint64 // the exchange that began it
	Exchanges int
	First     uint64        // the lowest number of its exchanges
	Began     time.Time     // zero if unknown
	Took      time.Duration // from Began to the last known moment
	Size      int64         // bytes of bodies; approximate from 16 MB on
	Worst     uint8         // as in Plan
	Failed    int           // number of failed exchanges
	States    []StateCount  // of the tasks
}

// A StateCount is the number of tasks in a state.
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

// PlaceOf returns the place of the exchange in a row, or of the first exchange under the row's heading.
func (a *Arrangement) PlaceOf(row Row) int {
	if row.Heading < 0 {
		return a.Place(row.Exchange)
	}
	return int(a.groups[row.Heading].first)
}
