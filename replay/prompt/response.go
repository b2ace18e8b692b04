package prompt

import (
	"bytes"
	"encoding/json"
	"maps"
)

// A Response is an answer for programs that accept a text with additional data.
type Response struct {
	Output    any            // a string, or any other JSON value
	Error     string         // why there is no output, as reported by a transform
	SessionID string         // the context in which the conversation continues; may be empty
	Metadata  map[string]any // with the member a2a
	Raw       any            // JSON
	More      map[string]any // other results of a transform, such as guardrails
}

// Response returns the answer with its text as output.
func (a *Answer) Response() Response {
	return Response{
		Output: a.Text(), SessionID: a.ContextID(), Raw: a.Raw,
		Metadata: map[string]any{"a2a": a.Metadata().A2A},
	}
}

// Text returns the output unchanged if it is a string, else as JSON.
func (r Response) Text() string {
	if text, ok := r.Output.(string); ok {
		return text
	}
	text, err := encode(r.Output)
	if err != nil {
		return "null"
	}
	return string(text)
}

// MarshalJSON writes the response as one object: output, error, sessionId, metadata, raw, and the members of More.
func (r Response) MarshalJSON() ([]byte, error) {
	object := maps.Clone(r.More)
	if object == nil {
		object = make(map[string]any)
	}
	object["output"], object["metadata"], object["raw"] = r.Output, r.Metadata, r.Raw
	if r.Error != "" {
		object["error"] = r.Error
	}
	if r.SessionID != "" {
		object["sessionId"] = r.SessionID
	}
	return encode(object)
}

// encode writes JSON without escapes for HTML.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(v)
	return bytes.TrimSpace(text.Bytes()), err
}
