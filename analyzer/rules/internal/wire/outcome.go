package wire

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/reach"
	"a2atap/proxy/a2a"
	"a2atap/proxy/scheme"
)

// Unanswered is the part of the family outcome about calls that got no answer of the protocol. No specification has a
// word for that; a call that never worked is an error all the same, and no capture with one is clean.
var Unanswered = rule.Family{
	Name:     "outcome",
	Category: analysis.ErrorHandling,
	Side:     a2a.Agent,
	On:       analysis.CallEnded,
	Bindings: rule.OnAll,
}.Of(
	outcomeUnreachable,
	outcomeUntrusted,
	outcomeCut,
	outcomeNoProtocol,
	outcomeAgentGone,
	outcomeAgentNeverReached,
)

var outcomeUnreachable = &analysis.Rule{
	ID:      "outcome-unreachable",
	Title:   "agent or webhook could not be reached",
	Gravest: analysis.Error,
	Once:    analysis.PerCause,
	Cites:   rule.Cite("RFC 9110 §15.6.3", rule.Every...),
	Doc: `The call never reached the agent, or the notification never reached the webhook: there was no connection, or
no answer within the timeout. The client got an error from the recorder, which says nothing about A2A. The message
contains the network error.`,
	Fix: `Make sure that the agent runs and listens at the address that the recorder was given, and that nothing
between them drops connections. If a firewall lets only a proxy through, record with --upstream-proxy URL. If the
agent is only slow, give it more time (--timeout-head). For a notification, make sure that the client's receiver
listens at the URL of its push config before the task is sent.`,
	Silent: `Exchanges that are not certainly a call, a notification or the fetch of a card; failures of the recorder
itself, such as a lack of file descriptors; clients that left; recordings that do not say which side broke. If
several calls of one client fail for the same reason, only the first is reported, with their number. If the agent was
gone until the end, or never reached, that is reported instead.`,
	Check: func(p *analysis.Pass) {
		kept := reach.Kept(p)
		cause := analysis.For(analysis.Cause(kept))
		switch {
		case kept != analysis.Unreachable && kept != analysis.TooLate:
			passed(p)
		case isNotification(p):
			p.Report(p.Place, "the notification did not reach the webhook: "+why(p), "expected an answer", cause,
				analysis.By(a2a.Receiver))
		default:
			p.Report(p.Place, asked(p)+" did not reach the agent: "+why(p), "expected an answer", cause, analysis.Revised())
		}
	},
}

var outcomeUntrusted = &analysis.Rule{
	ID:      "outcome-untrusted",
	Title:   "no TLS session with the agent",
	Gravest: analysis.Error,
	Once:    analysis.PerCause,
	Cites:   rule.Cite("RFC 9110 §4.3.4", rule.Every...),
	Doc: `The connection to the agent was open, but TLS could not be established. The agent's certificate is not
trusted, is for another name or has expired, or the two sides have no common version of TLS, or of HTTP over TLS: many
gRPC agents do not accept HTTP/1.1. The call was not sent. Or only one side uses TLS: the agent answers plain HTTP
with a TLS record, or the TLS handshake with plain HTTP.`,
	Fix: `If only one side uses TLS, correct the scheme of the agent's URL: https:// for an agent with TLS, http://
for one without. Renew the agent's certificate, or have it issued for the host that clients use. If your own
certificate authority has issued it, record with --agent-ca FILE. If the agent asks for a client certificate, record
with --client-cert FILE. To record the traffic anyway, use --insecure, which accepts any certificate; the capture says
so.`,
	Silent: `Clients that do not trust the recorder's certificate. If several calls of one client fail for the
same reason, only the first is reported, with their number.`,
	Check: func(p *analysis.Pass) {
		switch {
		case reach.Kept(p) != analysis.Untrusted:
			passed(p)
		case !isNotification(p):
			reportUntrusted(p)
		}
	},
}

