package tui

import (
	"fmt"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/track/workflow"
	"a2atap/proxy/capture"
	"a2atap/tui/load"
)

// Bounds of what a ladder shows.
const (
	maxLadderExchanges = 500 // exchanges
	maxLadderEvents    = 400 // events from each end of a stream
	maxNeighbours      = 10  // exchanges on either side of one that has no task
)

// ladderContent is the message of loader.ladderContent: what a ladder shows.
type ladderContent struct {
	ticket   uint64
	arrows   []sequence.Arrow
	lanes    []lane
	seqs     []uint64 // exchanges, in order
	tasks    []string
	contexts []string
	more     int  // how many exchanges were left out
	alone    bool // the exchange has no task or context
	took     time.Duration
	err      error
	ends     int // events that are drawn of each end of a stream

	// Of a workflow also:
	root  uint64 // the exchange that began it
	links []workflow.Link
	tree  []branch
	same  bool // nothing was loaded, since it is what was shown before
}

// readLadder loads the exchanges that belong to the task and the context of one exchange.
func readLadder(l *load.Loader, ticket, seq uint64, found load.Snapshot, pause time.Duration) tea.Cmd {
	return func() tea.Msg {
		l.Pause(pause)
		begin := time.Now()
		w := ladderContent{ticket: ticket, ends: maxLadderEvents}
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
func (w *ladderContent) draw(l *load.Loader, x *capture.Exchange, s *analyzer.Summary, found []analyzer.Finding) {
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
