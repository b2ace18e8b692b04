package grpc

import (
	"errors"
	"strings"

	"a2atap/proxy/jsondoc"
)

// A Codec says how the messages of one side of a call are read.
type Codec struct {
	Type     *Type  // nil if it is not known
	Encoding string // the grpc-encoding of the head
}

// IsMedia reports whether a Content-Type is that of gRPC with messages in protocol buffers.
//
// Source: gRPC over HTTP2, "Requests".
func IsMedia(contentType string) bool {
	essence, _, _ := strings.Cut(strings.ToLower(contentType), ";")
	essence = strings.TrimSpace(essence)
	return essence == "application/grpc" || essence == "application/grpc+proto"
}

// A Reading is a message as it was read.
type Reading struct {
	Text    []byte // as JSON; nil if Err is not
	Doc     jsondoc.Doc
	Unknown []Unknown
	Rest    []byte // what follows the message
	Err     error  // why it cannot be read

	// Overwritten says that values stand in the message that are not in the JSON, since others have come in their place.
	Overwritten bool
}

// The reasons why there is no message to be read.
var (
	ErrNoMessage = errors.New("there is no message")
	ErrNoType    = errors.New("messages of this method are not known here")
	ErrNotKept   = errors.New("it was not kept")
)

// Read reads the first message of a body.
func (c *Codec) Read(body []byte) *Reading {
	frame, rest, ok := Cut(body)
	r := &Reading{Rest: rest}
	switch {
	case !ok && len(body) == 0:
		r.Err = ErrNoMessage
	case !ok:
		r.Err = ErrCutOff
	default:
		r.read(c, &frame)
	}
	return r
}

func (r *Reading) read(c *Codec, frame *Frame) {
	var message []byte
	if message, r.Err = frame.Plain(c.Encoding); r.Err != nil {
		return
	}
	if c.Type == nil {
		r.Err = ErrNoType
		return
	}
	d := newDecoder(message)
	if r.Err = d.message(c.Type, message, 0); r.Err == nil {
		r.Text, r.Doc = d.text, jsondoc.Parse(d.text)
	}
	r.Unknown, r.Overwritten = d.unknown, d.hidden
}

// Limit reports whether the message may be in order, and only cannot be read here.
func (r *Reading) Limit() bool {
	fault, ok := errors.AsType[*Error](r.Err)
	return ok && fault.Limit || errors.Is(r.Err, ErrEncoding) || errors.Is(r.Err, ErrTooLong) ||
		errors.Is(r.Err, ErrNoType) || errors.Is(r.Err, ErrNotKept)
}

// Write returns a message as gRPC carries it, not compressed, made of the JSON that it stands for.
func (c *Codec) Write(object jsondoc.Value) ([]byte, error) {
	if c.Type == nil {
		return nil, ErrNoType
	}
	message, err := c.Type.FromJSON(object)
	if err != nil {
		return nil, err
	}
	return AppendFrame(nil, message), nil
}

// Reasons are the errors of Read that are always the same.
var Reasons = []error{
	ErrNoMessage, ErrNoType, ErrNotKept, ErrCutOff, ErrReserved, ErrUnnamed, ErrEncoding, ErrTooLong,
}
