package compare

import (
	"fmt"
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/noise"
)

// A scope is the set of rules for values that may differ in two answers.
type scope struct{ *noise.Scope }

// scope returns the rules for these two answers.
func (c *Comparison) scope() scope {
	if c.noise == nil && c.Noise != nil {
		c.noise = c.Noise.Of(c.Recorded.Call.Operation, c.Recorded.Seq, c.LiveSeq)
	}
	return scope{c.noise}
}

// Note counts the places where the rules applied. Call it once for each recorded exchange, on the Comparison that
// counts.
func (c *Comparison) Note() {
	c.scope().Note(c.Recorded.texts(), c.Live.texts(), c.Recorded.head(), c.Live.head())
}

func (r *Reply) texts() []noise.Text {
	var all []noise.Text
	for _, it := range r.Items {
		all = append(all, it.texts()...)
	}
	return all
}

func (r *Reply) head() noise.Head { return noise.Head{Status: r.Status, Header: r.fields.Values} }

func (i Item) texts() []noise.Text {
	var all []noise.Text
	for _, a := range i.answers() {
		all = append(all, textOf(&a))
	}
	return all
}

func textOf(a *a2a.Answer) noise.Text {
	return noise.Text{Root: a.Doc.Root, Payload: a.Payload.Pointer}
}

// without returns an item without the values that may differ. Its meaning stays: its kind, its state, its error.
func (s scope) without(it Item) Item {
	if s.Scope == nil {
		return it
	}
	it.Answer = s.withoutNoise(it.Answer)
	it.chunks = slices.Clone(it.chunks)
	for i := range it.chunks {
		it.chunks[i].answer = s.withoutNoise(it.chunks[i].answer)
	}
	if it.Kind == a2a.TaskPayload {
		it.Count = NewItem(it.Event, it.Answer).Count
	}
	return it
}

func (s scope) withoutNoise(a a2a.Answer) a2a.Answer {
	a.Doc.Root = s.Without(textOf(&a))
	a.Payload.Value = a.Doc.Root.At(a.Payload.Pointer)
	return a
}

// inside returns a value of an answer without the parts that may differ.
func (s scope) inside(a *a2a.Answer, v a2a.Value) a2a.Value {
	if s.Scope == nil {
		return v
	}
	return s.Without(textOf(a)).At(v.Pointer())
}

// covers reports whether a member of the item's object may differ.
func (s scope) covers(it Item, name string) bool {
	return s.Covers(textOf(&it.Answer), a2a.Ptr(it.Answer.Payload.Pointer, name))
}

// hidden reports whether two items differ only in something that a rule hides by name: a task's state, or the error.
func (s scope) hidden(rec, live Item) bool {
	switch {
	case s.Scope == nil:
		return false
	case rec.Err != nil && live.Err != nil:
		if s.HidesStatus() && byStatus(rec.Err) && byStatus(live.Err) {
			return true
		}
		return s.HidesError(textOf(&rec.Answer), rec.Err.Pointer) || s.HidesError(textOf(&live.Answer), live.Err.Pointer)
	}
	return rec.sameKind(live) && s.hidesState(rec, rec.Answer.Payload.Value)
}

// byStatus reports whether only the HTTP status identifies the error.
func byStatus(e *a2a.Error) bool {
	return (e.Name == a2a.NoErrorName || e.Name == a2a.OtherError) && !e.CodeKnown && e.Reason == ""
}

// hidesState reports whether a rule names the state of a task or an update in an item.
func (s scope) hidesState(it Item, v a2a.Value) bool {
	return s.Hides(textOf(&it.Answer), a2a.Ptr(v.Pointer(), "status", "state"))
}

// Settled reports whether a snapshot of a task means the same as the recorded one, and its state matches the
// expressions of the rules.
func (c *Comparison) Settled(rec, live Item) bool {
	if !c.Same(rec, live) {
		return false
	}
	state := a2a.Ptr(live.Answer.Payload.Pointer, "status", "state")
	return !slices.ContainsFunc(c.scope().Check(rec.texts(), live.texts()), func(m noise.Mismatch) bool {
		return m.Pointer == state
	})
}

// expect adds a difference for each rule whose expression a live item does not match.
func (c *Comparison) expect(rec, live Item) {
	var last *Difference
	rule := ""
	for _, m := range c.scope().Check(rec.texts(), live.texts()) {
		change := NewChange(m.Pointer, []byte(m.Was), []byte(m.Now))
		if last != nil && rule == m.Rule.String() {
			if len(last.Changes) < maxChanges {
				last.Changes = append(last.Changes, change)
			}
			continue
		}
		now := place(c.LiveSeq, live.eventOf(m.Text), m.Pointer)
		at := now
		if m.Missing || m.Was != "" {
			at = place(c.Recorded.Seq, rec.eventOf(m.Text), m.Pointer)
		}
		if m.Missing {
			now = ""
		}
		c.add(Difference{
			Kind: DifferentMatch, Place: at, LivePlace: now, Want: m.Expected(), Got: m.Now, Message: unmatched(&m),
			Changes: []Change{change}, Effect: c.about(rec),
		})
		last, rule = &c.diffs[len(c.diffs)-1], m.Rule.String()
	}
}

// eventOf returns the number of the event that contains one of the texts of an item.
func (i Item) eventOf(text int) int {
	if text > 0 && text <= len(i.chunks) {
		return i.chunks[text-1].event
	}
	return i.Event
}

// expectHeads adds a difference for each rule whose expression the head of the live answer does not match.
func (c *Comparison) expectHeads() {
	for _, m := range c.scope().CheckHead(c.Recorded.head(), c.Live.head()) {
		c.add(Difference{
			Kind: DifferentMatch, Place: fmt.Sprintf("%d.response.%s", c.Recorded.Seq, m.Named()),
			LivePlace: c.liveHead() + "." + m.Named(),
			Want:      m.Expected(), Got: m.Now, Message: unmatched(&m),
		})
	}
}

// unmatched describes a mismatched value in one sentence.
func unmatched(m *noise.Mismatch) string {
	if m.Missing {
		return fmt.Sprintf("%s is absent, expected to match %s", m.Named(), m.Expected())
	}
	return fmt.Sprintf("%s is %s, which does not match %s", m.Named(), analysis.Clip(m.Now), m.Expected())
}
