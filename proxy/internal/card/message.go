package card

import (
	"bytes"
	"errors"
	"fmt"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/internal/rawhead"
)

// MethodOf returns the A2A method of a gRPC request with this head, or nil.
func MethodOf(head []byte) *grpc.Method {
	if !capture.IsGRPC(capture.MediaType(string(rawhead.Value(head, "Content-Type")))) {
		return nil
	}
	_, target, _ := bytes.Cut(rawhead.StartLine(head), []byte(" "))
	target, _, _ = bytes.Cut(target, []byte(" "))
	method, ok := grpc.MethodOf(string(target))
	if !ok || !method.Known() {
		return nil
	}
	return &method
}

// messageOf returns the type of the card that a gRPC request asks for, or nil.
func messageOf(head []byte) *grpc.Type {
	method := MethodOf(head)
	if method == nil {
		return nil
	}
	if operation := a2a.OperationOf(method.Name); operation != a2a.GetCard && operation != a2a.GetExtendedCard {
		return nil
	}
	return method.Answer
}

var errNoMessage = errors.New("it is not exactly one message")

// message returns the card in an answer of gRPC, and the same as JSON.
func (q *request) message(h *capture.Head, body []byte) (message, text []byte, err error) {
	if _, rest, ok := grpc.Cut(body); !ok || len(rest) > 0 {
		return nil, nil, errNoMessage
	}
	as := grpc.Codec{Type: q.rpc, Encoding: h.Fields.Get("Grpc-Encoding")}
	message, read := as.ReadHeld(body, nil)
	return message, read.Text, read.Err
}

// answerMessage is Answer for a card over gRPC. Only the strings with addresses change, and their lengths. The message
// is sent uncompressed, which is allowed for each message.
func (l *Editor) answerMessage(x int, q *request, head, body, trailer []byte) []byte {
	if len(body) == 0 { // the call has failed
		return nil
	}
	h := capture.ParseResponseHead(head)
	message, text, err := q.message(&h, body)
	if err != nil {
		l.note(x, fmt.Sprintf("the card of %s could not be read (%v): it was forwarded unchanged, and a client that follows "+
			"it bypasses the tap", l.site.Name, err))
		return nil
	}
	replacements := l.rewrite(x, q, text)
	if len(replacements) == 0 {
		return nil
	}
	by := make(map[string]Replacement)
	for _, r := range replacements {
		by[r.Pointer] = r
	}
	message = q.rpc.Replace(message, func(pointer, text string) (string, bool) {
		r, ok := by[pointer]
		return r.By, ok && r.Text == text
	})
	edit := rawhead.NewEdit(head)
	rawhead.DropDigests(edit)
	return rawhead.Frame(edit, &h, grpc.AppendFrame(nil, message), rawhead.WithoutDigests(trailer))
}