// reportUntrusted reports a call for which there was no TLS session.
func reportUntrusted(p *analysis.Pass) {
	detail := p.End.Fault.Detail
	expected := "expected a version of TLS, and of HTTP, that both sides support"
	switch {
	case strings.Contains(detail, scheme.SpeaksTLS):
		p.Report(p.Place, asked(p)+" was sent without TLS: "+why(p), "expected plain HTTP at an http:// URL",
			analysis.For(analysis.Untrusted))
		return
	case strings.Contains(detail, scheme.SpeaksPlainHTTP):
		expected = "expected TLS at an https:// URL"
	case strings.Contains(detail, "TLS handshake: "):
		expected = "expected a TLS session"
	case strings.Contains(detail, "certificate"):
		expected = "expected a trusted certificate"
	}
	p.Report(p.Place, asked(p)+" was not sent, TLS could not be established: "+why(p), expected,
		analysis.For(analysis.Untrusted))
}

// isNotification reports whether the exchange that ended is a notification, whose client is the agent.
func isNotification(p *analysis.Pass) bool { return p.Exchange.Call.Operation == a2a.Webhook }

// passed records that a call succeeded, if the exchange is a call: a plain web server need not speak A2A.
func passed(p *analysis.Pass) {
	if p.Exchange.Answered && p.Exchange.Call.Binding != a2a.NoBinding {
		p.Applied()
	}
}

// why returns the recorded reason why an exchange broke.
func why(p *analysis.Pass) string {
	f := p.End.Fault
	return reason(cmp.Or(f.Detail, f.Kind))
}

// reason returns the recorder's note on a failure, whose end is the most specific part.
func reason(text string) string {
	const limit = 300
	return analysis.Clean(text[:min(len(text), limit)])
}

// asked names a call or a fetch.
func asked(p *analysis.Pass) string {
	x := p.Exchange
	switch {
	case x.Call.Operation != a2a.NoOperation:
		return x.Call.Operation.String()
	case x.Call.Method != "":
		return "the call of " + analysis.QuoteText(x.Call.Method)
	}
	return "the call"
}

