package load

import (
	"context"
	"maps"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// maxSelection bounds the exchanges of a Selection.
const maxSelection = 1000

// A Selection is a part of a capture in memory: the chosen exchanges and their context. The context is the other
// exchanges about their tasks, and the agents' cards.
type Selection struct {
	*capture.Memory
	Chosen   map[uint64]bool
	Findings []analysis.Finding // in the chosen ones
}

// Keep reports whether an exchange is chosen.
func (p *Selection) Keep(x *capture.Exchange) bool { return p.Chosen[x.Seq] }

// Select reads a part of the capture. However large the capture is, Select reads only that part, unless the capture has
// no index.
func (l *Loader) Select(ctx context.Context, chosen []uint64, found map[uint64][]analysis.Finding) (*Selection, error) {
	p := &Selection{Chosen: make(map[uint64]bool)}
	all := make(map[uint64]bool)
	for _, seq := range chosen {
		p.Chosen[seq], all[seq] = true, true
		p.Findings = append(p.Findings, found[seq]...)
	}
	keys := []capture.Key{
		{Kind: "operation", Value: a2a.GetCard.String()}, {Kind: "operation", Value: a2a.GetExtendedCard.String()},
	}
	for _, seq := range chosen {
		x, err := l.Ends(seq, EntryEvents)
		if err != nil {
			return nil, err
		}
		keys = append(keys, RelationKeys(l.Reader.Read(Brief(x)).Tasks, nil)...)
	}
	index, ok := l.Source.(capture.Index)
	if !ok {
		var err error
		if index, err = l.Relations.Of(l); err != nil {
			return nil, err
		}
	}
	for _, key := range keys {
		for seq, err := range index.Find(ctx, key, 1) {
			if err != nil {
				return nil, err
			}
			if all[seq] = true; len(all) > maxSelection {
				break
			}
		}
	}
	info, err := l.Source.Info(ctx)
	if err != nil {
		return nil, err
	}
	p.Memory, err = capture.ReadMemory(capture.Info{Name: info.Name}, l.whole(ctx, slices.Sorted(maps.Keys(all))))
	return p, err
}

// SameTask returns the exchanges of the first task that an exchange is about, and the task's id. It returns only the
// exchange if it is about no task.
func (l *Loader) SameTask(ctx context.Context, seq uint64) (task string, seqs []uint64, err error) {
	x, err := l.Ends(seq, EntryEvents)
	if err != nil {
		return "", nil, err
	}
	r := l.Reader.Read(Brief(x))
	if len(r.Tasks) == 0 {
		return "", []uint64{seq}, nil
	}
	index, ok := l.Source.(capture.Index)
	if !ok {
		if index, err = l.Relations.Of(l); err != nil {
			return "", nil, err
		}
	}
	for n, err := range index.Find(ctx, capture.Key{Kind: "task", Value: r.Tasks[0]}, 1) {
		if err != nil {
			return "", nil, err
		}
		if seqs = append(seqs, n); len(seqs) == maxSelection {
			break
		}
	}
	if !slices.Contains(seqs, seq) { // the index knows it by another name
		seqs = append(seqs, seq)
		slices.Sort(seqs)
	}
	return r.Tasks[0], seqs, nil
}
