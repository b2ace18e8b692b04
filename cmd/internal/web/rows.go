package web

import (
	"context"
	"iter"
	"math"
	"net/http"
	"slices"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/kept"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/proxy/capture"
)

// maxRows bounds the rows of one answer.
const maxRows = 200

// columns are those of a list, as show has them.
var columns = func() *present.Table {
	t, err := present.ParseTable("n,time,client,agent,op,status,ms,outcome,severity,rules")
	if err != nil {
		panic(err)
	}
	return t
}()

// Rows are what is seen of a list.
type rows struct {
	Columns []string   `json:"columns"`
	At      int        `json:"at"`     // of the first row, from 0
	All     int        `json:"all"`    // how many there are, as far as that is known
	Looked  uint64     `json:"looked"` // of how many exchanges it is known whether they are chosen
	More    bool       `json:"more"`   // there are others
	Rows    [][]string `json:"rows"`
	Sizes   []int      `json:"sizes,omitempty"` // of workflows: how many exchanges each has
}

// list answers with the rows of a list from at on, n of them: those of the exchanges that a filter chooses or, of
// workflows, those that began one.
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
	if _, ours := s.src.(capture.Index); ours && l.keep.All() { // none of its numbers is missing
		seqs = out.run(state, at, n)
	} else if seqs, err = s.window(ctx, l, state, &out, at, n); err != nil {
		return out, err
	}
	return out, out.read(ctx, state, seqs)
}

// run returns n exchanges of those that there are, judged or not, from at on.
func (out *rows) run(state judged.Followed, at, n uint64) (seqs []uint64) {
	head := state.Capture.Head()
	last := max(head.Last, state.Info.Exchanges)
	out.All, out.Looked = int(last), head.Rows
	for seq := min(at, last) + 1; seq <= last && uint64(len(seqs)) < n; seq++ {
		seqs = append(seqs, seq)
	}
	out.At = int(min(at, last))
	return seqs
}

// read reads the rows of exchanges. One that was not judged yet is summed up by itself.
func (out *rows) read(ctx context.Context, state judged.Followed, seqs []uint64) error {
	list := make([]*kept.Row, len(seqs))
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
		if row == nil { // it has only just come
			row = &kept.Row{}
			row.Seq, row.Took = seqs[i], capture.NotKnown
		}
		out.Rows = append(out.Rows, columns.Cells(row))
	}
	return nil
}

// summedEvents is how many events are read from each end of a stream to sum it up.
const summedEvents = 64

// summed sums up exchanges of these numbers, which are in order, each by itself.
func summed(ctx context.Context, src capture.Source, seqs []uint64) (map[uint64]*kept.Row, error) {
	list := make(map[uint64]*kept.Row, len(seqs))
	if len(seqs) == 0 {
		return list, nil
	}
	ends := src.Ends
	if g, is := src.(interface { // does not wait until all cards were read
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
		list[x.Seq] = &kept.Row{Summary: engine.Summarise(x)}
	}
	return list, nil
}

// listWorkflows answers with those exchanges that have caused others.
func (s *site) listWorkflows(ctx context.Context, out *rows, state judged.Followed, at, n uint64) error {
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

// window returns n exchanges of a list from at on, and says how much of it is known.
func (s *site) window(ctx context.Context, l *list, state judged.Followed, out *rows, at, n uint64) ([]uint64, error) {
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
