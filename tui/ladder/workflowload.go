package ladder

import (
	"cmp"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// Bounds of what is shown of a workflow.
const (
	maxWorkflowExchanges = 1000 // exchanges
	maxWorkflowEvents    = 50   // events from each end of a stream
)

// A branch is an exchange in the tree of its workflow.
type branch struct {
	load.Entry
	stem  string // the lines of the tree that lead to it
	under uint64 // the exchange that caused it, 0 if none is shown
	by    workflow.Evidence
}

// readWorkflow loads the exchanges of the workflow to which an exchange belongs, as far as that is known: the first
// maxWorkflowExchanges of them. If they are those that are known already, and nothing else than links has changed, it
// loads nothing and says so.
func readWorkflow(l *load.Loader,
	ticket, seq uint64, have []workflow.Link, found load.Snapshot, pause time.Duration,
) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		w := content{ticket: ticket, ends: maxWorkflowEvents}
		all := 0
		l.NeedLinks()
		w.root = l.Links.Index.Of(seq).Workflow
		w.seqs, all = l.Links.Index.Exchanges(w.root, maxWorkflowExchanges)
		w.more = all - len(w.seqs)
		for _, n := range w.seqs {
			w.links = append(w.links, l.Links.Index.Of(n))
		}
		if w.err = l.NeedCards(); w.err != nil {
			return w
		}
		w.same = have != nil && slices.Equal(w.links, have)
		if !w.same {
			w.err = drawWorkflow(l, &w, found.Among(w.seqs))
		}
		w.took = time.Since(begin)
		return w
	}
}

func drawWorkflow(l *load.Loader, w *content, found map[uint64][]analyzer.Finding) error {
	rows := make(map[uint64]load.Entry, len(w.seqs))
	_, err := l.Each(w.seqs, maxWorkflowEvents, time.Now().Add(time.Hour), func(seq uint64, x *capture.Exchange) {
		if x == nil {
			rows[seq] = load.Entry{Seq: seq, Absent: true, Took: capture.NotKnown}
			return
		}
		s := l.ShownSummary(x)
		rows[seq] = load.NewEntry(s)
		w.draw(l, x, s, found[seq])
	})
	sequence.Sort(w.arrows)
	sortLanes(w.lanes)
	w.tree = tree(w.links, rows)
	return err
}

// inferred returns why it is thought that an exchange was caused by the one above it, "" if that is proved.
func (b *branch) inferred() string {
	if b.under == 0 || b.by.Certain() {
		return ""
	}
	return "inferred: " + b.by.String()
}

// tree puts the exchanges of a workflow in the order of its tree: each is followed by what it caused, earlier ones
// first. What was caused by an exchange that is not among them stands for itself.
func tree(list []workflow.Link, rows map[uint64]load.Entry) []branch {
	under := make(map[uint64][]workflow.Link)
	for _, l := range list {
		if _, there := rows[l.Parent]; !there {
			l.Parent = 0
		}
		under[l.Parent] = append(under[l.Parent], l)
	}
	for _, of := range under { // the card that was fetched for a call came before it, and so may what it caused
		slices.SortFunc(of, func(a, b workflow.Link) int { return cmp.Compare(a.Exchange, b.Exchange) })
	}
	var branches []branch
	var grow func(l workflow.Link, stem, below string)
	grow = func(l workflow.Link, stem, below string) {
		branches = append(branches, branch{rows[l.Exchange], stem, l.Parent, l.By})
		children := under[l.Exchange]
		for i, child := range children {
			fork, bar := "├─ ", "│  "
			if i == len(children)-1 {
				fork, bar = "└─ ", "   "
			}
			grow(child, below+fork, below+bar)
		}
	}
	for _, l := range under[0] {
		grow(l, "", "")
	}
	return branches
}
