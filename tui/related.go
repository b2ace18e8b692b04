package tui

import (
	"slices"

	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// findRelated finds the exchanges that share a task or a context with one, those that share one with them, and so on.
func findRelated(l *load.Loader, w *ladderContent, seq uint64) error {
	x, err := l.Ends(seq, load.EntryEvents)
	if err != nil {
		return err
	}
	r := l.Reader.Read(load.Brief(x))
	if len(r.Tasks) == 0 && len(r.Contexts) == 0 {
		return takeNeighbours(l, w, seq)
	}
	w.tasks, w.contexts = r.Tasks, r.Contexts
	index, ok := l.Source.(capture.Index)
	if !ok {
		index, err = l.Relations.Of(l)
		if err != nil {
			return err
		}
	}
	if err := expandRelated(l, w, index); err != nil {
		return err
	}
	if i, there := slices.BinarySearch(w.seqs, seq); !there {
		w.seqs = slices.Insert(w.seqs, i, seq)
	}
	w.trim(seq)
	return nil
}

// expandRelated follows tasks and contexts from exchange to exchange until nothing new turns up, or there is enough.
func expandRelated(l *load.Loader, w *ladderContent, index capture.Index) error {
	known := make(map[uint64]bool)
	asked := make(map[capture.Key]bool)
	keys := load.RelationKeys(w.tasks, w.contexts)
	for len(keys) > 0 && len(known) <= 2*maxLadderExchanges {
		key := keys[0]
		keys = keys[1:]
		if asked[key] {
			continue
		}
		asked[key] = true
		var fresh []uint64
		for seq, err := range index.Find(l.Context, key, 1) {
			if err != nil {
				return err
			}
			if !known[seq] && len(known) < 20*maxLadderExchanges {
				known[seq] = true
				fresh = append(fresh, seq)
			}
		}
		more, err := relatedKeys(l, fresh)
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

// relatedKeys returns the tasks and contexts of at most maxLadderExchanges exchanges.
func relatedKeys(l *load.Loader, seqs []uint64) (keys []capture.Key, err error) {
	for _, seq := range seqs[:min(len(seqs), maxLadderExchanges)] {
		x, err := l.Ends(seq, load.EntryEvents)
		if err != nil {
			return nil, err
		}
		r := l.Reader.Read(load.Brief(x))
		if len(r.Tasks) <= 3 { // a list of tasks would relate all of them
			keys = append(keys, load.RelationKeys(r.Tasks, r.Contexts)...)
		}
	}
	return keys, nil
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
func takeNeighbours(l *load.Loader, w *ladderContent, seq uint64) error {
	w.alone = true
	info, err := l.Source.Info(l.Context)
	if err != nil {
		return err
	}
	for n := max(seq, maxNeighbours+1) - maxNeighbours; n <= min(seq+maxNeighbours, info.Exchanges); n++ {
		w.seqs = append(w.seqs, n)
	}
	return nil
}
