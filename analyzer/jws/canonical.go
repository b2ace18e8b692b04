// Package jws verifies JSON Web Signatures over JSON texts in their canonical form, as agent cards are signed.
//
// It knows RFC 7515 (JWS), RFC 7517 and 7518 (keys and algorithms), RFC 8037 and 9864 (EdDSA) and RFC 8785 (JCS), and
// nothing of A2A: which members of a card are signed is for others. Keys are given; nothing is ever fetched. It only
// verifies: private and symmetric keys are passed over.
package jws

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Canonical returns a JSON text in its canonical form (RFC 8785). It returns an error for texts that are not I-JSON
// (RFC 7493): with a duplicate member name in one object, with strings that are not Unicode text, or with numbers that
// a double cannot represent.
func Canonical(text []byte) ([]byte, error) {
	v := jsontext.Value(bytes.Clone(text))
	if err := v.Canonicalize(); err != nil {
		return nil, err
	}
	return v, nil
}
