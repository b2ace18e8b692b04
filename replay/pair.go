package replay

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/replay/report"
)

// A pairer reads the live answer of one exchange as it comes, beside the recorded one: it pairs their values and notes
// where they contradict what was paired before.
type pairer struct {
	values *values
	seq    uint64 // of the recorded exchange
	task   string // that the request names, as recorded
	call   *a2a.Call
	rec    *reply
	live   itemReader
	pairs  []int // for each live item its recorded counterpart, -1 if there is none
	used   []bool
	far    Progress // how far the live answer has come, in the measure of the recorded one
	diffs  []report.Difference
	seen   [2]bool // an id of the envelope, or of the objects in it, was wrong before: one cause, one difference
}

func newPairer(v *values, e *entry, call *a2a.Call, rec *reply) *pairer {
	return &pairer{
		values: v, seq: e.seq, task: e.task, call: call, rec: rec, live: itemReader{call: call},
		used: make([]bool, len(rec.items)),
	}
}

// take reads the next event, or the only answer with number 0, and returns how far the live answer has come.
func (l *pairer) take(event int, a a2a.Answer) Progress {
	at, isNew := l.live.add(event, a)
	if at < 0 {
		return l.far
	}
	if isNew {
		l.pairs = append(l.pairs, l.counterpart(l.live.items[at]))
	}
	if rec := l.pairs[at]; rec >= 0 {
		l.learn(l.rec.items[rec], a, l.live.items[at].task)
	}
	l.advance(at)
	return l.far
}

// counterpart finds the recorded item that a live one stands for: the next one that means the same, else one of the
// same kind. The number of an event never counts.
func (l *pairer) counterpart(live item) int {
	for i, rec := range l.rec.items {
		if !l.used[i] && rec.same(live) {
			l.used[i] = true
			return i
		}
	}
	for i, rec := range l.rec.items {
		if rec.sameKind(live) {
			return i
		}
	}
	return -1
}

// learn pairs the values of two answers that stand at the same place in both.
func (l *pairer) learn(rec item, a a2a.Answer, liveTask string) {
	if rec.kind == a2a.TaskListPayload {
		l.learnList(rec, a)
		return
	}
	sites := map[string]Site{}
	for s := range Sites(a.Doc.Root, l.call) {
		sites[s.Pointer] = s
	}
	recTask := rec.task
	if recTask == "" {
		recTask = l.task
	}
	if liveTask == "" {
		liveTask, _ = l.values.liveFor(TaskID, "", recTask)
	}
	for s := range Sites(rec.answer.Doc.Root, l.call) {
		live, ok := sites[s.Pointer]
		if !ok || live.Role != s.Role || s.Role == ResourceName {
			continue
		}
		if s.Role == NoRole && (!Opaque(s.Text()) || !Opaque(live.Text()) || s.Text() == live.Text()) {
			continue
		}
		p := pairing{role: s.Role, recorded: s.Text(), live: live.Text(), recTask: recTask, liveTask: liveTask}
		if p.recorded != "" && p.live != "" && !l.values.pair(&p) && enforced(s) {
			l.contradiction(rec, s, p)
		}
	}
}

// enforced reports whether values of the site's role have to be paired one to one. An agent may create a new id for its
// message each time it shows it, and opaque values need not stay the same.
func enforced(s Site) bool {
	switch s.Role {
	case TaskID, ContextID, RequestID:
		return true
	case ArtifactID, ConfigID:
		return !strings.Contains(s.Pointer, "/history/")
	}
	return false
}

func (l *pairer) contradiction(rec item, s Site, p pairing) {
	class := 0
	if s.Role == RequestID {
		class = 1
	}
	if l.seen[class] {
		return
	}
	l.seen[class] = true
	d := report.Difference{
		Kind: report.DifferentID, Exchange: l.seq, Place: place(l.seq, rec.event, s.Pointer), Want: p.wanted, Got: p.live,
		Changes: []report.Change{{Pointer: s.Pointer, Was: clip(p.wanted), Now: clip(p.live)}},
	}
	switch {
	case p.wanted != "":
		d.Message = fmt.Sprintf("%s is %s, expected %s, which stands for %s",
			s.Role, clip(p.live), clip(p.wanted), clip(p.recorded))
	default:
		d.Want = "an id of its own"
		d.Message = fmt.Sprintf("%s is %s in place of %s, but that stands for %s already",
			s.Role, clip(p.live), clip(p.recorded), clip(p.alreadyFor))
	}
	l.diffs = append(l.diffs, d)
}

// learnList pairs the page tokens of two lists of tasks, and the tasks that neither side has paired yet, in order.
func (l *pairer) learnList(rec item, a a2a.Answer) {
	token := pairing{
		role:     PageToken,
		recorded: rec.answer.Payload.Value.Get("nextPageToken").Text(), live: a.Payload.Value.Get("nextPageToken").Text(),
	}
	if token.recorded != "" && token.live != "" {
		l.values.pair(&token)
	}
	var unpaired []a2a.Task
	for t := range a.Payload.Tasks() {
		if _, ok := l.values.recordedFor(TaskID, "", t.ID()); !ok {
			unpaired = append(unpaired, t)
		}
	}
	for t := range rec.answer.Payload.Tasks() {
		if _, ok := l.values.liveFor(TaskID, "", t.ID()); ok || len(unpaired) == 0 {
			continue
		}
		p := pairing{role: TaskID, recorded: t.ID(), live: unpaired[0].ID()}
		c := pairing{role: ContextID, recorded: t.ContextID(), live: unpaired[0].ContextID()}
		unpaired = unpaired[1:]
		if l.values.pair(&p) && c.recorded != "" && c.live != "" {
			l.values.pair(&c)
		}
	}
}

// place writes the place of a value in the answer of an exchange.
func place(seq uint64, event int, pointer string) string {
	at := fmt.Sprintf("%d.response", seq)
	if event > 0 {
		at += fmt.Sprintf(".event[%d]", event)
	} else {
		at += ".body"
	}
	return at + "#" + pointer
}
