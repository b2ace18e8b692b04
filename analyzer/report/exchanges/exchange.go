package exchanges

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/sequence"
	"a2atap/analyzer/summary"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
)

// An item is an exchange that is shown, as far as it is written already.
type item struct {
	seq            uint64
	link           string // client → agent
	asked, outcome string
	started        time.Time
	took           time.Duration
	tasks          []string
	found          []*finding
	arrows         []sequence.Arrow
	note           notes.Note
	begin, rest    string // as HTML: a ladder may be between them
}

// maxFindings bounds the findings that are shown in one exchange.
const maxFindings = 300

// item writes an exchange, with its contents if there is room.
func (s *Section) item(sh *shown, x *capture.Exchange) *item {
	r := sh.Reader.Read(x)
	found := sh.found[x.Seq]
	more := len(found) - maxFindings
	found = found[:min(len(found), maxFindings)]
	sum := sh.summary(x)
	it := &item{
		seq: x.Seq, link: x.Client.Name + " → " + x.Agent.Name, outcome: outcome(sum), started: x.Started, took: x.Took(),
		tasks: r.Tasks, found: found, note: sh.Notes.Of(x.Seq, x.ID),
	}
	it.draw(x, r, sum)
	w := &writer{page: &page{}, x: x, found: found, cuts: &s.cuts}
	id := sh.id(x.Seq)
	w.summary(id, it)
	w.facts(r)
	if link := sh.Links.Of(x.Seq); link.Doubt() != "" {
		w.line("left", "Its cause is uncertain: "+link.Doubt())
	}
	it.begin = w.take()
	if s.fits(len(found) > 0) {
		w.contents(id, r)
	} else {
		s.cuts.contents++
		w.line("left", "The contents are left out, to limit the size of the page")
	}
	w.alone(slices.DeleteFunc(slices.Clone(found), func(f *finding) bool { return f.placed }))
	if more > 0 {
		w.line("left", "and "+analysis.Plural(more, "more finding")+", which the text and JSON reports list")
	}
	w.raw("</div>\n</details>\n")
	it.rest = w.take()
	s.spend(len(found) > 0, len(it.begin)+len(it.rest))
	return it
}

// fits reports whether there is room for the contents of one more exchange.
func (s *Section) fits(found bool) bool { return s.room[0] > 0 || found && s.room[1] > 0 }

// spend uses up room: exchanges with findings first use the room reserved for them.
func (s *Section) spend(found bool, n int) {
	if found && s.room[1] > 0 {
		s.room[1] -= n
		return
	}
	s.room[0] -= n
}

// draw makes the arrows of an exchange. Findings that no arrow has, such as those in the head of a stream, are put to
// the first one of their side.
func (it *item) draw(x *capture.Exchange, r *reading.Reading, s *summary.Summary) {
	var findings []analysis.Finding
	for _, f := range it.found {
		findings = append(findings, *f.Finding)
	}
	it.arrows = append(sequence.Of(x, r, s, findings), missing(x)...)
	it.asked = it.arrows[0].Label
	for _, f := range findings {
		has := func(a sequence.Arrow) bool {
			return a.Response == f.Place.Response && slices.Contains(a.Findings, f.Rule.ID)
		}
		if slices.ContainsFunc(it.arrows, has) {
			continue
		}
		a := &it.arrows[max(slices.IndexFunc(it.arrows, func(a sequence.Arrow) bool {
			return a.Response == f.Place.Response
		}), 0)]
		a.Findings, a.Severities = append(a.Findings, f.Rule.ID), append(a.Severities, f.Severity)
	}
}

// missing returns arrows for the events of a stream that are not shown.
func missing(x *capture.Exchange) []sequence.Arrow {
	if x.Response == nil {
		return nil
	}
	var list []sequence.Arrow
	last := 0
	for i := range x.Response.Events {
		e := &x.Response.Events[i]
		if e.K > last+1 {
			list = append(list, sequence.Arrow{
				At: x.Started.Add(max(e.At, 0)), Exchange: x.Seq, From: x.Agent.Name, To: x.Client.Name, Response: true,
				Label: fmt.Sprintf("·%d–%d not drawn", last+1, e.K-1),
			})
		}
		last = max(last, e.K)
	}
	return list
}

// summary returns the summary of an exchange: from judging the capture, or from the exchange alone.
func (sh *shown) summary(x *capture.Exchange) *summary.Summary {
	if sh.Summary != nil {
		if s := sh.Summary(x.Seq); s != nil {
			return s
		}
	}
	s := engine.Summarize(x)
	return &s
}

// outcome describes the result of an exchange.
func outcome(s *summary.Summary) string {
	switch words := s.OutcomeText(); {
	case words != "":
		return words
	case s.Card && s.Status == 200:
		return "card"
	case s.Status > 0:
		return fmt.Sprint(s.Status)
	}
	return "no answer"
}

