package neighbor

import (
	"strings"

	"a2atap/proxy/jsondoc"
)

// mcp is MCP over Streamable HTTP, and over the older HTTP with SSE.
var mcp = protocol{name: "mcp", kind: MCP, recognize: recognizeMCP, answer: readRPC, event: readMCPEvent}

// Pseudo operations of requests that name no method.
const (
	listen     = "listen" // opens a stream for messages of the server
	endSession = "end session"
	respond    = "response" // answers a request of the server
)

// discover is the method with which clients ask whether a server knows it. A server of an older version refuses it.
const discover = "server/discover"

// Declined reports whether a status declines what an MCP server need not offer: a version, a stream for its messages, or
// an end of sessions. Such a call has not failed.
func (c *Call) Declined(status int) bool {
	switch {
	case c.Kind != MCP:
		return false
	case c.Operation == discover:
		return status == 400
	}
	return status == 405 && (c.Operation == listen || c.Operation == endSession)
}

// Listens reports whether the call only opens a stream for messages of a server, for as long as the client likes.
func (c *Call) Listens() bool { return c.Operation == listen }

// Served reports whether the client has missed nothing if it has left: it was answered, or only listened.
func (c *Call) Served() bool { return c.Answered || c.Listens() }

// mcpMethods are the methods of MCP that no other protocol has. Those that A2A has too, such as tasks/get, do not
// count.
var mcpMethods = map[string]bool{
	"tools/list": true, "tools/call": true, "resources/list": true, "resources/templates/list": true,
	"resources/read": true, "resources/subscribe": true, "resources/unsubscribe": true, "prompts/list": true,
	"prompts/get": true, "completion/complete": true, "logging/setLevel": true, "sampling/createMessage": true,
	"elicitation/create": true, "roots/list": true, "server/discover": true, "notifications/initialized": true,
	"notifications/cancelled": true, "notifications/progress": true, "notifications/message": true,
	"notifications/roots/list_changed": true, "notifications/tools/list_changed": true,
	"notifications/resources/list_changed": true, "notifications/resources/updated": true,
	"notifications/prompts/list_changed": true,
}

func recognizeMCP(c *Call, r *Request, path string) bool {
	body := r.Body
	if body.Kind() == jsondoc.Array { // a batch is named by its first call
		body = body.Elem(0)
	}
	method := clipped(body.Get("method"))
	rpc := body.Has("jsonrpc")
	session := r.Fields.Get("Mcp-Session-Id")
	marked := session != "" || r.Fields.Has("MCP-Protocol-Version") || r.Fields.Has("Mcp-Method")
	switch {
	case rpc && (mcpMethods[method] || method == "initialize" && body.Get("params").Has("protocolVersion")):
	case rpc && method != "" && marked:
	case rpc && (body.Has("result") || body.Has("error")) && (marked || strings.Contains(r.Target, "session")):
		method = respond
	case r.Method == "GET" && marked:
		method = listen
	case r.Method == "GET" && hasSuffix(path, "/sse", "/mcp") && strings.Contains(r.Fields.Get("Accept"), "text/event-stream"):
		method = listen
	case r.Method == "DELETE" && session != "":
		method = endSession
	case r.Method == "POST" && marked && !body.Exists(): // the body was not kept
		method = clip(r.Fields.Get("Mcp-Method"))
	default:
		return false
	}
	c.Operation, c.Session, c.Version = method, clip(session), clip(r.Fields.Get("MCP-Protocol-Version"))
	switch params := body.Get("params"); method {
	case "tools/call", "prompts/get":
		c.Subject = clipped(params.Get("name"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		c.Subject = clipped(params.Get("uri"))
	}
	return true
}

// MayBeMCP reports whether a request, by its head, may be one to an MCP server.
func MayBeMCP(r *Request) bool {
	switch r.Method {
	case "POST", "DELETE":
		return true
	}
	return r.Method == "GET" && strings.Contains(r.Fields.Get("Accept"), "text/event-stream")
}

// ServerName returns what an MCP server calls itself in a response; empty if the response has no name.
func ServerName(v jsondoc.Value) string {
	result := v.Get("result")
	info := result.Get("serverInfo")
	if !info.Exists() {
		info = result.Get("_meta").Get("io.modelcontextprotocol/serverInfo")
	}
	return clipped(info.Get("name"))
}

// readRPC reads a JSON-RPC response.
func readRPC(r *Reader, v jsondoc.Value) {
	r.Answered = r.Answered || v.Has("result") || v.Has("error")
	if e := v.Get("error"); e.Kind() == jsondoc.Object && r.Operation != discover {
		text := e.Get("message").Text()
		if e.Has("code") {
			text = strings.TrimSpace(place(e.Get("code")) + " " + text)
		}
		r.fail(text)
		return
	}
	result := v.Get("result")
	for i, part := range result.Get("content").Elems() {
		if i == maxLook {
			break
		}
		r.say(part.Get("text"))
	}
	if failed, _ := result.Get("isError").Bool(); failed {
		r.fail(string(r.text))
	}
	if server := ServerName(v); server != "" {
		r.Server = server
	}
	if version := clipped(result.Get("protocolVersion")); version != "" {
		r.Version = version
	}
	if tools := result.Get("tools"); tools.Kind() == jsondoc.Array {
		r.Tools = tools.Len()
	}
}

// readMCPEvent reads a message of the server: a response, a request to the client, or a notification.
func readMCPEvent(r *Reader, _ string, v jsondoc.Value) {
	if method := clipped(v.Get("method")); method == "" {
		readRPC(r, v)
	} else if v.Has("id") && len(r.Requests) < maxCalls {
		r.pattern.vary()
		r.Requests = append(r.Requests, method)
	}
}
