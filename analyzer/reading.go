package analyzer

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Reading is what one exchange says when it is read by itself, or with the cards that a Reader has seen: for lists,
// filters and exports. Rules do not use it.
type Reading struct {
	Call     a2a.Call
	Dialects a2a.Dialects // of the request, else of the answer; empty if neither shows one
	Tasks    []string     // ids, in order of appearance
	Contexts []string
	Messages []string
	States   []string // normalised names, in order of appearance, without repetition
	Roles    []string // "user", "agent"
	Events   []EventReading
	Errors   []*a2a.Error
	Card     *a2a.Card // that the answer holds, or nil
}

// An EventReading is what one event of a stream holds.
type EventReading struct {
	K     int
	Kind  a2a.PayloadKind
	State a2a.State
	Err   *a2a.Error
}

// Read reads one exchange, as far as it has come and was kept.
func Read(x *capture.Exchange) *Reading {
	head := capture.ParseRequestHead(x.Request.Head)
	return read(x, &head, a2a.Known{})
}

func read(x *capture.Exchange, head *capture.Head, known a2a.Known) *Reading {
	r := &Reading{}
	body, _ := x.Request.Body.Decode(head)
	r.asked(&capture.Parsed{Head: head, Text: body}, known)
	r.unreadable(head, body)
	switch {
	case x.Response == nil:
	case r.Call.A2A():
		r.response(x.Response)
	case mayFetchCard(head, body):
		r.search(x, head, nil)
	}
	return r
}

// unreadable takes a request for a call whose body is meant as JSON-RPC and cannot be read.
func (r *Reading) unreadable(head *capture.Head, body []byte) {
	const begin = 512
	if r.Call.A2A() || head.Method != "POST" || !bytes.Contains(body[:min(len(body), begin)], []byte(`"jsonrpc"`)) {
		return
	}
	if doc := a2a.Parse(body); doc.Err != nil {
		r.Call = a2a.Call{Binding: a2a.JSONRPC, Doc: doc}
	}
}

// asked reads a request.
func (r *Reading) asked(p *capture.Parsed, known a2a.Known) {
	r.Call = a2a.DecodeRequest(a2a.Request{
		Method: p.Head.Method, Target: p.Head.Target, Header: p.Head.Fields.Get, Body: p.Text, Doc: p.Doc,
	}, known)
	r.Dialects = r.Call.Dialects
	r.request()
}

// partsOf returns a copy of what was parsed already, to be completed.
func partsOf(p *capture.Parsed) capture.Parsed {
	if p == nil {
		return capture.Parsed{}
	}
	return *p
}

// ReadAnswer reads the answer of an exchange, as far as it has come and was kept, given what its request asks. What was
// parsed of it already is not parsed again; nil is nothing.
func ReadAnswer(call *a2a.Call, x *capture.Exchange, parsed *capture.Parsed) *Reading {
	r := &Reading{Call: *call, Dialects: call.Dialects}
	switch {
	case x.Response == nil:
	case !call.A2A():
		if head := capture.ParseRequestHead(x.Request.Head); mayFetchCard(&head, x.Request.Body.Data) {
			r.search(x, &head, parsed)
		}
	case parsed == nil || parsed.Head == nil || x.Response.Stream:
		r.response(x.Response)
	case len(parsed.Text) > 0:
		r.body(parsed)
	}
	return r
}

func (r *Reading) request() {
	r.note(&r.Tasks, r.Call.TaskID)
	r.note(&r.Contexts, r.Call.ContextID)
	if r.Call.Message.Exists() {
		r.message(a2a.Message{Value: r.Call.Message})
	}
}

func (r *Reading) response(res *capture.Response) {
	head := capture.ParseResponseHead(res.Head)
	for i := range res.Events {
		e := &res.Events[i]
		fields := e.Fields()
		if e.K == 0 || !fields.HasData {
			continue
		}
		a := a2a.DecodeEvent(&r.Call, fields.Data)
		state := r.answer(&a)
		r.Events = append(r.Events, EventReading{K: e.K, Kind: a.Payload.Kind, State: state, Err: a.Err})
	}
	if body, _ := res.Body.Decode(&head); !res.Stream && len(body) > 0 {
		r.body(&capture.Parsed{Head: &head, Text: body})
	}
}

func (r *Reading) body(p *capture.Parsed) {
	doc := p.Doc
	if doc == nil {
		parsed := a2a.Parse(p.Text)
		doc = &parsed
	}
	a := a2a.ReadAnswer(&r.Call, p.Head.Status, p.Head.Fields.MediaType(), doc)
	r.answer(&a)
}

// answer notes what an answer or an event holds and returns the state that it shows, if any.
func (r *Reading) answer(a *a2a.Answer) (state a2a.State) {
	if r.Dialects.Empty() {
		r.Dialects = a.Payload.Dialects
	}
	if a.Err != nil {
		r.Errors = append(r.Errors, a.Err)
	}
	switch v := a.Payload.Value; a.Payload.Kind {
	case a2a.TaskPayload:
		return r.task(a2a.Task{Value: v})
	case a2a.TaskListPayload:
		for t := range a.Payload.Tasks() {
			r.task(t)
		}
	case a2a.MessagePayload:
		r.message(a2a.Message{Value: v})
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		r.note(&r.Tasks, u.TaskID())
		r.note(&r.Contexts, u.ContextID())
		r.state(u.State())
		r.said(u.Status().Message())
		return u.State()
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		r.note(&r.Tasks, u.TaskID())
		r.note(&r.Contexts, u.ContextID())
	case a2a.CardPayload:
		card := a2a.DecodeCard(v)
		r.Card = &card
	}
	return state
}

