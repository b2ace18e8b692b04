package refagent

import (
	"encoding/json"
	"net/http"
	"strings"
)

// serveRPC answers JSON-RPC 2.0 over HTTP POST (A2A 1.0 §9, 0.3 §3.2.1). Errors travel under HTTP 200.
func (a *Agent) serveRPC(w http.ResponseWriter, r *http.Request) {
	c := &call{binding: jsonRPC, dialect: a.profile.dialect, mediaType: "application/json"}
	c.envelope = func(result any) any {
		return object{{"jsonrpc", "2.0"}, {"id", c.id}, {"result", result}}
	}
	if r.Method != http.MethodPost {
		if a.refuseStranger(w, r) {
			return
		}
		w.Header().Set("Allow", "GET, HEAD, POST")
		http.Error(w, "JSON-RPC is spoken with POST", http.StatusMethodNotAllowed)
		return
	}
	if f := a.readRPC(w, r, c); f != nil {
		a.failRPC(w, c, f)
		return
	}
	a.readHeader(c.request, r)
	result, f := a.perform(r.Context(), c)
	switch {
	case f != nil:
		a.failRPC(w, c, f)
	case result.stream != nil:
		a.streamEvents(r.Context(), w, c, result.stream)
	default:
		body := c.envelope(c.dialect.result(c.op, result))
		a.answer(w, c, newAnswer(http.StatusOK, c.mediaType, body))
	}
}

// readRPC reads the envelope and the parameters into c.
func (a *Agent) readRPC(w http.ResponseWriter, r *http.Request, c *call) *failure {
	body, f := readBody(w, r)
	if f != nil {
		return f
	}
	envelope, f := parseEnvelope(body)
	c.id, c.batch = envelope.id, envelope.batch
	if refused := a.authenticate(r); refused != nil {
		return refused
	}
	if f != nil {
		return f
	}
	if envelope.invalid != "" {
		return fail(codeInvalidRequest, "Invalid Request: "+envelope.invalid)
	}
	op, known := c.dialect.operation(envelope.method)
	// Methods of 0.x have a slash; any other word may well be meant for 1.0.
	if f := a.checkVersion(version(r), !strings.Contains(envelope.method, "/")); f != nil {
		return f
	}
	if !known {
		return fail(codeMethodNotFound, "Method not found: "+envelope.method)
	}
	c.op = op
	if envelope.params != nil {
		params, ok := envelope.params.(object)
		if !ok {
			return invalidParams(violation{"params", "must be an object"})
		}
		c.request, f = c.dialect.decode(op, params)
		return f
	}
	c.request, f = c.dialect.decode(op, object{})
	return f
}

// An envelope is a JSON-RPC request object.
type envelope struct {
	id      any // string, json.Number, or nil if it cannot be told
	method  string
	params  any
	batch   []any  // of calls, in place of the rest
	invalid string // what is wrong with it, if anything
}

// parseEnvelope reads a request object (JSON-RPC 2.0 §4). Batches are refused by one error: A2A does not define them.
func parseEnvelope(body []byte) (envelope, *failure) {
	v, err := parseJSON(body)
	if err != nil {
		return envelope{}, fail(codeParse, "Invalid JSON payload: "+err.Error())
	}
	if batch, ok := v.([]any); ok {
		return envelope{batch: batch}, fail(codeInvalidRequest, "Invalid Request: batches are not supported")
	}
	o, ok := v.(object)
	if !ok {
		return envelope{}, fail(codeInvalidRequest, "Invalid Request: the body is not an object")
	}
	var e envelope
	id, found := o.get("id")
	switch id.(type) {
	case string, json.Number:
		e.id = id
	case nil:
		if !found { // a notification: the answer would reach nobody
			e.invalid = "id is missing"
		}
	default:
		e.invalid = "id must be a string or a number"
	}
	if v, _ := o.get("jsonrpc"); v != "2.0" {
		e.invalid = `jsonrpc must be "2.0"`
	}
	method, _ := o.get("method")
	if e.method, ok = method.(string); !ok {
		e.invalid = "method must be a string"
	}
	e.params, _ = o.get("params")
	return e, nil
}

// failRPC answers with an error object (JSON-RPC 2.0 §5.1, A2A 1.0 §9.5).
func (a *Agent) failRPC(w http.ResponseWriter, c *call, f *failure) {
	c.failure = f
	status := http.StatusOK
	if f.http != 0 {
		status = f.http
	}
	out := newAnswer(status, c.mediaType, object{{"jsonrpc", "2.0"}, {"id", c.id}, {"error", c.rpcError(f)}})
	if f.challenge != "" {
		out.header.Set("WWW-Authenticate", f.challenge)
	}
	a.answer(w, c, out)
}

// rpcError returns the error object of a failure.
func (c *call) rpcError(f *failure) object {
	e := object{{"code", c.dialect.code(f)}, {"message", f.message}}
	if details := c.dialect.details(f); len(details) > 0 {
		e = append(e, member{"data", details})
	}
	return e
}
