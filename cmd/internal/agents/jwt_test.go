package agents

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/jws"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

var b64 = base64.RawURLEncoding.EncodeToString

// An issuer signs tokens with one key.
type issuer struct {
	id, alg string
	public  map[string]string // as a JWK
	sign    func(input []byte) []byte
}

// issuers returns one for each kind of key.
func issuers(t testing.TB) (list []issuer) {
	t.Helper()
	edPublic, edPrivate, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	list = append(list, issuer{
		"ed", "EdDSA",
		map[string]string{"kty": "OKP", "crv": "Ed25519", "x": b64(edPublic)},
		func(input []byte) []byte { return ed25519.Sign(edPrivate, input) },
	})
	ec := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	point := must.Get(ec.PublicKey.Bytes())(t)
	list = append(list, issuer{
		"ec", "ES256",
		map[string]string{"kty": "EC", "crv": "P-256", "x": b64(point[1:33]), "y": b64(point[33:])},
		func(input []byte) []byte {
			sum := sha256.Sum256(input)
			r, s, err := ecdsa.Sign(rand.Reader, ec, sum[:])
			must.Do(t, err)
			return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
		},
	})
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	list = append(list, issuer{
		"rsa", "RS256",
		map[string]string{"kty": "RSA", "n": b64(key.N.Bytes()), "e": b64(big.NewInt(int64(key.E)).Bytes())},
		func(input []byte) []byte {
			sum := sha256.Sum256(input)
			return must.Get(rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:]))(t)
		},
	})
	return list
}

// token returns a token of these claims, with members that replace those of the header.
func (i issuer) token(claims, header string) string {
	if header == "" {
		header = `{"alg":"` + i.alg + `","kid":"` + i.id + `"}`
	}
	input := b64([]byte(header)) + "." + b64([]byte(claims))
	return input + "." + b64(i.sign([]byte(input)))
}

// writeKeys writes the keys of issuers as a JWK Set, and returns the name of the file.
func writeKeys(t testing.TB, list []issuer) string {
	t.Helper()
	var keys []map[string]string
	for _, i := range list {
		i.public["kid"], i.public["use"] = i.id, "sig"
		keys = append(keys, i.public)
	}
	name := filepath.Join(t.TempDir(), "jwks.json")
	must.Do(t, os.WriteFile(name, must.Get(json.Marshal(map[string]any{"keys": keys}))(t), 0o600))
	return name
}

func TestVerifyToken(t *testing.T) {
	list := issuers(t)
	keys := must.Get(readTokenKeys(writeKeys(t, list)))(t)
	now := time.Unix(1000, 0)
	const alice = `{"sub":"alice","iss":"https://issuer","exp":1001,"nbf":1000,"aud":["x"]}`
	for _, i := range list {
		user, err := verifyToken(keys, i.token(alice, ""), now)
		if err != nil || user != "https://issuer alice" {
			t.Errorf("%s: got %q, %v", i.id, user, err)
		}
		for name, tt := range map[string]struct{ token, want string }{
			"no id":         {i.token(`{"sub":"bob"}`, `{"alg":"`+i.alg+`"}`), ""},
			"expired":       {i.token(`{"sub":"a","exp":1000}`, ""), "expired"},
			"too early":     {i.token(`{"sub":"a","nbf":1000.5}`, ""), "not valid yet"},
			"no subject":    {i.token(`{"exp":2000}`, ""), "no subject"},
			"other claims":  {i.token(alice, "")[:20] + "x" + i.token(alice, "")[21:], ""},
			"unknown id":    {i.token(alice, `{"alg":"`+i.alg+`","kid":"x"}`), "no key of the set"},
			"alg none":      {i.token(alice, `{"alg":"none","kid":"`+i.id+`"}`), "no key of the set"},
			"alg HS256":     {i.token(alice, `{"alg":"HS256","kid":"`+i.id+`"}`), "no key of the set"},
			"critical":      {i.token(alice, `{"alg":"`+i.alg+`","crit":["x"]}`), "must be understood"},
			"claims a list": {i.token(`[]`, ""), "read the claims"},
			"exp a text":    {i.token(`{"sub":"a","exp":"never"}`, ""), "read the claims"},
		} {
			_, err := verifyToken(keys, tt.token, now)
			switch {
			case name == "no id":
				must.Do(t, err)
			case name == "other claims":
				expect.Error(t, i.id+" "+name, err)
			default:
				expect.ErrorHas(t, i.id+" "+name, tt.want, err)
			}
		}
	}
	for _, token := range []string{"", "a.b", "..", "a.b.c.d", "!.!.!", strings.Repeat(".", 100)} {
		expect.Error(t, token, expect.Err(verifyToken(keys, token, now)))
	}
	for _, other := range issuers(t) {
		expect.ErrorHas(t, "another key of the same id", "no key of the set", expect.Err(verifyToken(keys, other.token(alice, ""), now)))
	}
	c, err := agentAuth(cli.Env{}, []string{"jwt:" + writeKeys(t, list), "bearer:static"})
	if err != nil || c.Verify == nil || len(c.Others) != 1 {
		t.Errorf("got %+v, %v", c, err)
	}
}

// S4-I5: keys are rotated in the file while the agent runs: a new key counts at once, a removed one no longer, and a file
// that cannot be read changes nothing.
func TestRotatedTokenKeys(t *testing.T) {
	list := issuers(t)
	name := writeKeys(t, list[:1])
	c := must.Get(agentAuth(cli.Env{}, []string{"jwt:" + name}))(t)
	verify := func(i issuer) error {
		_, err := c.Verify(i.token(`{"sub":"alice"}`, ""), time.Unix(1000, 0))
		return err
	}
	for turn, step := range []struct {
		file     string
		old, now bool // whether the first and the second key count
	}{
		{"", true, false},
		{writeKeys(t, list[:2]), true, true},
		{writeKeys(t, list[1:2]), false, true},
		{"{}", false, true},
	} {
		if step.file != "" {
			text := []byte(step.file)
			if step.file != "{}" {
				text = must.Get(os.ReadFile(step.file))(t)
			}
			must.Do(t, os.WriteFile(name, text, 0o600))
		}
		if old, now := verify(list[0]) == nil, verify(list[1]) == nil; old != step.old || now != step.now {
			t.Errorf("turn %d: the keys count: %v, %v; want %v, %v", turn, old, now, step.old, step.now)
		}
	}
}

func FuzzVerifyToken(f *testing.F) {
	i := issuers(f)[0]
	var keys jws.KeySet = must.Get(readTokenKeys(writeKeys(f, []issuer{i})))(f)
	f.Add(i.token(`{"sub":"a","exp":1e300,"nbf":-1e300}`, ""))
	f.Add("e30.e30.")
	f.Fuzz(func(t *testing.T, token string) {
		if user, err := verifyToken(keys, token, time.Unix(0, 0)); (user == "") != (err != nil) {
			t.Errorf("got %q, %v", user, err)
		}
	})
}
