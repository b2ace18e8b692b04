package compare

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// details compares the contents of two items of the same kind, as far as the protocol requires them to agree.
func (c *Comparison) details(rec, live Item) {
	switch rec.Kind {
	case a2a.ArtifactPayload:
		if rec.Last && !live.Last && c.Live.End == Whole && !c.scope().covers(rec, "lastChunk") {
			c.content(rec, live, c.about(rec), "the artifact never ends with lastChunk", c.changes(rec, live)...)
			return
		}
		holding{c}.artifacts(rec, live)
	case a2a.TaskPayload:
		if rec.State == a2a.Canceled && live.State == rec.State { // how far it had come is chance
			holding{c}.history(rec, live)
			return
		}
		a, b := c.scope().without(rec).Count, c.scope().without(live).Count
		if terminalOrInterrupted(rec.State) && rec.State == live.State && a != b {
			c.content(rec, live, c.about(rec), fmt.Sprintf("the task has %d artifacts, the recorded one %d", b, a),
				c.changes(rec, live)...)
			return
		}
		if terminalOrInterrupted(rec.State) && rec.State == live.State {
			holding{c}.artifacts(rec, live)
			holding{c}.history(rec, live)
		}
	case a2a.CardPayload:
		c.cards(rec, live)
	case a2a.TaskListPayload:
		c.lists(rec, live)
	case a2a.PushConfigListPayload:
		if a, b := countConfigs(c.scope().without(rec)), countConfigs(c.scope().without(live)); a != b {
			c.content(rec, live, c.about(rec), fmt.Sprintf("the list has %d push configs, the recorded one %d", b, a),
				c.changes(rec, live)...)
		}
	}
}

func countConfigs(it Item) (n int) {
	for range it.Answer.Payload.PushConfigs() {
		n++
	}
	return n
}

func (c *Comparison) content(rec, live Item, effect Effect, message string, changes ...Change) {
	c.add(Difference{
		Kind: DifferentContent, Place: c.place(rec), LivePlace: c.livePlace(live), Message: message,
		Changes: changes, Effect: effect,
	})
}

// cards reports the interfaces and capabilities that the live card lacks. New ones break no client.
func (c *Comparison) cards(rec, live Item) {
	was := a2a.DecodeCard(c.scope().without(rec).Answer.Payload.Value)
	now := a2a.DecodeCard(c.scope().without(live).Answer.Payload.Value)
	if gone, words := goneInterfaces(was, now); len(words) > 0 && !c.Translated { // all of it is one difference
		c.content(rec, live, Effect{Gone: gone}, "the card no longer offers "+strings.Join(words, ", "), c.changes(rec, live)...)
	}
	if a, b := was.Version(), now.Version(); a != "" && b != "" && a != b {
		c.content(rec, live, Effect{}, fmt.Sprintf("the card's version is %q, recorded %q", analysis.Clip(b), analysis.Clip(a)),
			newChange(was.Get("version").Pointer(), was.Get("version"), now.Get("version")))
	}
	if was.Streaming.True() && !now.Streaming.True() {
		c.withdrawn(rec, live, Streaming, "streaming")
	}
	if was.Push.True() && !now.Push.True() {
		c.withdrawn(rec, live, PushNotifications, "pushNotifications")
	}
}

