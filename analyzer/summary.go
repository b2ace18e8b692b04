package analyzer

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Summary is what one exchange says about itself, for everything that lists, filters, counts or draws exchanges. The
// engine makes it while it judges; who wants words prints Words, so that all say the same.
//
// Texts are as they were on the wire, clipped where that is said: whoever prints them makes them safe. Words does.
type Summary struct {
	Seq      uint64
	ID       uuid.UUID
	Conn     uint64 // the connection that carried it; 0 if not known
	Link     Link
	How      string // how the client's name was found out, such as "user-agent"
	AgentURL string // where the agent really lives
	Started  time.Time
	Took     time.Duration // from its first byte to its end; capture.NotKnown while it is open, or if nobody saw the end
	Gap      time.Duration // the longest time in which nothing of it arrived; capture.NotKnown if nothing was timed
	Life     capture.State // open, closed, or interrupted by the end of the recorder

	Method, Target string // of the request line
	Host           string // field of the request
	Asked          string // what the request asks, for people: an operation, a method in quotes, "GET /path"
	Called         string // the method that the request names; empty if it names none
	Operation      a2a.Operation
	Binding        a2a.Binding
	Dialects       a2a.Dialects // of the request, else of the answer; empty if neither shows one
	Status         int          // of HTTP; 0 if no answer came
	RequestSize    int64        // bytes of the body on the wire, as far as it has come
	ResponseSize   int64        // the same; capture.NotKnown if no answer came
	Stream         bool         // the answer is an event stream
	Events         int          // of a stream; capture.NotKnown if the answer is none

	Task     string    // id of the one task that it was about, as far as is known
	State    a2a.State // the last one that the exchange shows; none of a list of tasks
	Tasks    []string  // ids, in order of appearance
	Contexts []string
	Messages []string
	States   []a2a.State // in order of appearance, without repetition
	Roles    []a2a.Role
	Kinds    []a2a.PayloadKind // what events held
	Types    []string          // the event fields of a stream
	Errors   []ErrorSeen
	Text     string   // the first text of the message that was sent, else of the answer, in one line
	Traces   []string // under which tracing systems know it
	Partial  bool     // there is more of ids, events' types and errors than the lists hold

	Judged  bool // at least one rule applied
	Call    bool // it counts as a call
	Outcome Outcome
	Fault   *capture.Fault // that ended it; nil if it ended as HTTP says
	// what fault the recorder made in it because it was told to, such as "reset": it is no call then; empty for none
	FaultMade string
	Unseen    bool   // what followed was not observed: another protocol, or a tunnel
	Push      bool   // a notification, or a call that configures them
	Card      bool   // a card was asked for, or is the answer
	CardSum   uint64 // stands for the text of the card that came; 0 if none did, or if it could not be read
	Cut       bool   // bytes are missing from the record, or a message ended before its framing said so
	Rewritten bool
	Replayed  bool
	Notes     []string // what the recorder has to say about it
}

// An ErrorSeen is an error that an answer or an event carries.
type ErrorSeen struct {
	Code    int64 // meaningful if CodeKnown
	Known   bool  // the code is
	Status  int   // of HTTP, where the error has no code of its own
	Name    a2a.ErrorName
	Label   string // code and name, such as "-32603 InternalError"
	Reason  string // of the ErrorInfo
	Message string // what it says, clipped
}

// String returns the error on one line: its code, or its HTTP status where that binding has no codes, its name, and
// what it says, such as "-32001 TaskNotFound: no such task".
func (e *ErrorSeen) String() string {
	if e.Label == "" || e.Message == "" {
		return e.Label + e.Message
	}
	return e.Label + ": " + e.Message
}

// ErrorWords is what String says of an error in an answer to a call.
func ErrorWords(err *a2a.Error, binding a2a.Binding) string {
	seen := errorSeen(err, binding)
	return seen.String()
}

// errorSeen returns what is kept of an error in an answer to a call.
func errorSeen(err *a2a.Error, binding a2a.Binding) ErrorSeen {
	return ErrorSeen{
		Code: err.Code, Known: err.CodeKnown, Status: err.HTTPStatus, Name: err.Name, Label: ErrorLabel(err, binding),
		Reason: Clip(err.Reason), Message: Clip(err.Message),
	}
}

