package jws

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxKeys bounds the keys of a set that are taken.
const maxKeys = 256

// A Key is a public key that verifies signatures.
type Key struct {
	ID     string // "kid"; empty without one
	Alg    string // the only algorithm that may use it; empty for all that fit it
	public crypto.PublicKey
}

// A KeySet is a set of public keys, in their order.
type KeySet []Key

// Find returns the keys of that id. Keys of different kinds may share one (RFC 7517 §4.5).
func (s KeySet) Find(id string) []Key {
	var found []Key
	for _, k := range s {
		if k.ID == id {
			found = append(found, k)
		}
	}
	return found
}

// ParseKeySet parses a JWK Set (RFC 7517 §5). Keys with another purpose or of an unknown kind are skipped, as RFC 7517
// requires; it is an error if no key remains.
func ParseKeySet(text []byte) (KeySet, error) {
	var set struct {
		Keys []jsontext.Value `json:"keys"`
		Type string           `json:"kty"`
	}
	if err := json.Unmarshal(text, &set); err != nil {
		return nil, fmt.Errorf("it is not a JWK Set: %w", err)
	}
	switch {
	case set.Keys == nil && set.Type != "":
		return nil, errors.New(`it is a single key, not a JWK Set: write {"keys": [KEY]}`)
	case set.Keys == nil:
		return nil, errors.New(`it is not a JWK Set: it has no list "keys"`)
	}
	var keys KeySet
	var last error
	for _, text := range set.Keys[:min(len(set.Keys), maxKeys)] {
		k, err := ParseKey(text)
		if err != nil {
			last = err
			continue
		}
		keys = append(keys, k)
	}
	if len(keys) == 0 && last != nil {
		return nil, fmt.Errorf("it has no key that can verify a signature: %w", last)
	}
	if len(keys) == 0 {
		return nil, errors.New("it has no key")
	}
	return keys, nil
}

// A jwk is a key as RFC 7517, 7518 and 8037 write it.
type jwk struct {
	Type  string   `json:"kty"`
	Use   string   `json:"use"`
	Ops   []string `json:"key_ops"`
	Alg   string   `json:"alg"`
	ID    string   `json:"kid"`
	Curve string   `json:"crv"`
	X     string   `json:"x"`
	Y     string   `json:"y"`
	N     string   `json:"n"`
	E     string   `json:"e"`
}

// ParseKey reads one public key. Of a private key it takes the public part.
func ParseKey(text []byte) (Key, error) {
	var j jwk
	if err := json.Unmarshal(text, &j); err != nil {
		return Key{}, fmt.Errorf("a key cannot be read: %w", err)
	}
	if j.Use != "" && j.Use != "sig" ||
		j.Ops != nil && !slices.Contains(j.Ops, "verify") && !slices.Contains(j.Ops, "sign") {
		return Key{}, fmt.Errorf("key %q is not for signatures", j.ID)
	}
	k := Key{ID: j.ID, Alg: j.Alg}
	var err error
	switch {
	case j.Type == "EC":
		k.public, err = j.ec()
	case j.Type == "RSA":
		k.public, err = j.rsa()
	case j.Type == "OKP" && j.Curve == "Ed25519":
		k.public, err = j.ed25519()
	default:
		err = fmt.Errorf("unsupported kind %q; use EC, RSA or OKP with Ed25519", strings.TrimSpace(j.Type+" "+j.Curve))
	}
	if err != nil {
		return Key{}, fmt.Errorf("key %q: %w", j.ID, err)
	}
	return k, nil
}

var curves = map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()}

func (j *jwk) ec() (crypto.PublicKey, error) {
	curve := curves[j.Curve]
	if curve == nil {
		return nil, fmt.Errorf("unsupported curve %q; use P-256, P-384 or P-521", j.Curve)
	}
	size := (curve.Params().BitSize + 7) / 8
	point := make([]byte, 1+2*size)
	point[0] = 4 // uncompressed: SEC 1 section 2.3.3
	for i, text := range [...]string{j.X, j.Y} {
		b, err := decode(text)
		if err != nil || len(b) > size {
			return nil, errors.New("the coordinates are not a point on the curve")
		}
		copy(point[1+(i+1)*size-len(b):], b)
	}
	return ecdsa.ParseUncompressedPublicKey(curve, point)
}

func (j *jwk) rsa() (crypto.PublicKey, error) {
	n, errN := decode(j.N)
	e, errE := decode(j.E)
	exponent := new(big.Int).SetBytes(e)
	if errN != nil || errE != nil || len(n) == 0 || exponent.BitLen() > 31 || exponent.Sign() == 0 {
		return nil, errors.New("modulus or exponent cannot be read")
	}
	return &rsa.PublicKey{N: new(big.Int).SetBytes(n), E: int(exponent.Int64())}, nil
}

func (j *jwk) ed25519() (crypto.PublicKey, error) {
	x, err := decode(j.X)
	if err != nil || len(x) != ed25519.PublicKeySize {
		return nil, errors.New("x is not an Ed25519 key")
	}
	return ed25519.PublicKey(x), nil
}

// decode reads base64url. Padding, which must not be there, is forgiven.
func decode(text string) ([]byte, error) {
	return base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
}
