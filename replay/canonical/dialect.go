package canonical

import (
	"cmp"
	"encoding/json"
	"strings"

	"a2atap/proxy/jsondoc"
	"a2atap/proxy/neighbor"
)

// A dialect is what canonical forms, and refusals, have to know about one kind of call.
type dialect struct {
	// rpc is set if the messages are JSON-RPC. A client chooses the ids and the progress tokens of its requests.
	rpc bool
	// result returns the tool call whose result a value is. The results of one turn are a set. It may be nil.
	result func(v jsondoc.Value) (call string, ok bool)
	// refusal returns the error body in which the vendor's SDKs find a message.
	refusal func(message string) any
}

// dialects are the kinds of calls, by neighbor.Call.Protocol.
var dialects = map[string]*dialect{
	"openai":    {result: openAIResult, refusal: openAIRefusal},
	"anthropic": {result: anthropicResult, refusal: anthropicRefusal},
	"gemini":    {result: geminiResult, refusal: geminiRefusal},
	"ollama":    {result: ollamaResult, refusal: func(m string) any { return object{"error": m} }},
	"mcp":       {rpc: true},
	"json-rpc":  {rpc: true},
	"":          {refusal: openAIRefusal},
}

// of returns the dialect of a call; nil is a call of no known kind.
func of(c *neighbor.Call) *dialect {
	if c == nil {
		return dialects[""]
	}
	return cmp.Or(dialects[c.Protocol], dialects[""])
}

type object = map[string]any

func openAIResult(v jsondoc.Value) (call string, ok bool) {
	switch {
	case v.Get("role").Is("tool"):
		return v.Get("tool_call_id").Text(), true
	case strings.HasSuffix(v.Get("type").Text(), "_call_output"):
		return v.Get("call_id").Text(), true
	}
	return "", false
}

func anthropicResult(v jsondoc.Value) (call string, ok bool) {
	return v.Get("tool_use_id").Text(), v.Get("type").Is("tool_result")
}

func geminiResult(v jsondoc.Value) (call string, ok bool) {
	result := v.Get("functionResponse")
	return cmp.Or(result.Get("id").Text(), result.Get("name").Text()), result.Exists()
}

func ollamaResult(v jsondoc.Value) (call string, ok bool) {
	return cmp.Or(v.Get("tool_name").Text(), v.Get("name").Text()), v.Get("role").Is("tool")
}

// refusalCode names refusals in the bodies that have a place for a code.
const refusalCode = "no_recorded_answer"

func openAIRefusal(message string) any {
	return object{"error": object{"message": message, "type": "invalid_request_error", "param": nil, "code": refusalCode}}
}

func anthropicRefusal(message string) any {
	return object{"type": "error", "error": object{"type": "invalid_request_error", "message": message}}
}

func geminiRefusal(message string) any {
	return object{"error": object{"code": RefusalStatus, "message": message, "status": "INVALID_ARGUMENT"}}
}

// RefusalStatus is the HTTP status of a refusal. SDKs of models repeat a request after 408, 409, 429 and 5xx.
const RefusalStatus = 422

// refusalRPC is the code of a refusal in JSON-RPC, of those that servers choose.
const refusalRPC = -32001

// Refusal returns the JSON body of an error with a message, in the form that the client of a call expects. body is that
// of the request. It returns nil if the client expects no body: JSON-RPC has no answer to a notification.
func Refusal(c *neighbor.Call, body []byte, message string) []byte {
	d := of(c)
	if !d.rpc {
		return marshal(d.refusal(message))
	}
	var all []json.RawMessage
	for _, id := range requestIDs(jsondoc.Parse(body).Root) {
		all = append(all, marshal(object{
			"jsonrpc": "2.0", "id": json.RawMessage(id.Raw()), "error": object{"code": refusalRPC, "message": message},
		}))
	}
	switch len(all) {
	case 0:
		return nil
	case 1:
		return all[0]
	}
	return marshal(all)
}

// marshal writes values of this package, all of which can be written.
func marshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// requestIDs returns the ids of the requests in a JSON-RPC message or batch, in order.
func requestIDs(root jsondoc.Value) (ids []jsondoc.Value) {
	for _, m := range messages(root) {
		if id := m.Get("id"); m.Has("method") && id.Exists() && !id.IsNull() {
			ids = append(ids, id)
		}
	}
	return ids
}

// messages returns the messages of a batch, or the one message that there is.
func messages(root jsondoc.Value) []jsondoc.Value {
	if root.Kind() != jsondoc.Array {
		return []jsondoc.Value{root}
	}
	var list []jsondoc.Value
	for _, m := range root.Elems() {
		list = append(list, m)
	}
	return list
}
