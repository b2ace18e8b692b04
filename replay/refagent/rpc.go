package refagent

import (
	"encoding/json"
	"net/http"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// serveRPC answers JSON-RPC 2.0 over HTTP POST (A2A 1.0 §9, 0.3 §3.2.1). Errors travel under HTTP 200.
func (a *Agent) serveRPC(w http.ResponseWriter, r *http.Request) {
	c := rpcCall(a.profile.dialect)
	if !a.isPost(w, r, "GET, HEAD, POST", "JSON-RPC is spoken with POST") {
		return
	}
	if f := a.readRPC(w, r, c); f != nil {
		a.failRPC(w, c, f)
		return
	}
	a.readHeader(c.Request, r)
	result, f := a.perform(r.Context(), c)
	switch {
	case f != nil:
		a.failRPC(w, c, f)
	case result.Stream != nil:
		a.streamEvents(r.Context(), w, c, result.Stream)
	default:
		body := c.Envelope(c.Dialect.Result(c.Op, result))
		a.answer(w, c, wire.NewAnswer(http.StatusOK, c.MediaType, body))
	}
}

// rpcCall returns a call over JSON-RPC that nothing has been read of yet.
func rpcCall(d model.Dialect) *wire.Call {
	c := &wire.Call{Binding: wire.JSONRPC, Dialect: d, MediaType: "application/json"}
	c.Envelope = func(result any) any {
		return jsonvalue.Object{{"jsonrpc", "2.0"}, {"id", c.ID}, {"result", result}}
	}
	return c
}

// isPost reports whether a request uses POST, and refuses it otherwise.
func (a *Agent) isPost(w http.ResponseWriter, r *http.Request, allow, refusal string) bool {
	if r.Method == http.MethodPost {
		return true
	}
	if !a.refuseStranger(w, r) {
		w.Header().Set("Allow", allow)
		http.Error(w, refusal, http.StatusMethodNotAllowed)
	}
	return false
}

// readRPC reads the envelope and the parameters into c.
func (a *Agent) readRPC(w http.ResponseWriter, r *http.Request, c *wire.Call) *model.Failure {
	body, f := readBody(w, r)
	if f != nil {
		return f
	}
	envelope, f := parseEnvelope(body)
	c.ID, c.Batch = envelope.id, envelope.batch
	if refused := a.authenticate(r); refused != nil {
		return refused
	}
	if f != nil {
		return f
	}
	if envelope.invalid != "" {
		return model.Fail(model.CodeInvalidRequest, "Invalid Request: "+envelope.invalid)
	}
	op, known := c.Dialect.Operation(envelope.method)
	if a.profile.atRoot && !a.opts.Push && strings.HasPrefix(envelope.method, "tasks/pushNotification/") {
		known = false // before 0.1 there was no code for missing push notifications
	}
	// Methods of 0.x have a slash; any other word may well be meant for 1.0.
	if f := a.checkVersion(version(r), !strings.Contains(envelope.method, "/")); f != nil {
		return f
	}
	if !known {
		return model.Fail(model.CodeMethodNotFound, "Method not found: "+envelope.method)
	}
	c.Op = op
	return a.decode(c, func() (jsonvalue.Object, *model.Failure) {
		params, ok := envelope.params.(jsonvalue.Object)
		if !ok && envelope.params != nil {
			return nil, model.InvalidParam("params", "must be an object")
		}
		return params, nil
	})
}

// An envelope is a JSON-RPC request object.
type envelope struct {
	id      any // string, json.Number, or nil if unknown
	method  string
	params  any
	batch   []any  // of calls, instead of the other fields
	invalid string // the error in it, if any
}

// parseEnvelope reads a request object (JSON-RPC 2.0 §4). Batches are refused by one error: A2A does not define them.
func parseEnvelope(body []byte) (envelope, *model.Failure) {
	v, err := jsonvalue.Parse(body)
	if err != nil {
		return envelope{}, model.Fail(model.CodeParse, "Invalid JSON payload: "+err.Error())
	}
	if batch, ok := v.([]any); ok {
		return envelope{batch: batch}, model.Fail(model.CodeInvalidRequest, "Invalid Request: batches are not supported")
	}
	o, ok := v.(jsonvalue.Object)
	if !ok {
		return envelope{}, model.Fail(model.CodeInvalidRequest, "Invalid Request: the body is not an object")
	}
	var e envelope
	id, found := o.Get("id")
	switch id.(type) {
	case string, json.Number:
		e.id = id
	case nil:
		if !found { // a notification, which gets no response
			e.invalid = "id is missing"
		}
	default:
		e.invalid = "id must be a string or a number"
	}
	if v, _ := o.Get("jsonrpc"); v != "2.0" {
		e.invalid = `jsonrpc must be "2.0"`
	}
	method, _ := o.Get("method")
	if e.method, ok = method.(string); !ok {
		e.invalid = "method must be a string"
	}
	e.params, _ = o.Get("params")
	return e, nil
}
