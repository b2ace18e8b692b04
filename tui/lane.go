package tui

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/tui/load"
	"a2atap/tui/style"
)

// A lane is an exchange in a waterfall: what of it happened when, as offsets from its start.
type lane struct {
	load.Entry
	answer  time.Duration    // the head of its answer was complete; capture.NotKnown if none was seen
	until   time.Duration    // its end, or the last that is known of it
	events  []time.Duration  // events of its stream, as far as they were read
	count   int              // of all events
	skipped [2]time.Duration // the last event before those that were not read, and the next; zero if there are none
	open    bool
	cut     bool // the recorder ended before it did
}

// newLane reads when the parts of an exchange came. Of a long stream only the events of x are known, ends of each end.
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

// A scale says which column of a strip stands for which time.
type scale struct {
	total   time.Duration // that the columns stand for
	columns int
}

// column returns the column of a time since the beginning.
func (s scale) column(at time.Duration) int {
	if s.total <= 0 || s.columns <= 1 {
		return 0
	}
	at = min(max(at, 0), s.total)
	return int(float64(at) / float64(s.total) * float64(s.columns-1))
}

// labelRoom is the least number of columns between two labels.
const labelRoom = 10

// step returns the time between two labels of the axis.
func (s scale) step() time.Duration {
	least := time.Duration(float64(s.total) / float64(max(s.columns, 1)) * labelRoom)
	for unit := time.Microsecond; unit < time.Second; unit *= 10 {
		for _, n := range []time.Duration{1, 2, 5} {
			if n*unit >= least {
				return n * unit
			}
		}
	}
	for _, n := range []time.Duration{
		1, 2, 5, 10, 20, 30, 60, 2 * 60, 5 * 60, 10 * 60, 20 * 60, 30 * 60, 3600, 2 * 3600, 6 * 3600, 12 * 3600,
	} {
		if n*time.Second >= least {
			return n * time.Second
		}
	}
	day := 24 * time.Hour
	return max((least+day-1)/day, 1) * day
}

// axis returns the labels of the axis, and the columns where they are.
func (s scale) axis() (labels style.Strip, at []int) {
	labels = style.NewStrip(s.columns)
	step := s.step()
	for t := time.Duration(0); t <= s.total && len(at) <= s.columns; t += step {
		column := s.column(t)
		if name := axisLabel(t); column+len(name) <= s.columns {
			for i, r := range name {
				labels.Put(column+i, style.Dim, string(r))
			}
		}
		at = append(at, column)
	}
	return labels, at
}

// axisLabel writes a time without what is zero in it.
func axisLabel(t time.Duration) string {
	if t < time.Millisecond && t > 0 {
		return fmt.Sprintf("%gms", float64(t)/float64(time.Millisecond))
	}
	name := t.String()
	if strings.HasSuffix(name, "m0s") {
		name = strings.TrimSuffix(name, "0s")
	}
	if strings.HasSuffix(name, "h0m") {
		name = strings.TrimSuffix(name, "0m")
	}
	return name
}

// bar draws a lane, which began so long after the first one.
func (l *lane) bar(s scale, after time.Duration) style.Strip {
	b := style.NewStrip(s.columns)
	at := func(offset time.Duration) int { return s.column(after + offset) }
	first, last := at(0), at(l.until)
	if l.open {
		last = s.columns - 1
	}
	b.Fill(first, last, style.Dim, "─")
	if l.answer >= 0 {
		b.Fill(at(l.answer), last, style.Answer, "━")
	}
	if from, to := at(l.skipped[0]), at(l.skipped[1]); l.skipped[1] > 0 {
		b.Fill(from+1, to-1, style.Dim, "╌")
	}
	if l.answer >= 0 {
		b.Put(at(l.answer), style.Answer, "○")
	}
	for _, t := range l.events {
		b.Put(at(t), style.Answer, "●")
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
