package tui

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
	"a2atap/tui/find"
	"a2atap/tui/load"
	"a2atap/tui/style"
	"a2atap/tui/text"
)

// A view is how the detail shows bodies and events.
type view uint8

const (
	viewJSON    view = iota // content codings taken off, JSON laid out
	viewDecoded             // the A2A objects
	viewRaw                 // the bytes as they were recorded
	viewCount
)

func (v view) String() string { return [...]string{"as JSON", "decoded", "raw"}[v] }

// Bounds of what is shown of a body.
const (
	firstShown = 64 << 10
	maxShown   = 1 << 20
	maxLines   = 50_000 // of one body, however short they are
)

// A docLine is a line of the detail.
type docLine struct {
	style.Line
	place   analyzer.Place
	finding bool              // it is a finding at place
	found   *analyzer.Finding // which, if it is one
	lit     []lit             // where it matches what is searched for, in order
	upto    int               // matches of its part of the detail that begin up to the end of this line
	node    node              // the object or array that begins in it
	depth   int               // of a JSON text: how many objects and arrays it is in
	hidden  []analyzer.Place  // findings inside, if node is folded
}

// A document is an exchange laid out for a width: the lines before the events of its stream, findings and contents of
// some of the events, and the lines after them. The rows of events are drawn when they are visible, since there may be
// a great many.
type document struct {
	before, after []docLine
	marks         map[int][]docLine // by index of the event: its findings
	open          map[int][]docLine // by index of the event: its content and its findings
	cut           bool              // a body is longer than what is shown
	total         time.Duration     // that the bars of the events stand for; 0 if there are none
	reading       *reading.Reading
	pattern       *find.Pattern // that was searched for
}

// A docSource holds what a document is built from.
type docSource struct {
	load.Excerpt
	ctx      context.Context
	load     *load.Loader
	findings []analyzer.Finding
	view     view
	width    int
	limit    int   // bytes of a body
	open     []int // events whose content is shown
	whole    bool  // all of it is for a printer: no line is wrapped, and none is left out
	reading  *reading.Reading
	folds    folding
	pattern  *find.Pattern // that is searched for; nil if none is
	note     notes.Note
}

// built is the message of loader.build.
type built struct {
	ticket uint64
	doc    document
}

// buildDocument lays an exchange out.
func buildDocument(l *load.Loader, ticket uint64, s docSource) tea.Cmd {
	return func() tea.Msg {
		s.load, s.reading = l, l.Reader.Read(s.Exchange)
		return built{ticket, s.layout()}
	}
}

func (s docSource) layout() document {
	w := docWriter{docSource: s, doc: document{marks: make(map[int][]docLine), open: make(map[int][]docLine)}}
	w.doc.reading, w.doc.pattern = s.reading, s.pattern
	w.request()
	w.answer()
	w.doc.before = w.part()
	w.contents()
	w.ending()
	w.doc.after = w.part()
	return w.doc
}

func (w *docWriter) request() {
	at := analyzer.Place{Exchange: w.Exchange.Seq}
	w.noted()
	if how := w.Exchange.Client.How; how != "" && how != "user-agent" && how != "default" {
		w.say(analyzer.Place{}, style.Text(style.Dim, "client "+w.Exchange.Client.Name+": "+how), 0)
	}
	w.head(at, w.Exchange.Request.Head, style.Request, "→ ")
	head := capture.ParseRequestHead(w.Exchange.Request.Head)
	w.body(at.Body(), &w.Exchange.Request.Body, &head)
	w.trailer(at, w.Exchange.Request.Trailer)
}

// noted writes the mark and the comment, if there are any.
func (w *docWriter) noted() {
	words := ""
	if w.note.Marked {
		words = "* marked "
	}
	if w.note.Comment != "" {
		words += "# " + w.note.Comment
	}
	if words != "" {
		w.say(analyzer.Place{}, style.Text(style.Title, strings.TrimSpace(words)), 2)
	}
}

