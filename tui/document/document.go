// Package document lays out an exchange as lines for display: heads, bodies and events, with findings below their
// lines, and the ending. JSON has one member or element per line, even if it is invalid, and its objects and arrays
// fold; search matches are highlighted. Control characters are spelled out, and binary bytes become a table.
//
// A Source selects what to lay out, and how. Build lays out the detail, with only the opened events of a stream. Print
// passes a whole exchange to a printer, piece by piece. Source.Arrow lays out the message of one arrow of a ladder.
// Source.Occurs searches without a layout.
package document

import (
	"cmp"
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

// noted writes the user's mark and comment, if any.
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

// headerAbsent reports whether a place names a header that the displayed head lacks.
func (w *writer) headerAbsent(p analysis.Place, raw []byte) bool {
	name, ok := HeaderOf(p.Part)
	if !ok {
		return false
	}
	fields, _ := capture.ParseFields(raw)
	return w.View == Raw || !fields.Has(name)
}

// HeaderOf returns the header name in the part of a place, and whether the part names a header.
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

// trailerOf returns the field name in a place in a trailer, and whether the place names a field.
func trailerOf(p analysis.Place) (string, bool) {
	name, ok := strings.CutPrefix(p.Part, "trailer[")
	return strings.TrimSuffix(name, "]"), ok
}

// EventIndent is the indent of an event's contents below its row.
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

// barsFrom is the minimum width of the panel for bars in the rows of events.
const barsFrom = 90

// bars chooses the scale of the events' bars, and returns its description.
func (w *writer) bars() string {
	if w.Width < barsFrom || w.More || w.Excerpt.Events.At <= 0 {
		return ""
	}
	w.doc.Total = w.Excerpt.Events.At
	return "; bars show the wait before each event, on a scale from 0 to " + text.Duration(w.doc.Total)
}

// howMany returns the number of events as text, once all have been read.
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
			w.say(at, style.Text(style.Dim, "the message's fields cannot be shown: "+unreadable(e)), 2)
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

// unreadable returns why a gRPC message has no JSON.
func unreadable(e *capture.Event) string {
	if e.As == nil {
		return grpc.ErrNoType.Error()
	}
	if err := e.As.Read(e.Raw).Err; err != nil {
		return err.Error()
	}
	return "it is empty"
}

// fault describes what interrupted the exchange, and on which side.
func (w *writer) fault() style.Line {
	s := summary.Summary{Fault: w.Exchange.Fault}
	if w.Exchange.Client.ByWebhook() {
		s.Operation = a2a.Webhook
	}
	return style.Text(style.Error, "✗ "+s.Faulted()).Add(style.Normal, ": "+s.Fault.Detail)
}

// failures writes the exchange's own error, which matters more than how the exchange was interrupted.
func (w *writer) failures() {
	if w.counting || w.whole { // it is not searched, and complete output includes it anyway
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

// ending writes how the exchange ended, and the recorder's remarks.
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
			"? "+text.Plural(w.Exchange.Lost, "byte")+" were not recorded, at unknown positions"), 2)
	}
	for _, r := range w.Exchange.Rewrites {
		if strings.HasSuffix(r.Place, ".body") { // which takes too many lines to be read within one sentence
			w.say(analysis.Place{}, style.Text(style.Dim, "rewritten: "+r.Place+" was"), 2)
			w.say(analysis.Place{}, style.Text(style.Dim, cmp.Or(r.Was, "empty")), 4)
			w.say(analysis.Place{}, style.Text(style.Dim, "forwarded as"), 2)
			w.say(analysis.Place{}, style.Text(style.Dim, cmp.Or(r.Now, "empty")), 4)
			continue
		}
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

// End describes how an exchange ended, if known. more means that a part of the exchange is still unread.
func End(x *capture.Exchange, more bool) (l style.Line, known bool) {
	switch {
	case more:
		return style.Text(style.Dim, "… loading"), true
	case x.State == capture.StateOpen:
		return style.Text(style.Warning, "… still open"), true
	case x.State == capture.StateInterrupted:
		return style.Text(style.Warning, "? the recorder ended before the exchange did"), true
	case x.Ended >= 0:
		return style.Text(style.Dim, "ended after "+text.Duration(x.Took())), true
	}
	return l, false
}