// ErrorLabel names an error: its code, or its HTTP status where the binding has no codes, and its name, such as
// "-32001 TaskNotFound". It is empty if nothing but an HTTP status says that there is an error.
func ErrorLabel(err *a2a.Error, binding a2a.Binding) string {
	name := ErrorName(err)
	if name == "" {
		name = Clip(err.Reason)
	}
	switch {
	case err.CodeKnown && (binding != a2a.HTTPJSON || err.HTTPStatus == 0):
		return strings.TrimSpace(fmt.Sprintf("%d %s", err.Code, name))
	case err.HTTPStatus != 0 && (name != "" || err.Message != ""):
		return strings.TrimSpace(fmt.Sprintf("%d %s", err.HTTPStatus, name))
	}
	return name
}

// StatusWords is an HTTP status with its standard text, such as "401 Unauthorized".
func StatusWords(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// FaultWords names a fault, the side that caused it where it is known (files of other tools may not say), and what was
// seen of it: "reset by agent: connection reset by peer".
func FaultWords(f *capture.Fault) string {
	words := Clean(f.Kind)
	if f.Side != "" {
		words += " by " + Clean(f.Side)
	}
	if f.Detail != "" {
		words += ": " + Clip(f.Detail)
	}
	return words
}

// Faulted says how the exchange broke off, without what was seen of it: "reset by agent"; empty if it did not.
func (s *Summary) Faulted() string {
	if s.Fault == nil {
		return ""
	}
	return strings.TrimSuffix(s.Fault.Kind+" by "+s.Fault.Side, " by ")
}

// Failure says what went wrong with the call: the first error of the protocol, what HTTP says, or what else made it
// fail; empty if nothing did, or if how the exchange broke off says it.
func (s *Summary) Failure() string {
	for i := range s.Errors {
		if words := s.Errors[i].String(); words != "" {
			return words
		}
	}
	switch {
	case s.Status >= 400:
		return StatusWords(s.Status)
	case s.Fault != nil || s.Outcome.Succeeded:
		return ""
	}
	return Clip(s.Outcome.Failure)
}

// Failed reports whether something went wrong: an error of the protocol or of HTTP, a fault, or a call that failed.
func (s *Summary) Failed() bool {
	return s.Fault != nil || s.Status >= 400 || len(s.Errors) > 0 || s.Outcome.Failure != ""
}

// A Look says what a word of an outcome is about, for whoever has colours.
type Look uint8

// The looks of words.
const (
	Plain   Look = iota
	Dim          // beside the point
	Bad          // something went wrong
	Warn         // something is missing
	OfState      // the state of a task: see Word.State
)

// A Word is a part of an outcome. Its text is safe to print.
type Word struct {
	Text  string
	Look  Look
	State a2a.State // for OfState
}

// Words says what came of the exchange, the most important first: what went wrong, in its own words; the task and its
// state; the number of events; what is missing of it; and what the recorder notes. Between two words stands what joins
// them, so the outcome is all texts one after the other. There is none if there is nothing to say.
func (s *Summary) Words() []Word {
	var words []Word
	add := func(w ...Word) {
		if len(words) > 0 {
			words = append(words, Word{Text: ", "})
		}
		words = append(words, w...)
	}
	failure := s.Failure()
	if failure != "" {
		add(Word{Text: failure, Look: Bad})
	}
	if s.Fault != nil && s.Fault.Kind != capture.KindInjected { // what was done stands in a note
		add(Word{Text: FaultWords(s.Fault), Look: Bad})
	}
	if task := s.taskWords(failure != ""); len(task) > 0 {
		add(task...)
	}
	if s.Stream {
		add(Word{Text: Plural(max(s.Events, 0), "event"), Look: Dim})
	}
	if s.Life != capture.StateClosed {
		add(Word{Text: s.Life.String(), Look: Warn})
	}
	if s.Unseen {
		add(Word{Text: "what followed was not observed", Look: Dim})
	}
	for _, note := range s.Notes {
		switch {
		case strings.HasPrefix(note, capture.SeenAlso): // as it should be
		case strings.HasPrefix(note, capture.FaultMadeHere), strings.HasPrefix(note, capture.SeenOtherwise):
			add(Word{Text: Clean(note), Look: Bad})
		default:
			add(Word{Text: "note: " + Clean(note), Look: Dim})
		}
	}
	return words
}

// taskWords names the one task and its last state, as far as either is known.
func (s *Summary) taskWords(failed bool) []Word {
	var words []Word
	if len(s.Tasks) == 1 {
		task := ShortID(s.Tasks[0])
		if failed {
			task = "task " + task
		}
		words = append(words, Word{Text: task})
	}
	if s.State != a2a.NoState {
		if len(words) > 0 {
			words = append(words, Word{Text: " "})
		}
		words = append(words, Word{Text: s.State.String(), Look: OfState, State: s.State})
	}
	return words
}

// OutcomeText is Words as one text.
func (s *Summary) OutcomeText() string {
	var b strings.Builder
	for _, w := range s.Words() {
		b.WriteString(w.Text)
	}
	return b.String()
}

// Bounds of what a summary holds of one exchange.
const (
	maxSeen    = 64  // of each list
	maxSeenAll = 120 // bytes of Text: as much as a line has room for
)

// A gathering is the summary of an exchange while it passes.
type gathering struct {
	Summary
	last  time.Duration                    // the latest offset at which something arrived
	whole struct{ request, response bool } // ended as their framing says
}

// begin takes what the opening says.
func (g *gathering) begin(s *capture.Step, o *capture.Opened, head *capture.Head) {
	g.Summary = Summary{
		Seq: s.Seq, ID: o.ID, Conn: o.Conn, Link: Link{Client: o.Client.Name, Agent: o.Agent.Name}, How: o.Client.How,
		AgentURL: o.Agent.URL, Started: o.Started, Took: capture.NotKnown, Gap: capture.NotKnown,
		Method: head.Method, Target: head.Target, Host: head.Fields.Get("Host"),
		ResponseSize: capture.NotKnown, Events: capture.NotKnown,
	}
	g.traced(head.Fields)
}

// step takes a step as it was recorded, whatever is judged of it.
func (g *gathering) step(s *capture.Step) {
	switch what := s.What.(type) {
	case capture.RequestBody:
		g.RequestSize += int64(len(what.Data)) + max(what.Dropped, 0)
		g.Cut = g.Cut || what.Dropped > 0
		return
	case capture.RequestEnd:
		g.whole.request = true
		if what.Size >= 0 {
			g.RequestSize = what.Size
		}
	case capture.ResponseHead:
		g.ResponseSize = max(g.ResponseSize, 0)
		if s.Parsed != nil && s.Parsed.Head != nil {
			g.Status = s.Parsed.Head.Status
			g.traced(s.Parsed.Head.Fields)
		}
		if g.Stream = g.Stream || what.Stream; g.Stream {
			g.Events = max(g.Events, 0)
		}
	case capture.ResponseBody:
		g.ResponseSize = max(g.ResponseSize, 0) + int64(len(what.Data)) + max(what.Dropped, 0)
		g.Cut = g.Cut || what.Dropped > 0
		return
	case capture.ResponseEvent:
		g.Stream = true
		g.Events = max(g.Events, what.Event.K, 0)
		g.ResponseSize = max(g.ResponseSize, 0) + int64(len(what.Event.Raw)) + max(what.Event.Dropped, 0)
		g.Cut = g.Cut || what.Event.Dropped > 0
	case capture.ResponseEnd:
		g.whole.response = true
		if what.Size >= 0 {
			g.ResponseSize = what.Size
		}
	case capture.Fact:
		g.fact(&what)
		return
	case capture.Lost:
		if what.Reason != "" {
			g.Notes = append(g.Notes, fmt.Sprintf("%d bytes were not recorded: %s", what.Bytes, what.Reason))
		}
		return
	case capture.Closed:
		g.close(s, &what)
	default:
		return
	}
	if s.Offset >= 0 {
		g.Gap = max(g.Gap, s.Offset-g.last, 0)
		g.last = max(g.last, s.Offset)
	}
}

func (g *gathering) fact(f *capture.Fact) {
	if f.Client.Name != "" {
		g.Link.Client, g.How = f.Client.Name, f.Client.How
	}
	g.Rewritten = g.Rewritten || len(f.Rewrites) > 0
	if f.Note != "" {
		g.Notes = append(g.Notes, f.Note)
	}
	g.Replayed = g.Replayed || f.Replayed
}

func (g *gathering) close(s *capture.Step, c *capture.Closed) {
	g.Fault, g.Took, g.Life = c.Fault, s.Offset, capture.StateClosed
	if c.Interrupted {
		g.Took, g.Life = capture.NotKnown, capture.StateInterrupted
		return
	}
	g.Cut = g.Cut || !g.whole.request || g.Status > 0 && !g.whole.response
}

// traced takes the ids under which tracing systems know the exchange.
//
// Sources: W3C Trace Context (2021), 3.2 "Traceparent Header"; B3 Propagation, "Single Header" and "Multiple Headers".
func (g *gathering) traced(fields capture.Fields) {
	for _, f := range fields {
		switch len(f.Name) {
		case len("b3"), len("traceparent"), len("x-b3-traceid"), len("traceresponse"):
		default:
			continue
		}
		switch strings.ToLower(f.Name) {
		case "traceparent", "traceresponse":
			whole := strings.Clone(f.Value)
			if g.Traces == nil {
				g.Traces = make([]string, 0, 2)
			}
			g.note(&g.Traces, whole)
			if strings.Count(whole, "-") >= 3 {
				_, rest, _ := strings.Cut(whole, "-")
				id, _, _ := strings.Cut(rest, "-")
				g.note(&g.Traces, id)
			}
		case "x-b3-traceid":
			g.note(&g.Traces, strings.Clone(f.Value))
		case "b3":
			id, _, _ := strings.Cut(f.Value, "-")
			g.note(&g.Traces, strings.Clone(id))
		}
	}
}

// TraceID returns the trace to which the exchange says that it belongs, without the other parts of its header; empty if
// it says none.
func (s *Summary) TraceID() string {
	for _, id := range s.Traces {
		if !strings.Contains(id, "-") && len(id) > 1 { // B3's "0" says that nothing is traced
			return id
		}
	}
	return ""
}

// note adds a value, which may be kept longer than the exchange, to those that were seen.
func (g *gathering) note(list *[]string, value string) {
	switch {
	case value == "" || slices.Contains(*list, value):
	case len(*list) >= maxSeen:
		g.Partial = true
	default:
		*list = append(*list, value)
	}
}

// asked takes what the request says.
func (g *gathering) asked(c *a2a.Call) {
	g.called(c)
	g.note(&g.Tasks, strings.Clone(c.TaskID)) // it may stand in a path
	g.note(&g.Contexts, strings.Clone(c.ContextID))
	g.Push = g.Push || c.PushConfig.Exists()
	if c.Message.Exists() {
		m := a2a.Message{Value: c.Message}
		g.message(m)
		g.Text = firstText(m.Parts())
	}
}

// called takes which call it is, which can show later than the request.
func (g *gathering) called(c *a2a.Call) {
	g.Operation, g.Binding, g.Called = c.Operation, c.Binding, strings.Clone(c.Method)
	if g.Dialects.Empty() {
		g.Dialects = c.Dialects
	}
	g.Asked = CallWords(c)
	g.Push = g.Push || c.Operation == a2a.Webhook
	g.Card = g.Card || c.Operation == a2a.GetCard || c.Operation == a2a.GetExtendedCard
}

// answered takes what an answer, or an event of a stream, says.
func (g *gathering) answered(a *a2a.Answer, event *Event) {
	if a.Err != nil {
		if len(g.Errors) < maxSeen {
			g.Errors = append(g.Errors, errorSeen(a.Err, g.Binding))
		} else {
			g.Partial = true
		}
	}
	if event != nil && !slices.Contains(g.Kinds, a.Payload.Kind) {
		g.Kinds = append(g.Kinds, a.Payload.Kind)
	}
	g.payload(&a.Payload, event == nil && g.Text == "")
}

// typed takes the event field of an event.
func (g *gathering) typed(name []byte) {
	if len(name) == 0 || len(g.Types) > 0 && g.Types[len(g.Types)-1] == string(name) {
		return
	}
	g.note(&g.Types, string(name))
}

func (g *gathering) payload(p *a2a.Payload, wantText bool) {
	if g.Dialects.Empty() {
		g.Dialects = p.Dialects
	}
	switch v := p.Value; p.Kind {
	case a2a.TaskPayload:
		t := a2a.Task{Value: v}
		g.task(t)
		if wantText {
			g.Text = taskText(t)
		}
	case a2a.TaskListPayload:
		for t := range p.Tasks() {
			g.task(t)
		}
	case a2a.MessagePayload:
		m := a2a.Message{Value: v}
		g.message(m)
		if wantText {
			g.Text = firstText(m.Parts())
		}
	case a2a.StatusPayload:
		u := a2a.StatusUpdate{Value: v}
		g.note(&g.Tasks, u.TaskID())
		g.note(&g.Contexts, u.ContextID())
		g.state(u.State())
		g.said(u.Status().Message())
	case a2a.ArtifactPayload:
		u := a2a.ArtifactUpdate{Value: v}
		g.note(&g.Tasks, u.TaskID())
		g.note(&g.Contexts, u.ContextID())
	case a2a.CardPayload:
		g.Card = true
	}
}

func (g *gathering) task(t a2a.Task) {
	g.note(&g.Tasks, t.ID())
	g.note(&g.Contexts, t.ContextID())
	g.state(t.State())
	g.said(t.StatusMessage())
	for _, m := range t.History() {
		g.said(m)
	}
}

// said takes a message that stands inside a task or an update.
func (g *gathering) said(m a2a.Message) {
	if m.Exists() {
		g.message(m)
	}
}

func (g *gathering) message(m a2a.Message) {
	g.note(&g.Messages, m.ID())
	g.note(&g.Tasks, m.TaskID())
	g.note(&g.Contexts, m.ContextID())
	if r := m.Role(); r != a2a.NoRole && !slices.Contains(g.Roles, r) {
		g.Roles = append(g.Roles, r)
	}
}

func (g *gathering) state(s a2a.State) {
	if !s.Known() {
		return
	}
	if g.Operation != a2a.ListTasks {
		g.State = s
	}
	if !slices.Contains(g.States, s) {
		g.States = append(g.States, s)
	}
}

// taskText returns the first text of a task: of its status, else of its artifacts.
func taskText(t a2a.Task) string {
	if words := firstText(t.StatusMessage().Parts()); words != "" {
		return words
	}
	for _, artifact := range t.Artifacts() {
		if words := firstText(artifact.Parts()); words != "" {
			return words
		}
	}
	return ""
}

// firstText returns the beginning of the first text among parts, in one line.
func firstText(parts a2a.Parts) string {
	for _, p := range parts.All() {
		if p.PartKind() == a2a.TextPart {
			if text, ok := p.Get("text").Literal(); ok {
				return OneLine(text)
			}
			return OneLine(p.Text())
		}
	}
	return ""
}

// OneLine returns the beginning of a text, with one blank for each run of white space.
func OneLine[T string | []byte](words T) string {
	var space [maxSeenAll + len("…")]byte
	line := space[:0]
	end := len(words)
	if end > maxSeenAll {
		for end = maxSeenAll; end > 0 && !utf8.RuneStart(words[end]); {
			end--
		}
	}
	for blank, i := false, 0; i < end; {
		r, n := rune(words[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(string(words[i:min(i+utf8.UTFMax, end)]))
		}
		if unicode.IsSpace(r) {
			blank, i = len(line) > 0, i+n
			continue
		}
		for i+n < end && words[i+n] > ' ' && words[i+n] < utf8.RuneSelf { // all of a word at once
			n++
		}
		if blank {
			line, blank = append(line, ' '), false
		}
		line, i = append(line, words[i:i+n]...), i+n
	}
	if end < len(words) {
		line = append(line, "…"...)
	}
	return string(line)
}

// summary returns the summary of an exchange as it is now.
func (in *intake) summary() Summary {
	x, s := in.x, in.gathered.Summary
	s.Link, s.Judged, s.Call, s.Outcome = x.Link, in.judged, x.isCall() && !in.made.is(), x.Outcome
	s.Task, s.Unseen, s.FaultMade = cmp.Or(in.task, x.Call.TaskID), in.unseen, in.made.what
	if s.Asked == "" {
		s.Asked = cmp.Or(CallWords(&x.Call), s.Method+" "+s.Target)
	}
	s.Cut, s.CardSum = s.Cut || in.gap, uint64(x.card)
	return s
}
