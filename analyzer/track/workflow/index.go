package workflow

import (
	"context"
	"slices"
	"sync"

	"a2atap/analyzer/engine"
	"a2atap/proxy/capture"
)

// An Index holds the links of the exchanges of a capture: 16 bytes for each. It may be used by several goroutines at
// once.
type Index struct {
	mu      sync.RWMutex
	entries []entry        // by number of the exchange, less one
	sizes   map[uint64]int // by workflow; nil if it must be counted again
	maybe   map[uint64]Choice
}

type entry struct {
	parent uint64
	by     Evidence
}

// Read returns the links of the current contents of a capture.
func Read(ctx context.Context, src capture.Source) (*Index, error) {
	ix := &Index{}
	_, err := engine.Run(ctx, nil, src, nil, Into(ix.Put)...)
	return ix, err
}

// Into returns options that make an engine call tell with the link of each exchange as soon as its request was read.
// The engine calls tell again when more is known: a likely link is proved, or an exchange that seemed to begin a
// workflow belongs to another one. The later exchanges of that workflow are then in the other one too, and are not
// reported again.
func Into(tell func(Link)) []engine.Option {
	return []engine.Option{engine.With(Tracker), engine.Give(Tracker, tell)}
}

// Put adds or updates a link.
func (ix *Index) Put(l Link) {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if l.Exchange == 0 {
		return
	}
	next := l.Exchange == uint64(len(ix.entries))+1
	for uint64(len(ix.entries)) < l.Exchange {
		ix.entries = append(ix.entries, entry{})
	}
	ix.entries[l.Exchange-1] = entry{l.Parent, l.By}
	switch {
	case l.Maybe == Choice{}:
		delete(ix.maybe, l.Exchange)
	case ix.maybe == nil:
		ix.maybe = map[uint64]Choice{l.Exchange: l.Maybe}
	default:
		ix.maybe[l.Exchange] = l.Maybe
	}
	if !next {
		ix.sizes = nil
	} else if ix.sizes != nil {
		ix.sizes[ix.root(l.Exchange)]++
	}
}

// Of returns the link of an exchange. An exchange without one begins a separate workflow.
func (ix *Index) Of(n uint64) Link {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	e := ix.at(n)
	return Link{Exchange: n, Workflow: ix.root(n), Parent: e.parent, By: e.by, Maybe: ix.maybe[n]}
}

func (ix *Index) at(n uint64) entry {
	if n == 0 || n > uint64(len(ix.entries)) {
		return entry{}
	}
	return ix.entries[n-1]
}

// root returns the exchange that began the workflow of another one.
func (ix *Index) root(n uint64) uint64 {
	for range maxWalk {
		parent := ix.at(n).parent
		if parent == 0 {
			break
		}
		n = parent
	}
	return n
}

// ByAgent reports whether an agent made an exchange for the one that began its workflow, directly or not.
func (ix *Index) ByAgent(n uint64) bool {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for range maxWalk {
		at := ix.at(n)
		if at.parent == 0 {
			break
		}
		if at.by.ByAgent() {
			return true
		}
		n = at.parent
	}
	return false
}

// MayHaveCaused returns, in order, the exchanges that one of the given ones may have caused, if it is undecided whether
// it did. Among is called with the index locked.
func (ix *Index) MayHaveCaused(among func(n uint64) bool) []uint64 {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	var list []uint64
	for n, choice := range ix.maybe {
		if slices.ContainsFunc(choice.All(), among) {
			list = append(list, n)
		}
	}
	slices.Sort(list)
	return list
}

// Size returns how many exchanges a workflow has, at least 1.
func (ix *Index) Size(workflow uint64) int {
	ix.mu.Lock()
	defer ix.mu.Unlock()
	if ix.sizes == nil {
		ix.sizes = make(map[uint64]int)
		for i := range ix.entries {
			ix.sizes[ix.root(uint64(i)+1)]++
		}
	}
	n := ix.sizes[workflow]
	if workflow > uint64(len(ix.entries)) { // without a reported link of its own
		n++
	}
	return max(n, 1)
}

// Exchanges returns the exchanges of a workflow, in order, at most limit of them and their whole number.
func (ix *Index) Exchanges(workflow uint64, limit int) (list []uint64, all int) {
	ix.mu.RLock()
	defer ix.mu.RUnlock()
	for i := range ix.entries {
		if n := uint64(i) + 1; ix.root(n) == workflow {
			if all++; len(list) < limit {
				list = append(list, n)
			}
		}
	}
	if all == 0 || workflow > uint64(len(ix.entries)) { // without a reported link of its own
		if all++; len(list) < limit {
			list = append(list, workflow)
		}
	}
	return list, all
}
