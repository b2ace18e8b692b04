package redact

import (
	"errors"
	"html"
	"slices"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// A piece is a part of a body, of a request or of an answer.
type piece capture.RequestBody

// is reports whether a piece is another one, with the same bytes in memory.
func (p piece) is(q piece) bool {
	return same(p.Data, q.Data) && (p.Data == nil) == (q.Data == nil) && p.Dropped == q.Dropped && p.Decoded == q.Decoded
}

// held is a body on its way through the redactor.
type held struct {
	kind    bodyKind
	head    *capture.Head // nil where the record has a gap
	data    []byte
	dropped int64
	unkept  int64        // of these, what never came here
	decoded bool         // it came decoded
	passed  int64        // bytes that did not wait
	last    capture.Step // the last piece that waits; without What if none does
}

// A bodyKind determines how a body is handled.
type bodyKind uint8

const (
	bodyUndecided bodyKind = iota // only blanks have arrived
	bodyPasses                    // it holds nothing that a search could find: it passes at once
	bodyJSON
	bodyForm
	bodyText
	bodyMarkup   // XML or HTML: withheld if a tag has the name of a secret
	bodyParts    // multipart: withheld
	bodyGRPC     // a message of A2A
	bodyUnknown  // compressed, so that only its end tells what it is
	bodyHeadless // part of no known message: an unrequested whole message, or the rest of one
	bodyWithheld // withheld: too many bodies were waiting already
)

var (
	errNoRoom    = errors.New("too many bodies were in transit at once")
	errNoTime    = errors.New("the recording ended before there was time to search it")
	errUnsettled = errors.New("without its secrets it would have another meaning")
	errMarkup    = errors.New("one of its tags has the name of a secret")
	errParts     = errors.New("multipart bodies are not searched")
	errHeadless  = errors.New("it belongs to an unknown message")
)

// take takes a piece of the body. It reports whether a piece passes at once, and returns that piece.
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

// fields returns the fields of the body's head.
func (h *held) fields() capture.Fields {
	if h.head == nil {
		return nil
	}
	return h.head.Fields
}

// decide determines the kind of a body from the fields of the head and the first bytes.
func (h *held) decide(r *redactor, fields capture.Fields, data []byte) {
	kind := mediaKind(fields.MediaType())
	switch {
	case h.head != nil && h.head.GRPCMessage() != nil && !(r.opts.Keep && r.opts.Describer == nil):
		h.kind = bodyGRPC
		return
	case r.opts.Keep && r.opts.Describer == nil:
		h.kind = bodyPasses
		return
	case h.head == nil && !r.opts.Keep:
		h.kind = bodyHeadless
		return
	case kind == bodyUnknown && len(fields.Codings()) == 0, kind == bodyText && r.opts.Keep:
		if len(h.data) < len(capture.BOM) {
			data = slices.Concat(h.data, data)
		}
		kind = sniff(data, kind == bodyText)
	}
	if r.opts.Keep && kind != bodyJSON && kind != bodyUndecided && kind != bodyUnknown {
		kind = bodyPasses
	}
	h.kind = kind
}

// sniff determines the kind of a body from its first bytes: wrongly labeled JSON is common.
func sniff(data []byte, isText bool) bodyKind {
	rest := trimFront(data)
	switch {
	case len(rest) == 0 || len(data) < len(capture.BOM) && strings.HasPrefix(capture.BOM, string(data)):
		return bodyUndecided
	case looksLikeJSON(rest):
		return bodyJSON
	case rest[0] == '<':
		return bodyMarkup
	case isText || isPlain(rest):
		return bodyText
	}
	return bodyPasses
}

// isPlain reports whether a text begins like readable text.
func isPlain(data []byte) bool {
	data = data[:min(len(data), 256)]
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return i > 0 && !utf8.FullRune(data[i:]) // cut off here
		}
		if r < ' ' && !isBlank(byte(r)) {
			return false
		}
		i += size
	}
	return true
}

