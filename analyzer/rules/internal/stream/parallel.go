package stream

import (
	"fmt"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/stream"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Parallel is the family of rules about several streams of one task.
var Parallel = rule.Family{
	Name:     "parallel",
	Category: analysis.Streaming,
	Side:     a2a.Agent,
	On:       analysis.StreamEnded,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("3.5.2", a2a.V1_0),
}.Of(
	streamSameEvents,
	streamCloseIsolated,
)

var streamSameEvents = &analysis.Rule{
	ID:     "stream-same-events",
	Title:  "two streams of one task differ",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{stream.Tracker},
	Stands: "1.0.1:692",
	Doc: `All streams of a task that are open at the same time carry the same updates in the same order. Here two
clients that followed the same task got different updates, and build different results.`,
	Fix: `Publish each update once, in one order, to all subscribers of the task, with a separate queue for each. If
several streams read from one queue, each update reaches only one of them.`,
	Silent: `Tasks as events, timestamps, members with their default value; events from before both streams were open;
events that are missing at the end of a stream that its client left, that broke or that the recording cut; other
clients, credentials and extensions; updates further back than the last 128; streams with an error or a gap.`,
	Check: func(p *analysis.Pass) {
		d, compared := stream.Of(p).Diverges(p.Observation)
		if compared {
			p.Applied()
		}
		switch {
		case d == nil:
		case d.K > 0:
			p.Report(p.Exchange.ResponsePlace().Event(d.K),
				fmt.Sprintf("counted from the end of the task, %s has another update at this position", d.Other),
				"expected the same updates in the same order")
		default:
			p.Report(p.Place,
				fmt.Sprintf("the %d updates of %s, which ran at the same time, are not here in that order", d.Missing, d.Other),
				"expected the same updates in the same order")
		}
	},
}

var streamCloseIsolated = &analysis.Rule{
	ID:     "stream-close-isolated",
	Title:  "stream ends when another client leaves",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{stream.Tracker, task.Tracker},
	Covers: []string{"stream-truncated"},
	Stands: "1.0.1:693",
	Doc: `The agent ended this stream within a second after the client of another stream of the same task had left,
while the task was active. Closing one stream must not affect the others: the remaining clients miss the outcome.`,
	Fix: `Tie the work to the task, not to the request that started it. When a client leaves, remove its subscription,
and cancel nothing.`,
	Silent: `Streams of one connection, recordings without times or connections, tasks that had ended or wait. Since
it may be a coincidence, the finding is a warning at most, and a note if the stream broke.`,
	Check: func(p *analysis.Pass) {
		s := stream.Of(p).In(p.Exchange)
		if p.End.Open || p.End.ByClient() || s.Gap || s.Failed > 0 {
			return
		}
		left := stream.Of(p).Disconnected(p.Observation, time.Second)
		if left == nil || !s.State.Known() {
			return
		}
		p.Applied()
		known := task.Of(p).Get(p.Exchange, s.TaskID)
		elsewhere := known != nil && known.Last != nil && !known.Last.State.Active()
		if !s.State.Active() || elsewhere {
			return
		}
		worst := analysis.Note
		if p.End.Clean {
			worst = analysis.Warning
		}
		p.Report(p.Place,
			fmt.Sprintf("the stream ends with task %s %q, %s after the client of stream %d left", analysis.QuoteText(s.TaskID),
				s.State, p.End.At.Sub(left.At).Round(time.Millisecond), left.Exchange),
			"expected it to stay open", analysis.AtMost(worst))
	},
}
