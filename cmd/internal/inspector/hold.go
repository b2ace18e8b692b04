package inspector

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/recorder"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/capture/filter"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/hold"
	"a2atap/tui"
)

// A holder holds messages of a recording for the inspector, which receives them without secrets.
type holder struct {
	desk   *hold.Desk
	hidden func(*capture.Exchange) (*capture.Exchange, error) // returns an exchange without its secrets
	reader *reading.Reader

	reads     sync.Mutex // held while one message is read: many at once would need unbounded memory
	describes sync.Mutex
	described map[uint64]described // held messages at the last call of state
}

// A described is a held message with its description.
type described struct {
	tui.HeldMessage
	agentLeft bool
}

// holderOf returns the holder for the taps of a recording; nil if it cannot hold messages.
func holderOf(r *recorder.Recording, editor func(string) (*exec.Cmd, error)) *tui.Holder {
	if r.Desk() == nil {
		return nil
	}
	h := &holder{desk: r.Desk(), hidden: r.Hidden, reader: &reading.Reader{}}
	return &tui.Holder{
		Hold: h.hold, Unhold: func() { h.desk.Set(nil) }, Changed: h.desk.Changed(), State: h.state,
		LetGo: h.desk.LetGo, Drop: h.desk.Drop, Text: h.text, Edited: h.edited, Editor: editor,
	}
}

// ofRequest are the filter keys that a request can answer.
var ofRequest = []string{
	"op", "method", "path", "host", "agent", "client", "link", "binding",
}

// ofRecord are the filter keys known only after an exchange was recorded and checked.
var ofRecord = []string{"n", "id", "rule", "severity", "side", "workflow", "dur", "gap"}

// hold holds messages of exchanges that match a filter.
func (h *holder) hold(requests, answers bool, expr string) error {
	f, err := filter.Parse(expr)
	if err != nil {
		return err
	}
	for _, key := range ofRecord {
		if f.Asks(key) {
			return fmt.Errorf("%s: not yet known for a message in transit", key)
		}
	}
	matches := func(f *filter.Filter, x *capture.Exchange) bool {
		h.reads.Lock()
		defer h.reads.Unlock()
		facts := reading.Facts{Reading: h.reader.Read(x)}
		if f.Asks("is") {
			s := engine.Summarize(x)
			facts.Failed = s.Failed()
		}
		return f.Match(x, facts)
	}
	want := &hold.Want{
		Requests: requests, Answers: answers,
		Match: func(x *capture.Exchange) bool { return matches(f, x) },
	}
	if part := f.Part(ofRequest...); part != nil {
		want.May = func(x *capture.Exchange) bool { return matches(part, x) }
	}
	h.desk.Set(want)
	return nil
}

// state returns the held messages.
func (h *holder) state() tui.HeldState {
	h.describes.Lock()
	defer h.describes.Unlock()
	now, before := h.desk.State(), h.described
	s := tui.HeldState{Passed: now.Passed}
	h.described = make(map[uint64]described, len(now.Held))
	for _, m := range now.Held {
		d, ok := before[m.ID]
		if !ok || d.agentLeft != m.AgentLeft {
			d = described{h.describe(&m), m.AgentLeft}
		}
		h.described[m.ID] = d
		s.Held = append(s.Held, d.HeldMessage)
	}
	return s
}

// previewed is the maximum number of lines of a message that are shown: a small terminal has room for as many.
const previewed = 14

// maxPreviewed is the maximum length of each line in bytes.
const maxPreviewed = 4 << 10

