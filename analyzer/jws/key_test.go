package jws_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/jws"
	"a2atap/proxy/expect"
)

const (
	ecKey = `"kty":"EC","crv":"P-256","x":"f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU","y":"x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0"`
	edKey = `"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"`
)

func TestParseKeySet(t *testing.T) {
	tests := []struct {
		name, text string
		ids        string
		err        string // part of it
	}{
		{"two kinds under one id", `{"keys":[{"kid":"a",` + ecKey + `},{"kid":"a",` + edKey + `}],"extra":1}`, "a a", ""},
		{
			"what is not for signatures is passed over",
			`{"keys":[{"kid":"a","use":"enc",` + ecKey + `},{"kid":"b","key_ops":["encrypt"],` + ecKey +
				`},{"kty":"oct","k":"AA"},3,{"kid":"c","use":"sig",` + ecKey + `}]}`, "c", "",
		},
		{"no id", `{"keys":[{` + edKey + `}]}`, "", ""},
		{"padding is forgiven", `{"keys":[{"kid":"p",` + strings.Replace(edKey, `URo"`, `URo="`, 1) + `}]}`, "p", ""},
		{"no JSON", `keys`, "", "not a JWK Set"},
		{"no object", `[1]`, "", "not a JWK Set"},
		{"no keys", `{"jwks":[]}`, "", `no list "keys"`},
		{"a single key", `{` + ecKey + `}`, "", "single key"},
		{"empty", `{"keys":[]}`, "", "no key"},
		{"symmetric only", `{"keys":[{"kty":"oct","k":"AA"}]}`, "", "unsupported"},
		{"not on the curve", `{"keys":[{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}]}`, "", "no key that can verify"},
		{"another curve", `{"keys":[{"kty":"EC","crv":"secp256k1","x":"AAAA","y":"AAAA"}]}`, "", "unsupported"},
		{"an even larger exponent", `{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAAAAAAAA"}]}`, "", "modulus or exponent"},
		{"half an Ed25519 key", `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}`, "", "not an Ed25519 key"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			set, err := jws.ParseKeySet([]byte(test.text))
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q in it", err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var ids []string
			for _, k := range set {
				ids = append(ids, k.ID)
			}
			expect.Equal(t, "keys", test.ids, strings.Join(ids, " "))
			if found := set.Find(set[0].ID); len(found) != len(set) {
				t.Errorf("%d of %d keys found", len(found), len(set))
			}
		})
	}
}

// Whatever is taken for a key verifies whatever is taken for a signature without a panic.
func FuzzVerify(f *testing.F) {
	f.Add([]byte(`{"keys":[{"kid":"a",`+ecKey+`},{"kid":"b",`+edKey+`}]}`), "ES256", []byte("input"), []byte("signature"))
	for _, v := range published {
		f.Add([]byte(`{"keys":[`+v.key+`]}`), v.alg, []byte(v.payload), []byte(v.signature))
	}
	f.Add([]byte(`{"keys":[{"kty":"RSA","n":"AQAB","e":"AQAB"}]}`), "PS512", []byte{}, []byte{})
	f.Fuzz(func(t *testing.T, set []byte, alg string, input, signature []byte) {
		keys, err := jws.ParseKeySet(set)
		if err != nil {
			return
		}
		for i := range keys {
			keys[i].Verify(alg, input, signature)
		}
	})
}
