package peers

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// Words in a user's text that change what a model of [StartModels] answers.
const (
	Busy   = "busy"   // status 429, to be tried again after 7 seconds
	Secret = "secret" // tool calls have the argument api_key, which is [SecretArgument]
)

// SecretArgument is a credential that a model gives to tools.
const SecretArgument = "planted0argument0123456789abcdef"

// StartModels starts a server instead of all vendors' models, and returns its origin. It speaks the wire formats of
// OpenAI (chat completions and responses), Anthropic, Gemini and Ollama, whole and as streams.
//
// A model first calls the tools weather and clock, both at once, then book, then paint, as far as they are offered, and
// gives each the last word of the user's text as the argument city. When it has all results, it answers in text.
func StartModels(t testing.TB) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(serveModel))
	t.Cleanup(server.Close)
	return server.URL
}

// modelCalls counts the tool calls that models have asked for.
var modelCalls atomic.Int64

// A prompt is a request to a model, whatever its format.
type prompt struct {
	body    map[string]any
	model   string
	text    string   // of the user, the last one
	results int      // of tools
	count   int      // of messages
	tools   []string // that are offered
	stream  bool
}

// A completion is what the model says to a prompt.
type completion struct {
	text          string
	calls         []modelCall
	input, output int // tokens
	finish        string
}

// A modelCall is a call that a model asks for.
type modelCall struct{ id, name, arguments string }

// complete answers a prompt. Its tokens are 100 and one for each message of the prompt, and 20 and one for each tool call.
func (p *prompt) complete() completion {
	c := completion{input: 100 + p.count, output: 20, finish: "stop"}
	ask := func(names ...string) {
		for _, name := range names {
			if slices.Contains(p.tools, name) {
				words := strings.Fields(strings.TrimRight(p.text, ".?!"))
				args := map[string]string{"city": words[len(words)-1]}
				if slices.Contains(words, Secret) {
					args["api_key"] = SecretArgument
				}
				text, _ := json.Marshal(args)
				id := fmt.Sprintf("call_%08d", modelCalls.Add(1))
				c.calls = append(c.calls, modelCall{id, name, string(text)})
			}
		}
	}
	first := 0
	for _, name := range []string{"weather", "clock"} {
		if slices.Contains(p.tools, name) {
			first++
		}
	}
	switch p.results {
	case 0:
		ask("weather", "clock")
	case first:
		ask("book")
	case first + 1:
		ask("paint")
	}
	if len(c.calls) == 0 {
		c.text = "All is arranged: " + p.text
	} else {
		c.finish, c.output = "tool_calls", c.output+len(c.calls)
	}
	return c
}

