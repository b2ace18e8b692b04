package wire

import (
	"bytes"
	"fmt"
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// HTTP is the family of rules about how JSON-RPC and event streams use HTTP: methods, media types and status codes.
var HTTP = rule.Family{
	Name:     "http",
	Category: analysis.ErrorHandling,
}.Of(
	rpchttpPost,
	rpcRequestContentType,
	rpcRequestContentTypeV1,
	rpcResponseContentType,
	rpcResponseContentTypeV1,
	rpcAnswerMissing,
	streamContentType,
	streamStatus200,
	streamMethodAnsweredJSON,
	nonstreamMethodAnsweredSSE,
	httpRetryAfter,
	cardUnavailable,
	cardGuarded,
	cardBelowEndpoint,
	httpRedirectNotFollowed,
	httpRedirectRequestLost,
)

var rpchttpPost = &analysis.Rule{
	ID:       "rpc-http-post",
	Title:    "JSON-RPC request with an HTTP method other than POST",
	Level:    analysis.Must,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7", rule.Before1...).And("9.2", a2a.V1_0),
	Stands:   "0.1.0:777 0.2.6:447 0.3.0:656 1.0.1:2253",
	Doc: `JSON-RPC calls are sent with POST. Agents route by the HTTP method before they read the body, and caches and
gateways may drop the body of a GET or repeat a PUT: the call never arrives, or arrives twice.`,
	Fix: `Send every JSON-RPC request with POST to the URL of the interface.`,
	Silent: `OPTIONS and HEAD, which are never calls, and bodies that are not certainly A2A JSON-RPC. In 1.0, which
shows POST in its examples but does not require it, the finding is a note.`,
	Check: func(p *analysis.Pass) {
		p.Applied()
		if method := p.Exchange.Request.Method; method != "POST" {
			p.Report(p.Exchange.RequestPlace().Line(), "a JSON-RPC request under "+analysis.Clip(method), "expected POST",
				analysis.AtMostIf(p.Dialects.Has(a2a.V1_0), analysis.Note))
		}
	},
}

var rpcRequestContentType = &analysis.Rule{
	ID:       "rpc-request-content-type",
	Title:    "JSON-RPC request not labeled application/json",
	Level:    analysis.Must,
	Side:     a2a.Client,
	Once:     analysis.PerCause,
	On:       analysis.RequestSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("3.2", a2a.V0_1, a2a.V0_2).And("3.2.1", a2a.V0_3),
	Stands:   "0.1.0:67 0.2.6:70 0.3.0:79",
	Doc: `A JSON-RPC client has to send application/json. Many frameworks choose the parser by this label: with
another one they answer 415, or give the agent an empty body.`,
	Fix: `Send "Content-Type: application/json" with every JSON-RPC request.`,
	Silent: `Parameters such as charset, and labels that are not in the recording.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) { judgeRequestLabel(p) },
}

var rpcRequestContentTypeV1 = &analysis.Rule{
	ID:       "rpc-request-content-type-v1",
	Title:    "JSON-RPC request not labeled application/json",
	Level:    analysis.Should,
	Side:     a2a.Client,
	Once:     analysis.PerCause,
	On:       analysis.RequestSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("9.1", a2a.V1_0),
	Stands:   "1.0.1:2236",
	Doc: `The JSON-RPC binding of 1.0 uses application/json; application/a2a+json belongs to HTTP+JSON. Many
frameworks choose the parser by this label: with another one they answer 415, or give the agent an empty body.`,
	Fix: `Send "Content-Type: application/json" with every JSON-RPC request.`,
	Silent: `Parameters such as charset, and labels that are not in the recording.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) { judgeRequestLabel(p) },
}

func judgeRequestLabel(p *analysis.Pass) {
	fields := p.Exchange.Request.Fields
	if p.Doc == nil || !rule.LabelKept(p.Exchange, fields) {
		return
	}
	p.Applied()
	if fields.MediaType() != "application/json" {
		p.Report(p.Exchange.RequestPlace().Header("Content-Type"), rule.ContentType(fields.Values("Content-Type")),
			"expected application/json")
	}
}

