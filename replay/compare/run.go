package compare

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Run returns the differences, with places in the recorded exchange, or in the live one if only that has the value. A
// Pairer must have paired the ids before.
func (c *Comparison) Run() []Difference {
	c.ends()
	if c.Live.End == Silent || c.Both && (c.Recorded.Status == 0 || c.Live.Status == 0) {
		return c.diffs
	}
	if c.unchanged() {
		return c.diffs
	}
	if c.Recorded.Stream || c.Live.Stream {
		c.streams()
	} else {
		c.align(c.Recorded.Items, c.Live.Items)
	}
	if len(c.diffs) == 0 && !c.ByMeaning() {
		c.heads()
	}
	c.expectHeads()
	c.times()
	return c.diffs
}

// heads compares the heads of two answers with the same outcome.
func (c *Comparison) heads() {
	at := fmt.Sprintf("%d.response", c.Recorded.Seq)
	if c.Profile != Protocol && c.Recorded.Status != c.Live.Status && !c.scope().HidesStatus() {
		c.add(Difference{
			Kind: DifferentStructure, Place: at + ".status", LivePlace: c.liveHead() + ".status",
			Want: fmt.Sprint(c.Recorded.Status), Got: fmt.Sprint(c.Live.Status),
			Message: fmt.Sprintf("the status is %d, recorded %d", c.Live.Status, c.Recorded.Status),
		})
	}
	if was, now := c.Recorded.fields.Get("ETag"), c.Live.fields.Get("ETag"); c.Profile == Exact && was != now &&
		c.Recorded.First().Kind == a2a.CardPayload && !c.scope().HidesHeader("ETag") {
		c.add(Difference{
			Kind: DifferentValue, Place: at + ".header[ETag]", LivePlace: c.liveHead() + ".header[ETag]",
			Want: was, Got: now,
			Message: fmt.Sprintf("the card's ETag is %s, recorded %s", cmp.Or(analysis.Clip(now), "missing"),
				cmp.Or(analysis.Clip(was), "missing")),
		})
	}
	if c.Recorded.Media != "" && c.Live.Media != "" && c.Recorded.Media != c.Live.Media &&
		!c.scope().HidesHeader("Content-Type") {
		c.add(Difference{
			Kind: DifferentMediaType, Place: at + ".header[Content-Type]",
			LivePlace: c.liveHead() + ".header[Content-Type]",
			Want:      c.Recorded.Media, Got: c.Live.Media,
			Message: fmt.Sprintf("the answer is %s, recorded as %s",
				analysis.Clip(c.Live.Media), analysis.Clip(c.Recorded.Media)),
		})
	}
}

// unchanged reports whether one of two answers is 304, because the client has the card already (RFC 9110 section
// 15.4.5), and the other has the card: entity tags have meaning only for their agent.
func (c *Comparison) unchanged() bool {
	if c.Recorded.Status != http.StatusNotModified && c.Live.Status != http.StatusNotModified {
		return false
	}
	card := func(r *Reply) bool { return r.Status == http.StatusNotModified || r.First().Kind == a2a.CardPayload }
	return card(c.Recorded.Reply) && card(c.Live)
}

// ends compares the endings of the answers, if the recording shows its own.
func (c *Comparison) ends() {
	if c.Recorded.End == c.Live.End || c.Recorded.End == Unended || c.Recorded.End == Left && c.Live.End == Whole {
		return
	}
	if c.Both && (c.Live.End == Unended || c.Live.End == Left && len(c.Live.Items) >= len(c.Recorded.Items)) {
		return
	}
	got := c.Live.End.String()
	if f := c.Live.Fault; f != nil && c.Live.End != Whole {
		got = fmt.Sprintf("%s (%s: %s)", got, f.Kind, f.Detail)
	}
	d := Difference{
		Kind: DifferentEnd, Place: fmt.Sprintf("%d.response", c.Recorded.Seq), LivePlace: c.liveHead(),
		Want: c.Recorded.End.String(), Got: got,
		Message: fmt.Sprintf("the answer is %s, the recorded one %s", got, c.Recorded.End),
	}
	if c.Live.End == Silent {
		d.Effect = Effect{Task: cmp.Or(c.Recorded.First().Task, c.Recorded.Task), NoAnswer: true}
		d.Effect.undone(c.Recorded.Call.Operation)
	}
	c.add(d)
}

