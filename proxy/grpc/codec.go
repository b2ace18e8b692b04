package grpc

import (
	"errors"
	"strings"

	"a2atap/proxy/background"
	"a2atap/proxy/budget"
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
	ErrBusy      = errors.New("too many long messages were read at once")
)

// Read reads the first message of a body, as far as budget.Read goes. A long one waits for its turn with all other long
// texts (background.Large), so callers must not have that turn, nor be in the path of the traffic.
func (c *Codec) Read(body []byte) *Reading {
	turn := turn{of: background.Large}
	defer turn.end()
	_, r := c.read(body, budget.Read, &turn)
	return r
}

// ReadInTurn is Read for callers that may have the turn of long texts.
func (c *Codec) ReadInTurn(body []byte) *Reading {
	_, r := c.read(body, budget.Read, &turn{of: func() func() { return func() {} }})
	return r
}

// ReadShort is Read as far as budget.AtEnd goes, without a wait.
func (c *Codec) ReadShort(body []byte) *Reading {
	_, r := c.read(body, budget.AtEnd(len(body)), &turn{of: func() func() { return func() {} }})
	return r
}

// ReadHeld is Read in the path of the traffic: as far as budget.Held goes, and without a wait that the traffic notices. The
// error is ErrBusy if too many long messages are read at once. It also returns the message without its compression. A
// message that wanted, which may be nil, does not report to be is not read: then the Reading is nil.
func (c *Codec) ReadHeld(body []byte, wanted func(message []byte) bool) (message []byte, r *Reading) {
	turn := heldTurn()
	defer turn.end()
	message, r = c.unpack(body, budget.HeldReadBytes, turn)
	if r.Err != nil {
		return nil, r
	}
	if wanted != nil && !wanted(message) {
		return message, nil
	}
	r.read(c, message, budget.Held)
	return message, r
}

func (c *Codec) read(body []byte, within budget.Budget, turn *turn) (message []byte, r *Reading) {
	if message, r = c.unpack(body, within.Bytes, turn); r.Err == nil {
		r.read(c, message, within)
	}
	return message, r
}

// unpack takes the compression off the first message of a body, and returns a Reading that has the error and the rest.
func (c *Codec) unpack(body []byte, limit int64, turn *turn) (message []byte, r *Reading) {
	frame, rest, ok := Cut(body)
	r = &Reading{Rest: rest}
	switch {
	case !ok && len(body) == 0:
		r.Err = ErrNoMessage
	case !ok:
		r.Err = ErrCutOff
	default:
		message, r.Err = frame.plain(c.Encoding, limit, turn.begin)
	}
	return message, r
}

func (r *Reading) read(c *Codec, message []byte, within budget.Budget) {
	if c.Type == nil {
		r.Err = ErrNoType
		return
	}
	d := newDecoder(message, within)
	if r.Err = d.message(c.Type, message, 0); r.Err == nil {
		r.Text, r.Doc = d.text, jsondoc.Parse(d.text)
	}
	if fault := r.Doc.Err; fault != nil && fault.Limit {
		r.Text, r.Doc, r.Err = nil, jsondoc.Doc{}, &Error{Reason: fault.Reason, Limit: true}
	}
	r.Unknown, r.Overwritten = d.unknown, d.hidden
}

// Size is about how many bytes a Reading takes in memory in addition to the bytes of its message.
func (r *Reading) Size() int {
	n := len(r.Text) + r.Doc.Size()
	for i := range r.Unknown {
		n += len(r.Unknown[i].Pointer)
	}
	return n
}

// Limit reports whether the message may be in order, and only cannot be read here.
func (r *Reading) Limit() bool {
	fault, ok := errors.AsType[*Error](r.Err)
	return ok && fault.Limit || errors.Is(r.Err, ErrEncoding) || errors.Is(r.Err, ErrTooLong) || errors.Is(r.Err, ErrBusy) ||
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
