package neighbor

import "a2atap/proxy/jsondoc"

// jsonRPC is any other service over JSON-RPC, named by its methods.
var jsonRPC = protocol{
	name: "json-rpc", kind: Other,
	recognize: func(c *Call, r *Request, _ string) bool {
		body := r.Body
		if body.Kind() == jsondoc.Array {
			body = body.Elem(0)
		}
		c.Operation = clipped(body.Get("method"))
		return c.Operation != "" && body.Get("jsonrpc").Is("2.0")
	},
	answer: readRPC,
	event:  func(r *Reader, _ string, v jsondoc.Value) { readRPC(r, v) },
}
