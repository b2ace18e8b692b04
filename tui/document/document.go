// Package document lays an exchange out as lines for people: heads, bodies and events, with findings below the lines
// where they stand, and how it all ended. JSON is laid out one member or element a line, whatever is wrong with it, and
// its objects and arrays fold; what is searched for is highlighted. Control characters are spelt out, and bytes that are
// not text become a table.
//
// A Source says what is laid out, and how. Build lays out what the detail shows, of whose stream the events are laid out
// only where they are open; Print gives all of an exchange to a printer, piece by piece; Source.Arrow lays out what
// passed at one arrow of a ladder; Source.Occurs searches without laying anything out for the screen.
package document

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

func (v View) String() string { return [...]string{"as JSON", "decoded", "raw"}[v] }

// Build lays an exchange out.
func Build(l *load.Loader, ticket uint64, s Source) tea.Cmd {
	return func() tea.Msg {
		s.Load, s.Reading = l, l.Reader.Read(s.Exchange)
		return Built{ticket, s.layout()}
	}
}

func (s Source) layout() Document {
	w := writer{Source: s, doc: Document{Marks: make(map[int][]Line), Open: make(map[int][]Line)}}
	w.doc.Reading, w.doc.Pattern = s.Reading, s.Pattern
	w.request()
	w.answer()
	w.doc.Before = w.part()
	w.contents()
	w.ending()
	w.doc.After = w.part()
	return w.doc
}

func (w *writer) request() {
	at := analysis.Place{Exchange: w.Exchange.Seq}
	w.noted()
	if how := w.Exchange.Client.How; how != "" && how != "user-agent" && how != "default" {
		w.say(analysis.Place{}, style.Text(style.Dim, "client "+w.Exchange.Client.Name+": "+how), 0)
	}
	w.head(at, w.Exchange.Request.Head, style.Request, "→ ")
	head := capture.ParseRequestHead(w.Exchange.Request.Head)
	w.body(at.Body(), &w.Exchange.Request.Body, &head)
	w.trailer(at, w.Exchange.Request.Trailer)
}

// noted writes the mark and the comment, if there are any.
func (w *writer) noted() {
	words := ""
	if w.Note.Marked {
		words = "* marked "
	}
	if w.Note.Comment != "" {
		words += "# " + w.Note.Comment
	}
	if words != "" {
		w.say(analysis.Place{}, style.Text(style.Title, strings.TrimSpace(words)), 2)
	}
}

func (w *writer) answer() {
	w.say(analysis.Place{}, style.Line{}, 0)
	at := analysis.Place{Exchange: w.Exchange.Seq, Response: true}
	res := w.Exchange.Response
	if res == nil {
		w.say(at, style.Text(style.Dim, "no response was recorded"), 0)
		w.found(func(p analysis.Place) bool { return p.Response })
		return
	}
	for _, head := range res.Informational {
		w.head(analysis.Place{}, head, style.Dim, "← ")
	}
	w.head(at, res.Head, style.Answer, "← ")
	if res.Stream {
		w.say(analysis.Place{}, style.Line{}, 0)
		w.say(at.Body(), style.Text(style.Dim, w.howMany()+"; enter opens one"+w.bars()), 0)
		w.found(func(p analysis.Place) bool { return p.Response && p.Part == "body" })
		return
	}
	head := capture.ParseResponseHead(res.Head)
	w.body(at.Body(), &res.Body, &head)
	w.trailer(at, res.Trailer)
}

// head writes a head, with its findings below each line.
func (w *writer) head(at analysis.Place, raw []byte, look style.Style, mark string) {
	if w.counting && w.Pattern.Absent(raw) {
		return
	}
	if w.View == Raw {
		for _, piece := range rawLines(raw) {
			w.put(at.Line(), style.Text(look, mark).Add(style.Normal, piece), 2)
			mark = ""
		}
	} else {
		first, rest, _ := strings.Cut(string(raw), "\n")
		w.put(at.Line(), style.Text(look, mark+strings.TrimRight(first, "\r")), 2)
		w.found(func(p analysis.Place) bool { return p.Response == at.Response && isFirst(p.Part) })
		for field := range strings.Lines(rest) {
			w.field(at, strings.TrimRight(field, "\r\n"))
		}
	}
	w.found(func(p analysis.Place) bool {
		return p.Response == at.Response && at.Exchange > 0 && (w.View == Raw && isFirst(p.Part) ||
			w.headerAbsent(p, raw))
	})
}