// mediaKind determines the kind of a body from its media type; bodyUnknown if the first bytes have to decide.
func mediaKind(essence string) bodyKind {
	major, minor, _ := strings.Cut(essence, "/")
	switch {
	case capture.IsGRPC(essence): // messages say how long they are, whatever is in them
		return bodyPasses
	case essence == "application/x-www-form-urlencoded":
		return bodyForm
	case minor == "json" || strings.HasSuffix(minor, "+json"):
		return bodyJSON
	case minor == "xml" || strings.HasSuffix(minor, "+xml") || minor == "html":
		return bodyMarkup
	case major == "multipart":
		return bodyParts
	case major == "text" || major == "message":
		return bodyText
	case major == "application" || major == "":
		return bodyUnknown
	}
	return bodyPasses
}

// add keeps a piece until the body's end.
func (h *held) add(r *redactor, s capture.Step, p piece) {
	h.last = s
	h.dropped += p.Dropped
	h.unkept += p.Dropped
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

// long reports whether it takes a while to search the body. An encoded body may be much longer than it looks.
func (h *held) long() bool { return len(h.data) > longBody }

// outOfTime reports whether there is no time for long bodies.
func (r *redactor) outOfTime() bool {
	return !r.opts.Keep && r.opts.OutOfTime != nil && r.opts.OutOfTime()
}

// limit returns how many bytes a body may have after decoding.
func (h *held) limit(r *redactor) int64 {
	if r.outOfTime() {
		return min(r.decodeLimit, longBody, budget.AtEnd(len(h.data)).Bytes)
	}
	return r.decodeLimit
}

// finish completes the Describer's view of the body. It returns the body's text, whether the text differs from the
// bytes on the wire, whether it is the whole body, and why it must be withheld.
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
		// Readers can see only what came before a fault. If nothing came before it, the body may not be encoded at all.
		if err == nil || len(decoded) > 0 {
			text, coded = decoded, true
		}
		whole = whole && err == nil
	}
	b.Data, b.Decoded = text, h.decoded || coded
	return text, coded, whole, nil
}

// body returns a body without its secrets; the body itself if it has none. It returns an error, so that the body is
// withheld, if its type is not searched, or if the body would change its nature without its secrets.
func (s search) body(kind bodyKind, body *capture.Parsed) ([]byte, error) {
	if looksLikeJSON(body.Text) && (body.Doc == nil || body.Doc.Err == nil) {
		return splice(body.Text, s.json(body.Doc, body.Text)), nil
	}
	if kind == bodyUnknown {
		kind = sniff(body.Text, false)
	}
	switch {
	case looksLikeJSON(body.Text), len(trimFront(body.Text)) == 0:
	case kind == bodyParts:
		return nil, errParts
	case kind == bodyMarkup && secretTag(body.Text):
		return nil, errMarkup
	}
	return settle(body.Text, func(text []byte) []edit { return s.once(kind, text) })
}

// once returns the edits that hide the secrets of a body, as far as one pass finds them.
func (s search) once(kind bodyKind, text []byte) []edit {
	switch {
	case looksLikeJSON(text):
		return s.json(nil, text)
	case kind == bodyForm, kind == bodyJSON: // as either, whatever the label
		if edits := s.form(text); len(edits) > 0 {
			return edits
		}
		return s.json(nil, text)
	case kind == bodyText, kind == bodyMarkup:
		return s.loose(text)
	}
	return nil
}

// secretTag reports whether a tag of XML or HTML, which need not be well-formed, contains the name of a secret: as an
// element, as an attribute, or as a value, as in name="password".
func secretTag(text []byte) bool {
	between := func(r rune) bool { return r >= utf8.RuneSelf || r != '.' && r != ':' && !nameByte(byte(r)) }
	for i, c := range text {
		if c != '<' {
			continue
		}
		tag := html.UnescapeString(string(text[i+1 : tagEnd(text, i+1)]))
		for name := range strings.FieldsFuncSeq(tag, between) {
			if credential.Member(name) {
				return true
			}
		}
	}
	return false
}

// tagEnd returns the end of the tag that contains index i: after a > outside quotes, or before another <.
func tagEnd(text []byte, i int) int {
	quote := byte(0)
	for ; i < len(text) && text[i] != '<'; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '>':
			return i + 1
		}
	}
	return i
}
