// Package summary has short descriptions of exchanges: request, answer, tasks and outcome. Everything that lists,
// filters, counts or draws exchanges uses them.
package summary

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
)

// A Summary has the facts about one exchange for code that lists, filters, counts or draws exchanges. The engine makes
// it while it checks. Use Words for text, so that all output agrees.
//
// Texts come unescaped from the wire, clipped where noted; printing code must make them safe. Words does.
type Summary struct {
	Seq      uint64
	ID       uuid.UUID
	Conn     uint64 // the connection that carried it; 0 if not known
	Link     analysis.Link
	How      string // how the client's name was determined, such as "user-agent"
	AgentURL string // where the agent really lives
	Started  time.Time
	Took     time.Duration // from its first byte to its end; capture.NotKnown while it is open, or if the end was not seen
	Gap      time.Duration // the longest time in which nothing of it arrived; capture.NotKnown if nothing was timed
	Life     capture.State // open, closed, or interrupted by the end of the recorder

	Method, Target string // of the request line
	Host           string // field of the request
	Asked          string // the request, for people: an operation, a method in quotes, "GET /path"
	Called         string // the method that the request names; empty without one
	Operation      a2a.Operation
	Binding        a2a.Binding
	Dialects       a2a.Dialects // of the request, or else of the answer; empty if neither shows one
	Status         int          // HTTP status; 0 without an answer
	RequestSize    int64        // bytes of the body on the wire so far
	ResponseSize   int64        // the same; capture.NotKnown without an answer
	Stream         bool         // the answer is an event stream
	Events         int          // of a stream; capture.NotKnown for other answers

	Neighbor *neighbor.Call // a recognized call that is not A2A; nil for others
	Cause    uint64         // for such a call, the A2A exchange that caused it, as known at its end; otherwise 0
	Asks     uint64         // for such a call, a digest of its request, within this process; 0 if not recorded

	Task     string    // id of the one task that it was about, as far as is known
	State    a2a.State // the last one that the exchange shows; none of a list of tasks
	Tasks    []string  // ids, in order of appearance
	Contexts []string
	Messages []string
	States   []a2a.State // in order of appearance, without repetition
	Roles    []a2a.Role
	Kinds    []a2a.PayloadKind // the contents of events
	Types    []string          // the event fields of a stream
	Errors   []ErrorSeen
	Text     string   // the first text of the sent message, or else of the answer, in one line
	Traces   []string // under which tracing systems know it
	Partial  bool     // there are more ids, event types and errors than the lists contain

	Judged  bool // at least one rule applied
	Call    bool // it counts as a call
	Outcome analysis.Outcome
	Fault   *capture.TransportFault // that ended it; nil if it ended as its framing declared
	// the redirect target of the answer, or the first line of an answer that is not A2A's and names no error
	Said string
	// the fault that the recorder injected on request, such as "reset": it is not a call then; empty for none
	FaultMade string
	// of a call that was refused for its credentials, whether it had any
	Credentials Credentials
	LeftEarly   bool         // its client left the stream before it had sent all that a client waits for
	Unseen      bool         // later data was not observed: another protocol, or a tunnel
	Missing     string       // why it cannot be checked completely, such as "its answer's body was not kept", or empty
	NotHeard    bool         // it configures a webhook whose notifications went past the recorder
	Batch       []Member     // the calls of a JSON-RPC batch: the first ones separately, then groups with the same outcome
	Ended       []TaskEnd    // tasks shown failed, rejected, or canceled without a request by their client
	Push        bool         // a notification, or a call that configures them
	Card        bool         // a card was asked for, or is the answer
	Unusable    string       // why its client cannot use the card, such as "it speaks 0.3, …"; empty if it may
	Offered     a2a.Dialects // of the card's interfaces; empty if one is not known
	Offers      []string     // servers of the card's interfaces, as from address.Server
	CardSum     uint64       // digest of the received card; 0 without one, or if it could not be read
	Cut         bool         // bytes are missing from the recording, or a message ended before its framing allowed
	InPart      bool         // a part of it was not recorded, or exceeded the bounds of checking
	Rewritten   bool
	Replayed    bool
	Notes       []string // from the recorder
}

