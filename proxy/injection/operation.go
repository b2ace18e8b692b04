package injection

import (
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// operation returns what a complete request asks; NoOperation if that is not a call of A2A, or several.
func (e *exchange) operation() a2a.Operation {
	body, err := capture.Decode(e.body, e.head.Fields.Codings(), maxDecoded)
	if err != nil {
		return a2a.NoOperation
	}
	doc := a2a.Parse(body)
	binding := a2a.HTTPJSON
	if doc.Err == nil && (doc.Root.Kind() == a2a.Array || doc.Root.Get("method").Exists()) {
		binding = a2a.JSONRPC
	}
	request := a2a.Request{
		Method: e.head.Method, Target: e.head.Target, Header: e.head.Fields.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: true,
	}
	if len(body) > 0 {
		request.Doc = &doc
	}
	call := a2a.DecodeRequest(request, a2a.Known{Bindings: a2a.BindingsOf(binding)})
	if call.Batch != nil {
		return a2a.NoOperation
	}
	return call.Operation
}