func (w *docWriter) answer() {
	w.say(analyzer.Place{}, style.Line{}, 0)
	at := analyzer.Place{Exchange: w.Exchange.Seq, Response: true}
	res := w.Exchange.Response
	if res == nil {
		w.say(at, style.Text(style.Dim, "no response was recorded"), 0)
		w.found(func(p analyzer.Place) bool { return p.Response })
		return
	}
	for _, head := range res.Informational {
		w.head(analyzer.Place{}, head, style.Dim, "← ")
	}
	w.head(at, res.Head, style.Answer, "← ")
	if res.Stream {
		w.say(analyzer.Place{}, style.Line{}, 0)
		w.say(at.Body(), style.Text(style.Dim, w.howMany()+"; enter opens one"+w.bars()), 0)
		w.found(func(p analyzer.Place) bool { return p.Response && p.Part == "body" })
		return
	}
	head := capture.ParseResponseHead(res.Head)
	w.body(at.Body(), &res.Body, &head)
	w.trailer(at, res.Trailer)
}

// head writes a head, with its findings below each line.
func (w *docWriter) head(at analyzer.Place, raw []byte, look style.Style, mark string) {
	if w.counting && w.pattern.Absent(raw) {
		return
	}
	if w.view == viewRaw {
		for _, piece := range rawLines(raw) {
			w.put(at.Line(), style.Text(look, mark).Add(style.Normal, piece), 2)
			mark = ""
		}
	} else {
		first, rest, _ := strings.Cut(string(raw), "\n")
		w.put(at.Line(), style.Text(look, mark+strings.TrimRight(first, "\r")), 2)
		w.found(func(p analyzer.Place) bool { return p.Response == at.Response && isFirst(p.Part) })
		for field := range strings.Lines(rest) {
			w.field(at, strings.TrimRight(field, "\r\n"))
		}
	}
	w.found(func(p analyzer.Place) bool {
		return p.Response == at.Response && at.Exchange > 0 && (w.view == viewRaw && isFirst(p.Part) ||
			w.headerAbsent(p, raw))
	})
}

func isFirst(part string) bool { return part == "" || part == "line" || part == "status" }

// headerAbsent reports whether a place is a header that the head, as it is shown, does not have.
func (w *docWriter) headerAbsent(p analyzer.Place, raw []byte) bool {
	name, ok := headerOf(p.Part)
	if !ok {
		return false
	}
	fields, _ := capture.ParseFields(raw)
	return w.view == viewRaw || !fields.Has(name)
}

func headerOf(part string) (string, bool) {
	name, ok := strings.CutPrefix(part, "header[")
	return strings.TrimSuffix(name, "]"), ok
}

func (w *docWriter) field(at analyzer.Place, field string) {
	if field == "" {
		return
	}
	name, value, _ := strings.Cut(field, ":")
	w.put(at.Header(name), style.Text(style.Name, name).Add(style.Dim, ":").Add(style.Normal, value), 4)
	w.found(func(p analyzer.Place) bool {
		broken, ok := headerOf(p.Part)
		return ok && p.Response == at.Response && strings.EqualFold(broken, strings.TrimSpace(name))
	})
}

func (w *docWriter) trailer(at analyzer.Place, raw []byte) {
	for field := range strings.Lines(string(raw)) {
		w.field(at, "trailer "+strings.TrimRight(field, "\r\n"))
	}
}

// eventIndent is how far what belongs to an event stands to the right of its row.
const eventIndent = 2

// contents lays out the findings of a stream's events, and the contents of those that are open.
func (w *docWriter) contents() {
	if w.Exchange.Response == nil || !w.Exchange.Response.Stream {
		return
	}
	w.width -= eventIndent
	defer func() { w.width += eventIndent }()
	for i := range w.findings {
		f := &w.findings[i]
		if !f.Place.Response {
			continue
		}
		if at := w.Excerpt.Events.IndexOf(f.Place.Part); at >= 0 {
			w.doc.marks[at] = append(w.doc.marks[at], findingLines(f, w.width-1)...)
		}
	}
	for _, i := range w.open {
		err := w.load.Events(w.ctx, w.Exchange.Seq, w.Excerpt.Events, i, i, func(at int, e *capture.Event) {
			if at == i {
				place := load.EventAt(w.Exchange.Seq, e.K)
				w.event(place, e, func(p analyzer.Place) bool { return p.Response && e.K > 0 && p.Part == place.Part })
			}
		})
		if err != nil {
			w.say(analyzer.Place{}, style.Text(style.Error, "! "+err.Error()), 2)
		}
		w.doc.open[i] = w.part()
	}
}

