package translate

import (
	"a2atap/proxy/a2a"
)

// A Protocol is a dialect over a binding.
type Protocol struct {
	Binding a2a.Binding // JSONRPC, HTTPJSON or GRPC
	Dialect a2a.Dialect // V0_2, V0_3 or V1_0
}

// String returns the names of both, such as "http+json 1.0".
func (p Protocol) String() string { return p.Binding.String() + " " + p.Dialect.String() }

// speaks reports whether the package reads and writes calls in a protocol.
func (p Protocol) speaks() bool {
	return p.Binding == a2a.JSONRPC || p.Binding == a2a.HTTPJSON || p.Binding == a2a.GRPC
}

// A Request is a request in another protocol, without the fields of the connection.
type Request struct {
	Method string
	Path   string // escaped, below the URL of the interface: empty, or it begins with a slash
	Query  string // without the question mark; may be empty
	Body   []byte // nil without a body; over gRPC the JSON of the message
	Fields []Field
}

// A Field is a header field.
type Field struct{ Name, Value string }

// Options has what a request needs in addition to the call. The zero value adds nothing.
type Options struct {
	Fields []Field // of the recorded head, in their order
	// Tenant is the tenant of the destination interface, used if the call names none.
	Tenant string
	// ID is the JSON-RPC id of a call that has none; "1" if it is empty.
	ID string
	// Carry reports which query parameters are the client's own, such as an API key, and are passed on unchanged; nil
	// means none. All query parameters of a JSON-RPC call are passed on, since A2A defines none there.
	Carry func(name, value string) bool
}
