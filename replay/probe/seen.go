package probe

import (
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/safetext"
)

// An Answer is the answer to one request, as it was on the wire. The zero Answer means that none came.
type Answer struct {
	Exchange *capture.Exchange // nil if no answer came
	Status   int               // 0 if no answer came
	Header   capture.Fields
	Body     []byte // without content coding; empty for a stream

	// GRPC is the outcome of a gRPC call, as far as its answer shows it; else nil. The Body is then its one message
	// as JSON, or the HTTP+JSON equivalent of an error: {"error":…} with the status.
	GRPC *grpc.Status
}

// JSON parses the body. A body that is not JSON has absent members.
func (a *Answer) JSON() a2a.Value {
	return a2a.Parse(a.Body).Root
}

// Events returns the data of each event of a stream. It omits a last event without a blank line, as clients do.
func (a *Answer) Events() [][]byte {
	var data [][]byte
	if a.Exchange == nil || a.Exchange.Response == nil {
		return nil
	}
	for i := range a.Exchange.Response.Events {
		if e := &a.Exchange.Response.Events[i]; e.K > 0 && !e.Unterminated {
			fields := e.Fields()
			data = append(data, []byte(fields.Data))
		}
	}
	return data
}

func readAnswer(x *capture.Exchange) *Answer {
	a := &Answer{Exchange: x}
	if x == nil || x.Response == nil {
		return a
	}
	head := capture.ParseResponseHead(x.Response.Head)
	a.Status, a.Header = head.Status, head.Fields
	if grpc.IsMedia(head.Fields.Get("Content-Type")) {
		a.readGRPC()
		return a
	}
	body, err := x.Response.Body.Decode(&head)
	if err == nil {
		a.Body = body
	}
	return a
}

// readGRPC reads an answer over gRPC.
func (a *Answer) readGRPC() {
	status, ok := a.Exchange.Response.GRPCStatus()
	if ok {
		a.GRPC = &status
	}
	data := a.Events()
	switch {
	case ok && status.Code != grpc.OK:
		a.Body = append(append([]byte(`{"error":`), status.JSON()...), '}')
	case len(data) == 1 && !a.Exchange.Streams():
		a.Body = data[0]
	}
}

// Limits on quotes in a report, in bytes: of a message in a sentence, and of a separate one, which should be
// complete: a report has hundreds of them.
const (
	excerptSize = 4 << 10
	wholeSize   = 32 << 10
)

// requestText writes a request for people: its first line and its body.
func requestText(x *capture.Exchange) string {
	head := capture.ParseRequestHead(x.Request.Head)
	text := head.Method + " " + head.Target
	if body, _ := x.Request.Body.Decode(&head); len(body) > 0 {
		text += "\n" + cut(body, wholeSize)
	}
	return text
}

// answerText writes an answer for people: its status line, and its body or its events.
func answerText(x *capture.Exchange) string {
	if x.Response == nil {
		if x.Fault != nil {
			return "no answer: " + x.Fault.Detail
		}
		return "no answer"
	}
	line, _, _ := strings.Cut(string(x.Response.Head), "\r\n")
	var b strings.Builder
	b.WriteString(line)
	if body := readAnswer(x).Body; len(body) > 0 {
		b.WriteString("\n" + cut(body, wholeSize))
	}
	for i := range x.Response.Events {
		if b.Len() > wholeSize {
			fmt.Fprintf(&b, "\n… and %d more events", len(x.Response.Events)-i)
			break
		}
		e := &x.Response.Events[i]
		raw := e.Raw
		if e.As != nil {
			fields := e.Fields()
			raw = []byte(fields.Data)
		}
		b.WriteString("\n" + strings.TrimRight(cut(raw, wholeSize), "\r\n"))
	}
	b.WriteString(strings.TrimRight("\n"+string(x.Response.Trailer), "\r\n"))
	if x.Fault != nil {
		b.WriteString("\nthen: " + x.Fault.Detail)
	}
	return b.String()
}

// Excerpt quotes as much of the answer as fits into a sentence.
func Excerpt(p []byte) string { return cut(p, excerptSize) }

// cut returns the given number of bytes at most as text.
func cut(p []byte, size int) string {
	if len(p) <= size {
		return strings.ToValidUTF8(string(p), "\uFFFD")
	}
	return strings.ToValidUTF8(safetext.Cut(string(p), size), "\uFFFD") + fmt.Sprintf("… (%d bytes in all)", len(p))
}
