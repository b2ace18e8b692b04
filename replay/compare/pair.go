package compare

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/noise"
)

// A Pairer reads the live answer of one exchange as it arrives, alongside the recorded one. It pairs their values and
// notes contradictions with earlier pairs. It is for one goroutine.
type Pairer struct {
	Noise *noise.Scope // values that may differ; nil if none may

	values *Values
	rec    *Recorded
	live   ItemReader
	pairs  []int // for each live item its recorded counterpart, or -1
	used   []bool
	far    Progress // progress of the live answer, measured by the recorded one
	diffs  []Difference
	seen   [2]bool // a wrong id of the envelope, or of an object in it, was reported: one cause, one difference
}

// NewPairer returns a pairer for the live answer to the same request, or to the call that replaced it.
func NewPairer(v *Values, rec *Recorded, call *a2a.Call) *Pairer {
	return &Pairer{values: v, rec: rec, live: ItemReader{Call: call}, used: make([]bool, len(rec.Items))}
}

// Take reads the next event, or the only answer with number 0, and returns the live answer's progress.
func (l *Pairer) Take(event int, a a2a.Answer) Progress {
	at, isNew := l.live.Add(event, a)
	if at < 0 {
		return l.far
	}
	if isNew {
		l.pairs = append(l.pairs, l.counterpart(l.live.Items[at]))
	}
	if rec := l.pairs[at]; rec >= 0 {
		l.learn(l.rec.Items[rec], a, l.live.Items[at].Task)
	}
	l.advance(at)
	return l.far
}

// Far returns the live answer's progress, measured by the recorded one.
func (l *Pairer) Far() Progress { return l.far }

// Contradictions returns the places where ids of the live answer contradict their earlier meaning.
func (l *Pairer) Contradictions() []Difference { return l.diffs }

// counterpart finds the recorded item for a live one: the one about the same known artifact, else the next one with the
// same meaning, else one of the same kind. Event numbers do not matter.
func (l *Pairer) counterpart(live Item) int {
	if live.Kind == a2a.ArtifactPayload {
		if i, known := l.knownArtifact(live); known {
			return i
		}
	}
	for i, rec := range l.rec.Items {
		if !l.used[i] && rec.Same(live) {
			l.used[i] = true
			return i
		}
	}
	for i, rec := range l.rec.Items {
		if rec.sameKind(live) {
			return i
		}
	}
	return -1
}

// knownArtifact finds the recorded item about an artifact that other answers have shown. It returns -1 if there is no
// such item: subscriptions begin at arbitrary times, so the recorded one may have begun after the artifact.
func (l *Pairer) knownArtifact(live Item) (at int, known bool) {
	id, known := l.values.recordedFor(ArtifactID, live.Task, live.artifact().ID())
	if !known {
		return -1, false
	}
	at = slices.IndexFunc(l.rec.Items, func(rec Item) bool {
		return rec.Kind == a2a.ArtifactPayload && rec.artifact().ID() == id
	})
	if at >= 0 {
		l.used[at] = true
	}
	return at, at >= 0 || l.rec.Call.Operation == a2a.SubscribeToTask
}

// learn pairs the values at the same places of two answers.
func (l *Pairer) learn(rec Item, a a2a.Answer, liveTask string) {
	if rec.Kind == a2a.TaskListPayload {
		l.learnList(rec, a)
		return
	}
	sites := placed(a.Doc.Root, l.live.Call, func(s Site) string { return standsAt(s, &a) })
	recTask := rec.Task
	if recTask == "" {
		recTask = l.rec.Task
	}
	if liveTask == "" {
		liveTask, _ = l.values.LiveFor(TaskID, "", recTask)
	}
	for s := range Sites(rec.Answer.Doc.Root, l.rec.Call) {
		live, ok := sites.next(standsAt(s, &rec.Answer))
		if !ok || live.Role != s.Role || s.Role == ResourceName {
			continue
		}
		if s.Role == RequestID && l.live.Call != l.rec.Call {
			l.echo(rec, s, live)
			continue
		}
		if s.Role == NoRole && (!Opaque(s.Text()) || !Opaque(live.Text()) || s.Text() == live.Text()) {
			continue
		}
		p := Pairing{Role: s.Role, Recorded: s.Text(), Live: live.Text(), RecordedTask: recTask, LiveTask: liveTask}
		if p.Recorded != "" && p.Live != "" && !l.values.Pair(&p) && enforced(s) {
			l.contradiction(rec, s, p)
		}
	}
}

