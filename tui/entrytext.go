package tui

import (
	"strings"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// Bounds of what is read of an exchange for the text in its row.
const (
	maxEntryText   = 400      // bytes
	maxEntryAnswer = 64 << 10 // bytes of an answer in which a text is looked for
)

// said returns the first text of the exchange, in one line: of the message that was sent, else of the answer.
func said(x *capture.Exchange, r *reading.Reading) string {
	if r.Call.Message.Exists() {
		if words := firstText(a2a.Message{Value: r.Call.Message}.Parts()); words != "" {
			return words
		}
	}
	res := x.Response
	if res == nil || res.Stream || len(res.Body.Data) == 0 || len(res.Body.Data) > maxEntryAnswer || !r.Call.A2A() {
		return ""
	}
	head := capture.ParseResponseHead(res.Head)
	body, err := res.Body.Decode(&head)
	if err != nil || len(body) > maxEntryAnswer {
		return ""
	}
	return answerText(a2a.DecodeAnswer(&r.Call, head.Status, head.Fields.MediaType(), body).Payload)
}

// answerText returns the first text of a message or a task: of its status, else of its artifacts.
func answerText(p a2a.Payload) string {
	switch p.Kind {
	case a2a.MessagePayload:
		return firstText(a2a.Message{Value: p.Value}.Parts())
	case a2a.TaskPayload:
		t := a2a.Task{Value: p.Value}
		if words := firstText(t.StatusMessage().Parts()); words != "" {
			return words
		}
		for _, artifact := range t.Artifacts() {
			if words := firstText(artifact.Parts()); words != "" {
				return words
			}
		}
	}
	return ""
}

// firstText returns the beginning of the first text among parts, in one line.
func firstText(parts a2a.Parts) string {
	for _, p := range parts.All() {
		if p.PartKind() == a2a.TextPart {
			return oneLine(p.Text())
		}
	}
	return ""
}

// oneLine returns the beginning of a text, with one blank for each run of white space.
func oneLine(words string) string {
	if len(words) > maxEntryText {
		words = strings.ToValidUTF8(words[:maxEntryText], "") + "…"
	}
	return strings.Join(strings.Fields(words), " ")
}

// traceOf returns the trace to which a request says that it belongs, or "".
//
// Sources: W3C Trace Context (2021), 3.2 "Traceparent Header"; B3 Propagation, "Single Header" and "Multiple Headers".
func traceOf(fields capture.Fields) string {
	if parts := strings.Split(fields.Get("traceparent"), "-"); len(parts) >= 4 {
		return parts[1]
	}
	if id := fields.Get("x-b3-traceid"); id != "" {
		return id
	}
	id, _, more := strings.Cut(fields.Get("b3"), "-")
	if !more { // "0" says that nothing is traced
		return ""
	}
	return id
}

// answerSize returns how many bytes the body of an answer has, as far as it has come; NotKnown if they were not counted.
func answerSize(res *capture.Response) int64 {
	switch {
	case res == nil:
		return capture.NotKnown
	case res.Body.Size >= 0:
		return res.Body.Size
	case len(res.Events) >= 2*entryEvents: // those in the middle are not here
		return capture.NotKnown
	}
	n := int64(len(res.Body.Data)) + res.Body.Dropped
	for i := range res.Events {
		n += int64(len(res.Events[i].Raw))
	}
	return n
}
