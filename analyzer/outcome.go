package analyzer

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An Outcome says how a call came out. Whether it broke the protocol is another question: an error that is answered in
// good form is no violation, and no success either. The zero Outcome is not known.
type Outcome struct {
	Succeeded bool
	Failure   string // what it failed with, by name: see Calls
}

// Known reports whether the record shows how the call came out.
func (o Outcome) Known() bool { return o.Succeeded || o.Failure != "" }

// The names of failures without an error of the protocol.
const (
	Unreachable   = "unreachable"        // no connection to the agent
	Untrusted     = "tls"                // a connection to the agent, but no TLS session on it
	TooLate       = "timeout"            // the agent was too slow
	CutShort      = "cut short"          // the agent broke off before the end of its answer
	NoHTTP        = "no valid HTTP"      // what the agent answers is none
	NoProtocol    = "no protocol answer" // success by its status, and no answer of A2A
	ClientLeft    = "client left"        // before there was an answer
	NotPassedOn   = "not passed on"      // by the recorder
	UnknownReason = "no answer"          // and nobody says why
)

// Calls says how the calls of one link came out, or those of OtherClients and OtherAgents together. Fetches of public
// cards and notifications are no calls.
type Calls struct {
	Link      Link
	Made      int            // those that are open, or of which the record does not show how they came out, included
	Succeeded int            // the agent answered with a result
	Failed    int            // the agent answered with an error, or not at all
	Failures  map[string]int // by error, such as "VersionNotSupported", "HTTP 401", "unreachable"
	Unheard   bool           // webhooks were configured whose notifications went past the recorder
	Unproved  bool           // calls of further links are in it, too many to tell which of these have had a success
}

// Proved reports whether a call of the link is known to have succeeded, or none was made.
func (c *Calls) Proved() bool { return c.Made == 0 || c.Succeeded > 0 && !c.Unproved }

// add counts a call.
func (c *Calls) add(o Outcome) {
	c.Made++
	switch {
	case o.Succeeded:
		c.Succeeded++
	case o.Failure != "":
		c.Failed++
		if c.Failures == nil {
			c.Failures = make(map[string]int)
		}
		c.Failures[o.Failure]++
	}
}

// merge adds what another count says.
func (c *Calls) merge(other *Calls) {
	c.Made, c.Succeeded, c.Failed = c.Made+other.Made, c.Succeeded+other.Succeeded, c.Failed+other.Failed
	c.Unheard, c.Unproved = c.Unheard || other.Unheard, c.Unproved || other.Unproved
	for name, n := range other.Failures {
		if c.Failures == nil {
			c.Failures = make(map[string]int)
		}
		c.Failures[name] += n
	}
}

// A Failure is an error, by name, and how many calls failed with it.
type Failure struct {
	Error string
	Count int
}

// ByError returns the failures, most frequent first.
func (c *Calls) ByError() []Failure {
	list := make([]Failure, 0, len(c.Failures))
	for name, n := range c.Failures {
		list = append(list, Failure{name, n})
	}
	slices.SortFunc(list, func(a, b Failure) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), strings.Compare(a.Error, b.Error))
	})
	return list
}

// String returns the counts in words, as verdicts have them: "3 of 6 calls failed: VersionNotSupported 3".
func (c *Calls) String() string {
	unknown := c.Made - c.Succeeded - c.Failed
	switch {
	case c.Made == 0:
		return "no call"
	case c.Failed == 0 && unknown == 0:
		return fmt.Sprintf("%d of %s succeeded", c.Succeeded, Plural(c.Made, "call"))
	case c.Failed == 0:
		return fmt.Sprintf("%d of %s succeeded, %d without a known outcome", c.Succeeded, Plural(c.Made, "call"), unknown)
	}
	const named = 5
	var words []string
	rest := 0
	for i, f := range c.ByError() {
		if i < named {
			words = append(words, fmt.Sprintf("%s %d", Clean(f.Error), f.Count))
		} else {
			rest += f.Count
		}
	}
	if rest > 0 {
		words = append(words, fmt.Sprintf("others %d", rest))
	}
	text := fmt.Sprintf("%d of %s failed: %s", c.Failed, Plural(c.Made, "call"), strings.Join(words, ", "))
	if unknown > 0 {
		text += fmt.Sprintf("; %d without a known outcome", unknown)
	}
	return text
}

