package translate

import (
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

// speaks reports whether calls can be said and read in a protocol.
func (p Protocol) speaks() bool {
	return p.Binding == a2a.JSONRPC || p.Binding == a2a.HTTPJSON || p.Binding == a2a.GRPC
}

// writeGRPC writes a call over gRPC (A2A 1.0 §10): the body is the JSON of its message.
func writeGRPC(op a2a.Operation, params a2a.Value, tenant string) Request {
	var message object
	if tenant != "" {
		message.addText("tenant", tenant)
	}
	for name, v := range params.Members() {
		message.add(name, v.Raw())
	}
	return Request{Method: "POST", Path: "/" + grpc.Service1_0 + "/" + op.MethodName(a2a.V1_0), Body: message.json()}
}

// overGRPC reports whether a field of a head has a meaning over gRPC alone.
func overGRPC(name string) bool { return strings.HasPrefix(name, "grpc-") || name == "te" }
