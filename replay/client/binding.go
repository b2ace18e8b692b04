package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/a2a"
	"a2atap/replay/internal/translate"
)

// outgoing puts a call on the client's protocol.
func (c *Client) outgoing(in call) (*Outgoing, error) {
	p := c.endpoint.Protocol
	if !p.has(in.op) {
		return nil, fmt.Errorf("%s has no %s", p, in.op)
	}
	if p == GRPC03 && c.endpoint.Tenant != "" {
		return nil, fmt.Errorf("%s has no tenants", p)
	}
	out, err := c.write(in)
	if err != nil {
		return nil, fmt.Errorf("write the request: %w", err)
	}
	return out, nil
}

// has reports whether the protocol has an operation.
func (p Protocol) has(op a2a.Operation) bool {
	switch {
	case p == Early && op == a2a.SubscribeToTask:
		return false
	case p.OverGRPC():
		m := op.RPC(p.dialect())
		return m.Known()
	}
	return p.Binding != "JSONRPC" || op.MethodName(p.dialect()) != ""
}

// write writes a request, except the fields that all requests have.
func (c *Client) write(in call) (*Outgoing, error) {
	p := c.endpoint.Protocol
	params, err := marshal(in.params)
	if err != nil {
		return nil, err
	}
	o := translate.WriteOptions{Tenant: c.endpoint.Tenant, ProtoJSON: c.http.opts.ProtoJSON}
	if p.Binding == "JSONRPC" {
		o.ID = c.http.opts.NewID()
	}
	if len(in.patch) > 0 {
		o.Edit = func(params []byte) ([]byte, error) { return mergePatch(params, in.patch) }
	}
	binding, _ := a2a.ParseBinding(p.Binding)
	r, err := translate.Write(in.op, a2a.Parse(params).Root, translate.Protocol{Binding: binding, Dialect: p.dialect()}, o)
	if err != nil {
		return nil, err
	}
	out := &Outgoing{
		Operation: in.op, Method: r.Method, URL: c.endpoint.URL + p.streamPath(in.op) + r.Path, Header: http.Header{},
		Body: r.Body,
	}
	if r.Query != "" {
		out.URL += "?" + r.Query
	}
	for _, f := range r.Fields {
		out.Header.Set(f.Name, f.Value)
	}
	if in.gets {
		out.Method, out.Body = http.MethodGet, nil
		out.Header.Del("Content-Type")
	}
	if p.OverGRPC() {
		err = c.frame(out)
	}
	return out, err
}

// wireError holds the errors of both bindings.
type wireError struct {
	Code    jsontext.Value   `json:"code"`
	Message jsontext.Value   `json:"message"`
	Data    jsontext.Value   `json:"data"`    // JSON-RPC
	Details []jsontext.Value `json:"details"` // HTTP+JSON
}

// result extracts the result from a response, or from the data of an event. An agent's error is an *Error.
func (c *Client) result(in call, status int, body []byte) ([]byte, error) {
	if c.endpoint.Protocol.Binding != "JSONRPC" {
		return restResult(status, body)
	}
	result, err := rpcResult(status, body)
	var refused *Error
	if c.endpoint.Protocol == Early && errors.As(err, &refused) {
		refused.Reason = in.earlyReason(refused.Code)
	}
	return result, err
}

func rpcResult(status int, body []byte) ([]byte, error) {
	var w struct {
		Result jsontext.Value `json:"result"`
		Error  jsontext.Value `json:"error"`
	}
	err := unmarshal(body, &w)
	switch {
	case err == nil && present(w.Error):
		return nil, decodeError(status, w.Error, body)
	case err == nil && len(w.Result) > 0:
		return w.Result, nil
	case status/100 != 2:
		return nil, &Error{HTTPStatus: status, Message: http.StatusText(status), Raw: body}
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return nil, errors.New("read the answer: it holds neither result nor error")
}

func restResult(status int, body []byte) ([]byte, error) {
	var w struct {
		Error jsontext.Value `json:"error"`
	}
	err := unmarshal(body, &w)
	switch {
	case err == nil && present(w.Error):
		return nil, decodeError(status, w.Error, body)
	case status/100 != 2:
		return nil, decodeError(status, body, body)
	case jsontext.Value(body).Kind() == '[': // lists of 0.3
		return body, nil
	case len(body) == 0:
		return []byte("{}"), nil // A2A 1.0 §11.4 allows an empty response to a delete
	case err != nil:
		return nil, fmt.Errorf("read the answer: %w", err)
	}
	return body, nil
}

// decodeError reads an error object of either binding, however broken: a refusal remains one.
func decodeError(status int, object, body []byte) *Error {
	e := &Error{HTTPStatus: status, Raw: body}
	var w wireError
	if unmarshal(object, &w) != nil {
		e.Message = http.StatusText(status)
		return e
	}
	unmarshal(w.Message, &e.Message) // a message that is not a string is ignored
	unmarshal(w.Code, &e.Code)       // a code that is not a number is ignored
	var data []jsontext.Value
	if unmarshal(w.Data, &data) == nil { // only 1.0 has a list there
		w.Details = append(w.Details, data...)
	}
	for _, d := range w.Details {
		var info struct {
			Reason string `json:"reason"`
			Domain string `json:"domain"`
		}
		if unmarshal(d, &info) == nil && info.Domain == "a2a-protocol.org" {
			e.Reason = info.Reason
		}
	}
	if e.Code > 0 { // HTTP+JSON puts the HTTP status there
		e.Code = 0
	}
	e.Reason = cmp.Or(e.Reason, reasonOf(e.Code))
	e.Code = cmp.Or(e.Code, codeOf(e.Reason))
	e.Message = cmp.Or(e.Message, http.StatusText(status))
	return e
}