var rpcResponseContentType = &analysis.Rule{
	ID:       "rpc-response-content-type",
	Title:    "JSON-RPC answer not labeled application/json",
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerCause,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("3.2", a2a.V0_1, a2a.V0_2).And("3.2.1", a2a.V0_3),
	Stands:   "0.1.0:67 0.2.6:70 0.3.0:79",
	Doc: `A JSON-RPC agent has to answer with application/json. Clients choose their parser by this label: they show a
JSON-RPC object labeled as text to a user, or refuse it, although its content is right.`,
	Fix: `Send "Content-Type: application/json" with every JSON-RPC answer that is not an event stream.`,
	Silent: `Parameters such as charset. Answers without a body, error pages that are not JSON-RPC, and results where
an event stream is expected.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		if !p.Answer.IsEnvelope || rule.DueAsStream(p) {
			return
		}
		p.Applied()
		types := p.Exchange.Response.Fields.Values("Content-Type")
		if rule.Essence(types) != "application/json" {
			p.Report(p.Exchange.ResponsePlace().Header("Content-Type"), rule.ContentType(types), "expected application/json")
		}
	},
}

var rpcResponseContentTypeV1 = &analysis.Rule{
	ID:       "rpc-response-content-type-v1",
	Title:    "JSON-RPC answer not labeled application/json",
	Level:    analysis.Should,
	Side:     a2a.Agent,
	Once:     analysis.PerCause,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("9.1", a2a.V1_0),
	Stands:   "1.0.1:2236",
	Doc: `The JSON-RPC binding of 1.0 uses application/json. Clients choose their parser by this label: they show a
JSON-RPC object labeled as text to a user, or refuse it, although its content is right.`,
	Fix: `Send "Content-Type: application/json" with every JSON-RPC answer that is not an event stream.`,
	Silent: `Parameters. The label of the other binding, application/a2a+json, is a note. Answers without a body,
error pages that are not JSON-RPC, and results where an event stream is expected.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		if !p.Answer.IsEnvelope || rule.DueAsStream(p) {
			return
		}
		p.Applied()
		types := p.Exchange.Response.Fields.Values("Content-Type")
		at := p.Exchange.ResponsePlace().Header("Content-Type")
		switch rule.Essence(types) {
		case "application/json":
		case "application/a2a+json":
			p.Report(at, rule.ContentType(types), "expected application/json: this label is for HTTP+JSON",
				analysis.AtMost(analysis.Note))
		default:
			p.Report(at, rule.ContentType(types), "expected application/json")
		}
	},
}