// streams compares two answers of which at least one is a stream.
func (c *Comparison) streams() {
	rec, live := c.Recorded.Items, c.Live.Items
	if c.Recorded.End != Whole && len(live) > len(rec) {
		live = live[:len(rec)]
	}
	if c.Live.End != Whole && (c.Live.End != Left || c.Both) && len(rec) > len(live) {
		rec = rec[:len(live)] // the ending was reported already
	}
	if c.Recorded.Call.Operation == a2a.SubscribeToTask {
		rec, live = sinceSubscribed(rec, live)
	} else {
		rec, live = sinceFirst(rec, live)
	}
	c.align(rec, live)
}

// sinceFirst handles first snapshots of a task that differ in progress: it omits the updates with which one answer
// catches up with the other. An agent sends "submitted" and then "working", or "working" at once, depending on thread
// timing.
func sinceFirst(rec, live []Item) (a, b []Item) {
	if len(rec) == 0 || len(live) == 0 || !bothBegin(rec[0], live[0]) {
		return rec, live
	}
	n, m := caughtUp(rec, live[0].State), caughtUp(live, rec[0].State)
	switch {
	case n > 0 && !(len(live) > 1 && rec[1].Same(live[1])):
		rec = slices.Concat(rec[:1], rec[1+n:])
	case m > 0 && !(len(rec) > 1 && live[1].Same(rec[1])):
		live = slices.Concat(live[:1], live[1+m:])
	}
	live = slices.Clone(live)
	live[0].State = rec[0].State
	return rec, live
}

// bothBegin reports whether two items are the first snapshots of tasks that continue, in different states.
func bothBegin(rec, live Item) bool {
	return rec.Kind == a2a.TaskPayload && live.Kind == a2a.TaskPayload && rec.Err == nil && live.Err == nil &&
		rec.State != live.State && rec.State.Active() && live.State.Active()
}

// caughtUp returns the number of updates after the first item that bring its task to a state: 0 if they do not, or if
// another kind of item comes before.
func caughtUp(items []Item, state a2a.State) int {
	for i, it := range items[1:] {
		switch {
		case it.Kind != a2a.StatusPayload || it.Err != nil || !it.State.Active():
			return 0
		case it.State == state:
			return i + 1
		}
	}
	return 0
}

// sinceSubscribed omits what only one of two subscriptions saw because the other started later: an initial snapshot,
// and the updates before the common part. The time at which they started is arbitrary.
func sinceSubscribed(rec, live []Item) (a, b []Item) {
	a, b = withoutSnapshot(rec), withoutSnapshot(live)
	if len(a) == len(rec) && len(b) == len(live) {
		return rec, live // neither shows where it began
	}
	n := min(len(a), len(b))
	return renumber(a[len(a)-n:]), renumber(b[len(b)-n:])
}

func withoutSnapshot(items []Item) []Item {
	if len(items) > 0 && items[0].Kind == a2a.TaskPayload {
		return items[1:]
	}
	return items
}

// renumber numbers artifacts again after items were omitted.
func renumber(items []Item) []Item {
	items = slices.Clone(items)
	n := 0
	for i := range items {
		if items[i].Artifact > 0 {
			n++
			items[i].Artifact = n
		}
	}
	return items
}

// align matches the items of both answers, compares those that match more closely, and reports the others.
func (c *Comparison) align(rec, live []Item) {
	pairs, _ := Align(len(rec), len(live), func(i, j int) bool { return c.Same(rec[i], live[j]) })
	var alone unpaired
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(rec), len(live)}) {
		c.gap(rec[i:p[0]], live[j:p[1]], &alone)
		if p[0] < len(rec) {
			before := len(c.diffs)
			c.details(rec[p[0]], live[p[1]])
			if len(c.diffs) == before {
				c.contents(rec[p[0]], live[p[1]])
			}
			c.expect(rec[p[0]], live[p[1]])
			c.pairs = append(c.pairs, [2]Item{rec[p[0]], live[p[1]]})
		}
		i, j = p[0]+1, p[1]+1
	}
	alone.fold(c)
}

// unpaired has the items that only one of two answers has, and the differences that report them.
type unpaired struct{ missing, fresh []lone }

type lone struct {
	Item
	diff int // its index
}