var outcomeCut = &analysis.Rule{
	ID:      "outcome-cut",
	Title:   "agent broke the connection before the end of its answer",
	Gravest: analysis.Error,
	Once:    analysis.PerCause,
	Cites:   rule.Cite("RFC 9112 §8", rule.Every...),
	Doc: `The agent's side closed the connection before the answer was complete, or before it began, or sent something
that is not HTTP. The client has part of a result, or none, and cannot tell whether the call was executed.`,
	Fix: `Look for a crash or a timeout of the agent, of its server, or of a gateway in front of it: the last events
or bytes before the end show where. A stream ends with its last chunk, after a terminal state. An agent that closes
every connection before its first byte may use TLS: write its URL with https://.`,
	Silent: `Connections that the client left or that the recorder closed; the end of a body without a length, which
looks like a cut. If a stream had already reported everything that a client waits for, the finding is a warning. If
several calls of one client get no answer, only the first is reported, with their number; likewise for answers, and for
streams, that break off. If the agent was gone from then on, that is reported instead.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		kept := reach.Kept(p)
		if isNotification(p) || !p.End.ByAgent() || x.Ended || kept == analysis.Unreachable || kept == analysis.Untrusted ||
			kept == analysis.TooLate {
			passed(p)
			return
		}
		at, worst := p.Place, analysis.Error
		cause := analysis.Cause(kept)
		seen := asked(p) + " got no answer: "
		switch {
		case x.Stream != nil:
			at, seen = x.ResponsePlace().Body(), "the stream broke off after "+analysis.Plural(x.Stream.Events, "event")+": "
			cause = "stream"
			if x.Stream.Over {
				worst = analysis.Warning
			}
		case x.Answered:
			at, seen = x.ResponsePlace().Body(), "the answer broke off: "
			cause = "answer"
		}
		p.Report(at, seen+why(p), "expected a complete answer", analysis.AtMost(worst), analysis.For(cause), analysis.Revised())
	},
}

var outcomeNoProtocol = &analysis.Rule{
	ID:       "outcome-no-protocol",
	Title:    "call answered outside the protocol",
	Gravest:  analysis.Error,
	Once:     analysis.PerCause,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("JSON-RPC 2.0 §5", rule.Every...),
	Doc: `The agent's side answered over HTTP, but not in A2A: with the page or text of a server that failed, or with
something other than JSON where a result is expected. The client gets neither a result nor an error that it can
handle.`,
	Fix: `Check the log of the agent, or of the gateway in front of it, for the cause. Let the agent catch the
exceptions of its handlers, and answer with an error object of the binding: in JSON-RPC, code -32603.`,
	Silent: `The statuses 502, 503 and 504, which gateways send before they reach the agent, are a note that blames no
one; such calls count as failed. A well-formed JSON-RPC call that is refused with status 400 or 422 alone, or at an
interface of the card with 404, 405 or 415, is a warning: something in front of the agent may have refused it. This does
not apply to 0.1, nor to streams before 1.0, which HTTP could refuse until 0.2.5. Not reported: other statuses from 300
to 499, with which HTTP itself refuses or redirects; and answers that other rules report: JSON without the form of an
answer, JSON that is not well-formed, empty success answers, JSON instead of events, and server-sent events under
another label. If several answers to one client differ only in numbers, only the first is reported, with their number.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Answer.IsEnvelope || x.Call.Batch != nil && p.Answer.Doc.Root.Exists() {
			p.Applied()
			return
		}
		status := x.Response.Status
		readable := p.Doc != nil && p.Doc.Err == nil
		due := "expected a JSON-RPC response"
		if x.Call.Binding == a2a.HTTPJSON {
			due = "expected JSON: a result or an error"
		}
		switch {
		case x.URL() != "" && strings.HasPrefix(x.URL(), "http:") && scheme.RefusesPlainHTTP(status, p.Body):
			reportAnswer(p, "status %d with %s: "+scheme.SpeaksTLS, "expected plain HTTP at an http:// URL")
		case status >= http.StatusInternalServerError && (x.Call.Binding == a2a.JSONRPC || !readable):
			reportAnswer(p, "status %d with %s", due,
				analysis.AtMostIf(status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout, analysis.Note))
		case x.Call.Binding == a2a.JSONRPC && refusedByHTTP(x) && !x.InBatch():
			reportAnswer(p, "a well-formed call is refused with status %d and %s", due, analysis.AtMost(analysis.Warning))
		case p.Answer.Values > 1: // instead of events
			p.Applied()
		case rule.Succeeded(status) && p.Doc != nil && !readable && !mayBeJSON(p) && !framedAsEvents(p):
			reportAnswer(p, "status %d with %s", due)
		case rule.Succeeded(status) && readable:
			p.Applied()
		}
	},
}

// reportAnswer reports an answer by its status and content. Answers that differ only in numbers have one cause.
func reportAnswer(p *analysis.Pass, seen, expected string, options ...analysis.Option) {
	status, content := p.Exchange.Response.Status, contentText(p)
	cause := analysis.Cause(fmt.Sprint(status, " ", analysis.WithoutNumbers(content)))
	p.Report(p.Place, fmt.Sprintf(seen, status, content), expected, append(options, analysis.For(cause))...)
}

