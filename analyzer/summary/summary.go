// Package summary says in short what one exchange was: what was asked and answered, of which tasks, and how it came out.
// All who list, filter, count or draw exchanges say it in these words.
package summary

import (
	"fmt"
	"net/http"
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
)

// A Summary is what one exchange says about itself, for everything that lists, filters, counts or draws exchanges. The
// engine makes it while it judges; who wants words prints Words, so that all say the same.
//
// Texts are as they were on the wire, clipped where that is said: those who print them make them safe. Words does.
type Summary struct {
	Seq      uint64
	ID       uuid.UUID
	Conn     uint64 // the connection that carried it; 0 if not known
	Link     analysis.Link
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
	Outcome analysis.Outcome
	Fault   *capture.TransportFault // that ended it; nil if it ended as HTTP says
	// where its answer leads, or how one begins that is none of the protocol's and says of no error what it is, in one line
	Said string
	// what fault the recorder made in it because it was told to, such as "reset": it is not a call then; empty for none
	FaultMade string
	// of a call that was refused for its credentials, whether it had any
	Credentials Credentials
	LeftEarly   bool      // its client left the stream before that had told all that a client waits for
	Unseen      bool      // what followed was not observed: another protocol, or a tunnel
	Missing     string    // why it cannot be judged as a whole, such as "its answer's body was not kept"; empty if it can
	NotHeard    bool      // it configures a webhook whose notifications went past the recorder
	Batch       []Member  // the calls of a JSON-RPC batch, each by itself, at most a hundred
	Ended       []TaskEnd // tasks that are shown failed, rejected, or canceled though their client did not ask for it
	Push        bool      // a notification, or a call that configures them
	Card        bool      // a card was asked for, or is the answer
	Unusable    string    // why its client cannot use the card that came, such as "it speaks 0.3, …"; empty if nothing shows that
	Offers      []string  // servers that the interfaces of the card name that came, as address.Server has them
	CardSum     uint64    // stands for the text of the card that came; 0 if none did, or if it could not be read
	Cut         bool      // bytes are missing from the record, or a message ended before its framing said so
	InPart      bool      // a part of it was not recorded, or there was no room to judge it
	Rewritten   bool
	Replayed    bool
	Notes       []string // what the recorder has to say about it
}

// Credentials says whether a request that was refused for its credentials had any.
type Credentials uint8

// What is known of the credentials of a request.
const (
	CredentialsNotKnown Credentials = iota // it was not refused for them, or the record may lack them
	CredentialsMissing
	CredentialsSent
)

// String returns what is known, as it follows what an error says; empty if nothing is.
func (c Credentials) String() string {
	return [...]string{"", "no credentials were sent", "credentials were sent"}[min(c, CredentialsSent)]
}

// Programs returns which program plays which part in the exchange.
func (s *Summary) Programs() analysis.Programs { return s.Link.Programs(s.Operation) }

// A Member is one call of a JSON-RPC batch.
type Member struct {
	Asked     string // an operation, or a method in quotes
	Operation a2a.Operation
	Task      string // that it names; empty if it names none
	Outcome   analysis.Outcome
	Error     a2a.ErrorName
	Code      string // of its error, as ErrorSeen.CodeText has it
	Text      string // what its error says, clipped
}

