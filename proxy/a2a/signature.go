package a2a

import (
	"encoding/base64"
	"iter"
)

// A Signature is one signature of a card: a JWS whose payload is the card itself (RFC 7515, A2A 1.0 §8.4).
type Signature struct {
	Value
	Protected string // as it stands; "" if it is missing or no text
	Header    Value  // what Protected holds; Absent if that is not base64url without padding, or no JSON
	Bytes     []byte // of the signature itself; nil if that is missing, or not base64url without padding
}

// Signatures yields the signatures of a card.
func (c Card) Signatures() iter.Seq2[int, Signature] {
	return func(yield func(int, Signature) bool) {
		for i, v := range c.Get("signatures").Elems() {
			s := Signature{Value: v, Protected: v.Get("protected").Text()}
			if text, ok := decodeURL(s.Protected); ok {
				if doc := Parse(text); doc.Err == nil {
					s.Header = doc.Root
				}
			}
			if bytes, ok := decodeURL(v.Get("signature").Text()); ok {
				s.Bytes = bytes
			}
			if !yield(i, s) {
				return
			}
		}
	}
}

// decodeURL reads base64url without padding (RFC 7515 §2), and not the empty text.
func decodeURL(text string) ([]byte, bool) {
	b, err := base64.RawURLEncoding.DecodeString(text)
	return b, err == nil && len(b) > 0
}