// refusedByHTTP reports whether a well-formed JSON-RPC call was refused by a status that should have come with a
// response object: the agent was reached, and the request is valid JSON-RPC.
func refusedByHTTP(x *analysis.Exchange) bool {
	request := x.Call.Doc.Root
	if x.Dialects.Has(a2a.V0_1) || x.Call.Operation.Streams() && x.Dialects != a2a.Of(a2a.V1_0) {
		return false // before 0.2.6 HTTP itself may refuse a stream, and before 0.1 any call
	}
	if x.Request.Method != http.MethodPost || x.Call.Operation == a2a.NoOperation || x.Call.Doc.Err != nil ||
		!request.Get("jsonrpc").Is("2.0") || !rule.IsID(request.Get("id")) || request.Get("params").Kind() != a2a.Object ||
		!rule.IsJSON(x.Request.Fields.MediaType()) {
		return false
	}
	switch x.Response.Status {
	case http.StatusBadRequest, http.StatusUnprocessableEntity:
		return true
	case http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusUnsupportedMediaType:
		return !x.Call.Apart && x.Endpoint != nil && !x.Endpoint.Declared.Intersect(x.Dialects).Empty()
	}
	return false
}

// contentText describes the content of an answer.
func contentText(p *analysis.Pass) string {
	body := bytes.TrimSpace(p.Body)
	if len(body) == 0 {
		return "an empty body"
	}
	return rule.ContentType(p.Exchange.Response.Fields.Values("Content-Type")) + ": " + analysis.QuoteText(string(body))
}

var outcomeAgentGone = &analysis.Rule{
	ID:       "outcome-agent-gone",
	Title:    "agent was unreachable until the end of the recording",
	Gravest:  analysis.Error,
	Critical: analysis.Gone,
	On:       analysis.CallEnded | analysis.AgentGone,
	Needs:    []*analysis.Tracker{reach.Tracker},
	Cites:    rule.Cite("RFC 9110 §15.6.3", rule.Every...),
	Covers:   []string{"outcome-unreachable", "outcome-cut"},
	Doc: `The agent was reachable at first. From a certain call on, until the recording ended, its host refused each
connection or could not be found. The agent has crashed or was stopped. That is critical: the rest of the recording
shows nothing about the agent.`,
	Fix: `Check the agent's log for the reason, and the call that was the first to fail: the message names it. Start
the agent again, and record again.`,
	Silent: `A single attempt that failed, unless the server had failed before; attempts that may have begun before the
last answer; agents that accept the last connection, even if they close or reset it, answer too late, show a certificate
(trusted or not), or answer with TLS; connections that a proxy on the route refuses; hosts that received neither a call
nor a request for a card. The finding is reported when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CallEnded {
			passed(p)
			return
		}
		if g := reach.GoneOf(p); !g.Never {
			p.Report(p.Place, fmt.Sprintf("the agent was gone from %s on: %s failed, the last with: %s", p.Exchange.RequestPlace(),
				analysis.Plural(g.Attempts, "attempt"), reason(g.Why)), "expected it to come back", analysis.Revising())
		}
	},
}

var outcomeAgentNeverReached = &analysis.Rule{
	ID:       "outcome-agent-never-reached",
	Title:    "agent was never reached",
	Gravest:  analysis.Error,
	Critical: analysis.NeverReached,
	On:       analysis.CallEnded | analysis.AgentGone,
	Needs:    []*analysis.Tracker{reach.Tracker},
	Cites:    rule.Cite("RFC 9110 §15.6.3", rule.Every...),
	Covers:   []string{"outcome-unreachable"},
	Doc: `In the whole recording no connection to the agent was made: its host refused each one, or could not be
found. That is critical: the recording shows nothing about the agent.`,
	Fix: `Start the agent before its clients, and make sure that it listens at the address that the recorder was
given.`,
	Silent: `A single attempt; agents that accepted a connection at any time; the exceptions of outcome-agent-gone.
The finding is reported when the recording ends.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CallEnded {
			passed(p)
			return
		}
		if g := reach.GoneOf(p); g.Never {
			p.Report(p.Place, fmt.Sprintf("the agent was never reached: %s failed from %s on, the last with: %s",
				analysis.Plural(g.Attempts, "attempt"), p.Exchange.RequestPlace(), reason(g.Why)), "expected an agent at this address",
				analysis.Revising())
		}
	},
}