var rpcAnswerMissing = &analysis.Rule{
	ID:       "rpc-answer-missing",
	Title:    "JSON-RPC call answered without a body",
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("JSON-RPC 2.0 §5", rule.Every...),
	Covers:   []string{"rpc-result-xor-error"},
	Doc: `A JSON-RPC request with an id always gets a response object. Without one the client cannot tell whether the
call was executed: most clients fail to parse the empty text and try again.`,
	Fix: `Answer every request that has an id with a response object, with "result": {} or null if there is nothing to
return.`,
	Silent: `Requests without id, which are notifications; statuses other than 2xx; answers that were cut off.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if !rule.IsID(x.Call.ID) || x.Call.Method == "" || !rule.Succeeded(x.Response.Status) {
			return
		}
		p.Applied()
		if p.Doc == nil {
			p.Report(p.Place, fmt.Sprintf("status %d without a body", x.Response.Status),
				"expected a JSON-RPC response with the id "+analysis.Quote(x.Call.ID))
		}
	},
}

var streamContentType = &analysis.Rule{
	ID:       "stream-content-type",
	Title:    "event stream not labeled text/event-stream",
	Category: analysis.Streaming,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerCause,
	On:       analysis.AnswerSeen | analysis.EventSeen,
	Bindings: rule.OnJSONCall,
	Cites: rule.Cite("3.3", a2a.V0_1, a2a.V0_2).And("3.3.1", a2a.V0_3).And("9.4.2", a2a.V1_0).
		And("11.7", a2a.V1_0),
	Stands: "0.1.0:73 0.2.6:76 0.3.0:123 1.0.1:2322 1.0.1:2965",
	Doc: `Server-sent events are labeled text/event-stream. Clients decide by this label whether to read events as
they arrive; with another one they wait for the end of the body and then fail to parse it.`,
	Fix: `Set "Content-Type: text/event-stream" before the first event is written.`,
	Silent: `Parameters. A body counts as a stream only if it is not JSON, begins with a line of an event, and has
data that begins like a JSON object.
Only the first message with each label between the same two programs is reported, with the number of messages.`,
	Check: func(p *analysis.Pass) {
		if p.Kind == analysis.EventSeen {
			if rule.OpensStream(p) {
				p.Applied()
			}
			return
		}
		if rule.Succeeded(p.Exchange.Response.Status) && framedAsEvents(p) {
			p.Report(p.Exchange.ResponsePlace().Header("Content-Type"),
				"server-sent events under "+rule.ContentType(p.Exchange.Response.Fields.Values("Content-Type")),
				"expected text/event-stream")
		}
	},
}

// framedAsEvents reports whether an answer that is not labeled as an event stream certainly is one: lines of events,
// with data that begins like a JSON object.
func framedAsEvents(p *analysis.Pass) bool {
	if p.Doc == nil || p.Doc.Err == nil {
		return false
	}
	rest := bytes.TrimLeft(bytes.TrimPrefix(p.Body, []byte("\xef\xbb\xbf")), "\r\n")
	for len(rest) > 0 {
		end := bytes.IndexAny(rest, "\r\n")
		if end < 0 {
			end = len(rest)
		}
		name, value, colon := bytes.Cut(rest[:end], []byte(":"))
		switch {
		case !colon:
			return false
		case string(name) == "data":
			return bytes.HasPrefix(bytes.TrimSpace(value), []byte("{"))
		}
		switch string(name) {
		case "", "event", "id", "retry":
		default:
			return false
		}
		rest = bytes.TrimLeft(rest[end:], "\r\n")
	}
	return false
}

var streamStatus200 = &analysis.Rule{
	ID:       "stream-status-200",
	Title:    "event stream under a status other than 200",
	Category: analysis.Streaming,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	On:       analysis.EventSeen | analysis.StreamEnded,
	Bindings: rule.OnJSONCall,
	Cites: rule.Cite("3.3", a2a.V0_1, a2a.V0_2).And("3.3.1", a2a.V0_3).And("9.4.2", a2a.V1_0).
		And("11.7", a2a.V1_0),
	Stands: "0.1.0:73 0.2.6:76 0.3.0:123 1.0.1:2322 1.0.1:2964",
	Doc: `An event stream has status 200. Clients that follow the standard for server-sent events give up on any other
status, so no one reads the events.`,
	Fix: `Answer a streaming call with 200, even if it creates a task.`,
	Silent: `Statuses of 300 and above, which make the answer an error whatever its label; 204 and 205, which have no
body.`,
	Check: func(p *analysis.Pass) {
		status := p.Exchange.Response.Status
		if !beginsStream(p) || !rule.Succeeded(status) || status == 204 || status == 205 {
			return
		}
		p.Applied()
		if status != 200 {
			p.Report(p.Exchange.ResponsePlace().Status(), fmt.Sprintf("an event stream under status %d", status), "expected 200")
		}
	},
}

// beginsStream reports whether the current observation is the first of a stream: its first event, or the end of a
// stream without events.
func beginsStream(p *analysis.Pass) bool {
	return p.Exchange.Stream != nil && p.Exchange.Stream.Events == 0
}

var streamMethodAnsweredJSON = &analysis.Rule{
	ID:       "stream-method-answered-json",
	Title:    "streaming call answered with JSON instead of events",
	Category: analysis.Streaming,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen | analysis.EventSeen | analysis.StreamEnded,
	If:       analysis.OfStream,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("7.2", rule.Before1...).And("3.1.2", a2a.V1_0).And("9.4.2", a2a.V1_0),
	Stands:   "0.1.0:832 0.2.6:517 0.3.0:726 1.0.1:206 1.0.1:2322",
	Covers:   []string{"stream-empty"},
	Doc: `A streaming call is answered with an event stream. The client passes the answer to its event reader, which
finds no events in a JSON body, in JSON Lines or in an array: the result arrives and no one sees it.`,
	Fix: `Answer with text/event-stream and one event for each update: "data: ", the JSON object, and a blank line. An
agent with only one Message or Task sends it as the only event. An agent that does not support streaming answers with
the error for that.`,
	Silent: `JSON errors, which are right instead of a stream; answers that are not an A2A object. Before 1.0 the
finding is a warning.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if p.Kind == analysis.StreamEnded {
			reportBareValues(p)
			return
		}
		if !x.Call.Streams || p.Answer == nil || p.Answer.Err != nil || p.Kind == analysis.EventSeen && !rule.OpensStream(p) {
			return
		}
		if p.Kind == analysis.EventSeen {
			p.Applied()
			return
		}
		what := ""
		switch p.Answer.Payload.Kind {
		case a2a.TaskPayload, a2a.MessagePayload, a2a.StatusPayload, a2a.ArtifactPayload:
			what = "one " + p.Answer.Payload.Kind.String()
		}
		switch n := analysis.Plural(p.Answer.Values, "JSON value"); {
		case p.Answer.Doc.Trailing && p.Answer.Values > 1:
			form := "JSON Lines"
			if _, is := a2a.Separated(p.Body); is {
				form = "a JSON text sequence"
			}
			what = n + " one after the other (" + form + ")"
		case p.Answer.Values > 0:
			what = "an array of " + n
		}
		if what == "" || !rule.Succeeded(x.Response.Status) {
			return
		}
		p.Report(x.ResponsePlace().Header("Content-Type"),
			fmt.Sprintf("%s answered with %s, %s", x.Call.Operation, what,
				rule.ContentType(x.Response.Fields.Values("Content-Type"))), "expected an event stream",
			analysis.AtMostIf(!p.Dialects.Has(a2a.V1_0), analysis.Warning))
	},
}

