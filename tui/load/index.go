package load

import (
	"context"
	"iter"

	"a2atap/proxy/capture"
)

// RelationKeys returns the keys of tasks and contexts in the capture's index.
func RelationKeys(tasks, contexts []string) (keys []capture.Key) {
	for _, id := range tasks {
		keys = append(keys, capture.Key{Kind: "task", Value: id})
	}
	for _, id := range contexts {
		keys = append(keys, capture.Key{Kind: "context", Value: id})
	}
	return keys
}

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

// Of returns the current index of the capture.
func (r *relations) Of(l *Loader) (memoryIndex, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	info, err := l.Source.Info(l.Context)
	if err != nil {
		return nil, err
	}
	if r.Index != nil && r.until == info.Arrivals {
		return r.Index, nil
	}
	index, err := l.indexAll()
	if err == nil {
		err = l.Context.Err()
	}
	if err == nil {
		r.Index, r.until = index, info.Arrivals
	}
	return index, err
}

func (l *Loader) indexAll() (memoryIndex, error) {
	m := make(memoryIndex)
	for x, err := range l.Source.Ends(l.Context, 1, EntryEvents) {
		if err != nil {
			return nil, err
		}
		r := l.Reader.Read(Brief(x))
		for _, key := range RelationKeys(r.Tasks, r.Contexts) {
			m[key] = append(m[key], x.Seq)
		}
	}
	return m, nil
}
