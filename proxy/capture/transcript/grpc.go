package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// codec returns the codec for the gRPC messages of the request or the answer, or nil if they are not gRPC or unknown.
func (d *describer) codec(kind string) *grpc.Codec {
	request := capture.ParseRequestHead(d.x.Request.Head)
	as := request.GRPCMessage()
	if kind == "response" {
		as = capture.GRPCAnswers(&request, new(capture.ParseResponseHead(d.x.Response.Head)))
	}
	if as == nil || as.Type == nil {
		return nil
	}
	return as
}

// messagesText returns gRPC messages as JSON, one per line. It returns false if the JSON cannot be converted back to
// the same bytes.
func messagesText(as *grpc.Codec, data []byte) (text []byte, ok bool) {
	for rest := data; len(rest) > 0; {
		var frame grpc.Frame
		if frame, rest, ok = grpc.Cut(rest); !ok || !frame.Whole() || frame.Compressed || frame.Reserved {
			return nil, false
		}
		line, _, err := as.Type.ToText(frame.Message)
		if err != nil {
			return nil, false
		}
		text = append(append(text, line...), '\n')
	}
	again, err := messagesBytes(as, text)
	return text, err == nil && bytes.Equal(again, data) && isText(text)
}

// messagesBytes is the other way.
func messagesBytes(as *grpc.Codec, text []byte) ([]byte, error) {
	data := []byte{}
	values := jsontext.NewDecoder(bytes.NewReader(text))
	for {
		value, err := values.ReadValue()
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read gRPC messages: %w", err)
		}
		doc := jsondoc.Parse(bytes.Clone(value))
		message, err := as.Type.FromText(doc.Root)
		if err != nil {
			return nil, fmt.Errorf("make a %s from JSON: %w", as.Type.Name(), err)
		}
		data = grpc.AppendFrame(data, message)
	}
}

// cutMessages cuts the answer of a call over gRPC into its messages.
func cutMessages(data []byte) []capture.Event {
	var events []capture.Event
	for rest := data; len(rest) > 0; {
		frame, after, ok := grpc.Cut(rest)
		e := capture.Event{K: len(events) + 1, At: capture.NotKnown, Raw: rest}
		if ok {
			e.Raw = rest[: len(rest)-len(after) : len(rest)-len(after)]
		}
		e.Unterminated = !ok || !frame.Whole()
		events = append(events, e)
		rest = rest[len(e.Raw):]
	}
	return events
}