// fold combines two differences into one if an item is missing at one place and new at another: it has moved.
func (alone *unpaired) fold(c *Comparison) {
	var gone []int
	for _, was := range alone.missing {
		k := slices.IndexFunc(alone.fresh, func(now lone) bool { return c.Same(was.Item, now.Item) })
		if k < 0 {
			continue
		}
		now := alone.fresh[k]
		alone.fresh = slices.Delete(alone.fresh, k, k+1)
		gone = append(gone, now.diff)
		d := &c.diffs[was.diff]
		d.LivePlace, d.Got, d.Changes, d.Effect = c.livePlace(now.Item), now.String(), nil, c.about(was.Item)
		d.Message = fmt.Sprintf("%s has moved: it is event %d, recorded as event %d", was.Item, now.Event, was.Event)
	}
	slices.Sort(gone)
	for _, i := range slices.Backward(gone) {
		c.diffs = slices.Delete(c.diffs, i, i+1)
	}
}

// Same reports whether two items have the same meaning in this exchange.
func (c *Comparison) Same(rec, live Item) bool {
	if rec.Same(live) || c.scope().hidden(rec, live) {
		return true
	}
	return !c.Recorded.Stream && rec.sameKind(live) && rec.Kind == a2a.TaskPayload && c.accepts(rec.State, live.State)
}

// accepts reports whether a state other than the recorded one in a snapshot of a task depends only on timing: the
// task's progress when the agent answered.
func (c *Comparison) accepts(rec, live a2a.State) bool {
	switch {
	case rec.Active() && live.Active():
		return true
	case c.Recorded.Polled:
		return true // polling continues; its last answer counts
	case live.Active() && !(blocking(c.Recorded.Call) && blocking(c.Live.Call)):
		return true
	}
	return rec.Active() && slices.Contains(c.Recorded.Ahead, live) ||
		c.Both && live.Active() && slices.Contains(c.LiveAhead, rec)
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

// gap reports items without a counterpart between two pairs.
func (c *Comparison) gap(rec, live []Item, alone *unpaired) {
	for i := range max(len(rec), len(live)) {
		switch {
		case i >= len(rec):
			alone.fresh = append(alone.fresh, lone{live[i], len(c.diffs)})
			c.add(Difference{
				Kind: DifferentEvent, Place: place(c.LiveSeq, live[i].Event, live[i].Answer.Payload.Pointer),
				LivePlace: c.livePlace(live[i]),
				Got:       live[i].String(), Message: fmt.Sprintf("%s is new", live[i]),
				Changes: []Change{newChange("", a2a.Value{}, live[i].Answer.Doc.Root)}, Effect: c.effect(nil, &live[i]),
			})
		case i >= len(live):
			alone.missing = append(alone.missing, lone{rec[i], len(c.diffs)})
			c.add(Difference{
				Kind: DifferentEvent, Place: c.place(rec[i]), Want: rec[i].String(),
				Message: fmt.Sprintf("%s is missing", rec[i]),
				Changes: []Change{newChange("", rec[i].Answer.Doc.Root, a2a.Value{})}, Effect: c.effect(&rec[i], nil),
			})
		default:
			c.other(rec[i], live[i])
		}
	}
}

// other reports an item that replaced another one.
func (c *Comparison) other(rec, live Item) {
	d := Difference{
		Place: c.place(rec), LivePlace: c.livePlace(live), Want: rec.String(), Got: live.String(),
		Message: fmt.Sprintf("%s instead of %s", live, rec), Changes: c.changes(rec, live), Effect: c.effect(&rec, &live),
	}
	switch {
	case rec.Err != nil && live.Err != nil:
		d.Kind = DifferentError
	case rec.Err != nil || live.Err != nil:
		d.Kind = DifferentOutcome
	case rec.sameKind(live):
		d.Kind = DifferentState
		d.Want, d.Got = rec.State.String(), live.State.String()
		d.Message = fmt.Sprintf("the state is %s, recorded %s", stateName(live.State), stateName(rec.State))
	case rec.Event > 0:
		d.Kind = DifferentEvent
	default:
		d.Kind = DifferentOutcome
	}
	c.add(d)
}

func stateName(s a2a.State) string {
	if s == a2a.NoState {
		return "absent"
	}
	return s.String()
}
