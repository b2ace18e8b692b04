package neighbor

import (
	"bytes"
	"unicode/utf8"

	"a2atap/proxy/jsondoc"
)

// A pattern is the bytes around the text of an event that has said one text, and has done nothing else that would add up
// if the event came again. Most events of a stream differ from the one before in the text alone: they need not be parsed.
type pattern struct {
	before, after []byte
	known         bool

	texts int           // that the event has said
	last  jsondoc.Value // the last of them
	other bool          // it has added something else
}

// begin forgets the event before.
func (p *pattern) begin() { p.known, p.texts, p.other = false, 0, false }

// said records a text of the event.
func (p *pattern) said(v jsondoc.Value) { p.texts, p.last = p.texts+1, v }

// vary records that the event adds something besides text.
func (p *pattern) vary() { p.other = true }

// end makes a pattern of an event that was read, and of its data.
func (p *pattern) end(raw, data []byte) {
	text, plain := p.last.Literal()
	at := bytes.Index(raw, data)
	if p.texts != 1 || p.other || !plain || at < 0 {
		return
	}
	at += p.last.Offset() + 1
	p.known = true
	p.before, p.after = append(p.before[:0], raw[:at]...), append(p.after[:0], raw[at+len(text):]...)
	p.last = jsondoc.Value{}
}

// fits reports whether an event differs from the pattern in the text alone, which needs no unescaping.
func (p *pattern) fits(raw []byte) bool {
	if !p.known || len(raw) < len(p.before)+len(p.after) || !bytes.HasPrefix(raw, p.before) || !bytes.HasSuffix(raw, p.after) {
		return false
	}
	text := p.text(raw)
	for _, c := range text {
		if c < ' ' || c == '"' || c == '\\' {
			return false
		}
	}
	return utf8.Valid(text)
}

func (p *pattern) text(raw []byte) []byte { return raw[len(p.before) : len(raw)-len(p.after)] }
