package prompt

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/itchyny/gojq"

	"a2atap/proxy/jsondoc"
)

// A Transform converts an answer to another response with a jq program.
//
// Its input is {message, task, events, raw}: the message and the task, null if absent; the events of the stream as
// the agent sent them; and the raw JSON. $result has the same value, $text is the output without a transform, and
// $context has the input and mode.
//
// A result that is a string, a number, a boolean, null or a list is the output. An object is also the output, unless it
// has a member output or error: then it is the response, and its other members replace the answer's. Several results
// are joined by line feeds. The program reads no files, no environment and no network.
type Transform struct{ code *gojq.Code }

// NewTransform compiles a program.
func NewTransform(program string) (*Transform, error) {
	query, err := gojq.Parse(program)
	if err != nil {
		return nil, fmt.Errorf("parse the program: %w", err)
	}
	code, err := gojq.Compile(query, gojq.WithVariables([]string{"$text", "$context", "$result"}))
	if err != nil {
		return nil, fmt.Errorf("compile the program: %w", err)
	}
	return &Transform{code}, nil
}

// Apply runs the program on an answer and returns the response. It fails if the program fails, or returns nothing.
func (t *Transform) Apply(ctx context.Context, a *Answer) (Response, error) {
	response := a.Response()
	input, err := a.json()
	if err != nil {
		return response, err
	}
	context := maps.Clone(input)
	context["mode"] = string(a.Mode)
	var results []any
	iter := t.code.RunWithContext(ctx, input, a.Text(), context, input)
	for {
		v, ok := iter.Next()
		if !ok {
			break
		}
		if err, failed := v.(error); failed {
			if halt, ok := errors.AsType[*gojq.HaltError](err); ok && halt.Value() == nil {
				break // it ends here, with an error
			}
			return response, fmt.Errorf("run the program: %w", err)
		}
		results = append(results, v)
	}
	switch len(results) {
	case 0:
		return response, errors.New("run the program: it has no output")
	case 1:
		response.take(results[0])
		return response, nil
	}
	var lines []string
	for _, v := range results {
		lines = append(lines, Response{Output: v}.Text())
	}
	response.Output = strings.Join(lines, "\n")
	return response, nil
}

// take puts the result of a program into a response.
func (r *Response) take(result any) {
	object, ok := result.(map[string]any)
	_, output := object["output"]
	message, failed := object["error"].(string)
	if !ok || !output && !failed {
		r.Output = result
		return
	}
	r.Output, r.Error, r.More = object["output"], message, make(map[string]any)
	for name, value := range object {
		switch name {
		case "output", "error":
		case "sessionId":
			if id, ok := value.(string); ok {
				r.SessionID = id
			}
		case "metadata":
			if more, ok := value.(map[string]any); ok {
				a2a := r.Metadata["a2a"]
				r.Metadata = maps.Clone(more)
				r.Metadata["a2a"] = a2a
			}
		case "raw":
			r.Raw = value
		default:
			r.More[name] = value
		}
	}
}

// json returns the answer in the form of a program's input.
func (a *Answer) json() (map[string]any, error) {
	in := map[string]any{"message": nil, "task": nil, "events": []any{}, "raw": nil}
	events := make([]any, len(a.Events))
	for i, e := range a.Events {
		if err := jsondoc.Unmarshal(e, &events[i]); err != nil {
			return nil, fmt.Errorf("read event %d: %w", i+1, err)
		}
	}
	in["events"] = events
	texts := map[string][]byte{"raw": a.Raw}
	if a.Message != nil {
		texts["message"] = a.Message.Raw
	}
	if a.Task != nil {
		texts["task"] = a.Task.Raw
	}
	for name, text := range texts {
		if len(text) == 0 {
			continue
		}
		var v any
		if err := jsondoc.Unmarshal(text, &v); err != nil {
			return nil, fmt.Errorf("read the %s: %w", name, err)
		}
		in[name] = v
	}
	return in, nil
}
