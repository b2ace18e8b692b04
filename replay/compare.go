package replay

import (
	"fmt"
	"net/http"
	"slices"

	"a2atap/proxy/a2a"
	"a2atap/replay/report"
)

// A comparison compares the recorded answer of one exchange with the live one, by meaning.
type comparison struct {
	values  *values
	profile Profile
	entry   *entry
	call    *a2a.Call
	rec     *reply
	live    *reply
	seq     uint64 // of the live exchange
	diffs   []report.Difference
}

// run returns what differs.
func (c *comparison) run() []report.Difference {
	c.ends()
	if c.live.end == silent {
		return c.diffs
	}
	if c.unchanged() {
		return c.diffs
	}
	if c.rec.stream || c.live.stream {
		c.streams()
	} else {
		c.align(c.rec.items, c.live.items)
	}
	if len(c.diffs) == 0 {
		c.heads()
	}
	return c.diffs
}

// heads compares the heads of two answers that come to the same.
func (c *comparison) heads() {
	at := fmt.Sprintf("%d.response", c.entry.seq)
	if c.profile != Protocol && c.rec.status != c.live.status {
		c.add(report.Difference{
			Kind: report.DifferentStructure, Place: at + ".status",
			Want: fmt.Sprint(c.rec.status), Got: fmt.Sprint(c.live.status),
			Message: fmt.Sprintf("the status is %d, recorded %d", c.live.status, c.rec.status),
		})
	}
	if c.rec.media != "" && c.live.media != "" && c.rec.media != c.live.media {
		c.add(report.Difference{
			Kind: report.DifferentMediaType, Place: at + ".header[Content-Type]", Want: c.rec.media, Got: c.live.media,
			Message: fmt.Sprintf("the answer is %s, recorded as %s", clip(c.live.media), clip(c.rec.media)),
		})
	}
}

// unchanged reports whether one of two answers says that the card is the one which the client has already (RFC 9110
// section 15.4.5), and the other shows it: tags of versions mean something to their agent only.
func (c *comparison) unchanged() bool {
	if c.rec.status != http.StatusNotModified && c.live.status != http.StatusNotModified {
		return false
	}
	card := func(r *reply) bool { return r.status == http.StatusNotModified || r.first().kind == a2a.CardPayload }
	return card(c.rec) && card(c.live)
}

func (c *comparison) add(d report.Difference) {
	d.Exchange = c.entry.seq
	c.diffs = append(c.diffs, d)
}

// ends compares how the answers ended, if the recording shows it.
func (c *comparison) ends() {
	if c.rec.end == c.live.end || c.rec.end == unended || c.rec.end == left && c.live.end == whole {
		return
	}
	got := c.live.end.String()
	if f := c.live.fault; f != nil && c.live.end != whole {
		got = fmt.Sprintf("%s (%s: %s)", got, f.Kind, f.Detail)
	}
	c.add(report.Difference{
		Kind: report.DifferentEnd, Place: fmt.Sprintf("%d.response", c.entry.seq), Want: c.rec.end.String(), Got: got,
		Message: fmt.Sprintf("the answer is %s, the recorded one %s", got, c.rec.end),
	})
}

// streams compares two answers of which at least one is a stream.
func (c *comparison) streams() {
	rec, live := c.rec.items, c.live.items
	if c.rec.end != whole && len(live) > len(rec) {
		live = live[:len(rec)]
	}
	if c.live.end != whole && c.live.end != left && len(rec) > len(live) {
		rec = rec[:len(live)] // how it ended was said already
	}
	if c.call.Operation == a2a.SubscribeToTask {
		rec, live = sinceSubscribed(rec, live)
	} else {
		rec, live = sinceFirst(rec, live)
	}
	c.align(rec, live)
}

// sinceFirst leaves out, where the first snapshots of a task differ in how far it has come, the updates by which one of
// them says later what the other showed at once. An agent sends "submitted" and then "working", or "working" straight
// away, as its threads happen to run.
func sinceFirst(rec, live []item) (a, b []item) {
	if len(rec) == 0 || len(live) == 0 || !bothBegin(rec[0], live[0]) {
		return rec, live
	}
	n, m := caughtUp(rec, live[0].state), caughtUp(live, rec[0].state)
	switch {
	case n > 0 && !(len(live) > 1 && rec[1].same(live[1])):
		rec = slices.Concat(rec[:1], rec[1+n:])
	case m > 0 && !(len(rec) > 1 && live[1].same(rec[1])):
		live = slices.Concat(live[:1], live[1+m:])
	}
	live = slices.Clone(live)
	live[0].state = rec[0].state
	return rec, live
}

// bothBegin reports whether two items are the first snapshots of tasks that go on, in different states.
func bothBegin(rec, live item) bool {
	return rec.kind == a2a.TaskPayload && live.kind == a2a.TaskPayload && rec.err == nil && live.err == nil &&
		rec.state != live.state && rec.state.Active() && live.state.Active()
}

