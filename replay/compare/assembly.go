package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// An assembly is an artifact as a client has it in the end: the parts that were sent for it, without those that an
// update without append replaced.
//
// Source: A2A 1.0 §4.2.2, 0.3 §7.2.3.
type assembly struct {
	name    located
	texts   []located // of the parts that are texts, in their order
	others  int       // parts of other kinds, in all updates
	replies int       // updates
	lost    int       // updates whose text is completely gone
	at      Item      // where the first one was lost
}

// assembled combines the updates of an artifact.
func assembled(it Item) assembly {
	var a assembly
	parts := make([][]located, 0, 1+len(it.chunks))
	for k, answer := range it.answers() {
		u := a2a.ArtifactUpdate{Value: answer.Payload.Value}
		event := it.Event
		if k > 0 {
			event = it.chunks[k-1].event
		}
		texts, others := textsOf(u.Artifact(), event)
		a.others += others
		if k > 0 && !u.Append() {
			// An agent may send the complete text each time: then nothing is lost.
			whole := joined(texts)
			for _, before := range parts {
				if said := joined(before); said != "" && !strings.HasPrefix(whole, said) {
					if a.lost == 0 {
						a.at = it
						a.at.Event, a.at.Answer = event, answer
					}
					a.lost++
				}
			}
			parts = parts[:0]
		}
		parts = append(parts, texts)
		a.replies++
		if a.name.Text() == "" {
			a.name = located{u.Artifact().Get("name"), event}
		}
	}
	a.texts = slices.Concat(parts...)
	return a
}

// textsOf returns the texts of an artifact, and its number of other parts.
func textsOf(artifact a2a.Artifact, event int) (texts []located, others int) {
	for _, p := range artifact.Parts().All() {
		if p.PartKind() != a2a.TextPart {
			others++
		} else if p.Text() != "" {
			texts = append(texts, located{p.Get("text"), event})
		}
	}
	return texts, others
}

func joined(texts []located) string {
	var b strings.Builder
	for _, t := range texts {
		b.WriteString(t.Text())
	}
	return b.String()
}

// A holding compares the client's final artifacts.
type holding struct{ *Comparison }

// artifacts compares the client's final artifacts, given the items in which they came: an update or a task.
func (c holding) artifacts(rec, live Item) {
	a, b := c.scope().without(rec), c.scope().without(live)
	if rec.Kind == a2a.ArtifactPayload {
		c.artifact(rec, live, assembled(a), assembled(b), rec.Artifact)
		return
	}
	was, now := shown(a), shown(b)
	for i := range min(len(was), len(now)) {
		c.artifact(rec, live, was[i], now[i], i+1)
	}
}

// shown returns the artifacts of a task.
func shown(it Item) []assembly {
	var all []assembly
	for _, artifact := range (a2a.Task{Value: it.Answer.Payload.Value}).Artifacts() {
		texts, others := textsOf(artifact, it.Event)
		name := located{artifact.Get("name"), it.Event}
		all = append(all, assembly{name: name, texts: texts, others: others, replies: 1})
	}
	return all
}

func (c holding) artifact(rec, live Item, was, now assembly, number int) {
	name := fmt.Sprintf("artifact %d", number)
	called, calledNow := was.name.Text(), now.name.Text()
	if called != "" {
		name += fmt.Sprintf(" (%s)", analysis.Clip(called))
	}
	switch {
	case was.lost == 0 && now.lost > 0 && was.replies > 1:
		c.content(rec, now.at, c.about(rec), fmt.Sprintf(
			"updates without append replace the content of %s: its reader keeps %d of %d chunks, recorded all %d", name,
			now.replies-now.lost, now.replies, was.replies), c.changes(rec, live)...)
	case called != "" && calledNow != "" && withoutIDs(called) != withoutIDs(calledNow):
		c.content(rec, live, c.about(rec), fmt.Sprintf("artifact %d has the name %q, recorded %q", number,
			analysis.Clip(calledNow), analysis.Clip(called)), newChange(was.name.Pointer(), was.name.Value, now.name.Value))
	case c.Recorded.Call.Operation == a2a.SubscribeToTask: // what it still saw is chance
	case c.Live.End == Whole && c.Recorded.End == Whole && was.others == now.others:
		if lost := piecesLost(was.texts, joined(now.texts)); len(lost) > 0 {
			rec.Event = lost[0].event
			var changes []Change
			for _, piece := range lost[:min(len(lost), c.limit())] {
				changes = append(changes, newChange(piece.Pointer(), piece.Value, a2a.Value{}))
			}
			c.content(rec, live, c.about(rec), fmt.Sprintf("%s lacks %s of its text; the rest is identical", name,
				analysis.Plural(len(lost), "piece")), changes...)
		}
	}
}

// history reports that the live task has fewer messages in its history than the recorded one. Of a canceled task, only
// those of the client count, since the agent's depend on when it was canceled.
func (c holding) history(rec, live Item) {
	count := func(it Item) (n int) {
		for _, m := range (a2a.Task{Value: c.scope().without(it).Answer.Payload.Value}).History() {
			if rec.State != a2a.Canceled || m.Role() == a2a.UserRole {
				n++
			}
		}
		return n
	}
	if a, b := count(rec), count(live); b < a && !c.scope().covers(rec, "history") {
		c.content(rec, live, c.about(rec), fmt.Sprintf("the history has %s, recorded %d", analysis.Plural(b, "message"), a))
	}
}

// piecesLost returns the pieces of a text that another text lacks, if that text consists of the other pieces in their
// order; otherwise none. Where several readings are possible, it loses as few pieces as possible.
func piecesLost(pieces []located, text string) []located {
	const most = 1000 // pieces, and ways to read them
	if len(pieces) < 2 || len(pieces) > most || text == "" || joined(pieces) == text {
		return nil
	}
	type reading struct {
		used  int
		piece int      // the last one that was used
		rest  *reading // what was read before it
	}
	reached := map[int]*reading{0: {}} // by the length of the text that was read
	for i, piece := range pieces {
		for _, at := range slices.Backward(slices.Sorted(maps.Keys(reached))) {
			before, end := reached[at], at+len(piece.Text())
			if known := reached[end]; strings.HasPrefix(text[at:], piece.Text()) && (known == nil || known.used <= before.used) {
				reached[end] = &reading{before.used + 1, i, before}
			}
		}
		if len(reached) > most {
			return nil
		}
	}
	read := reached[len(text)]
	if read == nil {
		return nil
	}
	lost := slices.Clone(pieces)
	for ; read.rest != nil; read = read.rest {
		lost = slices.Delete(lost, read.piece, read.piece+1)
	}
	return lost
}
