package redact

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// A piece is a part of a body, of a request or of an answer.
type piece capture.RequestBody

// held is a body on its way through the redactor.
type held struct {
	kind    bodyKind
	head    *capture.Head // nil where the record has a gap
	data    []byte
	dropped int64
	decoded bool         // it came decoded
	passed  int64        // bytes that did not wait
	last    capture.Step // the last piece that waits; without What if none does
}

// bodyKind says what becomes of a body.
type bodyKind uint8

const (
	bodyUndecided bodyKind = iota // nothing but blanks has come
	bodyPasses                    // it holds nothing that we could find: it passes at once
	bodyJSON
	bodyForm
	bodyUnknown  // compressed, so that only its end tells what it is
	bodyWithheld // there was no more room for it
)

var errNoRoom = errors.New("too many bodies were on their way at once")

// take takes a piece of the body. It reports whether something passes at once, and what.
func (h *held) take(r *redactor, s capture.Step, p piece) (piece, bool) {
	if h.kind == bodyUndecided {
		h.decide(r, h.fields(), p.Data)
	}
	if h.kind != bodyPasses {
		h.add(r, s, p)
		return piece{}, false
	}
	if h.last.What != nil { // blanks that waited
		p.Data = slices.Concat(h.data, p.Data)
		h.release(r)
		h.last = capture.Step{}
	}
	h.passed += int64(len(p.Data)) + p.Dropped
	return p, true
}

// fields returns the fields of its head.
func (h *held) fields() capture.Fields {
	if h.head == nil {
		return nil
	}
	return h.head.Fields
}

// decide tells by the fields of the head and the first bytes what a body is.
func (h *held) decide(r *redactor, fields capture.Fields, data []byte) {
	if r.opts.Keep && r.opts.Describer == nil {
		h.kind = bodyPasses
		return
	}
	switch kind := mediaKind(fields.MediaType()); {
	case kind != bodyUnknown:
		h.kind = kind
	case len(fields.Codings()) > 0:
		h.kind = bodyUnknown
	default:
		h.kind = h.sniff(data)
	}
}

// sniff tells by its first bytes what a body is: wrongly labelled JSON is common.
func (h *held) sniff(data []byte) bodyKind {
	if len(h.data) < len(capture.BOM) {
		data = slices.Concat(h.data, data)
	}
	switch rest := trimFront(data); {
	case len(rest) == 0 || len(data) < len(capture.BOM) && strings.HasPrefix(capture.BOM, string(data)):
		return bodyUndecided
	case looksLikeJSON(rest):
		return bodyJSON
	}
	return bodyPasses
}

// mediaKind tells by its media type what a body is; bodyUnknown if it could be JSON.
func mediaKind(essence string) bodyKind {
	major, minor, _ := strings.Cut(essence, "/")
	switch {
	case essence == "application/x-www-form-urlencoded":
		return bodyForm
	case minor == "json" || strings.HasSuffix(minor, "+json"):
		return bodyJSON
	case major == "application" || major == "text" || major == "":
		return bodyUnknown
	}
	return bodyPasses
}

// trimFront takes off what may stand before JSON: a byte order mark and blanks.
func trimFront(data []byte) []byte { return bytes.TrimLeft(capture.TrimBOM(data), " \t\r\n") }

// looksLikeJSON reports whether data begins as JSON that can hold something.
func looksLikeJSON(data []byte) bool {
	data = trimFront(data)
	return len(data) > 0 && strings.IndexByte(`{["`, data[0]) >= 0
}

// add keeps a piece until the body's end.
func (h *held) add(r *redactor, s capture.Step, p piece) {
	h.last = s
	h.dropped += p.Dropped
	h.decoded = h.decoded || p.Decoded
	n := int64(len(p.Data))
	if h.kind == bodyWithheld || r.held+n > r.maxHeld {
		h.kind = bodyWithheld
		h.dropped += int64(len(h.data)) + n
		h.release(r)
		return
	}
	if h.data == nil {
		h.data = p.Data[:n:n]
	} else {
		h.data = append(h.data, p.Data...)
	}
	r.held += n
}

// release gives up the bytes of the body.
func (h *held) release(r *redactor) {
	r.held -= int64(len(h.data))
	h.data = nil
}

// finish completes the Describer's view of the body. It returns the body's text, whether that is another than the bytes
// on the wire, whether it is the whole body, and why it must be withheld.
func (h *held) finish(b *capture.Body, limit int64) (text []byte, coded, whole bool, err error) {
	b.Dropped += h.dropped + h.passed
	if h.kind == bodyWithheld {
		return nil, false, false, errNoRoom
	}
	whole = h.dropped+h.passed == 0
	if text = h.data; text == nil {
		return nil, false, whole, nil
	}
	if codings := h.fields().Codings(); !h.decoded && len(codings) > 0 {
		decoded, err := capture.Decode(text, codings, limit)
		if errors.Is(err, capture.ErrTooLong) {
			return nil, false, false, err
		}
		// What came before a fault is all that any reader can see. Where nothing did, it may be that nothing is coded.
		if err == nil || len(decoded) > 0 {
			text, coded = decoded, true
		}
		whole = whole && err == nil
	}
	b.Data, b.Decoded = text, h.decoded || coded
	return text, coded, whole, nil
}

// body returns the edits that hide the secrets of a body.
func (m *mask) body(kind bodyKind, body *capture.Parsed, set *placeSet) []edit {
	labelled := kind == bodyForm || kind == bodyJSON
	switch {
	case looksLikeJSON(body.Text):
		return m.parsed(body.Doc, body.Text, set)
	case labelled: // as either, whatever the label
		if edits := m.form(body.Text); len(edits) > 0 {
			return edits
		}
		return m.parsed(body.Doc, body.Text, set)
	}
	return nil
}

// An edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// splice returns a copy of data with the edits made. Of edits that overlap, the one that begins first is made.
func splice(data []byte, edits []edit) []byte {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.start - b.start })
	out := make([]byte, 0, len(data))
	at := 0
	for _, e := range edits {
		if e.start < at {
			continue
		}
		out = append(append(out, data[at:e.start]...), e.text...)
		at = e.end
	}
	return append(out, data[at:]...)
}
