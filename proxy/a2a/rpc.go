package a2a

import (
	"iter"
	"slices"
	"strings"
)

const maxBatch = 100 // calls of a batch that are kept decoded

// decodeRPC decodes a call of the JSON-RPC binding, or a batch, and reports whether the request is one.
func (c *Call) decodeRPC(r *Request, known *Known) bool {
	root := c.Doc.Root
	if root.Kind() == Array {
		return c.decodeBatch(r, known)
	}
	return c.decodeEnvelope(r, root, known)
}

// decodeBatch decodes a JSON-RPC batch (JSON-RPC 2.0 §6). A batch is A2A if one of its calls is, or if its URL is known
// to serve A2A.
func (c *Call) decodeBatch(r *Request, known *Known) bool {
	batch := []Call{}
	var spoken Dialects
	found := known.Bindings.Has(JSONRPC)
	for i, v := range c.Doc.Root.Elems() {
		if i == maxBatch {
			break
		}
		one, isA2A := c.member(r, v, known)
		if isA2A {
			found = true
			spoken |= one.Dialects
			c.Evidence = max(c.Evidence, one.Evidence)
		}
		batch = append(batch, one)
	}
	if !found {
		c.Evidence = NoEvidence
		return false
	}
	if spoken.Empty() {
		spoken = known.Dialects
	}
	c.Binding, c.Batch, c.Dialects = JSONRPC, batch, spoken
	return true
}

// member decodes one call of a batch, and reports whether it is A2A.
func (c *Call) member(r *Request, v Value, known *Known) (one Call, isA2A bool) {
	one = Call{Version: c.Version, Query: c.Query}
	if one.decodeEnvelope(r, v, known) {
		one.Streams = one.Operation.Streams()
		return one, true
	}
	return Call{Binding: JSONRPC, ID: v.Get("id"), Method: v.Get("method").Text(), Params: v.Get("params")}, false
}

// Members returns all calls of a batch in order: those of Batch, and the further ones, which are decoded one at a time.
func (c *Call) Members() iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		for i, v := range c.Doc.Root.Elems() {
			if i < len(c.Batch) {
				if !yield(&c.Batch[i]) {
					return
				}
				continue
			}
			one, _ := c.member(&Request{}, v, &Known{Bindings: BindingsOf(JSONRPC), Dialects: c.Dialects})
			if !yield(&one) {
				return
			}
		}
	}
}

// decodeEnvelope reads one JSON-RPC request object.
func (c *Call) decodeEnvelope(r *Request, root Value, known *Known) bool {
	named := root.Get("method")
	if named.Kind() != String {
		return false
	}
	method := named.Word(words)
	c.Method, c.ID, c.Params = method, root.Get("id"), root.Get("params")
	operation, in := methodOf(method)
	spokenHere := known.Bindings.Has(JSONRPC)
	switch {
	case method == "tasks/list":
		if isMCP(r, root) || !spokenHere && c.Version == "" && !listsA2ATasks(c.Params) {
			return c.reset()
		}
		c.Evidence = Hint
	case in == before1: // tasks/get, tasks/cancel, tasks/resubscribe
		if operation != SubscribeToTask && isMCP(r, root) && (!spokenHere || isSurelyMCP(r, root)) {
			return c.reset()
		}
		in, c.Evidence = sharedMethodDialects(c.Params, known), Decisive
	case operation != NoOperation:
		c.Evidence = Decisive
	default:
		if isMCP(r, root) || hasForeignMethod(root) {
			return c.reset()
		}
		in, c.Evidence = c.bodyMarks()
		if in.Empty() && isMessage(c.Params.Get("message")) {
			in, c.Evidence = sendParamsDialects(c.Params), Strong
		}
		if in.Empty() && !spokenHere {
			return c.reset()
		}
		if in.Empty() {
			in = known.Dialects
		}
	}
	c.Binding, c.Operation, c.Dialects = JSONRPC, operation, in
	c.readParams()
	return true
}

// reset clears the fields that were decoded from a request that turned out not to be a call.
func (c *Call) reset() bool {
	c.Method, c.ID, c.Params, c.Evidence = "", Value{}, Value{}, NoEvidence
	return false
}

// sharedMethodDialects distinguishes 0.1 from 0.2 and 0.3 if the method is the same, by features that only 0.1 has, or
// by the known dialects of the URL.
func sharedMethodDialects(params Value, known *Known) Dialects {
	switch {
	case params.Has("sessionId"):
		return onlyV0_1
	case !known.Dialects.Has(V0_1):
		return kindDialects
	}
	return before1 & known.Dialects
}

// listsA2ATasks reports whether the parameters of tasks/list belong to A2A: MCP has only a cursor.
func listsA2ATasks(params Value) bool {
	return slices.ContainsFunc([]string{
		"contextId", "status", "pageSize", "pageToken", "historyLength", "lastUpdatedAfter", "includeArtifacts",
	}, params.Has)
}

// isMCP reports whether a JSON-RPC request belongs to the Model Context Protocol, which names tasks by params.taskId.
func isMCP(r *Request, root Value) bool {
	if isSurelyMCP(r, root) {
		return true
	}
	params := root.Get("params")
	return strings.HasPrefix(root.Get("method").Text(), "tasks/") && params.Has("taskId") && !params.Has("id")
}

// isSurelyMCP reports whether a request has something that only MCP has: one of its headers, or its metadata. At a URL
// that serves A2A, params.taskId alone only means that the client used the wrong name.
func isSurelyMCP(r *Request, root Value) bool {
	return r.header("Mcp-Session-Id") != "" || r.header("MCP-Protocol-Version") != "" || root.Get("params").Has("_meta")
}

// hasForeignMethod reports whether the JSON-RPC method belongs to MCP, which opens a connection without a header of its
// own.
func hasForeignMethod(root Value) bool {
	method, ok := root.Get("method").Str()
	if !ok {
		return false
	}
	switch method {
	case "initialize", "ping", "tasks/result":
		return true
	}
	family, _, ok := strings.Cut(method, "/")
	if !ok {
		return false
	}
	switch family {
	case "tools", "resources", "prompts", "notifications", "completion", "logging", "roots", "sampling", "elicitation":
		return true
	}
	return false
}