// A placement maps places in a JSON text to sites. A place has several sites if a name occurs twice in an object.
type placement map[string][]Site

func placed(root a2a.Value, call *a2a.Call, place func(Site) string) placement {
	sites := placement{}
	for s := range Sites(root, call) {
		at := place(s)
		sites[at] = append(sites[at], s)
	}
	return sites
}

// next returns the sites at a place one after another.
func (p placement) next(place string) (Site, bool) {
	list := p[place]
	if len(list) == 0 {
		return Site{}, false
	}
	p[place] = list[1:]
	return list[0], true
}

// echo compares whether each of two answers has the JSON-RPC id of its request. Ids of different clients are
// otherwise unrelated.
func (l *Pairer) echo(rec Item, s, live Site) {
	if a2a.SameID(s.Value, l.rec.Call.ID) && !a2a.SameID(live.Value, l.live.Call.ID) {
		wanted := string(l.live.Call.ID.Raw())
		l.contradiction(rec, s, Pairing{Role: RequestID, Recorded: s.Text(), Live: live.Text(), Wanted: wanted})
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

func (l *Pairer) contradiction(rec Item, s Site, p Pairing) {
	if l.Noise.Covers(textOf(&rec.Answer), s.Pointer) {
		return
	}
	class := 0
	if s.Role == RequestID {
		class = 1
	}
	if l.seen[class] {
		return
	}
	l.seen[class] = true
	d := p.contradiction(fmt.Sprintf("%s is", s.Role))
	d.Exchange, d.Place = l.rec.Seq, place(l.rec.Seq, rec.Event, s.Pointer)
	d.Changes = []Change{{Pointer: s.Pointer, Was: p.Wanted, Now: p.Live}}
	l.diffs = append(l.diffs, d)
}

// contradiction returns the difference for a conflict. Its message begins with the given text, before the live value.
func (p *Pairing) contradiction(text string) Difference {
	d := Difference{Kind: DifferentID, Want: p.Wanted, Got: p.Live}
	if p.Wanted != "" {
		d.Message = fmt.Sprintf("%s %s, expected %s, the counterpart of %s",
			text, analysis.Clip(p.Live), analysis.Clip(p.Wanted), analysis.Clip(p.Recorded))
		return d
	}
	d.Want = "a separate id"
	d.Message = fmt.Sprintf("%s %s instead of %s, but it is already the counterpart of %s",
		text, analysis.Clip(p.Live), analysis.Clip(p.Recorded), analysis.Clip(p.AlreadyFor))
	return d
}

// learnList pairs the page tokens of two lists of tasks, and the tasks that neither side has paired yet, in order.
func (l *Pairer) learnList(rec Item, a a2a.Answer) {
	token := Pairing{
		Role:     PageToken,
		Recorded: rec.Answer.Payload.Value.Get("nextPageToken").Text(), Live: a.Payload.Value.Get("nextPageToken").Text(),
	}
	if token.Recorded != "" && token.Live != "" {
		l.values.Pair(&token)
	}
	var unpaired []a2a.Task
	for t := range a.Payload.Tasks() {
		if _, ok := l.values.recordedFor(TaskID, "", t.ID()); !ok {
			unpaired = append(unpaired, t)
		}
	}
	for t := range rec.Answer.Payload.Tasks() {
		if _, ok := l.values.LiveFor(TaskID, "", t.ID()); ok || len(unpaired) == 0 {
			continue
		}
		if l.rec.Made != nil && l.rec.Made(t.ID()) {
			continue
		}
		p := Pairing{Role: TaskID, Recorded: t.ID(), Live: unpaired[0].ID()}
		c := Pairing{Role: ContextID, Recorded: t.ContextID(), Live: unpaired[0].ContextID()}
		unpaired = unpaired[1:]
		if l.values.Pair(&p) && c.Recorded != "" && c.Live != "" {
			l.values.Pair(&c)
		}
	}
}
