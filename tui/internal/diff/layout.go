package diff

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/safetext"
	"a2atap/replay/compare"
	"a2atap/tui/document"
	"a2atap/tui/internal/style"
	"a2atap/tui/load"
	"a2atap/tui/text"
)

// maxLines is the maximum number of lines of an exchange in a comparison.
const maxLines = 20_000

// someTime replaces times, which, like ids, differ from run to run.
const someTime = "‹time›"

// isTime matches a JSON string that holds a time (RFC 3339).
var isTime = regexp.MustCompile(`^"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[0-9.]*(Z|[+-]\d\d:\d\d)"$`)

// A row pairs a line of one side of a comparison with a line of the other.
type row struct {
	was, now       style.Line
	hasWas, hasNow bool
	same           bool
}

// beside aligns two texts. Unmatched lines of both are next to each other.
func beside(was, now []style.Line) []row {
	a, b := stringsOf(was), stringsOf(now)
	pairs, _ := compare.Align(len(a), len(b), func(i, j int) bool { return a[i] == b[j] })
	var rows []row
	i, j := 0, 0
	for _, p := range append(pairs, [2]int{len(a), len(b)}) {
		for i < p[0] || j < p[1] {
			var r row
			if i < p[0] {
				r.was, r.hasWas = was[i], true
				i++
			}
			if j < p[1] {
				r.now, r.hasNow = now[j], true
				j++
			}
			rows = append(rows, r)
		}
		if i < len(a) {
			rows = append(rows, row{was[i], now[j], true, true, true})
		}
		i, j = i+1, j+1
	}
	return rows
}

func stringsOf(lines []style.Line) []string {
	texts := make([]string, len(lines))
	for i := range lines {
		texts[i] = lines[i].String()
	}
	return texts
}

// A laidOut lays out the exchanges of one side of a comparison, without times, and with ids renamed in order of
// appearance. Two sides without other differences have the same lines.
type laidOut struct {
	load  *load.Loader
	names map[string]string
	count map[string]int
	lines []style.Line
	call  *a2a.Call
}

func newLaidOut(l *load.Loader) *laidOut {
	return &laidOut{load: l, names: make(map[string]string), count: make(map[string]int)}
}

var roleWords = map[compare.Role]string{
	compare.TaskID: "task", compare.ContextID: "context", compare.ArtifactID: "artifact", compare.ConfigID: "config",
	compare.PageToken: "page", compare.MessageID: "message", compare.RequestID: "request",
}

// rename implements compare.Substitute.
func (o *laidOut) rename(role compare.Role, was string) (string, bool) {
	word, known := roleWords[role]
	if was == "" || !known && !compare.Opaque(was) && o.names[was] == "" {
		return "", false
	}
	if !known {
		word = "value"
	}
	name := o.names[was]
	if name == "" {
		o.count[word]++
		name = fmt.Sprintf("‹%s %d›", word, o.count[word])
		o.names[was] = name
	}
	if role == compare.RequestID {
		return `"` + name + `"`, true
	}
	return name, true
}

// exchange returns the lines of an exchange; none for number 0.
func (o *laidOut) exchange(ctx context.Context, src capture.Source, seq uint64) ([]style.Line, error) {
	if seq == 0 {
		return nil, nil
	}
	x, err := src.Exchange(ctx, seq)
	if err != nil {
		return nil, err
	}
	o.lines, o.call = nil, &o.load.Reader.Read(x).Call
	head := capture.ParseRequestHead(x.Request.Head)
	target := compare.RewriteTarget(head.Target, o.call, o.rename)
	o.put(style.Text(style.Request, "→ "+head.Method+" "+target))
	o.message(head.Fields, &x.Request.Body, &head)
	o.put(style.Line{})
	o.answer(x)
	if f := x.Fault; f != nil {
		o.put(style.Text(style.Error, "✗ "+f.Kind+" by "+f.Side))
	}
	o.put(style.Line{})
	return o.lines, nil
}

func (o *laidOut) put(l style.Line) {
	switch {
	case len(o.lines) < maxLines:
		o.lines = append(o.lines, l)
	case len(o.lines) == maxLines:
		o.lines = append(o.lines, style.Text(style.Title, "… the rest is not compared here; a2atap diff compares all of it"))
	}
}

func (o *laidOut) answer(x *capture.Exchange) {
	res := x.Response
	if res == nil || len(res.Head) == 0 {
		o.put(style.Text(style.Dim, "no response was recorded"))
		return
	}
	head := capture.ParseResponseHead(res.Head)
	o.put(style.Text(style.Answer, fmt.Sprintf("← %d %s", head.Status, head.Reason)))
	if !res.Stream {
		o.message(head.Fields, &res.Body, &head)
		return
	}
	o.message(head.Fields, &capture.Body{}, &head)
	word := load.EventWord(x)
	for i := range res.Events {
		e := &res.Events[i]
		if e.K == 0 {
			continue
		}
		fields := e.Fields()
		o.put(style.Text(style.Title, fmt.Sprintf("%s %d", word, e.K)).Add(style.Normal, strings.TrimRight(" "+string(fields.Type), " ")))
		o.content(fields.Data)
	}
}

// message writes the header fields and the body.
func (o *laidOut) message(fields capture.Fields, b *capture.Body, head *capture.Head) {
	for _, f := range fields {
		if strings.EqualFold(f.Name, "Date") {
			f.Value = someTime
		}
		o.put(style.Text(style.Name, f.Name).Add(style.Dim, ": ").Add(style.Normal, f.Value))
	}
	data, err := b.Decode(head)
	if len(data) > 0 {
		o.put(style.Line{})
		o.content(data)
	}
	if err != nil {
		o.put(style.Text(style.Warning, "? "+err.Error()))
	}
}

// content writes a body or the data of an event.
func (o *laidOut) content(data []byte) {
	switch {
	case len(data) == 0:
	case jsondoc.Looks(data):
		for _, l := range document.LayJSON(compare.RewriteJSON(data, o.call, o.rename)) {
			for i := range l.Spans {
				if isTime.MatchString(l.Spans[i].Text) {
					l.Spans[i].Text = `"` + someTime + `"`
				}
			}
			o.put(style.Text(style.Normal, text.Blanks(2*min(l.Depth, 40))).Join(l.Line))
		}
	case utf8.Valid(data):
		for row := range strings.Lines(string(data)) {
			o.put(style.Text(style.Normal, strings.TrimRight(row, "\r\n")))
		}
	default:
		for _, row := range safetext.Hex(data) {
			o.put(style.Text(style.Normal, row))
		}
	}
}
