// Package sequence converts exchanges to the arrows of a sequence diagram: the request, and the answer or each event of
// its stream, with their findings. Other packages draw them.
package sequence

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An Arrow is one line of a sequence diagram: a request, a response or an event between client and agent. Its texts
// come unescaped from the wire; drawing code must make them safe.
type Arrow struct {
	At         time.Time
	Exchange   uint64
	From, To   string
	Label      string
	Response   bool                // it is part of the answer
	Event      int                 // the event of a stream, or the first of several in one arrow; otherwise 0
	Last       int                 // the last of several events in one arrow; otherwise 0
	Broken     bool                // it did not arrive as it should
	Failed     bool                // it shows a failure
	Aside      string              // an additional remark, which the caller may set
	Findings   []string            // slugs of the rules that are broken here
	Severities []analysis.Severity // of Findings
}

// Of returns the arrows of one exchange: its request, then its answer or the events of its stream, artifact chunks in a
// row folded into one. The last arrow has the exchange's outcome from its summary, even if it broke off or is still
// open. Findings are at their arrows.
func Of(x *capture.Exchange, r *reading.Reading, s *summary.Summary, findings []analysis.Finding) []Arrow {
	d := drawing{x: x, r: r, outcome: s.OutcomeText(), findings: findings}
	d.add(0, true, d.asked(), d.slugs(analysis.Place{Exchange: x.Seq}.Line(), false))
	switch res := x.Response; {
	case res == nil || len(res.Head) == 0:
	case res.Stream:
		d.stream(res)
	default:
		at := res.Body.At
		if at < 0 {
			at = res.At
		}
		d.add(at, false, d.answered(res, s), d.slugs(analysis.Place{}, true))
		d.arrows[len(d.arrows)-1].Failed = s.Failed() && !d.goesOn()
	}
	if d.goesOn() {
		d.add(d.until(), x.Fault != nil && x.Fault.Side == "client", cmp.Or(d.outcome, x.State.String()), nil)
		last := &d.arrows[len(d.arrows)-1]
		last.Broken, last.Failed = x.State != capture.StateOpen, x.Fault != nil
	}
	return d.arrows
}

// goesOn reports whether an answer, if one came, was not the end of the exchange: it broke off, or is still open.
func (d *drawing) goesOn() bool { return d.x.Fault != nil || d.x.State != capture.StateClosed }

// until returns when the exchange ended, or something of it was last seen.
func (d *drawing) until() time.Duration {
	if took := d.x.Took(); took >= 0 {
		return took
	}
	last := time.Duration(0)
	if res := d.x.Response; res != nil {
		last = max(last, res.At, res.Body.At)
		for i := range res.Events {
			last = max(last, res.Events[i].At)
		}
	}
	return last
}

// Sort puts the arrows of several exchanges in order of time.
func Sort(arrows []Arrow) {
	slices.SortStableFunc(arrows, func(a, b Arrow) int { return cmp.Or(a.At.Compare(b.At), 0) })
}

type drawing struct {
	x        *capture.Exchange
	r        *reading.Reading
	outcome  string // the exchange's outcome
	findings []analysis.Finding
	arrows   []Arrow
}

func (d *drawing) add(offset time.Duration, request bool, label string, slugs []string) {
	a := Arrow{
		At: d.x.Started.Add(max(offset, 0)), Exchange: d.x.Seq, Response: !request,
		From: d.x.Client.Name, To: d.x.Agent.Name, Label: label, Findings: slugs,
	}
	if !request {
		a.From, a.To = a.To, a.From
	}
	for _, slug := range slugs {
		a.Severities = append(a.Severities, d.severity(slug))
	}
	d.arrows = append(d.arrows, a)
}

func (d *drawing) asked() string {
	if op := d.r.Call.Operation; op != a2a.NoOperation {
		if len(d.r.Tasks) > 0 && d.r.Call.TaskID != "" {
			return op.String() + " " + ShortID(d.r.Call.TaskID)
		}
		return op.String()
	}
	if words := d.r.Asked(); words != "" {
		return words
	}
	head := capture.ParseRequestHead(d.x.Request.Head)
	return head.Method + " " + head.Target
}