func isFirst(part string) bool { return part == "" || part == "line" || part == "status" }

// headerAbsent reports whether a place is a header that the head, as it is shown, does not have.
func (w *writer) headerAbsent(p analysis.Place, raw []byte) bool {
	name, ok := HeaderOf(p.Part)
	if !ok {
		return false
	}
	fields, _ := capture.ParseFields(raw)
	return w.View == Raw || !fields.Has(name)
}

// HeaderOf returns the name of the header that the part of a place names, and whether it names one.
func HeaderOf(part string) (string, bool) {
	name, ok := strings.CutPrefix(part, "header[")
	return strings.TrimSuffix(name, "]"), ok
}

func (w *writer) field(at analysis.Place, field string) {
	if field == "" {
		return
	}
	name, value, _ := strings.Cut(field, ":")
	w.put(at.Header(name), style.Text(style.Name, name).Add(style.Dim, ":").Add(style.Normal, value), 4)
	w.found(func(p analysis.Place) bool {
		broken, ok := HeaderOf(p.Part)
		return ok && p.Response == at.Response && strings.EqualFold(broken, strings.TrimSpace(name))
	})
}

func (w *writer) trailer(at analysis.Place, raw []byte) {
	fields, _ := capture.ParseFields(raw)
	for field := range strings.Lines(string(raw)) {
		name, value, _ := strings.Cut(strings.TrimRight(field, "\r\n"), ":")
		w.put(at.Trailer(name), style.Text(style.Name, "trailer "+name).Add(style.Dim, ":").Add(style.Normal, value), 4)
		w.found(func(p analysis.Place) bool {
			broken, ok := trailerOf(p)
			return ok && p.Response == at.Response && strings.EqualFold(broken, strings.TrimSpace(name))
		})
	}
	w.found(func(p analysis.Place) bool {
		broken, ok := trailerOf(p)
		return ok && p.Response == at.Response && !fields.Has(broken)
	})
}

// trailerOf returns the name of the field that a place in a trailer names, and whether it names one.
func trailerOf(p analysis.Place) (string, bool) {
	name, ok := strings.CutPrefix(p.Part, "trailer[")
	return strings.TrimSuffix(name, "]"), ok
}

// EventIndent is how far what belongs to an event stands to the right of its row.
const EventIndent = 2

// contents lays out the findings of a stream's events, and the contents of those that are open.
func (w *writer) contents() {
	if w.Exchange.Response == nil || !w.Exchange.Response.Stream {
		return
	}
	w.Width -= EventIndent
	defer func() { w.Width += EventIndent }()
	for i := range w.Findings {
		f := &w.Findings[i]
		if !f.Place.Response {
			continue
		}
		if at := w.Excerpt.Events.IndexOf(f.Place.Part); at >= 0 {
			w.doc.Marks[at] = append(w.doc.Marks[at], FindingLines(f, w.Width-1)...)
		}
	}
	for _, i := range w.Open {
		err := w.Load.Events(w.Context, w.Exchange.Seq, w.Excerpt.Events, i, i, func(at int, e *capture.Event) {
			if at == i {
				w.event(load.EventAt(w.Exchange, e.K), e, inEvent(e))
			}
		})
		if err != nil {
			w.say(analysis.Place{}, style.Text(style.Error, "! "+err.Error()), 2)
		}
		w.doc.Open[i] = w.part()
	}
}

// barsFrom is the width of the panel from which the rows of events have bars.
const barsFrom = 90

// bars decides what the bars of the events stand for, and says it.
func (w *writer) bars() string {
	if w.Width < barsFrom || w.More || w.Excerpt.Events.At <= 0 {
		return ""
	}
	w.doc.Total = w.Excerpt.Events.At
	return "; bars are the waits before the events, on a scale from 0 to " + text.Duration(w.doc.Total)
}

// howMany says how many events there are, once all were read.
func (w *writer) howMany() string {
	word := load.EventWord(w.Exchange)
	if w.More {
		return word + "s"
	}
	return text.Plural(w.Excerpt.Events.Count(), word)
}