func (r *Reading) task(t a2a.Task) a2a.State {
	r.note(&r.Tasks, t.ID())
	r.note(&r.Contexts, t.ContextID())
	r.state(t.State())
	r.said(t.StatusMessage())
	for _, m := range t.History() {
		r.said(m)
	}
	return t.State()
}

// said notes a message that stands inside a task or an update.
func (r *Reading) said(m a2a.Message) {
	if m.Exists() {
		r.message(m)
	}
}

func (r *Reading) message(m a2a.Message) {
	r.note(&r.Messages, m.ID())
	r.note(&r.Tasks, m.TaskID())
	r.note(&r.Contexts, m.ContextID())
	r.note(&r.Roles, m.Role().String())
}

func (r *Reading) state(s a2a.State) {
	if s.Known() {
		r.note(&r.States, s.String())
	}
}

func (r *Reading) note(list *[]string, value string) {
	if value != "" && !slices.Contains(*list, value) {
		*list = append(*list, value)
	}
}

// Asked returns what the request asks, in a word or a few: the operation, or a method that no version has, in quotes,
// or that its body cannot be read; "" if it is no call.
func (r *Reading) Asked() string { return callWords(&r.Call, "") }

// State returns the last state that the exchange shows, or "".
func (r *Reading) State() string {
	if len(r.States) == 0 {
		return ""
	}
	return r.States[len(r.States)-1]
}

// Facts are a reading as a filter asks for it, together with the findings of the exchange.
type Facts struct {
	*Reading
	Findings []Finding
	Workflow uint64 // number of the exchange that began its workflow; 0 if that was not found out
	Marked   bool
}

// Values implements filter.Facts.
func (f Facts) Values(key string) []string {
	switch key {
	case "op":
		return f.operations()
	case "dialect":
		return f.dialects()
	case "binding":
		if f.Call.Binding == a2a.NoBinding {
			return nil
		}
		return some(f.Call.Binding.String())
	case "task":
		return f.Tasks
	case "context":
		return f.Contexts
	case "message":
		return f.Messages
	case "state":
		return f.States
	case "role":
		return f.Roles
	case "event":
		return f.eventKinds()
	case "code":
		return f.codes()
	case "workflow":
		if f.Workflow == 0 {
			return nil
		}
		return some(strconv.FormatUint(f.Workflow, 10))
	case "is":
		return f.properties()
	}
	return f.ofFindings(key)
}

// operations returns the operation's name and what the request calls it.
func (f Facts) operations() []string {
	if f.Call.Operation == a2a.NoOperation {
		return some(f.Call.Method)
	}
	return some(f.Call.Operation.String(), f.Call.Method)
}

// eventNames are what updates are called on the wire of each dialect, and for short.
var eventNames = map[a2a.PayloadKind][]string{
	a2a.StatusPayload:   {"status", "status-update", "statusUpdate"},
	a2a.ArtifactPayload: {"artifact", "artifact-update", "artifactUpdate"},
}

func (f Facts) eventKinds() []string {
	var kinds []string
	for _, e := range f.Events {
		kinds = append(append(kinds, e.Kind.String()), eventNames[e.Kind]...)
	}
	return kinds
}

// dialects returns the set as it is written, and each of its members: a filter asks what the exchange may be in.
func (f Facts) dialects() []string {
	names := some(f.Dialects.String())
	if _, single := f.Dialects.Single(); !single {
		for d := range f.Dialects.All() {
			names = append(names, d.String())
		}
	}
	return names
}

func (f Facts) codes() []string {
	var codes []string
	for _, e := range f.Errors {
		if e.CodeKnown {
			codes = append(codes, strconv.FormatInt(e.Code, 10))
		}
		codes = append(codes, some(e.Name.String(), e.Reason)...)
	}
	return codes
}

func (f Facts) properties() []string {
	var words []string
	if len(f.Errors) > 0 {
		words = append(words, "error")
	}
	if f.Call.Operation == a2a.Webhook || f.Call.PushConfig.Exists() {
		words = append(words, "push")
	}
	if f.Card != nil || f.Call.Operation == a2a.GetCard || f.Call.Operation == a2a.GetExtendedCard {
		words = append(words, "card")
	}
	if f.Marked {
		words = append(words, "marked")
	}
	return words
}

func (f Facts) ofFindings(key string) []string {
	var values []string
	for i := range f.Findings {
		switch found := &f.Findings[i]; key {
		case "rule":
			values = append(append(values, found.Rule.ID), found.Also...)
		case "severity":
			values = append(values, found.Severity.String())
		case "side":
			values = append(values, found.Side.String())
		}
	}
	return values
}

// Normalise implements filter.Facts.
func (f Facts) Normalise(key, word string) string {
	switch key {
	case "op":
		if op := a2a.OperationOf(word); op != a2a.NoOperation {
			return op.String()
		}
	case "state":
		if s, ok := a2a.ParseState(word); ok {
			return s.String()
		}
	case "role":
		if r, ok := a2a.ParseRole(word); ok {
			return r.String()
		}
	}
	return word
}

func some(values ...string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" })
}

// ReadEvent reads one event of the stream that answers a call, by itself. What was parsed of it already is not parsed
// again; nil is nothing.
func ReadEvent(call *a2a.Call, e *capture.Event, parsed *capture.Parsed) *Reading {
	r := &Reading{Call: *call, Dialects: call.Dialects}
	if parsed != nil && parsed.Doc != nil {
		a := a2a.ReadEvent(call, parsed.Doc)
		r.answer(&a)
	} else if fields := e.Fields(); fields.HasData {
		a := a2a.DecodeEvent(call, fields.Data)
		r.answer(&a)
	}
	return r
}
