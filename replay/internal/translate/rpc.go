package translate

import (
	"errors"
	"fmt"

	"a2atap/proxy/a2a"
)

// readRPC returns the parameters of a call over JSON-RPC. What is wrong with its envelope cannot be said otherwise.
func readRPC(call *a2a.Call) (a2a.Value, error) {
	envelope := call.Doc.Root
	if !envelope.Get("jsonrpc").Is("2.0") {
		return a2a.Value{}, errors.New("its envelope does not say JSON-RPC 2.0")
	}
	switch call.ID.Kind() {
	case a2a.String, a2a.Number:
	case a2a.Absent:
		return a2a.Value{}, errors.New("it is a notification of JSON-RPC")
	default:
		return a2a.Value{}, fmt.Errorf("its JSON-RPC id is %s", call.ID.Kind())
	}
	for name, v := range envelope.Members() {
		switch name {
		case "jsonrpc", "id", "method", "params":
		default:
			return a2a.Value{}, fmt.Errorf("nothing there stands for the member %s", at(v))
		}
	}
	return parameters(call.Params)
}

// parameters returns parameters, which are an object: one without members if there are none.
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
		return Request{}, fmt.Errorf("there is no %s", op)
	}
	var inner, envelope object
	if tenant != "" {
		inner.addText("tenant", tenant)
	}
	for name, v := range params.Members() {
		inner.add(name, v.Raw())
	}
	envelope.addText("jsonrpc", "2.0")
	envelope.add("id", id)
	envelope.addText("method", method)
	if !inner.empty() || op != a2a.GetExtendedCard {
		envelope.add("params", inner.json())
	}
	return Request{Method: "POST", Body: envelope.json()}, nil
}
