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
	name    string
	texts   []string // of the parts that are texts, in their order
	others  int      // parts of other kinds, in all updates
	replies int      // updates
	lost    int      // updates whose text is completely gone
	at      Item     // where the first one was lost
}

// assembled combines the updates of an artifact.
func assembled(it Item) assembly {
	var a assembly
	parts := make([][]string, 0, 1+len(it.chunks))
	for k, answer := range it.answers() {
		u := a2a.ArtifactUpdate{Value: answer.Payload.Value}
		texts, others := textsOf(u.Artifact())
		a.others += others
		if k > 0 && !u.Append() {
			// An agent may send the complete text each time: then nothing is lost.
			whole := strings.Join(texts, "")
			for _, before := range parts {
				if said := strings.Join(before, ""); said != "" && !strings.HasPrefix(whole, said) {
					if a.lost == 0 {
						a.at = it
						a.at.Event, a.at.Answer = it.chunks[k-1].event, answer
					}
					a.lost++
				}
			}
			parts = parts[:0]
		}
		parts = append(parts, texts)
		a.replies++
		if name := u.Artifact().Get("name").Text(); a.name == "" {
			a.name = name
		}
	}
	a.texts = slices.Concat(parts...)
	return a
}

// textsOf returns the texts of an artifact, and its number of other parts.
func textsOf(artifact a2a.Artifact) (texts []string, others int) {
	for _, p := range artifact.Parts().All() {
		if p.PartKind() != a2a.TextPart {
			others++
		} else if text := p.Text(); text != "" {
			texts = append(texts, text)
		}
	}
	return texts, others
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
		texts, others := textsOf(artifact)
		all = append(all, assembly{name: artifact.Get("name").Text(), texts: texts, others: others, replies: 1})
	}
	return all
}

func (c holding) artifact(rec, live Item, was, now assembly, number int) {
	name := fmt.Sprintf("artifact %d", number)
	switch {
	case was.lost == 0 && now.lost > 0 && was.replies > 1:
		c.content(rec, now.at, c.about(rec), fmt.Sprintf(
			"updates without append replace the content of %s: its reader keeps %d of %d chunks, recorded all %d", name,
			now.replies-now.lost, now.replies, was.replies), c.changes(rec, live)...)
	case was.name != "" && now.name != "" && withoutIDs(was.name) != withoutIDs(now.name):
		c.content(rec, live, c.about(rec), fmt.Sprintf("%s is called %q, recorded %q", name, analysis.Clip(now.name),
			analysis.Clip(was.name)))
	case c.Recorded.Call.Operation == a2a.SubscribeToTask: // what it still saw is chance
	case c.Live.End == Whole && c.Recorded.End == Whole && was.others == now.others:
		if n := piecesLost(was.texts, strings.Join(now.texts, "")); n > 0 {
			c.content(rec, live, c.about(rec), fmt.Sprintf("%s lacks %s of its text; the rest is identical", name,
				analysis.Plural(n, "piece")))
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

// piecesLost returns the number of pieces of a text that another text lacks, if that text consists of the other
// pieces in their order; otherwise 0.
func piecesLost(pieces []string, text string) int {
	const most = 1000 // pieces, and ways to read them
	if len(pieces) < 2 || len(pieces) > most || text == "" {
		return 0
	}
	reached := map[int]int{0: 0} // length of text read, by the largest possible number of pieces
	for _, piece := range pieces {
		for _, at := range slices.Backward(slices.Sorted(maps.Keys(reached))) {
			end := at + len(piece)
			if strings.HasPrefix(text[at:], piece) && (reached[end] < reached[at]+1) {
				reached[end] = reached[at] + 1
			}
		}
		if len(reached) > most {
			return 0
		}
	}
	used, read := reached[len(text)]
	if !read || strings.Join(pieces, "") == text {
		return 0
	}
	return len(pieces) - used
}