// Count adds exchanges to the counts of exchanges and calls.
func (r *Result) Count(list ...Summary) {
	var calls []Calls
	for i := range list {
		x := &list[i]
		r.Counts.Exchanges++
		if x.Judged {
			r.Counts.Judged++
		}
		if x.Unseen {
			r.Counts.Unseen++
		}
		if x.FaultMade != "" {
			r.Counts.Made++
		}
		if x.Call {
			one := Calls{Link: x.Link}
			one.add(x.Outcome)
			calls = append(calls, one)
		}
	}
	r.addCalls(calls)
}

// isCall reports whether an exchange counts as a call.
func (x *Exchange) isCall() bool {
	return (x.Call.Binding == a2a.JSONRPC || x.Call.Binding == a2a.HTTPJSON) && !x.isNotification()
}

// isNotification reports whether an exchange is a JSON-RPC request that wants no answer.
func (x *Exchange) isNotification() bool {
	c := &x.Call
	return c.Binding == a2a.JSONRPC && c.Batch == nil && c.Method != "" && !c.ID.Exists()
}

// ended counts an exchange of which nothing more comes.
func (e *Engine) ended(in *intake) {
	x := in.x
	e.agents.ended(in)
	if x.isCall() && !in.made.is() {
		e.calls.add(x.Link, x.Outcome, in.unheard)
	}
	if len(e.onEnded) > 0 {
		e.tellEnded(in.summary())
	}
}

func (e *Engine) tellEnded(s Summary) {
	for _, f := range e.onEnded {
		f(s)
	}
}

// Calls returns how the calls of each link came out, those that are over, in the order of the links. Links beyond a
// thousand are in it together once one of their calls has succeeded, as calls of OtherClients and OtherAgents.
func (e *Engine) Calls() []Calls {
	list := make([]Calls, 0, len(e.calls.byLink))
	for _, c := range e.calls.byLink {
		list = append(list, *c)
	}
	slices.SortFunc(list, func(a, b Calls) int { return a.Link.compare(b.Link) })
	return list
}

// finalOutcome returns how a call came out when its exchange is closed.
func (in *intake) finalOutcome(closed *capture.Closed) Outcome {
	x := in.x
	switch {
	case !x.isCall(), closed.Interrupted:
		return x.Outcome
	case in.made.is():
		return Outcome{}
	case closed.Fault != nil && !x.Ended && !in.answeredWhole():
		return in.faulted(closed.Fault)
	case in.x.Outcome.Known() || x.Stream == nil || in.gap || x.Cut || !x.Ended:
		return in.x.Outcome
	case x.Response.Status >= 300:
		return Outcome{Failure: "HTTP " + strconv.Itoa(x.Response.Status)}
	case x.Stream.Events == 0 && x.Call.Operation == a2a.SubscribeToTask && x.Stream.ErrorData == "" &&
		!x.Dialects.Has(a2a.V1_0): // it promises later events only
		return Outcome{Succeeded: true}
	}
	return Outcome{Failure: NoProtocol}
}

// answeredWhole reports whether a stream has told all that its client waits for, whatever became of its end.
func (in *intake) answeredWhole() bool {
	return in.x.Outcome.Succeeded && in.x.Stream != nil && in.x.Stream.Over
}

// FaultName returns the name of the failure that a fault of the agent's side makes of a call.
func FaultName(f *capture.Fault) string { return cmp.Or(faultNames[f.Kind], CutShort) }

