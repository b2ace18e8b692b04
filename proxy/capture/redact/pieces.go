package redact

import (
	"bytes"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
)

// maxPieced bounds the texts of an exchange that are followed. Pieces of further ones are hidden as a whole.
const maxPieced = 64

// pieced are the JSON texts that come in pieces, in strings of the events of a stream. Only a search that continues from
// piece to piece sees which value belongs to the name of a secret.
type pieced map[string]*pieceState

// A pieceState is where in its JSON text the next piece begins.
type pieceState struct {
	inString, escaped bool
	name              []byte // of the last string, if it is short
	named             bool   // a colon has followed it: a value comes
	secret            bool   // the string is a secret
	hidden            bool   // its placeholder was written
	depth, within     int    // of objects and arrays; that of the one that is a secret as a whole, or 0
}

// maxPieceName bounds the bytes of a name. No name of a secret is longer.
const maxPieceName = 128

// hide returns the edits of an event's data that hide the secrets in pieces of texts.
func (p *pieced) hide(m *mask, pieces []capture.Piece) (edits []edit) {
	for _, piece := range pieces {
		state := (*p)[piece.Of]
		if state == nil && len(*p) < maxPieced {
			if *p == nil {
				*p = make(pieced)
			}
			state = &pieceState{}
			(*p)[piece.Of] = state
		}
		now, changed := "", true
		if was := piece.Text.Text(); state != nil {
			now, changed = state.next(m, was)
		} else {
			now = m.hideWhole(was)
		}
		if changed {
			quoted, _ := jsontext.AppendQuote(nil, now) // the error is about bytes that are not UTF-8, which became U+FFFD
			at := piece.Text.Offset()
			edits = append(edits, edit{at, at + len(piece.Text.Raw()), string(quoted)})
		}
	}
	return edits
}

// next returns a piece of the text without its secrets. The first part of a secret becomes its placeholder, and the rest
// of it nothing.
func (s *pieceState) next(m *mask, piece string) (now string, changed bool) {
	out := make([]byte, 0, len(piece))
	start := -1 // of the part of a secret
	hide := func(end int) {
		if part := piece[max(start, 0):end]; start >= 0 && part != "" {
			if changed = true; !s.hidden {
				s.hidden = true
				out = append(out, m.hideWhole(part)...)
			}
		}
		start = -1
	}
	for i := range len(piece) {
		c := piece[i]
		if !s.inString {
			out = append(out, c)
			s.outside(c)
			continue
		}
		ends := c == '"' && !s.escaped
		if s.secret && !ends {
			if start < 0 {
				start = i
			}
		} else {
			hide(i)
			out = append(out, c)
		}
		switch {
		case ends:
			s.inString, s.secret, s.hidden = false, false, false
		case len(s.name) < maxPieceName:
			s.name = append(s.name, c)
		}
		s.escaped = c == '\\' && !s.escaped
	}
	hide(len(piece))
	return string(out), changed
}

// outside takes a character outside strings.
func (s *pieceState) outside(c byte) {
	switch c {
	case '"':
		s.inString, s.escaped = true, false
		s.secret = s.within > 0 || s.ofSecret()
		s.name, s.named = s.name[:0], false
	case ':':
		s.named = true
	case '{', '[':
		s.depth++
		if s.within == 0 && s.ofSecret() {
			s.within = s.depth
		}
		s.named = false
	case '}', ']':
		if s.depth == s.within {
			s.within = 0
		}
		s.depth = max(s.depth-1, 0)
		s.named = false
	case ',':
		s.named = false
	}
}

// ofSecret reports whether the next value belongs to the name of a secret.
func (s *pieceState) ofSecret() bool {
	if !s.named {
		return false
	}
	name := s.name
	if bytes.IndexByte(name, '\\') >= 0 {
		name, _ = jsontext.AppendUnquote(nil, slices.Concat([]byte{'"'}, name, []byte{'"'})) // what is readable of it counts
	}
	return credential.Member(name)
}
