package fault

import "a2atap/replay/client"

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []Fault{
	{
		Slug: "json-wellformed", protocols: anyProtocol,
		Doc: "Bodies lack their last brace.",
		edit: onEach(func(out *client.Outgoing) {
			if len(out.Body) > 0 {
				out.Body = out.Body[:len(out.Body)-1]
			}
		}),
	},
	{
		Slug: "json-duplicate-keys", protocols: overRPC,
		Doc: "Bodies hold the member jsonrpc twice.",
		edit: onEach(func(out *client.Outgoing) {
			if len(out.Body) > 0 {
				out.Body = append([]byte(`{"jsonrpc":"2.0",`), out.Body[1:]...)
			}
		}),
	},
	{
		Slug: "rpc-request-jsonrpc", protocols: overRPC,
		Doc:  `JSON-RPC requests say "jsonrpc":"1.0".`,
		edit: onBody(func(body map[string]any) { body["jsonrpc"] = "1.0" }),
	},
}