func serveModel(w http.ResponseWriter, r *http.Request) {
	data, err := io.ReadAll(r.Body)
	p := &prompt{}
	if err == nil {
		err = json.Unmarshal(data, &p.body)
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	p.model, _ = p.body["model"].(string)
	p.stream, _ = p.body["stream"].(bool)
	colon := strings.LastIndexByte(r.URL.Path, ':')
	switch {
	case strings.HasSuffix(r.URL.Path, "/chat/completions"):
		p.readMessages("messages", "tool")
		answerModel(w, p, chatWhole, chatEvents)
	case strings.HasSuffix(r.URL.Path, "/responses"):
		p.readMessages("input", "")
		answerModel(w, p, responseWhole, responseEvents)
	case strings.HasSuffix(r.URL.Path, "/messages"):
		p.readMessages("messages", "")
		answerModel(w, p, anthropicWhole, anthropicEvents)
	case strings.HasSuffix(r.URL.Path, "/api/chat"):
		p.readMessages("messages", "tool")
		p.stream = p.body["stream"] != false
		answerModel(w, p, ollamaWhole, nil)
	case colon > 0:
		_, p.model, _ = strings.Cut(r.URL.Path[:colon], "/models/")
		p.stream = r.URL.Path[colon+1:] == "streamGenerateContent"
		p.readContents()
		answerModel(w, p, geminiWhole, geminiEvents)
	default:
		http.NotFound(w, r)
	}
}

// readMessages reads messages, and tools, in the formats of OpenAI, Anthropic and Ollama.
func (p *prompt) readMessages(name, toolRole string) {
	if text, ok := p.body[name].(string); ok {
		p.text, p.count = text, 1
	}
	for _, message := range list(p.body[name]) {
		p.count++
		switch role := message["role"]; {
		case toolRole != "" && role == toolRole || message["type"] == "function_call_output":
			p.results++
		case role == "user":
			p.readContent(message["content"])
		}
	}
	for _, tool := range list(p.body["tools"]) {
		if function, ok := tool["function"].(map[string]any); ok {
			tool = function
		}
		name, _ := tool["name"].(string)
		p.tools = append(p.tools, name)
	}
}

func (p *prompt) readContent(content any) {
	if text, ok := content.(string); ok {
		p.text = text
	}
	for _, part := range list(content) {
		if part["type"] == "tool_result" {
			p.results++
		} else if text, ok := part["text"].(string); ok {
			p.text = text
		}
	}
}

// readContents reads contents, and tools, in the format of Gemini.
func (p *prompt) readContents() {
	for _, content := range list(p.body["contents"]) {
		p.count++
		for _, part := range list(content["parts"]) {
			if part["functionResponse"] != nil {
				p.results++
			} else if text, ok := part["text"].(string); ok && content["role"] == "user" {
				p.text = text
			}
		}
	}
	for _, tool := range list(p.body["tools"]) {
		for _, function := range list(tool["functionDeclarations"]) {
			name, _ := function["name"].(string)
			p.tools = append(p.tools, name)
		}
	}
}

// list returns the objects in a JSON array.
func list(v any) (all []map[string]any) {
	array, _ := v.([]any)
	for _, e := range array {
		if object, ok := e.(map[string]any); ok {
			all = append(all, object)
		}
	}
	return all
}

// An event of a stream has a name in some formats.
type modelEvent struct {
	name string
	data any
}

// answerModel writes the completion of a prompt. A format without events has lines of JSON as streams.
func answerModel(w http.ResponseWriter, p *prompt,
	whole func(*prompt, completion) any, events func(*prompt, completion) []modelEvent,
) {
	if slices.Contains(strings.Fields(p.text), Busy) {
		w.Header().Set("Retry-After", "7")
		w.Header().Set("X-Should-Retry", "false")
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusTooManyRequests)
		json.NewEncoder(w).Encode(map[string]any{ //nolint:errcheck // a client may leave
			"type": "error", "error": map[string]any{
				"type": "rate_limit_error", "code": 429, "status": "RESOURCE_EXHAUSTED", "message": "too many requests of " + p.model,
			},
		})
		return
	}
	c := p.complete()
	flush := w.(http.Flusher).Flush
	switch {
	case !p.stream:
		w.Header().Set("Content-Type", "application/json")
		json.NewEncoder(w).Encode(whole(p, c)) //nolint:errcheck // a client may leave
	case events == nil:
		w.Header().Set("Content-Type", "application/x-ndjson")
		for _, line := range ollamaLines(p, c) {
			json.NewEncoder(w).Encode(line) //nolint:errcheck // a client may leave
			flush()
		}
	default:
		w.Header().Set("Content-Type", "text/event-stream")
		for _, e := range events(p, c) {
			data, _ := json.Marshal(e.data)
			if text, ok := e.data.(string); ok {
				data = []byte(text)
			}
			if e.name != "" {
				fmt.Fprintf(w, "event: %s\n", e.name)
			}
			fmt.Fprintf(w, "data: %s\n\n", data)
			flush()
		}
	}
}

// pieces cuts a text into at most three.
func pieces(text string) (all []string) {
	size := max((len(text)+2)/3, 1)
	for part := range slices.Chunk([]byte(text), size) {
		all = append(all, string(part))
	}
	return all
}

type object = map[string]any

func chatUsage(c completion) object {
	return object{"prompt_tokens": c.input, "completion_tokens": c.output, "total_tokens": c.input + c.output}
}

func chatCalls(c completion) (all []object) {
	for i, call := range c.calls {
		all = append(all, object{
			"index": i, "id": call.id, "type": "function",
			"function": object{"name": call.name, "arguments": call.arguments},
		})
	}
	return all
}

func chatWhole(p *prompt, c completion) any {
	message := object{"role": "assistant", "content": nil}
	if c.calls != nil {
		message["tool_calls"] = chatCalls(c)
	} else {
		message["content"] = c.text
	}
	return object{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": p.model, "usage": chatUsage(c),
		"choices": []object{{"index": 0, "message": message, "finish_reason": c.finish}},
	}
}

