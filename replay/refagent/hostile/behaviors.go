package hostile

import (
	"net/http"
	"strings"

	"a2atap/proxy/grpc"
)

// Behaviors are the known behaviors, in the order in which they are listed.
var Behaviors = []Behavior{
	{Name: "silent", Description: "Accepts each call and never answers.", answer: silent},
	{Name: "head-only", Description: "Announces the length of its answer, and sends nothing of it.", answer: headOnly},
	{Name: "drip", Description: "Sends its answer a byte a second.", answer: drip},
	{Name: "head-cut", Description: "Closes the connection in the middle of the head.", Ends: true, answer: headCut},
	{Name: "head-endless", Description: "Sends endless header fields.", answer: raw("HTTP/1.1 200 OK\r\n", "X-Field: value\r\n")},
	{Name: "interim-endless", Description: "Sends endless answers with status 103.", answer: raw("", "HTTP/1.1 103 Early Hints\r\n\r\n")},
	{Name: "redirects", Description: "Redirects each call to another path, endlessly.", Ends: true, answer: redirects},
	{Name: "json-endless", Description: "Sends an endless JSON text.", answer: endless("application/json", `{"jsonrpc":"2.0","id":1,"result":{"text":"`, "x")},
	{
		Name: "json-deep", Description: "Sends JSON that is a million levels deep.", Ends: true,
		answer: whole("application/json", func() string { return strings.Repeat(`{"result":`, 1_000_000) }),
	},
	{
		Name: "json-packed", Description: "Sends 100 KiB that decompress to 100 MB of parts.", Ends: true,
		answer: packed("application/json", `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[`, `{"kind":"text","text":"a"},`, 100<<20),
	},
	{Name: "pages", Description: "Lists no tasks, and always names another page.", Ends: true, answer: pages},
	{Name: "sse-silent", Description: "Begins a stream and sends no event.", answer: endless("text/event-stream", "", "")},
	{Name: "sse-pings", Description: "Sends an endless stream of comments.", answer: endless("text/event-stream", "", ": ping\n\n")},
	{Name: "sse-endless", Description: "Sends an endless stream of events.", answer: endless("text/event-stream", "", event)},
	{Name: "sse-event", Description: "Sends one endless event without a newline.", answer: endless("text/event-stream", "data: ", "x")},
	{Name: "sse-lines", Description: "Sends one event with endless lines.", answer: endless("text/event-stream", "", "data: 1\n")},
	{
		Name: "sse-packed", Description: "Sends 200 KiB that decompress to a stream of 10 million events.", Ends: true,
		answer: packed("text/event-stream", "", "data: {}\n\n", 100<<20),
	},
	{Name: "sse-packed-endless", Description: "Sends an endless stream of events, compressed with gzip.", answer: packedEndless("text/event-stream", event)},
	{Name: "push-flood", Description: "Works on a task endlessly, and sends endless notifications to each webhook.", answer: flood},
	{Name: "card-silent", Description: "Accepts requests for its card and never answers.", Card: true, answer: silent},
	{Name: "card-drip", Description: "Sends its card a byte a second.", Card: true, answer: drip},
	{Name: "card-redirects", Description: "Redirects requests for its card to another path, endlessly.", Card: true, Ends: true, answer: redirects},
	{
		Name: "card-skills", Description: "Serves a card with 100,000 skills.", Card: true, Ends: true,
		answer: func(a *Agent, w http.ResponseWriter, r *http.Request) { a.serveCard(w, r, 100_000) },
	},
	{Name: "card-huge", Description: "Serves a card of 1 GB.", Card: true, answer: cardHuge},
	{Name: "grpc-silent", Description: "Accepts each call over gRPC and never answers.", GRPC: true, answer: silent},
	{Name: "grpc-endless", Description: "Sends endless messages over gRPC.", GRPC: true, answer: messages(-1)},
	{Name: "grpc-open", Description: "Sends one message over gRPC, and never a trailer.", GRPC: true, answer: messages(1)},
	{Name: "grpc-huge", Description: "Announces a message of 4 GiB over gRPC, and sends it.", GRPC: true, answer: endless("application/grpc", "\x00\xff\xff\xff\xff", "x")},
	{Name: "grpc-window", Description: "Grants no flow-control window for a request over HTTP/2.", GRPC: true, frames: noWindow},
	{Name: "grpc-head", Description: "Sends an endless header block over HTTP/2.", GRPC: true, frames: headerBlock},
	{
		Name: "grpc-parts-packed", Description: "Sends a message of 60 KiB that decompresses to 31 million empty parts.", GRPC: true, Ends: true,
		answer: message("gzip", func() []byte { return Packed(Parts(answer(), 31_000_000)) }),
	},
	{
		Name: "grpc-parts", Description: "Sends a message of 14 MB with 7 million empty parts.", GRPC: true, Ends: true,
		answer: message("", func() []byte { return grpc.AppendFrame(nil, Parts(answer(), 7_000_000)) }),
	},
	{
		Name: "grpc-parts-within", Description: "Sends a message of 2 KiB that decompresses to a million empty parts, the most that a2atap reads.",
		GRPC: true, Ends: true, answer: message("gzip", func() []byte { return Packed(Parts(answer(), 1_000_000)) }),
	},
	{
		Name: "grpc-text-packed", Description: "Sends a message of 59 KiB that decompresses to a text of 60 MB.", GRPC: true, Ends: true,
		answer: message("gzip", func() []byte { return Packed(Text(answer(), 60_000_000)) }),
	},
}

// Named returns the behavior of a name, and whether it exists.
func Named(name string) (Behavior, bool) {
	for _, b := range Behaviors {
		if b.Name == name {
			return b, true
		}
	}
	return Behavior{}, false
}
