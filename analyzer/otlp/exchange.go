package otlp

import (
	"net"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// An exchangeSpan has the data for the span of one exchange.
type exchangeSpan struct {
	*capture.Exchange
	request, response capture.Head
	reading           *reading.Reading
	identity          identity
	failure           string // name of the error with which the call failed, or empty
	findings          []analysis.Finding
	room              int // for bodies and the data of events, in bytes
}

// maxContent bounds the bodies and the data of events in one span, in bytes.
const maxContent = 64 << 10

// Exchange returns the span of an exchange. For a long stream it needs only the first and the last KeptEvents events.
// Failure is the name of the call's error, as in analysis.Outcome; findings are those known by now.
func (s *Spans) Exchange(x *capture.Exchange, failure string, findings []analysis.Finding) Span {
	e := s.read(x)
	e.failure, e.findings = failure, findings
	span := &tracepb.Span{
		TraceId: e.identity.trace[:], SpanId: e.identity.span[:], Flags: e.identity.flags,
		Name: e.name(), Kind: e.kind(),
		StartTimeUnixNano: nanoseconds(x.Started), EndTimeUnixNano: nanoseconds(e.end()),
		Attributes: e.attributes(),
		Links:      s.links(&e.identity),
		Status:     e.status(),
	}
	if e.identity.parent != [8]byte{} {
		span.ParentSpanId = e.identity.parent[:]
	}
	span.Events, span.DroppedEventsCount = e.events()
	return Span{e.identity.service, span}
}

// read reads an exchange, and remembers the facts that other spans need.
func (s *Spans) read(x *capture.Exchange) exchangeSpan {
	e := exchangeSpan{
		Exchange: x, request: capture.ParseRequestHead(x.Request.Head), reading: s.o.Reader.Read(x),
	}
	if s.o.Bodies {
		e.room = maxContent
	}
	if x.Response != nil {
		e.response = capture.ParseResponseHead(x.Response.Head)
	}
	e.identity = s.identify(x.Seq, x.ID, &e.request, 0)
	e.identity.made, e.identity.started, e.identity.service = true, x.Started, service(x.Agent)
	if e.isNeighbor() {
		e.identity.service = service(x.Client)
	}
	if len(e.reading.Contexts) > 0 {
		e.identity.context = valid(e.reading.Contexts[0], maxText)
	}
	s.known.Put(x.Seq, e.identity)
	return e
}

// knows reports whether an exchange with a span is still remembered.
func (s *Spans) knows(seq uint64) bool {
	i, ok := s.known.Get(seq)
	return ok && i.made
}

// name returns the span's name, which has low cardinality: the operation without ids.
func (e *exchangeSpan) name() string {
	call := &e.reading.Call
	switch {
	case e.isNeighbor():
		return valid(e.reading.Neighbor.Title(), maxText)
	case e.invokes() && e.Agent.Name != "":
		return valid("invoke_agent "+e.Agent.Name, maxText)
	case e.invokes():
		return "invoke_agent"
	case call.Operation != a2a.NoOperation:
		return call.Operation.String()
	case call.Binding == a2a.JSONRPC:
		return "jsonrpc"
	}
	return method(e.request.Method)
}

// invokes reports whether the exchange is a message to an agent.
func (e *exchangeSpan) invokes() bool {
	op := e.reading.Call.Operation
	return op == a2a.SendMessage || op == a2a.SendStreamingMessage
}

// methods are the HTTP methods that the conventions use unchanged.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH", "QUERY"}

func method(name string) string {
	if slices.Contains(methods, name) {
		return name
	}
	return "HTTP"
}

// end returns when the exchange ended, or else the latest known time.
func (e *exchangeSpan) end() time.Time {
	took := e.Took()
	if took >= 0 && took < e.Ended { // the client left, and did not receive the rest
		return e.Started.Add(took)
	}
	last := max(took, e.Request.Body.At)
	if r := e.Response; r != nil && took < 0 {
		last = max(last, r.At, r.Body.At)
		for i := range r.Events {
			last = max(last, r.Events[i].At)
		}
	}
	return e.Started.Add(max(last, 0))
}

func (e *exchangeSpan) attributes() []*keyValue {
	var a attributes
	e.ours(&a)
	e.protocol(&a)
	e.transport(&a)
	e.bodies(&a)
	return a.list
}

// ours adds the recorder's facts.
func (e *exchangeSpan) ours(a *attributes) {
	a.number("a2atap.exchange", int64(e.Seq))
	if e.ID != uuid.Nil {
		a.text("a2atap.exchange.id", e.ID.String())
	}
	a.text("a2atap.client", e.Client.Name)
	a.text("a2atap.client.how", e.Client.How)
	if e.State != capture.StateClosed {
		a.text("a2atap.state", e.State.String())
	}
	if e.Fault != nil {
		a.text("a2atap.fault", e.Fault.Kind)
		a.text("a2atap.fault.side", e.Fault.Side)
	}
	if e.Lost > 0 {
		a.number("a2atap.lost", e.Lost)
	}
	a.yes("a2atap.replayed", e.Replayed)
	a.text("a2atap.fault.made", e.FaultMade())
	if cause := e.identity.cause; cause.Exchange != 0 {
		a.number("a2atap.parent.exchange", int64(cause.Exchange))
		a.text("a2atap.parent.inferred", cause.Inferred)
	}
	if len(e.findings) > 0 {
		a.number("a2atap.findings", int64(len(e.findings)))
	}
}

// protocol adds the attributes of A2A and of the conventions for agents and JSON-RPC.
func (e *exchangeSpan) protocol(a *attributes) {
	r := e.reading
	call := &r.Call
	if call.Operation != a2a.NoOperation {
		a.text("a2a.operation", call.Operation.String())
	}
	if call.A2A() {
		a.text("a2a.binding", call.Binding.String())
		a.text("a2a.protocol.version", r.Dialects.String())
	}
	for _, list := range []struct {
		key    string
		values []string
	}{{"a2a.task.id", r.Tasks}, {"a2a.context.id", r.Contexts}, {"a2a.message.id", r.Messages}} {
		if len(list.values) == 1 {
			a.text(list.key, list.values[0])
		} else {
			a.texts(list.key+"s", list.values)
		}
	}
	a.text("a2a.task.state", r.State())
	e.neighbor(a)
	if e.invokes() {
		a.text("gen_ai.operation.name", "invoke_agent")
		a.text("gen_ai.agent.name", e.Agent.Name)
		a.text("gen_ai.conversation.id", e.identity.context)
	}
	if call.Binding == a2a.JSONRPC {
		a.text("rpc.system.name", "jsonrpc")
		a.text("rpc.method", call.Method)
		a.text("jsonrpc.protocol.version", "2.0")
		if call.ID.Exists() && !call.ID.IsNull() {
			id, isText := call.ID.Str()
			if !isText {
				id = string(call.ID.Raw()[:min(len(call.ID.Raw()), maxText)])
			}
			a.text("jsonrpc.request.id", id)
		}
	}
	if call.Binding == a2a.GRPC {
		a.text("rpc.system.name", "grpc")
		a.text("rpc.method", call.RPC.Service+"/"+call.RPC.Name)
		if e.Response != nil {
			if status, told := e.Response.GRPCStatus(); told {
				a.text("rpc.response.status_code", status.Code.String())
			}
		}
	}
	if len(r.Errors) > 0 {
		failed := r.Errors[0]
		a.text("a2a.error", failed.Name.String())
		if failed.CodeKnown && call.Binding == a2a.JSONRPC {
			a.text("rpc.response.status_code", strconv.FormatInt(failed.Code, 10))
		}
	}
	a.text("error.type", e.errorType())
}

// errorType returns the conventions' class of the error; empty without an error.
func (e *exchangeSpan) errorType() string {
	switch {
	case e.failure != "":
		return e.failure
	case e.Fault != nil:
		return e.Fault.Kind
	case e.isNeighbor() && e.reading.Neighbor.Failed && e.response.Status < 400:
		return "tool_error"
	case e.refused():
		return strconv.Itoa(e.response.Status)
	}
	return ""
}

// refused reports whether the answer to a request other than a call is an error. As for any server, a missing resource
// is not an error, but a missing card is.
func (e *exchangeSpan) refused() bool {
	call := &e.reading.Call
	return e.response.Status >= 500 || e.response.Status >= 400 && (call.Operation != a2a.NoOperation || e.isNeighbor())
}

func (e *exchangeSpan) status() *tracepb.Status {
	message := e.errorType()
	if message == "" {
		return nil
	}
	if e.failure == "" && e.Fault == nil && message != "tool_error" {
		message = "HTTP " + message
	}
	return &tracepb.Status{Code: tracepb.Status_STATUS_CODE_ERROR, Message: valid(message, maxText)}
}

// transport adds the conventions' attributes of HTTP.
func (e *exchangeSpan) transport(a *attributes) {
	if name := method(e.request.Method); name == "HTTP" {
		a.text("http.request.method", "_OTHER")
	} else {
		a.text("http.request.method", name)
	}
	origin, path := address.Target(e.Agent.URL, e.request.Target)
	if u, err := url.Parse(origin); err == nil {
		a.text("url.scheme", u.Scheme)
		a.text("server.address", u.Hostname())
		if port, err := strconv.ParseInt(u.Port(), 10, 64); err == nil {
			a.number("server.port", port)
		}
	}
	path, _, _ = strings.Cut(path, "?")
	a.text("url.path", path)
	if e.response.Status != 0 {
		a.number("http.response.status_code", int64(e.response.Status))
	}
	if size := e.Request.Body.Size; size > 0 {
		a.number("http.request.body.size", size)
	}
	if e.Response != nil && e.Response.Body.Size > 0 {
		a.number("http.response.body.size", e.Response.Body.Size)
	}
	a.text("user_agent.original", e.request.Fields.Get("User-Agent"))
	if host, port, err := net.SplitHostPort(e.Client.Addr); err == nil {
		a.text("client.address", host)
		if port, err := strconv.ParseInt(port, 10, 64); err == nil {
			a.number("client.port", port)
		}
	}
}

// bodies adds the recorded bodies, if wanted.
func (e *exchangeSpan) bodies(a *attributes) {
	if e.room == 0 {
		return
	}
	body, _ := e.Request.Body.Decode(&e.request)
	e.content(a, "a2atap.request.body", body)
	if e.Response != nil {
		body, _ = e.Response.Body.Decode(&e.response)
		e.content(a, "a2atap.response.body", body)
	}
}

// content adds a part of a body while there is room.
func (e *exchangeSpan) content(a *attributes, key string, data []byte) {
	if limit := min(maxBody, e.room); len(data) > 0 && limit > len(cutMark) {
		a.long(key, string(data[:min(len(data), limit+1)]), limit)
		e.room -= min(len(data), limit)
	}
}

// links adds a link to the exchange that caused this one, if the parent is another span.
func (s *Spans) links(i *identity) []*tracepb.Span_Link {
	if !i.remote || i.cause.Exchange == 0 {
		return nil
	}
	cause, ok := s.known.Get(i.cause.Exchange)
	if !ok {
		return nil
	}
	var a attributes
	a.text("a2atap.link", "caused by")
	return []*tracepb.Span_Link{{TraceId: cause.trace[:], SpanId: cause.span[:], Attributes: a.list}}
}
