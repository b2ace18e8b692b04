package neighbor

import (
	"strconv"

	"a2atap/proxy/jsondoc"
)

// ollama is Ollama's own API. Its streams are lines of JSON.
var ollama = protocol{
	name: "ollama", kind: Model, recognize: recognizeOllama, answer: readOllama,
	event: func(r *Reader, _ string, v jsondoc.Value) { readOllama(r, v) },
}

func recognizeOllama(c *Call, r *Request, path string) bool {
	var operation string
	switch {
	case r.Method != "POST" || r.Body.Exists() && r.Body.Get("model").Kind() != jsondoc.String:
		return false
	case hasSuffix(path, "/api/chat"):
		operation = "chat"
	case hasSuffix(path, "/api/generate"):
		operation = "text_completion"
	case hasSuffix(path, "/api/embed", "/api/embeddings"):
		operation = "embeddings"
	default:
		return false
	}
	c.Operation, c.Subject = operation, clipped(r.Body.Get("model"))
	c.Messages, c.Tools = r.Body.Get("messages").Len(), r.Body.Get("tools").Len()
	return true
}

// readOllama reads an answer, or a line of one.
func readOllama(r *Reader, v jsondoc.Value) {
	message := v.Get("message")
	r.say(message.Get("content"))
	r.say(v.Get("response"))
	for _, call := range message.Get("tool_calls").Elems() { // always whole
		f := call.Get("function")
		r.call(strconv.Itoa(len(r.parts)), call.Get("id"), f.Get("name"), f.Get("arguments"))
	}
	r.tokens(v.Get("prompt_eval_count"), v.Get("eval_count"))
	r.finish(v.Get("done_reason"))
}