// worst returns the severity of the worst finding, or "".
func worst(found []*finding) string {
	if len(found) == 0 {
		return ""
	}
	return slices.MaxFunc(found, func(a, b *finding) int { return int(a.Severity) - int(b.Severity) }).Severity.String()
}

// counts writes the number of findings of each severity.
func (p *page) counts(found []*finding) {
	for _, s := range analysis.WorstFirst {
		n := 0
		for _, f := range found {
			if f.Severity == s {
				n++
			}
		}
		if n > 0 {
			p.raw(` <span class="kind ` + s.String() + `"><span class="severity">` + analysis.Plural(n, s.String()) +
				"</span></span>")
		}
	}
}

// summary begins an exchange with the line that is seen when it is folded.
func (w *writer) summary(id string, it *item) {
	w.raw(`<details class="item exchange ` + worst(it.found) + `" id="` + id + `"><summary>`)
	w.span("number", fmt.Sprint(it.seq))
	w.raw(" ")
	w.text(it.link)
	w.raw(" <b>")
	w.text(it.asked)
	w.raw("</b> ")
	w.span("outcome", it.outcome)
	w.raw(" ")
	w.span("faint", summary.DurationWords(it.took))
	w.counts(it.found)
	if it.note.Marked {
		w.raw(` <span class="kind">marked</span>`)
	}
	w.raw("</summary>\n<div class=\"in\">\n")
	w.line("comment", it.note.Comment)
}

// facts writes known facts about the exchange as a whole.
func (w *writer) facts(r *reading.Reading) {
	x := w.x
	facts := []string{x.Started.UTC().Format("2006-01-02 15:04:05.000 UTC"), "id " + x.ID.String()}
	add := func(name, value string) {
		if value != "" {
			facts = append(facts, name+" "+value)
		}
	}
	if r.Call.A2A() {
		add("binding", r.Call.Binding.String())
		add("dialect", r.Dialects.String())
	}
	add("task", strings.Join(r.Tasks[:min(len(r.Tasks), 5)], ", "))
	add("context", strings.Join(r.Contexts[:min(len(r.Contexts), 5)], ", "))
	add("agent at", x.Agent.URL)
	if x.Stream > 0 {
		add("stream", fmt.Sprintf("%d of connection %d", x.Stream, x.Conn))
	}
	w.line("faint", strings.Join(facts, " · "))
	if f := x.Fault; f != nil {
		w.line("bad", strings.TrimSuffix(f.Kind+" by "+f.Side, " by ")+": "+f.Detail)
	}
	if x.State == capture.StateInterrupted {
		w.line("left", "The recorder ended before the exchange did")
	}
	if x.Lost > 0 {
		w.line("left", size(x.Lost)+" were not recorded, at unknown positions")
	}
	for _, c := range x.Rewrites {
		w.line("faint", fmt.Sprintf("rewritten: %s was %s, forwarded as %s", c.Place, cmp.Or(c.Was, "absent"),
			cmp.Or(c.Now, "nothing")))
	}
	for _, note := range x.Notes {
		w.line("faint", note)
	}
}

// contents writes the request and the answer.
func (w *writer) contents(id string, r *reading.Reading) {
	w.raw(`<section id="` + id + `.request"><h4>Request</h4>` + "\n")
	w.head(false, w.x.Request.Head)
	head := capture.ParseRequestHead(w.x.Request.Head)
	w.body(false, &w.x.Request.Body, &head)
	w.trailer(w.x.Request.Trailer)
	w.raw("</section>\n" + `<section id="` + id + `.response"><h4>Response</h4>` + "\n")
	if res := w.x.Response; res == nil {
		w.line("left", "No response was recorded")
	} else {
		w.response(id+".response", res, r)
	}
	w.raw("</section>\n")
}

func (w *writer) response(id string, res *capture.Response, r *reading.Reading) {
	for _, head := range res.Informational {
		line, _, _ := strings.Cut(string(head), "\n")
		w.line("faint", strings.TrimSpace(line))
	}
	w.head(true, res.Head)
	if res.Stream {
		w.stream(id, r)
	} else {
		head := capture.ParseResponseHead(res.Head)
		w.body(true, &res.Body, &head)
	}
	w.trailer(res.Trailer)
	w.alone(w.of(true, func(part string) bool { return strings.HasPrefix(part, "trailer[") }))
}

func (w *writer) trailer(raw []byte) {
	for line := range strings.Lines(string(raw[:min(len(raw), maxHead)])) {
		w.line("faint", "trailer "+strings.TrimRight(line, "\r\n"))
	}
}