// barsFrom is the width of the panel from which the rows of events have bars.
const barsFrom = 90

// bars decides what the bars of the events stand for, and says it.
func (w *docWriter) bars() string {
	if w.width < barsFrom || w.More || w.Excerpt.Events.At <= 0 {
		return ""
	}
	w.doc.total = w.Excerpt.Events.At
	return "; bars are the waits before the events, on a scale from 0 to " + text.Duration(w.doc.total)
}

// howMany says how many events there are, once all were read.
func (w *docWriter) howMany() string {
	if w.More {
		return "events"
	}
	return text.Plural(w.Excerpt.Events.Count(), "event")
}

// event writes the content of one event.
func (w *docWriter) event(at analyzer.Place, e *capture.Event, mine func(analyzer.Place) bool) {
	if w.counting && w.view != viewDecoded && w.pattern.Absent(e.Raw) {
		return
	}
	fields := e.Fields()
	if w.view == viewRaw || !fields.HasData {
		w.found(mine)
		w.plain(at, rawLines(e.Raw))
		return
	}
	for _, field := range []struct{ name, value string }{{"event", string(fields.Type)}, {"id", string(fields.ID)}} {
		if field.value != "" {
			w.put(at, style.Text(style.Name, field.name).Add(style.Dim, ": ").Add(style.Normal, field.value), 2)
		}
	}
	if w.view == viewDecoded {
		w.found(mine)
		w.decodedEvent(at, fields.Data)
		return
	}
	w.content(at, fields.Data, mine)
}

// ending writes how the exchange ended, and what the recorder noted about it.
func (w *docWriter) ending() {
	w.say(analyzer.Place{}, style.Line{}, 0)
	if res := w.Exchange.Response; res != nil && res.Stream {
		w.trailer(analyzer.Place{Exchange: w.Exchange.Seq, Response: true}, res.Trailer)
	}
	if f := w.Exchange.Fault; f != nil {
		w.say(analyzer.Place{}, style.Text(style.Error, "✗ "+(&analyzer.Summary{Fault: f}).Faulted()).Add(style.Normal, ": "+f.Detail), 2)
	}
	switch {
	case w.More:
		w.say(analyzer.Place{}, style.Text(style.Dim, "… loading"), 0)
	case w.Exchange.State == capture.StateOpen:
		w.say(analyzer.Place{}, style.Text(style.Warning, "… still open"), 0)
	case w.Exchange.State == capture.StateInterrupted:
		w.say(analyzer.Place{}, style.Text(style.Warning, "? the recorder ended before the exchange did"), 0)
	case w.Exchange.Ended >= 0:
		w.say(analyzer.Place{}, style.Text(style.Dim, "ended after "+text.Duration(w.Exchange.Ended)), 0)
	}
	if w.Exchange.Lost > 0 {
		w.say(analyzer.Place{}, style.Text(style.Warning,
			"? "+text.Plural(w.Exchange.Lost, "byte")+" were not recorded; it is not known where"), 2)
	}
	for _, r := range w.Exchange.Rewrites {
		w.say(analyzer.Place{}, style.Text(style.Dim, "rewritten: "+r.Place+" was "+r.Was+", forwarded as "+r.Now), 2)
	}
	for _, note := range w.Exchange.Notes {
		if strings.HasPrefix(note, capture.FaultMadeHere) {
			w.say(analyzer.Place{}, style.Text(style.Error, "✗ "+note), 2)
		} else {
			w.say(analyzer.Place{}, style.Text(style.Dim, "note: "+note), 2)
		}
	}
}
