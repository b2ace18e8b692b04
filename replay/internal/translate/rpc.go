package translate

import (
	"errors"
	"fmt"

	"a2atap/proxy/a2a"
)

// readRPC returns the parameters of a call over JSON-RPC. A faulty envelope has no translation.
func readRPC(call *a2a.Call) (a2a.Value, error) {
	envelope := call.Doc.Root
	if !envelope.Get("jsonrpc").Is("2.0") {
		return a2a.Value{}, errors.New("its envelope is not JSON-RPC 2.0")
	}
	switch call.ID.Kind() {
	case a2a.String, a2a.Number:
	case a2a.Absent:
		return a2a.Value{}, errors.New("it is a JSON-RPC notification")
	default:
		return a2a.Value{}, fmt.Errorf("its JSON-RPC id is %s", call.ID.Kind())
	}
	for name, v := range envelope.Members() {
		switch name {
		case "jsonrpc", "id", "method", "params":
		default:
			return a2a.Value{}, fmt.Errorf("it has no equivalent of the member %s", at(v))
		}
	}
	return parameters(call.Params)
}

// parameters returns the parameters as an object; missing ones are an empty object.
func parameters(params a2a.Value) (a2a.Value, error) {
	switch params.Kind() {
	case a2a.Object:
		return params, nil
	case a2a.Absent, a2a.Null:
		return a2a.Parse([]byte("{}")).Root, nil
	}
	return params, fmt.Errorf("its parameters are %s", params.Kind())
}

// writeRPC writes a call over JSON-RPC (A2A 1.0 §9.3). The id is JSON.
func writeRPC(op a2a.Operation, d a2a.Dialect, id []byte, params a2a.Value, tenant string) (Request, error) {
	method := op.MethodName(d)
	if method == "" {
		return Request{}, fmt.Errorf("it has no %s", op)
	}
	inner, envelope := tenanted(params, tenant), object{}
	envelope.addText("jsonrpc", "2.0")
	envelope.add("id", id)
	envelope.addText("method", method)
	if !inner.empty() || op != a2a.GetExtendedCard {
		envelope.add("params", inner.json())
	}
	return Request{Method: "POST", Body: envelope.json()}, nil
}

// tenanted returns parameters with a tenant in them, if it is not empty.
func tenanted(params a2a.Value, tenant string) (out object) {
	if tenant != "" {
		out.addText("tenant", tenant)
	}
	for name, v := range params.Members() {
		out.add(name, v.Raw())
	}
	return out
}