// Credentials is whether a request that was refused because of its credentials had any.
type Credentials uint8

// Facts about the credentials of a request.
const (
	CredentialsNotKnown Credentials = iota // it was not refused for them, or the record may lack them
	CredentialsMissing
	CredentialsSent
)

// String returns the fact as a phrase to follow an error text; empty if unknown.
func (c Credentials) String() string {
	return [...]string{"", "no credentials were sent", "credentials were sent"}[min(c, CredentialsSent)]
}

// Programs returns which program plays which part in the exchange.
func (s *Summary) Programs() analysis.Programs { return s.Link.Programs(s.Operation) }

// Kind returns the kind of the exchange.
func (s *Summary) Kind() neighbor.Kind {
	switch {
	case s.Neighbor != nil:
		return s.Neighbor.Kind
	case s.Operation != a2a.NoOperation || s.Binding != a2a.NoBinding || s.Card || s.Push:
		return neighbor.A2A
	}
	return neighbor.Other
}

// A Member is one call of a JSON-RPC batch.
type Member struct {
	Asked     string // an operation, or a method in quotes
	Operation a2a.Operation
	Task      string // that it names; empty without one
	Outcome   analysis.Outcome
	Error     a2a.ErrorName
	Code      string // of its error, as ErrorSeen.CodeText has it
	Text      string // of its error, clipped
	Others    int    // further calls with the same operation and outcome
}

// A TaskEnd is the end of a task that ended badly.
type TaskEnd struct {
	ID    string
	State a2a.State // Failed, Rejected or Canceled
	Text  string    // the first text of the status message, in one line
}

// An ErrorSeen is an error that an answer or an event carries.
type ErrorSeen struct {
	Code    int64 // meaningful if CodeKnown
	Known   bool  // the code is
	Status  int   // of HTTP, if the error has no code
	Name    a2a.ErrorName
	Label   string // code and name, such as "-32603 InternalError"
	Reason  string // of the ErrorInfo
	Message string // its text, clipped
}

// String returns the error on one line: its code, or its HTTP status if the binding has no codes, its name, and its
// text, such as "-32001 TaskNotFound: no such task".
func (e *ErrorSeen) String() string {
	if e.Label == "" || e.Message == "" {
		return e.Label + e.Message
	}
	return e.Label + ": " + e.Message
}

// CodeText returns the code of the error, or else its HTTP status, or "".
func (e *ErrorSeen) CodeText() string {
	switch {
	case e.Known:
		return strconv.FormatInt(e.Code, 10)
	case e.Status != 0:
		return strconv.Itoa(e.Status)
	}
	return ""
}

// ErrorWords returns String's text for an error in an answer to a call.
func ErrorWords(err *a2a.Error, binding a2a.Binding) string {
	seen := ErrorOf(err, binding)
	return seen.String()
}

// ErrorOf returns the stored form of an error in an answer to a call.
func ErrorOf(err *a2a.Error, binding a2a.Binding) ErrorSeen {
	return ErrorSeen{
		Code: err.Code, Known: err.CodeKnown, Status: err.HTTPStatus, Name: err.Name, Label: errorLabel(err, binding),
		Reason: analysis.Clip(err.Reason), Message: analysis.ErrorText(err.Message),
	}
}