// reportBareValues reports a stream that is labelled as one of events and has JSON in lines without a field name.
func reportBareValues(p *analysis.Pass) {
	x := p.Exchange
	if n := x.Stream.Bare; n > 0 && x.Call.Streams && rule.Succeeded(x.Response.Status) {
		p.Report(p.Place, fmt.Sprintf("%s without \"data:\" before each (JSON Lines, not events)",
			analysis.Plural(n, "JSON value")), "expected events, whose lines begin with a field name",
			analysis.AtMostIf(!p.Dialects.Has(a2a.V1_0), analysis.Warning))
	}
}

var nonstreamMethodAnsweredSSE = &analysis.Rule{
	ID:       "nonstream-method-answered-sse",
	Title:    "non-streaming call answered with an event stream",
	Category: analysis.Streaming,
	Level:    analysis.Must,
	Side:     a2a.Agent,
	Once:     analysis.PerExchange,
	On:       analysis.AnswerSeen | analysis.EventSeen | analysis.StreamEnded,
	Bindings: rule.OnJSONCall,
	Cites:    rule.Cite("7", rule.Before1...).And("9.4.1", a2a.V1_0),
	Stands:   "0.1.0:779 0.2.6:449 0.3.0:658 1.0.1:2307",
	Doc: `Only streaming methods are answered with events. A client that sent a plain call waits for one JSON object,
parses the text of the stream as JSON, and fails.`,
	Fix: `Answer with one JSON object. Stream only for SendStreamingMessage and SubscribeToTask (before 1.0:
message/stream, tasks/resubscribe).`,
	Silent: `Batches, methods that A2A does not define, and statuses other than 2xx. Over HTTP+JSON and in 1.0 the
finding is a warning, since no sentence says so explicitly.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Call.Operation == a2a.NoOperation || x.Call.Streams || x.Call.Batch != nil ||
			!rule.Succeeded(x.Response.Status) {
			return
		}
		if p.Kind != analysis.AnswerSeen && !beginsStream(p) {
			return
		}
		p.Applied()
		if p.Kind == analysis.AnswerSeen {
			return
		}
		p.Report(x.ResponsePlace().Header("Content-Type"), fmt.Sprintf("%s answered with an event stream", x.Call.Operation),
			"expected one JSON object",
			analysis.AtMostIf(x.Call.Binding == a2a.HTTPJSON || p.Dialects.Has(a2a.V1_0), analysis.Warning))
	},
}

var httpRetryAfter = &analysis.Rule{
	ID:       "http-retry-after",
	Title:    "429 without Retry-After",
	Level:    analysis.Advice,
	Side:     a2a.Agent,
	Once:     analysis.PerEndpoint,
	On:       analysis.AnswerSeen,
	If:       analysis.Refused,
	Bindings: rule.OnJSON,
	Cites:    rule.Cite("RFC 6585 §4", rule.Before1...).And("3.3.2", a2a.V1_0),
	Stands:   "1.0.1:533",
	Doc: `The agent refuses a call because there were too many, and does not say when it will accept the next one.
Clients then try again at once, or never.`,
	Fix: `Send Retry-After with every 429: a number of seconds, or a date.`,
	Silent: `Other statuses; recordings of other programs, which may omit headers. The header is optional. Only the
first 429 at an endpoint is reported.`,
	Check: func(p *analysis.Pass) {
		x := p.Exchange
		if x.Response.Status != http.StatusTooManyRequests || !x.AnswerHeadersKept() {
			return
		}
		p.Applied()
		if !x.Response.Fields.Has("Retry-After") {
			p.Report(x.ResponsePlace().Status(), "status 429 without Retry-After", "expected the time to wait before the next try")
		}
	},
}