// A TaskEnd is the end of a task that has not done what it was for.
type TaskEnd struct {
	ID    string
	State a2a.State // Failed, Rejected or Canceled
	Text  string    // the first text of the message that goes with the status, in one line
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

// CodeText returns the code of the error, or its HTTP status where it has none; empty if it has neither.
func (e *ErrorSeen) CodeText() string {
	switch {
	case e.Known:
		return strconv.FormatInt(e.Code, 10)
	case e.Status != 0:
		return strconv.Itoa(e.Status)
	}
	return ""
}

// ErrorWords is what String says of an error in an answer to a call.
func ErrorWords(err *a2a.Error, binding a2a.Binding) string {
	seen := ErrorOf(err, binding)
	return seen.String()
}

// ErrorOf returns what is kept of an error in an answer to a call.
func ErrorOf(err *a2a.Error, binding a2a.Binding) ErrorSeen {
	return ErrorSeen{
		Code: err.Code, Known: err.CodeKnown, Status: err.HTTPStatus, Name: err.Name, Label: errorLabel(err, binding),
		Reason: analysis.Clip(err.Reason), Message: analysis.Clip(err.Message),
	}
}

// errorLabel names an error: its code, or its HTTP status where the binding has no codes, and its name, such as
// "-32001 TaskNotFound". It is empty if nothing but an HTTP status says that there is an error.
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

// statusWords is an HTTP status with its standard text, such as "401 Unauthorized".
func statusWords(status int) string {
	return strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
}

// faultWords is what Faulted says, and what was seen of it: "reset by agent: connection reset by peer".
func (s *Summary) faultWords() string {
	words := analysis.Clean(s.Faulted())
	if s.Fault.Detail != "" {
		words += ": " + analysis.Clip(s.Fault.Detail)
	}
	return words
}

// Faulted says how the exchange broke off, by whom where that is known (files of other tools may not say), and without
// what was seen of it: "reset by agent"; empty if it did not.
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

// Failure says what went wrong with the call: the first error of the protocol, what HTTP says, where it leads instead, or
// what else made it fail; empty if nothing did, or if how the exchange broke off says it.
func (s *Summary) Failure() string {
	for i := range s.Errors {
		if words := s.Errors[i].String(); words != "" {
			return words
		}
	}
	switch {
	case s.Status >= 400:
		return statusWords(s.Status)
	case address.IsRedirect(s.Status):
		return strings.TrimSuffix(statusWords(s.Status)+": "+analysis.Clean(address.Shown(s.Said)), ": ")
	case s.Fault != nil || s.Outcome.Succeeded:
		return ""
	}
	return analysis.Clip(s.Outcome.Failure)
}

// FailureText returns what the error of a failed call says, in its own words; empty if it says nothing.
func (s *Summary) FailureText() string {
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

// servedAll reports whether the client left with all that it had asked for, so that nothing broke off for it.
func (s *Summary) servedAll() bool {
	return s.Fault != nil && s.Fault.Kind == "client-left" && s.Call && s.Outcome.Succeeded && !s.LeftEarly
}

// Failed reports whether something went wrong: an error of the protocol or of HTTP, a fault, a call that failed, or a
// task that failed or was rejected; whether somebody wanted one to be canceled, an exchange alone does not show.
func (s *Summary) Failed() bool {
	return s.Fault != nil && !s.servedAll() || s.Status >= 400 || len(s.Errors) > 0 || s.Outcome.Failure != "" ||
		slices.ContainsFunc(s.Ended, func(e TaskEnd) bool { return e.State != a2a.Canceled })
}

// A Look says what a word of an outcome is about, for those who have colours.
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
	if s.Stream {
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
		add(Word{Text: "what followed was not observed", Look: Dim})
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

// Note takes a fact about the exchange, which may come after its end.
func (s *Summary) Note(f *capture.Fact) {
	if f.Client.Name != "" {
		s.Link.Client, s.How = f.Client.Name, f.Client.How
	}
	s.Rewritten = s.Rewritten || len(f.Rewrites) > 0
	if f.Note != "" {
		s.Notes = append(s.Notes, f.Note)
	}
	s.Replayed = s.Replayed || f.Replayed
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

// OneLine returns the beginning of a text, with one blank for each run of white space.
func OneLine[T string | []byte](words T) string {
	var space [longestText + len("…")]byte
	line := space[:0]
	end := len(words)
	if end > longestText {
		for end = longestText; end > 0 && !utf8.RuneStart(words[end]); {
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

// An Event is an event of a stream in short, for those who show events as they pass.
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