func chatEvents(p *prompt, c completion) (all []modelEvent) {
	add := func(delta object, finish any) {
		all = append(all, modelEvent{data: object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": p.model,
			"choices": []object{{"index": 0, "delta": delta, "finish_reason": finish}},
		}})
	}
	add(object{"role": "assistant", "content": ""}, nil)
	for _, piece := range pieces(c.text) {
		add(object{"content": piece}, nil)
	}
	for i, call := range chatCalls(c) {
		function := call["function"].(object)
		arguments := function["arguments"].(string)
		function["arguments"] = ""
		add(object{"tool_calls": []object{call}}, nil)
		for _, piece := range pieces(arguments) {
			add(object{"tool_calls": []object{{"index": i, "function": object{"arguments": piece}}}}, nil)
		}
	}
	add(object{}, c.finish)
	if options, _ := p.body["stream_options"].(object); options["include_usage"] == true {
		all = append(all, modelEvent{data: object{
			"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": p.model,
			"choices": []object{}, "usage": chatUsage(c),
		}})
	}
	return append(all, modelEvent{data: "[DONE]"})
}

// responseItems returns the output of a response, each item as it begins and as it ends.
func responseItems(c completion) (begun, ended []object) {
	if c.calls == nil {
		item := func(content []object) object {
			return object{"type": "message", "id": "msg_1", "role": "assistant", "status": "completed", "content": content}
		}
		text := object{"type": "output_text", "text": c.text, "annotations": []object{}, "logprobs": []object{}}
		return []object{item([]object{})}, []object{item([]object{text})}
	}
	for _, call := range c.calls {
		item := func(arguments string) object {
			return object{
				"type": "function_call", "id": "fc_" + call.id, "call_id": call.id, "name": call.name,
				"arguments": arguments, "status": "completed",
			}
		}
		begun, ended = append(begun, item("")), append(ended, item(call.arguments))
	}
	return begun, ended
}

func responseObject(p *prompt, c completion, output []object) object {
	return object{
		"id": "resp_1", "object": "response", "created_at": 1, "model": p.model, "status": "completed", "output": output,
		"parallel_tool_calls": true, "tool_choice": "auto", "tools": []object{}, "usage": object{
			"input_tokens": c.input, "output_tokens": c.output, "total_tokens": c.input + c.output,
			"input_tokens_details": object{"cached_tokens": 0}, "output_tokens_details": object{"reasoning_tokens": 0},
		},
	}
}

func responseWhole(p *prompt, c completion) any {
	_, ended := responseItems(c)
	return responseObject(p, c, ended)
}

func responseEvents(p *prompt, c completion) (all []modelEvent) {
	add := func(kind string, fields object) {
		fields["type"], fields["sequence_number"] = kind, len(all)
		all = append(all, modelEvent{kind, fields})
	}
	begun, ended := responseItems(c)
	add("response.created", object{"response": responseObject(p, completion{}, []object{})})
	for i, item := range begun {
		at := func(fields object) object {
			fields["output_index"], fields["item_id"] = i, item["id"]
			return fields
		}
		add("response.output_item.added", at(object{"item": item}))
		if c.calls == nil {
			part := object{"type": "output_text", "text": "", "annotations": []object{}}
			add("response.content_part.added", at(object{"content_index": 0, "part": part}))
			for _, piece := range pieces(c.text) {
				add("response.output_text.delta", at(object{"content_index": 0, "delta": piece, "logprobs": []object{}}))
			}
			add("response.output_text.done", at(object{"content_index": 0, "text": c.text, "logprobs": []object{}}))
			add("response.content_part.done", at(object{"content_index": 0, "part": ended[i]["content"].([]object)[0]}))
		} else {
			for _, piece := range pieces(c.calls[i].arguments) {
				add("response.function_call_arguments.delta", at(object{"delta": piece}))
			}
			add("response.function_call_arguments.done", at(object{"arguments": c.calls[i].arguments, "name": c.calls[i].name}))
		}
		add("response.output_item.done", at(object{"item": ended[i]}))
	}
	add("response.completed", object{"response": responseObject(p, c, ended)})
	return all
}

