package compare

import (
	"strings"

	"a2atap/proxy/a2a"
)

// A wording is how much two answers may differ in form because of their requests' bindings and dialects.
type wording uint8

const (
	sameWords     wording = iota
	otherEnvelope         // another binding: the objects are the same, and their envelopes differ
	otherNames            // another dialect: the meaning can be compared, but not names
)

// wordingOf compares the forms of two requests. Before 1.0, HTTP+JSON has two forms, which differ like dialects.
// Unknown dialects count as equal.
func wordingOf(rec, live *a2a.Call) wording {
	if rec == nil || live == nil {
		return sameWords
	}
	known := !rec.Dialects.Empty() && !live.Dialects.Empty()
	shared := formsOf(rec.Dialects).Intersect(formsOf(live.Dialects))
	switch {
	case known && shared.Empty():
		return otherNames
	case rec.Binding == live.Binding:
		return sameWords
	case shared.Has(a2a.V1_0):
		return otherEnvelope
	}
	return otherNames
}

// formsOf returns the dialects, with 0.2 for both 0.2 and 0.3, which share one JSON form.
func formsOf(in a2a.Dialects) a2a.Dialects {
	if in.Has(a2a.V0_3) {
		in = in.Union(a2a.Of(a2a.V0_2))
	}
	return in.Intersect(a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V1_0))
}

// ByMeaning reports whether the two exchanges are in different bindings or dialects. Names in JSON, media types and
// HTTP statuses are then compared by meaning, or not at all.
func (c *Comparison) ByMeaning() bool { return c.wording() != sameWords }

func (c *Comparison) wording() wording { return wordingOf(c.Recorded.Call, c.Live.Call) }

// text returns the compared part of an answer: all of it, or only its object if the envelope depends on the binding.
func (w wording) text(a *a2a.Answer) a2a.Value {
	if w == sameWords {
		return a.Doc.Root
	}
	return a.Payload.Value
}

// texts returns the compared values of an item, with their events.
func (w wording) texts(it Item) []located {
	if w == sameWords {
		return it.roots()
	}
	all := []located{{it.Answer.Payload.Value, it.Event}}
	for _, ch := range it.chunks {
		all = append(all, located{ch.answer.Payload.Value, ch.event})
	}
	return all
}

// standsAt returns a site's place in its answer, independent of the wrappers of binding and dialect: below the answered
// object, and there below the config or the list.
func standsAt(s Site, a *a2a.Answer) string {
	below, inside := strings.CutPrefix(s.Pointer, a.Payload.Pointer)
	if a.Payload.Kind == a2a.NoPayload || !inside || below != "" && below[0] != '/' {
		return "around " + s.Pointer
	}
	switch a.Payload.Kind {
	case a2a.PushConfigListPayload:
		below = strings.TrimPrefix(below, "/configs")
		fallthrough
	case a2a.PushConfigPayload:
		below = strings.Replace(below, "/pushNotificationConfig/", "/", 1)
	case a2a.TaskListPayload:
		below = strings.TrimPrefix(below, "/tasks")
	}
	return below
}

// otherCard reports whether two items are cards that have no form in common.
func otherCard(rec, live Item) bool {
	if rec.Kind != a2a.CardPayload || live.Kind != a2a.CardPayload {
		return false
	}
	a, b := a2a.DecodeCard(rec.Answer.Payload.Value).Shapes, a2a.DecodeCard(live.Answer.Payload.Value).Shapes
	return !a.Empty() && !b.Empty() && formsOf(a).Intersect(formsOf(b)).Empty()
}