// errorLabel names an error: its code, or its HTTP status where the binding has no codes, and its name, such as "-32001
// TaskNotFound". It is empty if only an HTTP status indicates the error.
func errorLabel(err *a2a.Error, binding a2a.Binding) string {
	name := ErrorName(err)
	if name == "" {
		name = analysis.Clip(err.Reason)
	}
	switch {
	case err.GRPCStatus != "":
		return strings.TrimSpace(err.GRPCStatus + " " + name)
	case err.CodeKnown && (binding != a2a.HTTPJSON || err.HTTPStatus == 0):
		return strings.TrimSpace(fmt.Sprintf("%d %s", err.Code, name))
	case err.HTTPStatus != 0 && (name != "" || err.Message != ""):
		return strings.TrimSpace(fmt.Sprintf("%d %s", err.Status(), name))
	}
	return name
}

// faultWords returns the text of Faulted and the details of the fault: "reset by agent: connection reset by peer".
func (s *Summary) faultWords() string {
	words := analysis.Clean(s.Faulted())
	if s.Fault.Detail != "" {
		words += ": " + analysis.ErrorText(s.Fault.Detail)
	}
	return words
}

// Faulted describes how the exchange broke off, and by which side if known (files of other tools may not have it),
// without details: "reset by agent"; empty if it did not.
func (s *Summary) Faulted() string {
	if s.Fault == nil {
		return ""
	}
	kind, side := s.Fault.Kind, s.Fault.Side
	if s.Programs().Receiver != "" { // the sender is the agent, and the receiver is no agent
		switch {
		case side == "agent":
			side = a2a.Receiver.String()
		case side == "client" && kind == "client-left":
			kind, side = "given-up", a2a.Agent.String()
		case side == "client":
			side = a2a.Agent.String()
		}
	}
	return strings.TrimSuffix(kind+" by "+side, " by ")
}

// Failure describes the problem of the call: the first protocol error, the HTTP status, a redirect's target, or another
// reason; "" if there was no problem, or if Faulted describes it.
func (s *Summary) Failure() string {
	for i := range s.Errors {
		if words := s.Errors[i].String(); words != "" {
			return words
		}
	}
	if words := neighborFailure(s.Neighbor, s.Status); words != "" {
		return words
	}
	switch {
	case s.refused():
		return statusWords(s.Status)
	case address.IsRedirect(s.Status):
		return strings.TrimSuffix(statusWords(s.Status)+": "+analysis.Clean(address.Shown(s.Said)), ": ")
	case s.Fault != nil || s.Outcome.Succeeded:
		return ""
	}
	return analysis.Clip(s.Outcome.Failure)
}

// FailureText returns the error text of a failed call; may be empty.
func (s *Summary) FailureText() string {
	if s.Fault != nil && s.Outcome.Failure == analysis.ClientLeft { // whatever the agent answered afterwards
		return s.Fault.Detail
	}
	if s.Neighbor != nil && s.Neighbor.Failure != "" {
		return s.Neighbor.Failure
	}
	for i := range s.Errors {
		if s.Errors[i].Message != "" {
			return s.Errors[i].Message
		}
	}
	if s.Fault != nil {
		return s.Fault.Detail
	}
	return s.Said
}

// servedAll reports whether the client left with all that it had asked for, so that nothing was cut off.
func (s *Summary) servedAll() bool {
	if s.Neighbor != nil {
		return s.Fault != nil && s.Fault.Kind == "client-left" && s.Neighbor.Served()
	}
	return s.Fault != nil && s.Fault.Kind == "client-left" && s.Call && s.Outcome.Succeeded && !s.LeftEarly
}

// refused reports whether the status is one of an error.
func (s *Summary) refused() bool {
	return s.Status >= 400 && (s.Neighbor == nil || !s.Neighbor.Declined(s.Status))
}

// Failed reports whether something went wrong: an error of the protocol or of HTTP, a fault, a call that failed, or a
// task that failed or was rejected; an exchange alone does not show whether a cancellation was wanted.
func (s *Summary) Failed() bool {
	return s.Fault != nil && !s.servedAll() || s.refused() || len(s.Errors) > 0 || s.Outcome.Failure != "" ||
		s.Neighbor != nil && s.Neighbor.Failed ||
		slices.ContainsFunc(s.Ended, func(e TaskEnd) bool { return e.State != a2a.Canceled })
}