// goneInterfaces returns and names the interfaces that a card no longer offers.
func goneInterfaces(was, now a2a.Card) (gone Spoken, words []string) {
	for _, i := range was.Interfaces {
		if _, ok := SameInterface(i, now.Interfaces); ok || i.Binding == a2a.NoBinding {
			continue
		}
		gone[i.Binding] |= i.Dialects
		if word := fmt.Sprintf("%s %s", i.Binding, i.Dialects); !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return gone, words
}

// withdrawn adds a difference if the card no longer offers the capability of a member.
func (c *Comparison) withdrawn(rec, live Item, what Capability, member string) {
	was := rec.Answer.Payload.Value.Get("capabilities").Get(member)
	now := live.Answer.Payload.Value.Get("capabilities").Get(member)
	c.content(rec, live, Effect{Withdrawn: what}, fmt.Sprintf("the card no longer offers %s", what),
		newChange(was.Pointer(), was, now))
}

// SameInterface finds the counterpart of a recorded interface among the interfaces of a live card: the one with the
// same binding and one of the same dialects.
func SameInterface(was a2a.Interface, live []a2a.Interface) (a2a.Interface, bool) {
	for _, i := range live {
		if i.Binding == was.Binding && (!i.Dialects.Intersect(was.Dialects).Empty() || was.Dialects.Empty()) {
			return i, true
		}
	}
	return a2a.Interface{}, false
}

// lists compares the tasks of two lists that were made in this run. The live agent may have others, and a page that
// is not the last does not show that a task is absent.
func (c *Comparison) lists(rec, live Item) {
	for was, now := range c.listed(rec, live) {
		switch {
		case !now.Exists() && c.scope().Covers(textOf(&rec.Answer), was.Pointer()):
		case !now.Exists():
			e := Effect{Task: was.ID()}
			c.content(rec, live, e, fmt.Sprintf("task %s is missing from the list", analysis.Clip(was.ID())),
				newChange(was.Pointer(), was.Value, a2a.Value{}))
		case terminalOrInterrupted(was.State()) && was.State() != now.State() && !c.scope().hidesState(rec, was.Value):
			a, b := was.Get("status").Get("state"), now.Get("status").Get("state")
			c.add(Difference{
				Kind: DifferentState, Place: c.place(rec), LivePlace: c.livePlace(live),
				Want: was.State().String(), Got: now.State().String(),
				Message: fmt.Sprintf("task %s is listed as %s, recorded as %s",
					analysis.Clip(was.ID()), stateName(now.State()), was.State()),
				Changes: []Change{newChange(a.Pointer(), a, b)},
				Effect:  Effect{Task: was.ID(), Lasting: true},
			})
		}
	}
}

// Lagging reports whether a list may still reach the recorded state: a task is not listed yet, still works, or waits
// for a message that may be on its way.
func (c *Comparison) Lagging(rec, live Item) bool {
	for was, now := range c.listed(rec, live) {
		behind := terminalOrInterrupted(was.State()) && now.State().Active() ||
			was.State().Terminal() && now.State().Interrupted()
		if !now.Exists() || behind && !c.scope().hidesState(rec, was.Value) {
			return true
		}
	}
	return false
}

// listed yields each task of the recorded list that was made in this run, with its live counterpart. A missing task
// does not exist; a task that may be on another page is not yielded.
func (c *Comparison) listed(rec, live Item) iter.Seq2[a2a.Task, a2a.Task] {
	return func(yield func(was, now a2a.Task) bool) {
		listed := map[string][]a2a.Task{} // a task may be listed more than once
		for t := range live.Answer.Payload.Tasks() {
			listed[t.ID()] = append(listed[t.ID()], t)
		}
		more := live.Answer.Payload.Value.Get("nextPageToken").Text() != ""
		for t := range rec.Answer.Payload.Tasks() {
			id, paired := c.Values.LiveFor(TaskID, "", t.ID())
			var now a2a.Task
			list := listed[id]
			if len(list) > 0 {
				now = list[0]
			}
			if len(list) > 1 {
				listed[id] = list[1:]
			}
			if paired && (len(list) > 0 || !more) && !yield(t, now) {
				return
			}
		}
	}
}

// changes returns the smallest difference of two answers. It renames the ids of the live one, and ignores values that
// may differ between runs. Any value matches a secret that the recording hides.
func (c *Comparison) changes(rec, live Item) []Change {
	if c.wording() == otherNames {
		return nil // names would differ, and hide all else
	}
	was := c.scope().without(rec).Answer
	return Diff(c.wording().text(&was), c.renamed(live.Task, &live.Answer), sameAnyway)
}

// renamed returns the compared part of a live answer, with its ids replaced by the recorded ones, and without values
// that may differ.
func (c *Comparison) renamed(task string, live *a2a.Answer) a2a.Value {
	text := RewriteJSON(live.Doc.Root.Raw(), c.Live.Call, func(role Role, text string) (string, bool) {
		if id := c.Recorded.Call.ID; role == RequestID && id.Exists() && text == string(c.Live.Call.ID.Raw()) {
			return string(id.Raw()), true // each repeats its own request's id
		}
		return c.Values.recordedFor(role, task, text)
	})
	root := a2a.Parse(text).Root
	now := a2a.Answer{Doc: a2a.Doc{Root: root}, Payload: a2a.Payload{
		Value: root.At(live.Payload.Pointer), Pointer: live.Payload.Pointer,
	}}
	if s := c.scope(); s.Scope != nil {
		now = s.withoutNoise(now)
	}
	return c.wording().text(&now)
}

// sameAnyway reports whether a value may differ between two runs, so that the difference is not worth showing.
func sameAnyway(pointer string, was, now a2a.Value) bool {
	token := lastToken(pointer)
	if isFreeText(token) || isFreeContent(token) && token != "error" || token == "history" || token == "name" {
		return true
	}
	if was.Kind() != a2a.String || now.Kind() != a2a.String {
		return false
	}
	a, b := was.Text(), now.Text()
	return credential.Fits(a, b) || Opaque(a) && Opaque(b) || strings.Contains(a, "://") && strings.Contains(b, "://")
}