// caughtUp returns how many updates after the first item bring its task to a state: 0 if they do not, or if anything
// else comes before.
func caughtUp(items []item, state a2a.State) int {
	for i, it := range items[1:] {
		switch {
		case it.kind != a2a.StatusPayload || it.err != nil || !it.state.Active():
			return 0
		case it.state == state:
			return i + 1
		}
	}
	return 0
}

// sinceSubscribed leaves out what one of two subscriptions saw happen and the other found done already. When they began
// is chance: the snapshot that may come first, and whatever follows it in one of them only.
func sinceSubscribed(rec, live []item) (a, b []item) {
	a, b = withoutSnapshot(rec), withoutSnapshot(live)
	if len(a) == len(rec) && len(b) == len(live) {
		return rec, live // neither shows where it began
	}
	n := min(len(a), len(b))
	return renumber(a[len(a)-n:]), renumber(b[len(b)-n:])
}

func withoutSnapshot(items []item) []item {
	if len(items) > 0 && items[0].kind == a2a.TaskPayload {
		return items[1:]
	}
	return items
}

// renumber counts artifacts anew.
func renumber(items []item) []item {
	items = slices.Clone(items)
	n := 0
	for i := range items {
		if items[i].artifact > 0 {
			n++
			items[i].artifact = n
		}
	}
	return items
}

// align matches the items of both answers, compares those that match more closely, and names the others.
func (c *comparison) align(rec, live []item) {
	pairs := align(len(rec), len(live), func(i, j int) bool { return c.same(rec[i], live[j]) })
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(rec), len(live)}) {
		c.gap(rec[i:p[0]], live[j:p[1]])
		if p[0] < len(rec) {
			before := len(c.diffs)
			c.details(rec[p[0]], live[p[1]])
			if len(c.diffs) == before {
				c.contents(rec[p[0]], live[p[1]])
			}
		}
		i, j = p[0]+1, p[1]+1
	}
}

// same reports whether two items mean the same, for all that this exchange promises.
func (c *comparison) same(rec, live item) bool {
	if rec.same(live) {
		return true
	}
	return !c.rec.stream && rec.sameKind(live) && rec.kind == a2a.TaskPayload && c.accepts(rec.state, live.state)
}

// accepts reports whether another state than the recorded one in a snapshot of a task is a matter of timing: how far it
// has come when the answer is made.
func (c *comparison) accepts(rec, live a2a.State) bool {
	switch {
	case rec.Active() && live.Active():
		return true
	case c.entry.more:
		return true // the polling goes on; its last answer counts
	case live.Active() && !blocking(c.call):
		return true
	}
	return rec.Active() && slices.Contains(c.entry.ahead, live)
}

// blocking reports whether the agent was to answer a send only when the task is terminal or interrupted. 1.0 waits
// unless told not to; 0.x leaves it open.
func blocking(call *a2a.Call) bool {
	if call.Operation != a2a.SendMessage {
		return true
	}
	configuration := call.Params.Get("configuration")
	if b, ok := configuration.Get("returnImmediately").Bool(); ok {
		return !b
	}
	if b, ok := configuration.Get("blocking").Bool(); ok {
		return b
	}
	return call.Dialects.Has(a2a.V1_0)
}

// gap names what has no counterpart between two pairs.
func (c *comparison) gap(rec, live []item) {
	for i := range max(len(rec), len(live)) {
		switch {
		case i >= len(rec):
			c.add(report.Difference{
				Kind: report.DifferentEvent, Place: place(c.seq, live[i].event, live[i].answer.Payload.Pointer),
				Got: live[i].String(), Message: fmt.Sprintf("%s is new", live[i]),
				Changes: []report.Change{{Now: rawText(live[i].answer.Doc.Root)}},
			})
		case i >= len(live):
			c.add(report.Difference{
				Kind: report.DifferentEvent, Place: c.place(rec[i]), Want: rec[i].String(),
				Message: fmt.Sprintf("%s is missing", rec[i]),
				Changes: []report.Change{{Was: rawText(rec[i].answer.Doc.Root)}},
			})
		default:
			c.other(rec[i], live[i])
		}
	}
}

func (c *comparison) place(it item) string {
	return place(c.entry.seq, it.event, it.answer.Payload.Pointer)
}

// other names an item that came in the place of another one.
func (c *comparison) other(rec, live item) {
	d := report.Difference{
		Place: c.place(rec), Want: rec.String(), Got: live.String(),
		Message: fmt.Sprintf("%s in place of %s", live, rec), Changes: c.changes(rec, live),
	}
	switch {
	case rec.err != nil && live.err != nil:
		d.Kind = report.DifferentError
	case rec.err != nil || live.err != nil:
		d.Kind = report.DifferentOutcome
	case rec.sameKind(live):
		d.Kind = report.DifferentState
		d.Want, d.Got = rec.state.String(), live.state.String()
		d.Message = fmt.Sprintf("the state is %s, recorded %s", stateName(live.state), stateName(rec.state))
	case rec.event > 0:
		d.Kind = report.DifferentEvent
	default:
		d.Kind = report.DifferentOutcome
	}
	c.add(d)
}

func stateName(s a2a.State) string {
	if s == a2a.NoState {
		return "absent"
	}
	return s.String()
}
