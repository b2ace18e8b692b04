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
	Needs:   []*analysis.Tracker{reach.Tracker},
	Cites:   rule.Cite("RFC 9110 §15.6.3", rule.Every...),
	Doc: `The call never got to the agent, or the notification to the webhook: there was no connection, or no answer in
the time allowed. The client got an error of the recorder's, which says nothing of A2A. The message says what the network
said.`,
	Fix: `See that the agent runs and listens at the address that the recorder was given, and that nothing between them
drops connections. Where a firewall lets only a proxy through, record with --upstream-proxy URL. Where the agent is only
slow, give it more time (--timeout-head). For a notification, see that the client's receiver listens at the URL of its
push config before the task is sent.`,
	Silent: `What is not surely a call, a notification or the fetch of a card; faults of the recorder itself, such as a lack of file
descriptors; clients that left; recordings that do not say whose side broke. Of calls of one client that fail one after
another for the same reason the first is reported; the verdict counts all.`,
	Check: func(p *analysis.Pass) {
		switch kept := reach.Kept(p); {
		case kept != analysis.Unreachable && kept != analysis.TooLate:
			passed(p)
		case reach.Of(p).Repeats(p):
		case isNotification(p):
			p.Report(p.Place, "the notification did not get to the webhook: "+why(p), "expected an answer",
				analysis.By(a2a.Receiver))
		default:
			p.Report(p.Place, asked(p)+" did not get to the agent: "+why(p), "expected an answer")
		}
	},
}

var outcomeUntrusted = &analysis.Rule{
	ID:      "outcome-untrusted",
	Title:   "no TLS session with the agent",
	Gravest: analysis.Error,
	Needs:   []*analysis.Tracker{reach.Tracker},
	Cites:   rule.Cite("RFC 9110 §4.3.4", rule.Every...),
	Doc: `There was a connection to the agent, and no TLS session on it: its certificate is not trusted, is for another
name or out of date, or the two sides have no version of TLS, or of HTTP on it, in common: many agents of gRPC take no
HTTP/1.1. The call was not sent. Or only one side speaks TLS: the agent answers plain HTTP with a TLS record, or it
answers the TLS handshake with plain HTTP.`,
	Fix: `Where only one side speaks TLS, correct the scheme of the agent's URL: https:// for an agent on TLS, http://
for any other. Renew the agent's certificate, or have it issued for the host that clients use. Where an authority of your own
has issued it, record with --agent-ca FILE. Where the agent asks for a client certificate, record with --client-cert
FILE. To look at the traffic nevertheless, --insecure takes any certificate, and the capture says so.`,
	Silent: `Clients that do not trust the recorder's certificate. Of calls of one client that fail one after another for
the same reason the first is reported; the verdict counts all.`,
	Check: func(p *analysis.Pass) {
		switch reach.Kept(p) {
		case analysis.Untrusted:
			if !reach.Of(p).Repeats(p) && !isNotification(p) {
				reportUntrusted(p)
			}
		default:
			passed(p)
		}
	},
}

// reportUntrusted reports a call for which there was no TLS session.
func reportUntrusted(p *analysis.Pass) {
	detail := p.End.Fault.Detail
	expected := "expected a version of TLS, and of HTTP, that both sides speak"
	switch {
	case strings.Contains(detail, scheme.SpeaksTLS):
		p.Report(p.Place, asked(p)+" was sent without TLS: "+why(p), "expected plain HTTP at an http:// URL")
		return
	case strings.Contains(detail, scheme.SpeaksPlainHTTP):
		expected = "expected TLS at an https:// URL"
	case strings.Contains(detail, "TLS handshake: "):
		expected = "expected a TLS session"
	case strings.Contains(detail, "certificate"):
		expected = "expected a certificate that is trusted"
	}
	p.Report(p.Place, asked(p)+" was not sent, for want of a TLS session: "+why(p), expected)
}

// isNotification reports whether what ended is a notification, of which the agent is the client.
func isNotification(p *analysis.Pass) bool { return p.Exchange.Call.Operation == a2a.Webhook }

// passed says that a call has got through, if it is one: whoever serves pages need not speak A2A.
func passed(p *analysis.Pass) {
	if p.Exchange.Answered && p.Exchange.Call.Binding != a2a.NoBinding {
		p.Applied()
	}
}

// why says what broke an exchange, as the record has it.
func why(p *analysis.Pass) string {
	f := p.End.Fault
	return reason(cmp.Or(f.Detail, f.Kind))
}

// reason returns what the recorder has noted of a failure, whose end tells most.
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
	Needs:   []*analysis.Tracker{reach.Tracker},
	Cites:   rule.Cite("RFC 9112 §8", rule.Every...),
	Doc: `The agent's side ended the connection before the answer was whole, or before it began, or sent what is not
HTTP. The client has a part of a result, or none, and cannot tell whether the call was done.`,
	Fix: `Look for a crash or a time limit of the agent, of its server, or of a gateway before it: the last events or
bytes before the end say where. A stream ends with its last chunk, after a terminal state. An agent that ends every
connection before its first byte may speak TLS: write its URL with https://.`,
	Silent: `Connections that the client left or that the recorder ended; the end of a body that has no length, which
looks the same as a cut. Where a stream had told all that a client waits for, it is a warning. Of calls of one client
and one operation that fail one after another without an answer, the first is reported; the verdict counts all.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		kept := reach.Kept(p)
		if isNotification(p) || !p.End.ByAgent() || x.Ended || kept == analysis.Unreachable || kept == analysis.Untrusted ||
			kept == analysis.TooLate {
			passed(p)
			return
		}
		if reach.Of(p).Repeats(p) {
			return
		}
		at, worst := p.Place, analysis.Error
		seen := asked(p) + " got no answer: "
		switch {
		case x.Stream != nil:
			at, seen = x.ResponsePlace().Body(), "the stream broke off after "+analysis.Plural(x.Stream.Events, "event")+": "
			if x.Stream.Over {
				worst = analysis.Warning
			}
		case x.Answered:
			at, seen = x.ResponsePlace().Body(), "the answer broke off: "
		}
		p.Report(at, seen+why(p), "expected a whole answer", analysis.AtMost(worst))
	},
}

var outcomeNoProtocol = &analysis.Rule{
	ID:       "outcome-no-protocol",
	Title:    "call answered outside of the protocol",
	Gravest:  analysis.Error,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("JSON-RPC 2.0 §5", rule.Every...),
	Doc: `The agent's side answered over HTTP, and not in A2A: with the page or the text of a server that failed, or with
