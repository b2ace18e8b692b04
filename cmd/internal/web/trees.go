package web

import (
	"context"
	"slices"

	"a2atap/analyzer/track/workflow"
	"a2atap/cmd/internal/verdict"
)

// trees are the causes and effects in the capture.
type trees struct {
	links *workflow.Index
	roots []uint64 // the exchanges with effects but without a cause, in order
}

// newTrees reads the causes known so far.
func newTrees(ctx context.Context, j *verdict.Capture) (*trees, error) {
	t := &trees{}
	var err error
	if t.links, err = j.Links(ctx); err != nil {
		return nil, err
	}
	roots := make(map[uint64]bool)
	for seq := uint64(1); seq <= j.Head().Last; seq++ {
		if l := t.links.Of(seq); l.Parent != 0 && !roots[l.Workflow] {
			roots[l.Workflow] = true
			t.roots = append(t.roots, l.Workflow)
		}
	}
	slices.Sort(t.roots)
	return t, nil
}
