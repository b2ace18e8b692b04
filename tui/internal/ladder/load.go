package ladder

import (
	"fmt"
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/summary"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// These constants bound the contents of a ladder.
const (
	maxLadderExchanges = 500 // exchanges
	maxLadderEvents    = 400 // events from each end of a stream
	maxNeighbours      = 10  // exchanges on either side of one that has no task
)

// content is the message of readLadder: the contents of a ladder.
type content struct {
	ticket   uint64
	arrows   []sequence.Arrow
	lanes    []lane
	seqs     []uint64 // exchanges, in order
	tasks    []string
	contexts []string
	more     int  // number of omitted exchanges
	alone    bool // the exchange has no task or context
	took     time.Duration
	err      error
	ends     int // number of events drawn from each end of a stream

	// Of a workflow also:
	root  uint64 // the exchange that began it
	links []workflow.Link
	tree  []branch
	maybe []uint64 // exchanges that may also belong to it
	same  bool     // nothing was loaded, since nothing has changed
}

// readLadder loads the exchanges that belong to the task and the context of one exchange.
func readLadder(l *load.Loader, ticket, seq uint64, found load.Snapshot, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		w := content{ticket: ticket, ends: maxLadderEvents}
		if w.err = l.NeedCards(); w.err == nil {
			w.err = findRelated(l, &w, seq)
		}
		if w.err == nil {
			found := found.Among(w.seqs)
			_, w.err = l.Each(w.seqs, maxLadderEvents, begin.Add(time.Hour), func(_ uint64, x *capture.Exchange) {
				if x != nil {
					w.draw(l, x, l.ShownSummary(x), found[x.Seq])
				}
			})
		}
		sequence.Sort(w.arrows)
		sortLanes(w.lanes)
		w.took = time.Since(begin)
		return w
	}
}

// draw adds the arrows of an exchange, and its lane. The middle of a very long stream becomes one arrow.
func (w *content) draw(l *load.Loader, x *capture.Exchange, s *summary.Summary, found []analysis.Finding) {
	short := load.Shorten(x, w.ends)
	reading := l.Reader.Read(short)
	w.arrows = append(w.arrows, sequence.Of(short, reading, s, found)...)
	w.lanes = append(w.lanes, newLane(short, load.NewEntry(s), w.ends))
	if x.Response == nil || len(short.Response.Events) <= w.ends {
		return
	}
	head, tail := short.Response.Events[:w.ends], short.Response.Events[w.ends:]
	last, next := load.CountEvents(head), load.FirstEvent(tail)-1
	if next <= last {
		return
	}
	w.arrows = append(w.arrows, sequence.Arrow{
		At: x.Started.Add(max(head[len(head)-1].At, 0)), Exchange: x.Seq, Response: true,
		From: x.Agent.Name, To: x.Client.Name, Event: last + 1,
		Label: fmt.Sprintf("·%d–%d not drawn", last+1, next),
	})
}

// findRelated finds the exchanges that share a task or a context with one, directly or through others.
func findRelated(l *load.Loader, w *content, seq uint64) error {
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

// expandRelated follows tasks and contexts from exchange to exchange until it finds no new ones or has enough.
func expandRelated(l *load.Loader, w *content, index capture.Index) error {
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

// trim omits exchanges far from one, if there are too many.
func (w *content) trim(seq uint64) {
	w.more = max(len(w.seqs)-maxLadderExchanges, 0)
	if w.more == 0 {
		return
	}
	i, _ := slices.BinarySearch(w.seqs, seq)
	from := min(max(i-maxLadderExchanges/2, 0), len(w.seqs)-maxLadderExchanges)
	w.seqs = w.seqs[from : from+maxLadderExchanges]
}

// takeNeighbours takes the exchanges around one.
func takeNeighbours(l *load.Loader, w *content, seq uint64) error {
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

// These constants bound the contents of a workflow.
const (
	maxWorkflowExchanges = 1000 // exchanges
	maxWorkflowEvents    = 50   // events from each end of a stream
)

// A branch is an exchange in the tree of its workflow.
type branch struct {
	load.Entry
	workflow.Branch
}

// readWorkflow loads the known exchanges of an exchange's workflow, at most the first maxWorkflowExchanges. If they are
// the same as before, and only links have changed, it loads nothing and sets same.
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
		w.maybe = mayBelong(&l.Links.Index, w.seqs)
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

func drawWorkflow(l *load.Loader, w *content, found map[uint64][]analysis.Finding) error {
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
	for _, b := range workflow.Tree(w.links) {
		w.tree = append(w.tree, branch{rows[b.Exchange], b})
	}
	return err
}

// inferred returns the evidence for the cause of an exchange if it is not proved, otherwise "".
func (b *branch) inferred() string {
	if b.Parent == 0 || b.By.Certain() {
		return ""
	}
	return "inferred: " + b.By.String()
}

// mayBelong returns the exchanges that may belong to a workflow, but for which there is no certain evidence.
func mayBelong(links *workflow.Index, seqs []uint64) []uint64 {
	among := func(n uint64) bool {
		_, there := slices.BinarySearch(seqs, n)
		return there
	}
	return slices.DeleteFunc(links.MayHaveCaused(among), among)
}
