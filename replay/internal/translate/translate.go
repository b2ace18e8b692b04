package translate

import (
	"a2atap/proxy/a2a"
)

// A Protocol is a dialect as it is spoken over a binding.
type Protocol struct {
	Binding a2a.Binding // JSONRPC, HTTPJSON or GRPC
	Dialect a2a.Dialect // V0_2, V0_3 or V1_0
}

// String returns the names of both, such as "http+json 1.0".
func (p Protocol) String() string { return p.Binding.String() + " " + p.Dialect.String() }

// A Request is a request in another protocol. What depends on the connection is not in it.
type Request struct {
	Method string
	Path   string // escaped, below the URL of the interface: empty, or it begins with a slash
	Query  string // without the question mark; empty if there is none
	Body   []byte // nil if there is none; over gRPC the JSON of the message
	Fields []Field
}

// A Field is a field of a head.
type Field struct{ Name, Value string }

// Options are what a request needs beside the call. The zero value is for a call that needs nothing.
type Options struct {
	Fields []Field // of the recorded head, in their order
	// Tenant is that of the interface to which the request goes: it is named if the call names none.
	Tenant string
	// ID is the JSON-RPC id of a call that has none; "1" if it is empty.
	ID string
	// Carry says which parameters of a query are the client's own, such as an API key, and go along as they are; nil is
	// none. Those of a call over JSON-RPC always do, since A2A has none there.
	Carry func(name, value string) bool
}
