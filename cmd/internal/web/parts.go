package web

import (
	"fmt"
	"net/http"

	"a2atap/analyzer/snapshot"
)

// part answers with a part of the report: name.
func (s *site) part(r *http.Request) (out fragment, err error) {
	state, err := s.now()
	if err != nil {
		return out, err
	}
	t, err := s.sum(r.Context(), state)
	if err != nil {
		return out, err
	}
	var known bool
	if out.HTML, known = t.parts[r.FormValue("name")]; !known {
		return out, wrong{fmt.Errorf("there is no part %q", r.FormValue("name"))}
	}
	return out, nil
}

// maxGroup is the maximum number of exchanges drawn together.
const maxGroup = 200

// exchange answers with one exchange: n.
func (s *site) exchange(r *http.Request) (out drawn, err error) {
	n, err := number(r, "n")
	if err != nil {
		return out, err
	}
	ctx := r.Context()
	done, err := s.draws(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	state, err := s.now()
	if err != nil {
		return out, err
	}
	row, err := state.Capture.Row(ctx, n)
	if err != nil {
		return out, err
	}
	if row == nil { // it does not exist, or is not checked yet
		if _, err := s.src.Exchange(ctx, n); err != nil {
			return out, err
		}
		row = &snapshot.Row{}
		out.Open = true
	}
	if err := s.know(ctx, state); err != nil {
		return out, err
	}
	if err := draw(ctx, &out, state.Info.Name, state.Capture, []uint64{n}); err != nil {
		return out, err
	}
	t, err := s.workflows(ctx, state)
	if err != nil {
		return out, err
	}
	root := t.links.Of(n).Workflow
	if size := t.links.Size(root); size > 1 {
		out.Workflow, out.Size = root, size
	}
	out.Tasks = row.Tasks
	return out, nil
}

// group answers with a workflow, or with the first exchanges that match a filter.
func (s *site) group(r *http.Request) (out drawn, err error) {
	root, err := number(r, "workflow")
	if err != nil {
		return out, err
	}
	ctx := r.Context()
	state, err := s.now()
	if err != nil {
		return out, err
	}
	var seqs []uint64
	all := 0
	if root > 0 {
		t, err := s.workflows(ctx, state)
		if err != nil {
			return out, err
		}
		seqs, all = t.links.Exchanges(root, maxGroup)
	} else {
		l, err := s.listOf(r.FormValue("filter"))
		if err != nil {
			return out, wrong{err}
		}
		var of rows
		if seqs, err = s.window(ctx, l, state, &of, 0, maxGroup); err != nil {
			return out, err
		}
		all = of.All
	}
	done, err := s.draws(ctx)
	if err != nil {
		return out, err
	}
	defer done()
	if err := s.know(ctx, state); err != nil {
		return out, err
	}
	out.Left = all - len(seqs)
	return out, draw(ctx, &out, state.Info.Name, state.Capture, seqs)
}