// answered adds the arrows of the answer.
func (d *drawing) answered(res *capture.Response, s *summary.Summary) string {
	status := fmt.Sprint(capture.ParseResponseHead(res.Head).Status)
	switch {
	case d.goesOn():
		return status
	case s.Failure() != "":
		return d.outcome
	case d.outcome != "":
		return status + " " + d.outcome
	case d.r.Card != nil:
		return status + " card"
	case len(d.r.Roles) > 1 || slices.Contains(d.r.Roles, "agent"):
		return status + " message"
	}
	return status
}

// stream draws the events, and the end of the stream if the agent ended it.
func (d *drawing) stream(res *capture.Response) {
	offsets := make(map[int]time.Duration, len(res.Events))
	for i := range res.Events {
		offsets[res.Events[i].K] = res.Events[i].At
	}
	for i := 0; i < len(d.r.Events); {
		e := d.r.Events[i]
		last := i
		for e.Kind == a2a.ArtifactPayload && last+1 < len(d.r.Events) && d.r.Events[last+1].Kind == a2a.ArtifactPayload {
			last++
		}
		label := fmt.Sprintf("·%d %s", e.K, d.describe(e))
		if last > i {
			label = fmt.Sprintf("·%d–%d %d artifact chunks", e.K, d.r.Events[last].K, last-i+1)
		}
		var slugs []string
		for k := e.K; k <= d.r.Events[last].K; k++ {
			slugs = append(slugs, d.slugs(analysis.Place{Exchange: d.x.Seq, Response: true}.Event(k), false)...)
		}
		d.add(offsets[d.r.Events[last].K], false, label, slugs)
		a := &d.arrows[len(d.arrows)-1]
		a.Event, a.Failed = e.K, e.Err != nil
		if last > i {
			a.Last = d.r.Events[last].K
		}
		i = last + 1
	}
	if res.Body.Complete {
		label := "stream ends"
		if d.outcome != "" && !d.goesOn() {
			label += ": " + d.outcome
		}
		d.add(max(res.Body.At, 0), false, label,
			d.slugs(analysis.Place{Exchange: d.x.Seq, Response: true}.Body(), false))
	}
}

// EventWords describes the contents of a stream's event in a word or two.
func EventWords(e reading.EventReading) string {
	d := drawing{r: &reading.Reading{}}
	return d.describe(e)
}

func (d *drawing) describe(e reading.EventReading) string {
	switch {
	case e.Err != nil:
		return cmp.Or(summary.ErrorWords(e.Err, d.r.Call.Binding), "error")
	case e.State.Known():
		return kindWord(e.Kind) + " " + e.State.String()
	}
	return kindWord(e.Kind)
}

// kindWord names an object in one word, since an arrow is short.
func kindWord(k a2a.PayloadKind) string {
	switch k {
	case a2a.TaskPayload:
		return "task"
	case a2a.StatusPayload:
		return "status"
	case a2a.ArtifactPayload:
		return "artifact"
	case a2a.MessagePayload:
		return "message"
	}
	return k.String()
}

// severity returns the worst severity that a rule has in the exchange.
func (d *drawing) severity(slug string) analysis.Severity {
	worst := analysis.Note
	for i := range d.findings {
		if d.findings[i].Rule.ID == slug {
			worst = max(worst, d.findings[i].Severity)
		}
	}
	return worst
}

// slugs returns the rules broken at a place: of the request if the place is there, and everything on the answer's side
// if whole is true.
func (d *drawing) slugs(at analysis.Place, whole bool) []string {
	var slugs []string
	for i := range d.findings {
		f := &d.findings[i]
		hit := f.Place.Response == at.Response && f.Place.Part == at.Part
		switch {
		case whole:
			hit = f.Place.Response
		case !at.Response:
			hit = !f.Place.Response
		}
		if hit && !slices.Contains(slugs, f.Rule.ID) {
			slugs = append(slugs, f.Rule.ID)
		}
	}
	return slugs
}

// ShortID shortens an id to its distinctive part.
func ShortID(id string) string { return summary.ShortID(id) }
