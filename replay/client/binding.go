package client

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-json-experiment/json/jsontext"
)

// methods03 are the JSON-RPC methods of 0.3. In 1.0 a method is called like its operation.
var methods03 = map[Operation]string{
	SendMessage:      "message/send",
	StreamMessage:    "message/stream",
	GetTask:          "tasks/get",
	CancelTask:       "tasks/cancel",
	SubscribeToTask:  "tasks/resubscribe",
	CreatePushConfig: "tasks/pushNotificationConfig/set",
	GetPushConfig:    "tasks/pushNotificationConfig/get",
	ListPushConfigs:  "tasks/pushNotificationConfig/list",
	DeletePushConfig: "tasks/pushNotificationConfig/delete",
	GetExtendedCard:  "agent/getAuthenticatedExtendedCard",
}

type outRPC struct {
	JSONRPC string `json:"jsonrpc"`
	ID      string `json:"id"`
	Method  string `json:"method"`
	Params  any    `json:"params,omitzero"`
}

// outgoing puts a call on the client's binding.
func (c *Client) outgoing(in call, streams bool) (*Outgoing, error) {
	if c.endpoint.Protocol.OverGRPC() {
		return c.outgoingGRPC(in)
	}
	out := &Outgoing{Operation: in.op, Header: http.Header{}}
	payload := in.body
	if c.endpoint.Protocol.Binding == "JSONRPC" {
		method, err := c.method(in.op)
		if err != nil {
			return nil, err
		}
		params, err := c.tenanted(in.params)
		if err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		out.Method, out.URL = http.MethodPost, c.endpoint.URL+c.endpoint.Protocol.streamPath(in.op)
		payload = outRPC{JSONRPC: "2.0", ID: c.http.opts.NewID(), Method: method, Params: params}
	} else {
		if c.endpoint.Protocol == REST03 {
			in = c.older(in)
			payload = in.body
		}
		out.Method, out.URL = in.verb, c.endpoint.URL+c.tenantPath()+in.path
		if len(in.query) > 0 {
			out.URL += "?" + in.query.Encode()
		}
	}
	if payload != nil {
		var err error
		if out.Body, err = marshal(payload); err != nil {
			return nil, fmt.Errorf("write the request: %w", err)
		}
		out.Header.Set("Content-Type", "application/json")
	}
	if c.endpoint.Protocol.Version == "1.0" {
		out.Header.Set("A2A-Version", c.endpoint.Protocol.Version) // A2A 1.0 §3.6.1
	}
	out.Header.Set("Accept", accept(c.endpoint.Protocol, streams))
	return out, nil
}

func accept(p Protocol, streams bool) string {
	switch {
	case streams:
		return "text/event-stream, application/json"
	case p == REST10:
		return "application/a2a+json, application/json"
	}
	return "application/json"
}

// outTenanted is parameters with the tenant beside them.
type outTenanted struct {
	Tenant string         `json:"tenant"`
	Params jsontext.Value `json:",embed"`
}

// tenanted adds the interface's tenant to the parameters of JSON-RPC.
func (c *Client) tenanted(params any) (any, error) {
	if c.endpoint.Tenant == "" {
		return params, nil
	}
	out := outTenanted{Tenant: c.endpoint.Tenant}
	if params == nil {
		return out, nil
	}
	var err error
	out.Params, err = marshal(params)
	return out, err
}

// tenantPath is the interface's tenant in a path of HTTP+JSON.
func (c *Client) tenantPath() string {
	if c.endpoint.Tenant == "" {
		return ""
	}
	return "/" + segment(c.endpoint.Tenant)
}

func (c *Client) method(op Operation) (string, error) {
	methods := methods03
	switch c.endpoint.Protocol.Version {
	case "1.0":
		return string(op), nil
	case JSONRPC01.Version:
		methods = methods01
	case Early.Version:
		methods = methodsEarly
	}
	method, ok := methods[op]
	if !ok {
		return "", fmt.Errorf("%s has no %s", c.endpoint.Protocol, op)
	}
	return method, nil
}

// wireError holds the errors of both bindings.
type wireError struct {
	Code    jsontext.Value   `json:"code"`
	Message jsontext.Value   `json:"message"`
	Data    jsontext.Value   `json:"data"`    // JSON-RPC
	Details []jsontext.Value `json:"details"` // HTTP+JSON
}

// result takes an answer, or the data of an event, out of its binding. An error of the agent is an *Error.
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
		return []byte("{}"), nil // A2A 1.0 §11.4 lets a delete say nothing
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
	unmarshal(w.Message, &e.Message) // a message that is not a string is none
	unmarshal(w.Code, &e.Code)       // a code that is not a number is none
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
	e.Reason = cmp.Or(e.Reason, reasons[e.Code])
	e.Code = cmp.Or(e.Code, codeOf(e.Reason))
	e.Message = cmp.Or(e.Message, http.StatusText(status))
	return e
}