something else than JSON where a result is due. The client learns neither a result nor an error that it could act on.`,
	Fix: `Look into the log of the agent, or of the gateway before it, for what failed. Let the agent catch what its
handlers throw, and answer with an error object of the binding: in JSON-RPC code -32603.`,
	Silent: `Nobody is accused for the statuses 502, 503 and 504, which gateways answer before the agent is asked:
they are a note, and count as failed. A well-formed call of JSON-RPC that is refused with status 400 or 422 alone, or at
an interface of the card with 404, 405 or 415, is a warning: what refused it may stand before the agent. That is not
said of 0.1, nor of streams before 1.0, which HTTP could refuse until 0.2.5. Not reported are
other statuses from 300 to 499, by which HTTP itself refuses or redirects; and what other rules report: JSON without the
shape of an answer, JSON that is not well-formed, empty answers of success, JSON in place of events, and server-sent
events under another label.`,
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
			p.Report(p.Place, fmt.Sprintf("status %d with %s: %s", status, contentText(p), scheme.SpeaksTLS),
				"expected plain HTTP at an http:// URL")
		case status >= http.StatusInternalServerError && (x.Call.Binding == a2a.JSONRPC || !readable):
			p.Report(p.Place, fmt.Sprintf("status %d with %s", status, contentText(p)), due,
				analysis.AtMostIf(status >= http.StatusBadGateway && status <= http.StatusGatewayTimeout, analysis.Note))
		case x.Call.Binding == a2a.JSONRPC && refusedByHTTP(x) && !x.InBatch():
			p.Report(p.Place, fmt.Sprintf("a well-formed call is refused with status %d and %s", status, contentText(p)), due,
				analysis.AtMost(analysis.Warning))
		case p.Answer.Values > 1: // in place of events
			p.Applied()
		case rule.Succeeded(status) && p.Doc != nil && !readable && !mayBeJSON(p) && !framedAsEvents(p):
			p.Report(p.Place, fmt.Sprintf("status %d with %s", status, contentText(p)), due)
		case rule.Succeeded(status) && readable:
			p.Applied()
		}
	},
}

// refusedByHTTP reports whether a call over JSON-RPC that is well-formed as such was refused by a status that should
// have come with a response object: the agent is there, and is asked as JSON-RPC asks.
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

// contentText says what an answer holds.
func contentText(p *analysis.Pass) string {
	body := bytes.TrimSpace(p.Body)
	if len(body) == 0 {
		return "an empty body"
	}
	return rule.ContentType(p.Exchange.Response.Fields.Values("Content-Type")) + ": " + analysis.QuoteText(string(body))
}

var outcomeAgentGone = &analysis.Rule{
	ID:       "outcome-agent-gone",
	Title:    "agent could not be reached until the end of the recording",
	Gravest:  analysis.Error,
	Critical: analysis.Gone,
	On:       analysis.CallEnded | analysis.AgentGone,
	Needs:    []*analysis.Tracker{reach.Tracker},
	Cites:    rule.Cite("RFC 9110 §15.6.3", rule.Every...),
	Doc: `The agent was there, and from some call on its host refused each connection, or could not be found, until the
recording ended. The agent has crashed or was stopped. That is critical: whatever was to be shown after that was not.`,
	Fix: `See in the agent's log why it ended, and with which call that began: the message names it. Start it again, and
record again.`,
	Silent: `A single attempt that failed, unless the server had failed before; attempts that may have begun before the
last answer; agents that accept the last connection, whatever they do with it: those that close or reset it, that answer
too late, that show a certificate, trusted or not, or that answer with TLS; connections that a proxy on the route
refuses; hosts that no client has called, or asked for a card. The rule reports at the end of the recording.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CallEnded {
			passed(p)
			return
		}
		if g := reach.GoneOf(p); !g.Never {
			p.Report(p.Place, fmt.Sprintf("the agent was gone from %s on: %s failed, the last for this: %s", g.Since,
				analysis.Plural(g.Attempts, "attempt"), reason(g.Why)), "expected it to come back")
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
	Doc: `In the whole recording no connection to the agent was made: its host refused each one, or could not be found.
That is critical: nothing of what was to be shown was.`,
	Fix: `Start the agent before its clients, and see that it listens at the address that the recorder was given.`,
	Silent: `A single attempt; agents that accepted a connection at any time; what outcome-agent-gone does not report
either. The rule reports at the end of the recording.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.CallEnded {
			passed(p)
			return
		}
		if g := reach.GoneOf(p); g.Never {
			p.Report(p.Place, fmt.Sprintf("the agent was never reached: %s failed from %s on, the last for this: %s",
				analysis.Plural(g.Attempts, "attempt"), g.Since, reason(g.Why)), "expected an agent at this address")
		}
	},
}