// Words returns the exchange's outcome, the most important part first: the failure, in its own words; the task and its
// state; the number of events; what is missing; and the recorder's notes. Separators are words of their own, so the
// outcome is the concatenation of all texts. It may be empty.
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
		look := Bad
		if address.IsRedirect(s.Status) { // which a client may follow
			look = Warn
		}
		add(Word{Text: failure, Look: look})
	}
	if text := s.Credentials.String(); text != "" {
		add(Word{Text: text, Look: Dim})
	}
	if s.Fault != nil && s.Fault.Kind != capture.KindInjected && !s.servedAll() { // a note describes injected faults
		add(Word{Text: s.faultWords(), Look: Bad})
	}
	if task := s.taskWords(failure != ""); len(task) > 0 {
		add(task...)
	}
	for _, w := range neighborWords(s.Neighbor, s.Text) {
		add(w)
	}
	if s.Stream && (s.Neighbor == nil || s.Neighbor.Kind == neighbor.Other) {
		noun := "event"
		if s.Binding == a2a.GRPC {
			noun = "message"
		}
		add(Word{Text: analysis.Plural(max(s.Events, 0), noun), Look: Dim})
	}
	if s.Life != capture.StateClosed {
		add(Word{Text: s.Life.String(), Look: Warn})
	}
	if s.Unseen {
		add(Word{Text: "the rest was not observed", Look: Dim})
	}
	for _, note := range s.Notes {
		switch {
		case strings.HasPrefix(note, capture.SeenAlso): // as it should be
		case strings.HasPrefix(note, capture.FaultMadeHere), strings.HasPrefix(note, capture.SeenOtherwise):
			add(Word{Text: analysis.Clean(note), Look: Bad})
		default:
			add(Word{Text: "note: " + analysis.Clean(note), Look: Dim})
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

// longestText bounds the bytes of Text: as much as a line has room for.
const longestText = 120

// longestError bounds the bytes of Said: the end of an error's text often has the cause.
const longestError = 1000

// Note takes a fact about the exchange, which may come after its end.
func (s *Summary) Note(f *capture.Fact) {
	if f.Client.Name != "" {
		s.Link.Client, s.How = f.Client.Name, f.Client.How
	}
	s.Rewritten = s.Rewritten || len(f.Rewrites) > 0
	if name := f.AgentName(); name != "" {
		s.Link.Agent = name
	} else if f.Note != "" {
		s.Notes = append(s.Notes, f.Note)
	}
	s.Replayed = s.Replayed || f.Replayed
}

// TraceID returns the trace id in the exchange's headers, without their other parts; may be empty.
func (s *Summary) TraceID() string {
	for _, id := range s.Traces {
		if !strings.Contains(id, "-") && len(id) > 1 { // B3's "0" means not traced
			return id
		}
	}
	return ""
}

// OneLine returns the beginning of a text, with one blank for each run of white space.
func OneLine[T string | []byte](words T) string {
	var space [longestText + len("…")]byte
	return string(oneLine(space[:0], words, longestText))
}

// ErrorLine returns the text of an error, with one blank for each run of white space. Beyond a thousand bytes it is cut.
func ErrorLine[T string | []byte](words T) string { return string(oneLine(nil, words, longestError)) }

func oneLine[T string | []byte](line []byte, words T, longest int) []byte {
	end := len(words)
	if end > longest {
		for end = longest; end > 0 && !utf8.RuneStart(words[end]); {
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
	return line
}

// An Event is the short form of an event of a stream, for code that shows events as they pass.
type Event struct {
	Seq   uint64 // of the exchange
	Link  analysis.Link
	K     int       // its number in the stream, from 1
	At    time.Time // UTC; zero if not known
	Kind  a2a.PayloadKind
	Task  string
	State a2a.State
	Err   string // name of the error that it holds
}