// describe describes a message.
func (h *holder) describe(m *hold.Message) tui.HeldMessage {
	x := m.Exchange
	told := tui.HeldMessage{ID: m.ID, What: what(m), Since: m.Since}
	head := capture.ParseRequestHead(x.Request.Head)
	asked := head.Method
	if call := h.read(x).Call; call.Operation != a2a.NoOperation {
		asked = summary.CallWords(&call)
	} else if path, _, _ := strings.Cut(head.Target, "?"); path != "" { // a query may contain secrets
		asked += " " + path
	}
	client := x.Client.Name
	client = cmp.Or(client, "client")
	told.Words = analysis.Clean(client + " → " + x.Agent.Name + ": " + asked)
	text, _, err := h.hiddenText(m)
	if err != nil {
		told.Lines = []string{err.Error()}
		return told
	}
	_, text, _ = bytes.Cut(text, []byte(" --\n")) // the first section is the message
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	if end := slices.Index(lines, ""); end > 1 { // its contents matter more than its fields
		lines = slices.Replace(lines, 1, end, "… "+analysis.Plural(end-1, "header field"))
	}
	if more := len(lines) - previewed; more > 0 {
		lines = append(lines[:previewed], "… "+analysis.Plural(more, "more line"))
	}
	if m.AgentLeft {
		told.Words += " (the agent has closed its connection, and a2atap connects again)"
	}
	for _, l := range lines {
		if len(l) > maxPreviewed {
			l = strings.ToValidUTF8(l[:maxPreviewed], "") + "…"
		}
		// A part of the text would keep all of it in memory.
		told.Lines = append(told.Lines, strings.Clone(analysis.Clean(strings.ReplaceAll(strings.TrimRight(l, "\r"), "\t", "  "))))
	}
	return told
}

// read decodes the request of an exchange.
func (h *holder) read(x *capture.Exchange) *reading.Reading {
	h.reads.Lock()
	defer h.reads.Unlock()
	return h.reader.Read(x)
}

func what(m *hold.Message) string {
	if m.Answer {
		return "answer"
	}
	return "request"
}

// find returns a held message.
func (h *holder) find(id uint64) (*hold.Message, error) {
	for _, m := range h.desk.State().Held {
		if m.ID == id {
			return &m, nil
		}
	}
	return nil, hold.ErrGone
}

// text returns a message for an editor.
func (h *holder) text(id uint64) ([]byte, error) {
	m, err := h.find(id)
	if err != nil {
		return nil, err
	}
	text, _, err := h.hiddenText(m)
	return text, err
}

// holdHelp precedes a message in the editor.
const holdHelp = `Save and leave the editor to release the changed message. Without a change it stays held.
Content-Length is set automatically. Values that begin with "redacted." stand for secrets, which are put back.
`

// hiddenText returns a message for an editor, as a transcript with hidden secrets, and the secrets by placeholder.
func (h *holder) hiddenText(m *hold.Message) (text []byte, secrets map[string]string, err error) {
	hidden, err := h.hidden(m.Exchange)
	if err != nil {
		return nil, nil, err
	}
	shown, err := part(hidden, m.Answer)
	if err != nil {
		return nil, nil, err
	}
	plain, err := part(m.Exchange, m.Answer)
	if err != nil {
		return nil, nil, err
	}
	secrets, fits := credential.Secrets(string(shown.raw()), string(plain.raw()))
	if !fits {
		return nil, nil, errors.New("it cannot be shown, since its secrets cannot be removed; you can release it")
	}
	return shown.text(), secrets, nil
}

// A message is one side of an exchange: its head without framing fields, and its decoded body, formatted if it is JSON.
type message struct {
	answer     bool
	head, body []byte
}

func part(x *capture.Exchange, answer bool) (*message, error) {
	head, b := x.Request.Head, &x.Request.Body
	h := capture.ParseRequestHead(head)
	if answer {
		head, b = x.Response.Head, &x.Response.Body
		h = capture.ParseResponseHead(head)
	}
	body, err := b.Decode(&h)
	if err != nil {
		return nil, fmt.Errorf("its body cannot be decoded: %w", err)
	}
	if laid := jsontext.Value(bytes.Clone(body)); len(body) > 0 && laid.Indent() == nil {
		body = append(laid, '\n')
	}
	return &message{answer, withoutFields(head, framing...), body}, nil
}

// framing lists the fields that depend on how a body is framed.
var framing = []string{"Content-Length", "Content-Encoding", "Transfer-Encoding"}

func (m *message) raw() []byte { return append(bytes.Clone(m.head), m.body...) }

