package ladder

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/internal/chart"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// A lane is an exchange in a waterfall, with the times of its parts as offsets from its start.
type lane struct {
	load.Entry
	answer  time.Duration    // when the head of its response was complete; capture.NotKnown if none was seen
	until   time.Duration    // its end, or its last known part
	events  []time.Duration  // events of its stream that were read
	count   int              // number of all events
	skipped [2]time.Duration // the last event before the unread ones, and the next; zero if all were read
	open    bool
	cut     bool // the recorder ended before the exchange did
}

// newLane returns the lane of an exchange. For a long stream, x has only the first and last ends events.
func newLane(x *capture.Exchange, row load.Entry, ends int) lane {
	l := lane{
		Entry: row, answer: capture.NotKnown, until: max(x.Ended, 0),
		open: x.State == capture.StateOpen, cut: x.State == capture.StateInterrupted,
	}
	res := x.Response
	if res == nil {
		return l
	}
	l.answer = res.At
	l.until = max(l.until, res.At, res.Body.At)
	for i := range res.Events {
		if at := res.Events[i].At; at >= 0 {
			l.events = append(l.events, at)
			l.until = max(l.until, at)
		}
	}
	if took := x.Took(); took < x.Ended { // its client left, and no one received the later parts
		l.until = took
	}
	l.count = load.CountEvents(res.Events)
	if n := len(res.Events); n > ends {
		last, next := load.CountEvents(res.Events[:ends]), load.FirstEvent(res.Events[ends:])
		if next > last+1 {
			l.skipped = [2]time.Duration{res.Events[ends-1].At, res.Events[ends].At}
		}
	}
	return l
}

func sortLanes(lanes []lane) {
	slices.SortStableFunc(lanes, func(a, b lane) int {
		return cmp.Or(a.Started.Compare(b.Started), cmp.Compare(a.Seq, b.Seq))
	})
}

// bar draws a lane that began the duration after after the first one.
func (l *lane) bar(s chart.Scale, after time.Duration) style.Strip {
	b := style.NewStrip(s.Columns)
	at := func(offset time.Duration) int { return s.Column(after + offset) }
	first, last := at(0), at(l.until)
	if l.open {
		last = s.Columns - 1
	}
	b.Fill(first, last, style.Dim, "─")
	answered := l.answer >= 0 && l.answer <= l.until
	if answered {
		b.Fill(at(l.answer), last, style.Answer, "━")
	}
	if from, to := at(l.skipped[0]), at(l.skipped[1]); l.skipped[1] > 0 {
		b.Fill(from+1, to-1, style.Dim, "╌")
	}
	if answered {
		b.Put(at(l.answer), style.Answer, "○")
	}
	for _, t := range l.events {
		if t <= l.until {
			b.Put(at(t), style.Answer, "●")
		}
	}
	b.Put(first, style.Normal, "├")
	switch {
	case l.Failed:
		b.Put(last, style.Error, "✗")
	case l.open:
		b.Put(last, style.Warning, "▶")
	case l.cut:
		b.Put(last, style.Warning, "?")
	case first == last:
		b.Put(last, style.Normal, "┃")
	case b[last].Text == "━" || b[last].Text == "─":
		b.Put(last, style.Normal, "┤")
	}
	return b
}

// times describes when the parts of the exchange arrived.
func (l *lane) times() string {
	var words []string
	switch {
	case l.answer >= 0:
		words = append(words, "answer after "+text.Duration(l.answer))
	case l.Status == "–":
		words = append(words, "no answer")
	}
	if n := len(l.events); n > 0 {
		words = append(words, fmt.Sprintf("%s from %s to %s", text.Plural(l.count, "event"), text.Duration(l.events[0]),
			text.Duration(l.events[n-1])))
	}
	if missing := l.count - len(l.events); missing > 0 && l.skipped[1] > 0 {
		words = append(words, fmt.Sprintf("%s to %s are not drawn", text.Duration(l.skipped[0]), text.Duration(l.skipped[1])))
	}
	switch {
	case l.open:
		words = append(words, "still open")
	case l.cut:
		words = append(words, "the recorder ended first")
	case l.Took >= 0:
		words = append(words, "ended after "+text.Duration(l.Took))
	}
	return strings.Join(words, ", ")
}
