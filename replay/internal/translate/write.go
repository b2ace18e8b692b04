package translate

import (
	"a2atap/proxy/a2a"
)

// WriteOptions are the choices of a client that writes a call. The zero value is a call without a tenant.
type WriteOptions struct {
	Tenant    string
	ID        string // of JSON-RPC
	ProtoJSON bool   // write 0.3 over HTTP+JSON as its proto file, not as its text
	// Edit changes the parameters in the form of the protocol before they are written; nil for none.
	Edit func(params []byte) ([]byte, error)
}

// Write writes a client's call in a protocol. The parameters are those of JSON-RPC in 1.0, without a tenant. Unlike
// Call, Write leaves out what the protocol cannot express, writes whatever ids the client has, and also writes 0.1.
func Write(op a2a.Operation, params a2a.Value, to Protocol, o WriteOptions) (*Request, error) {
	var err error
	if op != a2a.ListTasks || to.Binding != a2a.GRPC { // 0.3 has parameters of lists only over gRPC
		if params, err = inDialect(op, params, a2a.V1_0, to.Dialect, true); err != nil {
			return nil, err
		}
	}
	r, err := write(op, params, to, manner{
		tenant: o.Tenant, id: quote(o.ID), lenient: true, protoJSON: o.ProtoJSON, edit: o.Edit,
	})
	if err != nil {
		return nil, err
	}
	call := a2a.Call{Operation: op, Version: to.Dialect.String()}
	r.Fields, err = fields(&call, to, to, r.Body != nil, []Field{{Name: "Accept"}})
	return &r, err
}

// A manner is how a call is written where its protocol leaves a choice.
type manner struct {
	tenant    string
	id        []byte // of JSON-RPC, as JSON
	lenient   bool
	protoJSON bool
	edit      func(params []byte) ([]byte, error) // may be nil
}

// write writes a call from parameters in the JSON-RPC form of its dialect.
func write(op a2a.Operation, params a2a.Value, to Protocol, m manner) (r Request, err error) {
	if !modern(to.Dialect) && (to.Binding == a2a.GRPC || to.Binding == a2a.HTTPJSON && m.protoJSON && op.Sends()) {
		if params, err = convert(op, params, forms[op].message, m.lenient); err != nil {
			return r, err
		}
	}
	if m.edit != nil {
		text, err := m.edit(params.Raw())
		if err != nil {
			return r, err
		}
		params = a2a.Parse(text).Root
	}
	switch to.Binding {
	case a2a.GRPC: // A2A 0.3 §3.2.2, 1.0 §10: the body is the JSON of the message
		body := tenanted(params, m.tenant)
		return Request{Method: "POST", Path: op.RPC(to.Dialect).Path(), Body: body.json()}, nil
	case a2a.JSONRPC:
		return writeRPC(op, to.Dialect, m.id, params, m.tenant)
	}
	return writeREST(op, to.Dialect, params, m)
}
