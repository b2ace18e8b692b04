package jws

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	_ "crypto/sha256" // for crypto.SHA256
	_ "crypto/sha512" // for crypto.SHA384 and crypto.SHA512
	"encoding/base64"
	"errors"
	"math/big"
)

// A Verdict is the result of verifying a signature with a key.
type Verdict uint8

// The verdicts.
const (
	Unusable Verdict = iota // the key cannot tell: it is of another kind than the algorithm, or not to be used with it
	Invalid
	Valid
)

// An algorithm is one of RFC 7518 §3.1 or RFC 8037 §3.1.
type algorithm struct {
	hash crypto.Hash
	kind kind
	size int // of a coordinate, in bytes
}

type kind uint8

const (
	ecdsaKind kind = iota
	pkcs1Kind
	pssKind
	ed25519Kind
)

var algorithms = map[string]algorithm{
	"ES256":   {crypto.SHA256, ecdsaKind, 32},
	"ES384":   {crypto.SHA384, ecdsaKind, 48},
	"ES512":   {crypto.SHA512, ecdsaKind, 66},
	"RS256":   {crypto.SHA256, pkcs1Kind, 0},
	"RS384":   {crypto.SHA384, pkcs1Kind, 0},
	"RS512":   {crypto.SHA512, pkcs1Kind, 0},
	"PS256":   {crypto.SHA256, pssKind, 0},
	"PS384":   {crypto.SHA384, pssKind, 0},
	"PS512":   {crypto.SHA512, pssKind, 0},
	"EdDSA":   {0, ed25519Kind, 0},
	"Ed25519": {0, ed25519Kind, 0}, // RFC 9864 section 2.2
}

// SigningInput returns the signed bytes: the protected header as is, a dot, and the payload in base64url (RFC 7515
// §5.1).
func SigningInput(protected string, payload []byte) []byte {
	input := make([]byte, 0, len(protected)+1+base64.RawURLEncoding.EncodedLen(len(payload)))
	input = append(append(input, protected...), '.')
	return base64.RawURLEncoding.AppendEncode(input, payload)
}

// Verify reports whether the key made the signature over the signing input, with the algorithm of that name.
func (k *Key) Verify(alg string, input, signature []byte) Verdict {
	a, ok := algorithms[alg]
	if !ok || k.Alg != "" && k.Alg != alg && algorithms[k.Alg] != a {
		return Unusable
	}
	switch public := k.public.(type) {
	case *ecdsa.PublicKey:
		return a.ecdsa(public, input, signature)
	case *rsa.PublicKey:
		return a.rsa(public, input, signature)
	case ed25519.PublicKey:
		if a.kind == ed25519Kind {
			return verdict(ed25519.Verify(public, input, signature))
		}
	}
	return Unusable
}

func verdict(valid bool) Verdict {
	if valid {
		return Valid
	}
	return Invalid
}

// ecdsa verifies R and S, each as long as a coordinate, one after the other (RFC 7518 §3.4).
func (a algorithm) ecdsa(public *ecdsa.PublicKey, input, signature []byte) Verdict {
	if a.kind != ecdsaKind || (public.Params().BitSize+7)/8 != a.size {
		return Unusable
	}
	if len(signature) != 2*a.size {
		return Invalid
	}
	r, s := new(big.Int).SetBytes(signature[:a.size]), new(big.Int).SetBytes(signature[a.size:])
	return verdict(ecdsa.Verify(public, a.digest(input), r, s))
}

func (a algorithm) rsa(public *rsa.PublicKey, input, signature []byte) Verdict {
	var err error
	switch a.kind {
	case pkcs1Kind:
		err = rsa.VerifyPKCS1v15(public, a.hash, a.digest(input), signature)
	case pssKind: // the length of the salt is found out: a wrong one does not make the signature wrong
		err = rsa.VerifyPSS(public, a.hash, a.digest(input), signature, &rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthAuto})
	default:
		return Unusable
	}
	if err != nil && !errors.Is(err, rsa.ErrVerification) {
		return Unusable // the key itself is refused: too short, for example
	}
	return verdict(err == nil)
}

func (a algorithm) digest(input []byte) []byte {
	h := a.hash.New()
	h.Write(input) //nolint:errcheck // a hash takes everything
	return h.Sum(nil)
}
