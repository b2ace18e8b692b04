package neighbor

import (
	"slices"
	"strings"

	"a2atap/proxy/jsondoc"
)

// The protocols of OpenAI, which LiteLLM, vLLM, llama.cpp, Azure and others speak too.
var (
	openAIChat = protocol{
		name: "openai", kind: Model, recognize: recognizeChat, answer: readChat,
		event: func(r *Reader, _ string, v jsondoc.Value) { readChat(r, v) },
	}
	openAIResponses = protocol{
		name: "openai", kind: Model, recognize: recognizeResponses, answer: readResponse, event: readResponseEvent,
	}
	openAIOther = protocol{
		name: "openai", kind: Model, recognize: recognizeOther, answer: readChat,
		event: func(r *Reader, _ string, v jsondoc.Value) { readChat(r, v) },
	}
)

// modelIn returns the model that a request names: in its body, or in the path of an Azure deployment.
func modelIn(r *Request, path string) string {
	if model := clipped(r.Body.Get("model")); model != "" {
		return model
	}
	_, rest, _ := strings.Cut(path, "/deployments/")
	name, _, _ := strings.Cut(rest, "/")
	return clip(name)
}

// hasMessages reports whether a body has the messages of a chat, whatever its path.
func hasMessages(body jsondoc.Value) bool {
	return body.Get("model").Kind() == jsondoc.String && body.Get("messages").Elem(0).Get("role").Kind() == jsondoc.String
}

func recognizeChat(c *Call, r *Request, path string) bool {
	if r.Method != "POST" || !hasSuffix(path, "/chat/completions") && !hasMessages(r.Body) {
		return false
	}
	messages := r.Body.Get("messages")
	c.Operation, c.Subject = "chat", modelIn(r, path)
	c.Messages, c.Tools = messages.Len(), r.Body.Get("tools").Len()
	for _, m := range messages.Elems() {
		if m.Get("role").Is("tool") {
			c.answered(m.Get("tool_call_id"))
		}
	}
	return true
}

// readChat reads a completion, or a chunk of one.
func readChat(r *Reader, v jsondoc.Value) {
	usage := v.Get("usage")
	r.tokens(usage.Get("prompt_tokens"), usage.Get("completion_tokens"))
	choice := v.Get("choices").Elem(0)
	message := choice.Get("message")
	if !message.Exists() {
		message = choice.Get("delta")
	}
	r.say(message.Get("content"))
	r.say(choice.Get("text")) // of a completion
	if refusal := message.Get("refusal"); refusal.Kind() == jsondoc.String {
		r.say(refusal)
		r.Failed = true
	}
	for i, call := range message.Get("tool_calls").Elems() {
		at := key(i)
		if index := call.Get("index"); index.Exists() {
			at = place(index)
		}
		f := call.Get("function")
		r.call(at, call.Get("id"), f.Get("name"), f.Get("arguments"))
	}
	if f := message.Get("function_call"); f.Kind() == jsondoc.Object {
		r.call("", jsondoc.Value{}, f.Get("name"), f.Get("arguments"))
	}
	r.finish(choice.Get("finish_reason"))
	if r.Failed && r.Finish != "" && r.Failure == "" {
		r.fail("refused: " + string(r.text))
	}
}

func recognizeResponses(c *Call, r *Request, path string) bool {
	if !hasSuffix(path, "/responses") || r.Method != "POST" ||
		r.Body.Exists() && !r.Body.Has("input") && !r.Body.Has("model") {
		return false
	}
	input := r.Body.Get("input")
	c.Operation, c.Subject = "chat", modelIn(r, path)
	c.Messages, c.Tools = input.Len(), r.Body.Get("tools").Len()
	if input.Kind() == jsondoc.String {
		c.Messages = 1
	}
	for _, item := range input.Elems() {
		if item.Get("type").Is("function_call_output") {
			c.answered(item.Get("call_id"))
		}
	}
	return true
}

// readResponse reads a whole response.
func readResponse(r *Reader, v jsondoc.Value) {
	usage := v.Get("usage")
	r.tokens(usage.Get("input_tokens"), usage.Get("output_tokens"))
	for i, item := range v.Get("output").Elems() {
		switch item.Get("type").Text() {
		case "message":
			for _, content := range item.Get("content").Elems() {
				r.say(content.Get("text"))
				if refusal := content.Get("refusal"); refusal.Exists() {
					r.fail("refused: " + refusal.Text())
				}
			}
		case "function_call":
			r.call(key(i), item.Get("call_id"), item.Get("name"), item.Get("arguments"))
		}
	}
	if why := v.Get("incomplete_details").Get("reason"); why.Exists() {
		r.finish(why)
	} else {
		r.finish(v.Get("status"))
	}
}

func readResponseEvent(r *Reader, name string, v jsondoc.Value) {
	if kind := v.Get("type").Text(); kind != "" {
		name = kind
	}
	switch name {
	case "response.output_text.delta":
		r.say(v.Get("delta"))
	case "response.output_item.added":
		if item := v.Get("item"); item.Get("type").Is("function_call") {
			r.call(place(v.Get("output_index")), item.Get("call_id"), item.Get("name"), jsondoc.Value{})
		}
	case "response.function_call_arguments.delta":
		r.call(place(v.Get("output_index")), jsondoc.Value{}, jsondoc.Value{}, v.Get("delta"))
	case "response.completed", "response.incomplete", "response.failed":
		whole := v.Get("response")
		if whole.Get("output").Elem(0).Exists() {
			r.restart()
		}
		if text, failed := errorText(whole); failed {
			r.fail(text)
		}
		readResponse(r, whole)
	}
}

// otherPaths are the ends of paths of the remaining operations, by which they are recognized.
var otherPaths = []struct{ suffix, operation string }{
	{"/v1/completions", "text_completion"},
	{"/embeddings", "embeddings"},
	{"/v1/models", "models"},
}

func recognizeOther(c *Call, r *Request, path string) bool {
	i := slices.IndexFunc(otherPaths, func(p struct{ suffix, operation string }) bool { return hasSuffix(path, p.suffix) })
	if i < 0 {
		return false
	}
	c.Operation, c.Subject = otherPaths[i].operation, modelIn(r, path)
	if wants := c.Operation != "models"; wants != (r.Method == "POST") || wants && r.Body.Exists() && c.Subject == "" {
		return false
	}
	c.Messages = max(r.Body.Get("input").Len(), 0)
	return true
}