// event writes the content of one event.
func (w *writer) event(at analysis.Place, e *capture.Event, mine func(analysis.Place) bool) {
	if w.counting && w.View != Decoded && w.Pattern.Absent(e.Raw) {
		return
	}
	fields := e.Fields()
	if w.View == Raw || !fields.HasData {
		w.found(mine)
		if w.View != Raw && e.IsMessage() {
			w.say(at, style.Text(style.Dim, "the message cannot be shown by its fields: "+unreadable(e)), 2)
		}
		w.plain(at, rawLines(e.Raw))
		return
	}
	for _, field := range []struct{ name, value string }{{"event", string(fields.Type)}, {"id", string(fields.ID)}} {
		if field.value != "" {
			w.put(at, style.Text(style.Name, field.name).Add(style.Dim, ": ").Add(style.Normal, field.value), 2)
		}
	}
	if w.View == Decoded {
		w.found(mine)
		w.decodedEvent(at, fields.Data)
		return
	}
	w.content(at, fields.Data, mine)
}

// unreadable returns why a message of gRPC has no JSON.
func unreadable(e *capture.Event) string {
	if e.As == nil {
		return grpc.ErrNoType.Error()
	}
	if err := e.As.Read(e.Raw).Err; err != nil {
		return err.Error()
	}
	return "it says nothing"
}

// fault says what broke the exchange off, and by whom.
func (w *writer) fault() style.Line {
	s := summary.Summary{Fault: w.Exchange.Fault}
	if w.Exchange.Client.ByWebhook() {
		s.Operation = a2a.Webhook
	}
	return style.Text(style.Error, "✗ "+s.Faulted()).Add(style.Normal, ": "+s.Fault.Detail)
}

// failures writes what the exchange itself says of its failure, which matters more than how it broke off.
func (w *writer) failures() {
	if w.counting || w.whole { // it is not searched, and stands in what is printed whole
		return
	}
	s := w.Load.ShownSummary(w.Exchange)
	for i := range s.Errors {
		if words := s.Errors[i].String(); words != "" {
			w.say(analysis.Place{}, style.Text(style.Error, "✗ "+words), 2)
		}
	}
	for _, end := range s.Ended {
		words := "task " + summary.ShortID(end.ID) + " " + end.State.String()
		if end.Text != "" {
			words += ": " + end.Text
		}
		w.say(analysis.Place{}, style.Text(style.Error, "✗ "+words), 2)
	}
}

// ending writes how the exchange ended, and what the recorder noted about it.
func (w *writer) ending() {
	w.say(analysis.Place{}, style.Line{}, 0)
	if res := w.Exchange.Response; res != nil && res.Stream {
		w.trailer(analysis.Place{Exchange: w.Exchange.Seq, Response: true}, res.Trailer)
	}
	if w.Exchange.Fault != nil {
		w.failures()
		w.say(analysis.Place{}, w.fault(), 2)
	}
	for _, e := range w.Exchange.Ends {
		w.say(analysis.Place{}, style.Text(style.Dim, "· "+e.String()), 2)
	}
	if l, known := End(w.Exchange, w.More); known {
		w.say(analysis.Place{}, l, 0)
	}
	if w.Exchange.Lost > 0 {
		w.say(analysis.Place{}, style.Text(style.Warning,
			"? "+text.Plural(w.Exchange.Lost, "byte")+" were not recorded; it is not known where"), 2)
	}
	for _, r := range w.Exchange.Rewrites {
		w.say(analysis.Place{}, style.Text(style.Dim, "rewritten: "+r.Place+" was "+r.Was+", forwarded as "+r.Now), 2)
	}
	for _, note := range w.Exchange.Notes {
		if strings.HasPrefix(note, capture.FaultMadeHere) {
			w.say(analysis.Place{}, style.Text(style.Error, "✗ "+note), 2)
		} else {
			w.say(analysis.Place{}, style.Text(style.Dim, "note: "+note), 2)
		}
	}
}

// End says how an exchange ended, as far as that is known; more of it may be still to be read.
func End(x *capture.Exchange, more bool) (l style.Line, known bool) {
	switch {
	case more:
		return style.Text(style.Dim, "… loading"), true
	case x.State == capture.StateOpen:
		return style.Text(style.Warning, "… still open"), true
	case x.State == capture.StateInterrupted:
		return style.Text(style.Warning, "? the recorder ended before the exchange did"), true
	case x.Ended >= 0:
		return style.Text(style.Dim, "ended after "+text.Duration(x.Ended)), true
	}
	return l, false
}
