package neighbor

import "a2atap/proxy/jsondoc"

// anthropic is the messages API of Anthropic.
var anthropic = protocol{
	name: "anthropic", kind: Model, recognize: recognizeAnthropic, answer: readAnthropic, event: readAnthropicEvent,
}

func recognizeAnthropic(c *Call, r *Request, path string) bool {
	marked := r.Fields.Has("Anthropic-Version") || r.Body.Has("anthropic_version")
	count := hasSuffix(path, "/messages/count_tokens")
	switch {
	case r.Method != "POST":
		return false
	case count && (marked || hasMessages(r.Body)):
	case hasSuffix(path, "/messages") && (marked || hasMessages(r.Body) && r.Body.Has("max_tokens")):
	case r.Body.Has("anthropic_version") && r.Body.Has("messages"):
	default:
		return false
	}
	messages := r.Body.Get("messages")
	c.Operation, c.Subject = "chat", modelIn(r, path)
	if count {
		c.Operation = "count_tokens"
	}
	c.Messages, c.Tools = messages.Len(), r.Body.Get("tools").Len()
	for _, m := range messages.Elems() {
		for _, block := range m.Get("content").Elems() {
			if block.Get("type").Is("tool_result") {
				c.answered(block.Get("tool_use_id"))
			}
		}
	}
	return true
}

// readAnthropic reads a whole message.
func readAnthropic(r *Reader, v jsondoc.Value) {
	r.anthropicUsage(v.Get("usage"))
	for i, block := range v.Get("content").Elems() {
		r.say(block.Get("text"))
		if block.Get("type").Is("tool_use") {
			r.call(key(i), block.Get("id"), block.Get("name"), block.Get("input"))
		}
	}
	r.finish(v.Get("stop_reason"))
	if n, ok := v.Get("input_tokens").Int(); ok { // a count
		r.Input = max(n, 0)
	}
}

// anthropicUsage takes the tokens. Those that come from a cache are counted separately on the wire.
func (r *Reader) anthropicUsage(usage jsondoc.Value) {
	var input int64
	for _, name := range [...]string{"input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"} {
		if n, ok := usage.Get(name).Int(); ok && n > 0 && n < 1<<40 {
			input += n
		}
	}
	if input > 0 {
		r.Input = input
	}
	r.tokens(jsondoc.Value{}, usage.Get("output_tokens"))
}

func readAnthropicEvent(r *Reader, name string, v jsondoc.Value) {
	if kind := v.Get("type").Text(); kind != "" {
		name = kind
	}
	at := place(v.Get("index"))
	switch name {
	case "message_start":
		r.anthropicUsage(v.Get("message").Get("usage"))
	case "content_block_start":
		block := v.Get("content_block")
		r.say(block.Get("text"))
		if block.Get("type").Is("tool_use") {
			r.call(at, block.Get("id"), block.Get("name"), jsondoc.Value{})
		}
	case "content_block_delta":
		delta := v.Get("delta")
		r.say(delta.Get("text"))
		if piece := delta.Get("partial_json"); piece.Exists() {
			r.call(at, jsondoc.Value{}, jsondoc.Value{}, piece)
		}
	case "message_delta":
		r.anthropicUsage(v.Get("usage"))
		r.finish(v.Get("delta").Get("stop_reason"))
	}
}
