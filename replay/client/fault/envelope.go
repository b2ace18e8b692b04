package fault

import "a2atap/replay/client"

// Faults of media types, JSON text and the envelopes of both bindings.
var envelopeFaults = []Fault{
	of(anyProtocol, "json-wellformed", "", "Bodies lack their last brace.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = out.Body[:len(out.Body)-1]
		}
	})),
	of(overRPC, "json-duplicate-keys", "", "Bodies hold the member jsonrpc twice.", onEach(func(out *client.Outgoing) {
		if len(out.Body) > 0 {
			out.Body = append([]byte(`{"jsonrpc":"2.0",`), out.Body[1:]...)
		}
	})),
	of(overRPC, "rpc-request-jsonrpc", "", `JSON-RPC requests say "jsonrpc":"1.0".`,
		onBody(func(body map[string]any) { body["jsonrpc"] = "1.0" })),
}
