package tui

import (
	"context"
	"iter"
	"slices"
	"sync"

	"a2atap/proxy/capture"
)

// findRelated finds the exchanges that share a task or a context with one, those that share one with them, and so on.
func (l *loader) findRelated(w *ladderContent, seq uint64) error {
	x, err := l.ends(seq, entryEvents)
	if err != nil {
		return err
	}
	r := l.reader.Read(brief(x))
	if len(r.Tasks) == 0 && len(r.Contexts) == 0 {
		return l.takeNeighbours(w, seq)
	}
	w.tasks, w.contexts = r.Tasks, r.Contexts
	index, ok := l.src.(capture.Index)
	if !ok {
		index, err = l.relations.of(l)
		if err != nil {
			return err
		}
	}
	if err := l.expand(w, index); err != nil {
		return err
	}
	if i, there := slices.BinarySearch(w.seqs, seq); !there {
		w.seqs = slices.Insert(w.seqs, i, seq)
	}
	w.trim(seq)
	return nil
}

// expand follows tasks and contexts from exchange to exchange until nothing new turns up, or there is enough.
func (l *loader) expand(w *ladderContent, index capture.Index) error {
	known := make(map[uint64]bool)
	asked := make(map[capture.Key]bool)
	keys := relationKeys(w.tasks, w.contexts)
	for len(keys) > 0 && len(known) <= 2*maxLadderExchanges {
		key := keys[0]
		keys = keys[1:]
		if asked[key] {
			continue
		}
		asked[key] = true
		var fresh []uint64
		for seq, err := range index.Find(l.ctx, key, 1) {
			if err != nil {
				return err
			}
			if !known[seq] && len(known) < 20*maxLadderExchanges {
				known[seq] = true
				fresh = append(fresh, seq)
			}
		}
		more, err := l.keysOf(fresh)
		if err != nil {
			return err
		}
		keys = append(keys, more...)
	}
	for seq := range known {
		w.seqs = append(w.seqs, seq)
	}
	slices.Sort(w.seqs)
	return nil
}

// keysOf returns the tasks and contexts of at most maxLadderExchanges exchanges.
func (l *loader) keysOf(seqs []uint64) (keys []capture.Key, err error) {
	for _, seq := range seqs[:min(len(seqs), maxLadderExchanges)] {
		x, err := l.ends(seq, entryEvents)
		if err != nil {
			return nil, err
		}
		r := l.reader.Read(brief(x))
		if len(r.Tasks) <= 3 { // a list of tasks would relate all of them
			keys = append(keys, relationKeys(r.Tasks, r.Contexts)...)
		}
	}
	return keys, nil
}

func relationKeys(tasks, contexts []string) (keys []capture.Key) {
	for _, id := range tasks {
		keys = append(keys, capture.Key{Kind: "task", Value: id})
	}
	for _, id := range contexts {
		keys = append(keys, capture.Key{Kind: "context", Value: id})
	}
	return keys
}

// trim leaves out exchanges that are far from one, if there are too many.
func (w *ladderContent) trim(seq uint64) {
	w.more = max(len(w.seqs)-maxLadderExchanges, 0)
	if w.more == 0 {
		return
	}
	i, _ := slices.BinarySearch(w.seqs, seq)
	from := min(max(i-maxLadderExchanges/2, 0), len(w.seqs)-maxLadderExchanges)
	w.seqs = w.seqs[from : from+maxLadderExchanges]
}

// takeNeighbours takes the exchanges around one.
func (l *loader) takeNeighbours(w *ladderContent, seq uint64) error {
	w.alone = true
	info, err := l.src.Info(l.ctx)
	if err != nil {
		return err
	}
	for n := max(seq, maxNeighbours+1) - maxNeighbours; n <= min(seq+maxNeighbours, info.Exchanges); n++ {
		w.seqs = append(w.seqs, n)
	}
	return nil
}

// A memoryIndex is built by reading a whole capture that has no index.
type memoryIndex map[capture.Key][]uint64

// Find implements capture.Index.
func (m memoryIndex) Find(_ context.Context, key capture.Key, from uint64) iter.Seq2[uint64, error] {
	return func(yield func(uint64, error) bool) {
		for _, seq := range m[key] {
			if seq >= from && !yield(seq, nil) {
				return
			}
		}
	}
}

// relations keep the index of a capture that has none of its own, until that has grown.
type relations struct {
	mu    sync.Mutex
	index memoryIndex
	until uint64 // the arrivals that were read
}

// of returns the index of the capture as it is now.
func (r *relations) of(l *loader) (memoryIndex, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := l.src.Info(l.ctx)
	if err != nil {
		return nil, err
	}
	if r.index != nil && r.until == info.Arrivals {
		return r.index, nil
	}
	index, err := l.indexAll()
	if err == nil {
		err = l.ctx.Err()
	}
	if err == nil {
		r.index, r.until = index, info.Arrivals
	}
	return index, err
}

func (l *loader) indexAll() (memoryIndex, error) {
	m := make(memoryIndex)
	for x, err := range l.src.Ends(l.ctx, 1, entryEvents) {
		if err != nil {
			return nil, err
		}
		r := l.reader.Read(brief(x))
		for _, key := range relationKeys(r.Tasks, r.Contexts) {
			m[key] = append(m[key], x.Seq)
		}
	}
	return m, nil
}
