package grpc

import (
	"errors"
	"strings"

	"a2atap/proxy/background"
	"a2atap/proxy/budget"
	"a2atap/proxy/jsondoc"
)

// A Codec decodes and encodes the messages of one side of a call.
type Codec struct {
	Type     *Type  // nil if it is not known
	Encoding string // the grpc-encoding of the head
}

// IsMedia reports whether a Content-Type is gRPC with protocol buffers.
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

	// Overwritten means that the message has values that are not in the JSON, because later values replaced them.
	Overwritten bool
}

// The reasons why there is no readable message.
var (
	ErrNoMessage = errors.New("there is no message")
	ErrNoType    = errors.New("the messages of this method are unknown")
	ErrNotKept   = errors.New("it was not kept")
	ErrBusy      = errors.New("too many long messages were read at once")
)

// Read reads the first message of a body, up to budget.Read. A long message waits for its turn among all long texts
// (background.Large), so callers must not have that turn, nor be in the path of the traffic.
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

// ReadHeld is Read in the path of the traffic: up to budget.Held, and without a noticeable wait. The error is ErrBusy
// if too many long messages are being read. It also returns the uncompressed message. If wanted is not nil and does not
// accept the message, it is not read, and the Reading is nil.
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

// unpack decompresses the first message of a body, and returns a Reading with the error and the rest.
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
	if r.Err == nil && c.Type.isOlder(r.Doc.Root, within) {
		r.Text, r.Doc, d.unknown = nil, jsondoc.Doc{}, nil
		r.Err = &Error{Reason: "it has the fields of package a2a.v1, which was in use before 1.0"}
	}
	if reading, ok := newer[c.Type]; ok && !reading.fits(r.Doc.Root) && reading.isRight(message, within) {
		r.Text, r.Doc, d.unknown = nil, jsondoc.Doc{}, nil
		r.Err = &Error{Reason: "it has the fields of package lf.a2a.v1, which is in use since 1.0"}
	}
	if fault := r.Doc.Err; fault != nil && fault.Limit {
		r.Text, r.Doc, r.Err = nil, jsondoc.Doc{}, &Error{Reason: fault.Reason, Limit: true}
	}
	r.Unknown, r.Overwritten = d.unknown, d.hidden
}

// lacked lists members that are missing from 1.0 messages if they were written with the fields of 0.3: the tenant's
// field in 1.0 was the name of the task in 0.3.
var lacked = map[*Type]string{
	package1_0["GetTaskRequest"]:                          "id",
	package1_0["CancelTaskRequest"]:                       "id",
	package1_0["SubscribeToTaskRequest"]:                  "id",
	package1_0["TaskPushNotificationConfig"]:              "url",
	package1_0["GetTaskPushNotificationConfigRequest"]:    "taskId",
	package1_0["DeleteTaskPushNotificationConfigRequest"]: "taskId",
}

// isOlder reports whether a message that can be read as a 1.0 message was written with the fields of 0.3. In 0.3, the
// first field of SendMessageRequest was the message.
func (t *Type) isOlder(root jsondoc.Value, within budget.Budget) bool {
	tenant := root.Get("tenant").Text()
	if t == package1_0["SendMessageRequest"] && tenant != "" {
		d := newDecoder([]byte(tenant), within)
		return d.message(package0_3["Message"], []byte(tenant), 0) == nil && len(d.unknown) == 0 &&
			jsondoc.Parse(d.text).Root.Get("messageId").Text() != ""
	}
	needs, known := lacked[t]
	return known && strings.HasPrefix(tenant, "tasks/") && root.Get(needs).Text() == ""
}

// A newerType is how a message of 0.3 reads if it was written with the fields of 1.0.
type newerType struct {
	of1_0      *Type
	has, needs string // pointers to members that a message of 0.3 and one of 1.0 cannot lack
}

// newer lists such requests. A message or name was in the first field in 0.3, and is in the second one since.
var newer = map[*Type]newerType{
	package0_3["SendMessageRequest"]:      {package1_0["SendMessageRequest"], "/message", "/message/messageId"},
	package0_3["GetTaskRequest"]:          {package1_0["GetTaskRequest"], "/name", "/id"},
	package0_3["CancelTaskRequest"]:       {package1_0["CancelTaskRequest"], "/name", "/id"},
	package0_3["TaskSubscriptionRequest"]: {package1_0["SubscribeToTaskRequest"], "/name", "/id"},
}

// fits reports whether a message that was decoded as 0.3 has the required members of 0.3.
func (n *newerType) fits(root jsondoc.Value) bool { return root.At(n.has).Exists() }

// isRight reports whether a message is of 1.0 and has the required members.
func (n *newerType) isRight(message []byte, within budget.Budget) bool {
	d := newDecoder(message, within)
	return d.message(n.of1_0, message, 0) == nil && len(d.unknown) == 0 &&
		jsondoc.Parse(d.text).Root.At(n.needs).Text() != ""
}

// Size is the approximate memory of a Reading in bytes, in addition to its message.
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

// Write encodes JSON as an uncompressed gRPC message.
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
