package intake

import (
	"errors"

	"a2atap/analyzer/engine/internal/tally"
	"a2atap/proxy/a2a"
	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
)

// largeText is the length in bytes from which a text is not checked while another one is redacted.
const largeText = 1 << 20

// isLarge reports whether a body is long, or may be long once decoded.
func isLarge(b *capture.Body, h *capture.Head, p *capture.Parsed) bool {
	return (p == nil || p.Text == nil) && (len(b.Data) > largeText || len(h.Fields.Codings()) > 0 && !b.Decoded)
}

// noTime is the reason why a long text was not checked.
const noTime = "was not checked: it is long, and the recording ended"

// leavesOut reports whether a text is skipped because it is long and time is short: n bytes on the wire, and its parsed
// form if it was parsed. Encoded text may be longer: see content.
func (ob *observer) leavesOut(n int, p *capture.Parsed) bool {
	return ob.outOfTime() && (n > budget.EndReadBytes || p.Size() > budget.EndReadBytes)
}

// leaveOut removes the bytes of an event that is skipped because time is short. The event is long, or its stream was
// compressed and may have many more events than its size suggests.
func (ob *observer) leaveOut(in *openExchange, s *capture.Step, raw *capture.Event) {
	coded := len(in.X.Response.Fields.Codings()) > 0 && ob.outOfTime()
	if raw.Dropped == 0 && (coded || ob.leavesOut(len(raw.Raw), s.Parsed)) {
		in.lack("an event of its stream", noTime)
		raw.Raw, raw.Dropped, s.Parsed = nil, raw.Dropped+int64(len(raw.Raw)), nil
	}
}

func (ob *observer) outOfTime() bool { return ob.hooks.OutOfTime != nil && ob.hooks.OutOfTime() }

// readMessage decodes a gRPC message; if time is short, it skips long ones.
func (ob *observer) readMessage(as *grpc.Codec, raw []byte) *grpc.Reading {
	if ob.outOfTime() {
		return as.ReadShort(raw)
	}
	return as.Read(raw)
}

// content returns a body with its content coding removed, and the parsed document if the body was parsed before. lacks
// says why the body cannot be read; it is empty if the body is complete, was recorded, and can be decoded. If time is
// short, content does not decode a body that becomes much longer.
func (ob *observer) content(b *capture.Body, h *capture.Head, p *capture.Parsed) (text []byte, doc *a2a.Doc, lacks string) {
	if !b.Complete || b.Dropped > 0 || b.Data == nil && b.Size != 0 {
		return nil, nil, "was not kept"
	}
	if p != nil && p.Text != nil {
		return p.Text, p.Doc, ""
	}
	overdue := ob.outOfTime()
	limit := int64(capture.DefaultDecodeLimit)
	if overdue {
		limit = budget.AtEnd(len(b.Data)).Bytes
	}
	plain, err := b.DecodeUpTo(limit, h)
	switch {
	case overdue && (errors.Is(err, capture.ErrTooLong) || jsondoc.MostNodes(plain) > budget.AtEnd(len(plain)).Nodes):
		return nil, nil, noTime
	case err != nil:
		return nil, nil, "cannot be decoded: " + err.Error()
	}
	return plain, nil, ""
}

// parsed returns the parsed document of a text; the zero Doc if the text is empty.
func parsed(text []byte) *a2a.Doc {
	if len(text) == 0 {
		return &a2a.Doc{}
	}
	doc := a2a.Parse(text)
	return &doc
}

// mayLack reports whether an unreadable body may be unreadable because the recording lacks a piece: if the store
// refused one, only the length shows it. A redacted body has another length, but can be read.
func mayLack(b *capture.Body, unreadable bool) bool {
	return unreadable && !b.Decoded && b.Size != capture.NotKnown && b.Size != int64(len(b.Data))
}

// headOf parses the head in a step.
func headOf(s capture.Step, raw []byte, parse func([]byte) capture.Head) capture.Head {
	if s.Parsed != nil && s.Parsed.Head != nil {
		return *s.Parsed.Head
	}
	return parse(raw)
}

// bodies counts the held bytes of bodies, and the gaps of the record.
type bodies struct {
	counter *tally.Counter
	held    int   // bytes, of open exchanges
	gaps    int64 // exchanges of which a part is missing, and losses of an unknown size
	missed  bool  // a request was not recorded, or could not be read
}

// maxBodies bounds the bytes of bodies that the engine holds for all open exchanges. Bodies beyond it are not checked,
// and count as a gap.
const maxBodies = 32 << 20

// hold counts bytes that are held while the exchange is open. It returns false if the limit is reached.
func (b *bodies) hold(in *openExchange, n int) bool {
	if b.held+n > maxBodies {
		return false
	}
	b.held += n
	in.size += n
	return true
}

// add appends a piece to a body. The first piece is shared with the step, which is never modified.
func (b *bodies) add(in *openExchange, to *capture.Body, data []byte, dropped int64, decoded bool) {
	if !b.hold(in, len(data)) {
		b.gap(in)
		dropped += int64(len(data))
		data = nil
	}
	if to.Data == nil && data != nil {
		to.Data = data[:len(data):len(data)]
	} else {
		to.Data = append(to.Data, data...)
	}
	to.Dropped += dropped
	to.Decoded = to.Decoded || decoded
}

// gap records that a part of an exchange was not recorded. The exchange is not counted as lost.
func (b *bodies) gap(in *openExchange) {
	if !in.gap {
		in.gap = true
		b.missed = true
		b.gaps++
	}
	in.cut()
}