func anthropicBlocks(c completion) (all []object) {
	if c.calls == nil {
		return []object{{"type": "text", "text": c.text}}
	}
	for _, call := range c.calls {
		all = append(all, object{"type": "tool_use", "id": call.id, "name": call.name, "input": json.RawMessage(call.arguments)})
	}
	return all
}

func anthropicMessage(p *prompt, c completion, content []object, stop any) object {
	return object{
		"id": "msg_1", "type": "message", "role": "assistant", "model": p.model, "content": content,
		"stop_reason": stop, "stop_sequence": nil,
		"usage": object{"input_tokens": c.input, "output_tokens": c.output},
	}
}

func anthropicStop(c completion) string {
	if c.calls != nil {
		return "tool_use"
	}
	return "end_turn"
}

func anthropicWhole(p *prompt, c completion) any {
	return anthropicMessage(p, c, anthropicBlocks(c), anthropicStop(c))
}

func anthropicEvents(p *prompt, c completion) (all []modelEvent) {
	add := func(kind string, fields object) {
		fields["type"] = kind
		all = append(all, modelEvent{kind, fields})
	}
	add("message_start", object{"message": anthropicMessage(p, completion{input: c.input, output: 1}, []object{}, nil)})
	for i, block := range anthropicBlocks(c) {
		kind, field, text := "text_delta", "text", c.text
		if c.calls == nil {
			block["text"] = ""
		} else {
			kind, field, text = "input_json_delta", "partial_json", c.calls[i].arguments
			block["input"] = object{}
		}
		add("content_block_start", object{"index": i, "content_block": block})
		for _, piece := range pieces(text) {
			add("content_block_delta", object{"index": i, "delta": object{"type": kind, field: piece}})
		}
		add("content_block_stop", object{"index": i})
	}
	add("message_delta", object{
		"delta": object{"stop_reason": anthropicStop(c), "stop_sequence": nil}, "usage": object{"output_tokens": c.output},
	})
	add("message_stop", object{})
	return all
}

func geminiAnswer(p *prompt, c completion, parts []object, finish any) object {
	candidate := object{"index": 0, "content": object{"role": "model", "parts": parts}}
	if finish != nil {
		candidate["finishReason"] = finish
	}
	return object{
		"candidates": []object{candidate}, "modelVersion": p.model, "responseId": "r1", "usageMetadata": object{
			"promptTokenCount": c.input, "candidatesTokenCount": c.output, "totalTokenCount": c.input + c.output,
		},
	}
}

func geminiCalls(c completion) (all []object) {
	for _, call := range c.calls {
		all = append(all, object{"functionCall": object{"name": call.name, "args": json.RawMessage(call.arguments)}})
	}
	return all
}

func geminiWhole(p *prompt, c completion) any {
	parts := geminiCalls(c)
	if parts == nil {
		parts = []object{{"text": c.text}}
	}
	return geminiAnswer(p, c, parts, "STOP")
}

func geminiEvents(p *prompt, c completion) (all []modelEvent) {
	parts := geminiCalls(c)
	for _, piece := range pieces(c.text) {
		parts = append(parts, object{"text": piece})
	}
	for i, part := range parts {
		var finish any
		if i == len(parts)-1 {
			finish = "STOP"
		}
		all = append(all, modelEvent{data: geminiAnswer(p, c, []object{part}, finish)})
	}
	return all
}

func ollamaMessage(c completion) object {
	message := object{"role": "assistant", "content": c.text}
	var calls []object
	for _, call := range c.calls {
		calls = append(calls, object{"function": object{"name": call.name, "arguments": json.RawMessage(call.arguments)}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	return message
}

func ollamaWhole(p *prompt, c completion) any {
	return object{
		"model": p.model, "created_at": "2026-01-01T00:00:00Z", "message": ollamaMessage(c), "done": true,
		"done_reason": "stop", "prompt_eval_count": c.input, "eval_count": c.output, "total_duration": 1,
	}
}

func ollamaLines(p *prompt, c completion) (all []any) {
	add := func(message object) {
		all = append(all, object{"model": p.model, "created_at": "2026-01-01T00:00:00Z", "message": message, "done": false})
	}
	for _, piece := range pieces(c.text) {
		add(object{"role": "assistant", "content": piece})
	}
	if c.calls != nil {
		add(ollamaMessage(c))
	}
	last := ollamaWhole(p, completion{input: c.input, output: c.output})
	return append(all, last)
}
