package web

import (
	"context"
	"iter"
	"math"
	"net/http"
	"slices"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/present"
	"a2atap/proxy/capture"
)

// maxRows is the maximum number of rows in one answer.
const maxRows = 200

// columns are the columns of a list, as in show.
var columns = func() *present.Table {
	t, err := present.ParseTable("n,time,client,agent,op,status,ms,outcome,severity,rules")
	if err != nil {
		panic(err)
	}
	return t
}()

// Rows is the visible part of a list.
type rows struct {
	Columns []string   `json:"columns"`
	At      int        `json:"at"`     // of the first row, from 0
	All     int        `json:"all"`    // known number of rows
	Looked  uint64     `json:"looked"` // number of exchanges tested
	More    bool       `json:"more"`   // there may be more
	Rows    [][]string `json:"rows"`
	Sizes   []int      `json:"sizes,omitempty"` // of workflows: number of exchanges in each
}

// list answers with n rows of a list, starting at at: of the exchanges that match a filter or, for workflows, of those
// that began one.
func (s *site) list(r *http.Request) (rows, error) {
	out := rows{Columns: columns.Names(), Rows: [][]string{}}
	at, err := number(r, "at")
	if err != nil {
		return out, err
	}
	n, err := number(r, "n")
	if err != nil {
		return out, err
	}
	n = min(n, maxRows)
	state, err := s.now()
	if err != nil {
		return out, err
	}
	ctx := r.Context()
	if r.FormValue("of") == "workflows" {
		return out, s.listWorkflows(ctx, &out, state, at, n)
	}
	l, err := s.listOf(r.FormValue("filter"))
	if err != nil {
		return out, wrong{err}
	}
	var seqs []uint64
	if _, ours := s.src.(capture.Index); ours && l.keep.All() { // no number is missing
		seqs = out.run(state, at, n)
	} else if seqs, err = s.window(ctx, l, state, &out, at, n); err != nil {
		return out, err
	}
	return out, out.read(ctx, state, seqs)
}

// run returns n existing exchanges, checked or not, starting at at.
func (out *rows) run(state known, at, n uint64) (seqs []uint64) {
	head := state.Capture.Head()
	last := max(head.Last, state.Info.Exchanges)
	out.All, out.Looked = int(last), head.Rows
	for seq := min(at, last) + 1; seq <= last && uint64(len(seqs)) < n; seq++ {
		seqs = append(seqs, seq)
	}
	out.At = int(min(at, last))
	return seqs
}

// read reads the rows of exchanges. It computes separately the summary of an exchange that is not checked yet.
func (out *rows) read(ctx context.Context, state known, seqs []uint64) error {
	list := make([]*snapshot.Row, len(seqs))
	var unjudged []uint64
	for i, seq := range seqs {
		var err error
		if list[i], err = state.Capture.Row(ctx, seq); err != nil {
			return err
		}
		if list[i] == nil {
			unjudged = append(unjudged, seq)
		}
	}
	alone, err := summed(ctx, state.Capture.Source, unjudged)
	if err != nil {
		return err
	}
	for i, row := range list {
		if row == nil {
			row = alone[seqs[i]]
		}
		if row == nil { // it has just arrived
			row = &snapshot.Row{}
			row.Seq, row.Took = seqs[i], capture.NotKnown
		}
		out.Rows = append(out.Rows, columns.Cells(row))
	}
	return nil
}

// summedEvents is the number of events read from each end of a stream for its summary.
const summedEvents = 64

// summed computes the summaries of exchanges with these numbers, which are in order.
func summed(ctx context.Context, src capture.Source, seqs []uint64) (map[uint64]*snapshot.Row, error) {
	list := make(map[uint64]*snapshot.Row, len(seqs))
	if len(seqs) == 0 {
		return list, nil
	}
	ends := src.Ends
	if g, is := src.(interface { // does not wait until all cards have been read
		Glance(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error]
	}); is {
		ends = g.Glance
	}
	for x, err := range ends(ctx, seqs[0], summedEvents) {
		if err != nil {
			return nil, err
		}
		if x.Seq > seqs[len(seqs)-1] {
			break
		}
		list[x.Seq] = &snapshot.Row{Summary: engine.Summarize(x)}
	}
	return list, nil
}

// listWorkflows answers with the exchanges that have caused others.
func (s *site) listWorkflows(ctx context.Context, out *rows, state known, at, n uint64) error {
	t, err := s.workflows(ctx, state)
	if err != nil {
		return err
	}
	out.All, out.Looked = len(t.roots), state.Capture.Head().Rows
	from := min(int(min(at, math.MaxInt32)), len(t.roots))
	seen := t.roots[from:min(from+int(n), len(t.roots))]
	out.At = from
	for _, root := range seen {
		out.Sizes = append(out.Sizes, t.links.Size(root))
	}
	return out.read(ctx, state, seen)
}

// window returns n exchanges of a list, starting at at, and how much of the list is known.
func (s *site) window(ctx context.Context, l *list, state known, out *rows, at, n uint64) ([]uint64, error) {
	done, err := s.draws(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	if err := s.know(ctx, state); err != nil {
		return nil, err
	}
	if err := l.extend(ctx, s.src, state); err != nil {
		return nil, err
	}
	head := state.Capture.Head()
	out.All, out.More = len(l.chosen), l.next <= head.Last
	if out.Looked = head.Rows; out.More {
		out.Looked = min(l.next-1, head.Rows)
	}
	from := min(int(min(at, math.MaxInt32)), len(l.chosen))
	out.At = from
	return slices.Clone(l.chosen[from:min(from+int(n), len(l.chosen))]), nil
}
