package jws_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"a2atap/analyzer/jws"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// Published signatures: RFC 7515 appendices A.2, A.3 and A.4, and RFC 8037 appendix A.4.
var published = []struct{ name, alg, key, protected, payload, signature string }{
	{
		"RFC 7515 A.2", "RS256",
		`{"kty":"RSA","n":"ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ","e":"AQAB"}`,
		"eyJhbGciOiJSUzI1NiJ9", joe,
		"cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw",
	},
	{
		"RFC 7515 A.3", "ES256",
		`{"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"}`,
		"eyJhbGciOiJFUzI1NiJ9", joe,
		"DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q",
	},
	{
		"RFC 7515 A.4", "ES512",
		`{"kty":"EC","crv":"P-521","x":"AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk","y":"ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2"}`,
		"eyJhbGciOiJFUzUxMiJ9", "Payload",
		"AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn",
	},
	{
		"RFC 8037 A.4", "EdDSA",
		`{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`,
		"eyJhbGciOiJFZERTQSJ9", "Example of Ed25519 signing",
		"hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg",
	},
}

const joe = "{\"iss\":\"joe\",\r\n \"exp\":1300819380,\r\n \"http://example.com/is_root\":true}"

func TestPublishedSignatures(t *testing.T) {
	for _, v := range published {
		t.Run(v.name, func(t *testing.T) {
			key := must.Get(jws.ParseKey([]byte(v.key)))(t)
			signature := must.Get(base64.RawURLEncoding.DecodeString(v.signature))(t)
			if got := key.Verify(v.alg, jws.SigningInput(v.protected, []byte(v.payload)), signature); got != jws.Valid {
				t.Errorf("verdict %d", got)
			}
			if got := key.Verify(v.alg, jws.SigningInput(v.protected, []byte(v.payload+" ")), signature); got != jws.Invalid {
				t.Errorf("verdict %d on another payload", got)
			}
			if got := key.Verify(v.alg, jws.SigningInput(v.protected, []byte(v.payload)), signature[1:]); got != jws.Invalid {
				t.Errorf("verdict %d on a part of the signature", got)
			}
		})
	}
}

// A signer makes signatures by one algorithm, and knows its public key as a JWK.
type signer struct {
	alg  string
	jwk  string
	sign func(input []byte) []byte
}

func signers(t *testing.T) []signer {
	t.Helper()
	var list []signer
	hashes := map[string]crypto.Hash{"256": crypto.SHA256, "384": crypto.SHA384, "512": crypto.SHA512}
	digest := func(bits string, input []byte) []byte {
		h := hashes[bits].New()
		h.Write(input)
		return h.Sum(nil)
	}
	for bits, curve := range map[string]elliptic.Curve{
		"256": elliptic.P256(), "384": elliptic.P384(),
		"512": elliptic.P521(),
	} {
		key := must.Get(ecdsa.GenerateKey(curve, rand.Reader))(t)
		size := (curve.Params().BitSize + 7) / 8
		point := must.Get(key.PublicKey.Bytes())(t)
		list = append(list, signer{
			"ES" + bits,
			fmt.Sprintf(`{"kty":"EC","crv":%q,"x":%q,"y":%q}`, curve.Params().Name, url64(point[1:1+size]),
				url64(point[1+size:])),
			func(input []byte) []byte {
				r, s, err := ecdsa.Sign(rand.Reader, key, digest(bits, input))
				must.Do(t, err)
				return append(r.FillBytes(make([]byte, size)), s.FillBytes(make([]byte, size))...)
			},
		})
	}
	key := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	jwk := fmt.Sprintf(`{"kty":"RSA","n":%q,"e":%q}`, url64(key.N.Bytes()), url64(big.NewInt(int64(key.E)).Bytes()))
	for bits, hash := range hashes {
		list = append(list, signer{"RS" + bits, jwk, func(input []byte) []byte {
			return must.Get(rsa.SignPKCS1v15(rand.Reader, key, hash, digest(bits, input)))(t)
		}}, signer{"PS" + bits, jwk, func(input []byte) []byte {
			s, err := rsa.SignPSS(rand.Reader, key, hash, digest(bits, input),
				&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
			must.Do(t, err)
			return s
		}})
	}
	public, private, err := ed25519.GenerateKey(rand.Reader)
	must.Do(t, err)
	for _, alg := range []string{"EdDSA", "Ed25519"} {
		list = append(list, signer{
			alg, fmt.Sprintf(`{"kty":"OKP","crv":"Ed25519","x":%q}`, url64(public)),
			func(input []byte) []byte { return ed25519.Sign(private, input) },
		})
	}
	return list
}

func url64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Each algorithm takes its own signatures, refuses changed ones, and says nothing of those by an algorithm of another
// kind.
func TestRoundTrip(t *testing.T) {
	input := jws.SigningInput("eyJhbGciOiJ4In0", []byte(`{"name":"Booker"}`))
	all := signers(t)
	for _, s := range all {
		key := must.Get(jws.ParseKey([]byte(s.jwk)))(t)
		signature := s.sign(input)
		expect.Equal(t, fmt.Sprintf("%s: verdict", s.alg), jws.Valid, key.Verify(s.alg, input, signature))
		signature[len(signature)/2] ^= 1
		if got := key.Verify(s.alg, input, signature); got != jws.Invalid {
			t.Errorf("%s: verdict %d on a changed signature", s.alg, got)
		}
		for _, other := range all {
			want := jws.Unusable
			if other.jwk == s.jwk {
				want = jws.Invalid
			}
			if got := key.Verify(other.alg, input, signature); got != want {
				t.Errorf("a key of %s says %d of %s, want %d", s.alg, got, other.alg, want)
			}
		}
		for _, alg := range []string{"", "none", "HS256", "ES256K", "Ed448"} {
			if got := key.Verify(alg, input, signature); got != jws.Unusable {
				t.Errorf("a key of %s says %d of %q", s.alg, got, alg)
			}
		}
	}
}

// A key that names its algorithm is for no other one; both names of Ed25519 are the same.
func TestAlgorithmOfKey(t *testing.T) {
	for _, test := range []struct {
		key, alg string
		want     jws.Verdict
	}{
		{"RS512", "RS256", jws.Unusable},
		{"RS256", "RS256", jws.Valid},
	} {
		v := published[0]
		key := must.Get(jws.ParseKey([]byte(strings.Replace(v.key, "{", `{"alg":"`+test.key+`",`, 1))))(t)
		signature, _ := base64.RawURLEncoding.DecodeString(v.signature)
		if got := key.Verify(test.alg, jws.SigningInput(v.protected, []byte(v.payload)), signature); got != test.want {
			t.Errorf("a key for %s says %d of %s, want %d", test.key, got, test.alg, test.want)
		}
	}
	v := published[3]
	key, err := jws.ParseKey([]byte(strings.Replace(v.key, "{", `{"alg":"Ed25519",`, 1)))
	signature, _ := base64.RawURLEncoding.DecodeString(v.signature)
	if err != nil || key.Verify("EdDSA", jws.SigningInput(v.protected, []byte(v.payload)), signature) != jws.Valid {
		t.Errorf("Ed25519 is not EdDSA: %v", err)
	}
}