// faulted returns how a call came out that has no answer, or only a part of it.
func (in *intake) faulted(f *capture.Fault) Outcome {
	switch f.Side {
	case "agent":
		return Outcome{Failure: FaultName(f)}
	case "client":
		return in.x.Outcome.or(ClientLeft) // of a stream it has seen enough
	case "proxy":
		if f.Kind == "shutdown" || f.Kind == "abandoned" || in.x.Answered {
			return in.x.Outcome
		}
		return in.x.Outcome.or(NotPassedOn)
	}
	return in.x.Outcome.or(UnknownReason)
}

// faultNames are the names of failures that the agent's side causes; all others are CutShort.
var faultNames = map[string]string{
	"unreachable": Unreachable, "tls": Untrusted, "timeout": TooLate, "refused": NoHTTP,
}

// or returns the outcome, or where it is not known a failure of that name.
func (o Outcome) or(failure string) Outcome {
	if o.Known() {
		return o
	}
	return Outcome{Failure: failure}
}

// answered notes what an answer or an event says of how the call came out. Of a stream the first event tells, and an
// error that comes later.
func (in *intake) answered(o *Observation) {
	if !in.x.isCall() {
		return
	}
	now := outcomeOf(o)
	if now.Known() && (!in.x.Outcome.Known() || !now.Succeeded) {
		in.x.Outcome = now
	}
}

// outcomeOf returns how a call comes out that is answered so, as far as it tells.
func outcomeOf(o *Observation) Outcome {
	x, a := o.Exchange, o.Answer
	status := x.Response.Status
	switch {
	case a.Err != nil:
		return Outcome{Failure: failureName(a.Err, status)}
	case x.Call.Batch != nil && status < 300:
		return batchOutcome(x, a)
	case status >= 400:
		return Outcome{Failure: "HTTP " + strconv.Itoa(status)}
	case status >= 300: // the client goes on elsewhere
		return Outcome{}
	case o.Event != nil && a.Payload.Kind == a2a.NoPayload && !a.IsEnvelope: // another one may tell more
		return Outcome{}
	case answersProtocol(o):
		return Outcome{Succeeded: true}
	}
	return Outcome{Failure: NoProtocol}
}

// answersProtocol reports whether an answer without an error is one in which the protocol answers.
func answersProtocol(o *Observation) bool {
	x, a := o.Exchange, o.Answer
	if x.Call.Binding == a2a.JSONRPC {
		known := a.Payload.Kind != a2a.NoPayload && a.Payload.Kind != a2a.UnknownPayload
		return a.IsEnvelope && a.Result.Exists() || known
	}
	if o.Event == nil && len(bytes.TrimSpace(o.Body)) == 0 {
		return x.Call.Operation == a2a.DeletePushConfig
	}
	return a.Doc.Err == nil
}

// batchOutcome returns how a batch came out: it succeeded if one of its calls did.
func batchOutcome(x *Exchange, a *a2a.Answer) Outcome {
	first := Outcome{Failure: NoProtocol}
	for i, one := range a.Doc.Root.Elems() {
		if one.Has("result") {
			return Outcome{Succeeded: true}
		}
		if code, ok := one.Get("error").Get("code").Int(); ok && i == 0 {
			err := &a2a.Error{Code: code, CodeKnown: true, Name: a2a.ErrorNameOf(code, x.Call.Dialects)}
			first.Failure = failureName(err, 0)
		}
	}
	return first
}

// failureName returns the name of an error as verdicts have it.
func failureName(err *a2a.Error, status int) string {
	switch words := ErrorName(err); {
	case words != "":
		return words
	case err.CodeKnown:
		return "code " + strconv.FormatInt(err.Code, 10)
	case err.Reason != "":
		return Clip(err.Reason)
	}
	return "HTTP " + strconv.Itoa(cmp.Or(err.HTTPStatus, status))
}