// text returns the message as a transcript with one section.
func (m *message) text() []byte {
	body := whole(m.body)
	x := &capture.Exchange{Seq: 1, Ended: capture.NotKnown, Request: capture.Request{Head: m.head, Body: body}}
	if m.answer {
		x.Request, x.Response = capture.Request{Body: whole(nil)}, &capture.Response{Head: m.head, Body: body}
	}
	sections := transcript.Format(&transcript.Transcript{Comment: holdHelp, Exchanges: []*capture.Exchange{x}})
	if i := bytes.Index(sections, []byte("-- 1.meta --\n")); i >= 0 {
		sections = append(sections[:i], bodyFlags(sections[i:], section(m.answer))...)
	}
	return bytes.Replace(sections, []byte("-- 1.request --\n-- 1.response --\n"), []byte("-- 1.response --\n"), 1)
}

func whole(body []byte) capture.Body {
	return capture.Body{Data: body, Size: int64(len(body)), Complete: true}
}

// section returns the transcript's name for a side of an exchange.
func section(answer bool) string {
	if answer {
		return "response"
	}
	return "request"
}

// edited releases a message with an edited text.
func (h *holder) edited(id uint64, text []byte) error {
	m, err := h.find(id)
	if err != nil {
		return err
	}
	_, secrets, err := h.hiddenText(m)
	if err != nil {
		return err
	}
	t, err := transcript.Parse(what(m), text)
	if err != nil {
		return err
	}
	if len(t.Exchanges) != 1 {
		return fmt.Errorf("%s:1: expected one section, 1.%s", what(m), section(m.Answer))
	}
	x := t.Exchanges[0]
	head, body := x.Request.Head, x.Request.Body.Data
	if m.Answer {
		head, body = nil, nil
		if x.Response != nil {
			head, body = x.Response.Head, x.Response.Body.Data
		}
	}
	head, body = []byte(credential.Reveal(string(head), secrets)), []byte(credential.Reveal(string(body), secrets))
	return h.desk.Replace(id, head, body, h.rewrites(m, head, body)...)
}

// rewrites returns what changes in a message that is sent with another head and body, without secrets: the record has
// only one of the two. It returns nothing if the secrets cannot be removed.
func (h *holder) rewrites(m *hold.Message, head, body []byte) []capture.Rewrite {
	edited := m.Exchange.Copy()
	head = withoutFields(head, framing...)
	if m.Answer {
		edited.Response.Head, edited.Response.Body = head, whole(body)
	} else {
		edited.Request.Head, edited.Request.Body = head, whole(body)
	}
	before, err := h.hidden(m.Exchange)
	if err != nil {
		return nil
	}
	after, err := h.hidden(edited)
	if err != nil {
		return nil
	}
	was, err := part(before, m.Answer)
	if err != nil {
		return nil
	}
	now, err := part(after, m.Answer)
	if err != nil {
		return nil
	}
	return was.rewrites(now)
}

// rewrites returns the parts in which another version of a message differs.
func (m *message) rewrites(now *message) (list []capture.Rewrite) {
	add := func(place, was, is string) {
		if was != is {
			list = append(list, capture.Rewrite{Place: section(m.answer) + "." + place, Was: was, Now: is})
		}
	}
	was, is := capture.ParseRequestHead(m.head), capture.ParseRequestHead(now.head)
	first := "line"
	if m.answer {
		was, is = capture.ParseResponseHead(m.head), capture.ParseResponseHead(now.head)
		first = "status"
	}
	add(first, was.Line, is.Line)
	seen := make(map[string]bool)
	for _, f := range slices.Concat(was.Fields, is.Fields) {
		if name := strings.ToLower(f.Name); !seen[name] {
			seen[name] = true
			add("header["+f.Name+"]", strings.Join(was.Fields.Values(f.Name), ", "), strings.Join(is.Fields.Values(f.Name), ", "))
		}
	}
	add("body", compact(m.body), compact(now.body))
	return list
}

// compact returns a body as valid UTF-8, in one line if it is JSON.
func compact(body []byte) string {
	if v := jsontext.Value(bytes.Clone(body)); len(body) > 0 && v.Compact() == nil {
		return string(v)
	}
	return strings.ToValidUTF8(string(body), "\uFFFD")
}
