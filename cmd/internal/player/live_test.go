package player

import (
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A value replaces a member that a request has, and nothing else.
func TestMembers(t *testing.T) {
	const body = `{"n": 1, "model" : "m","options":{"seed":[1, 2]}}`
	for flag, want := range map[string]string{
		"model=gpt-x":        `{"n": 1, "model" : "gpt-x","options":{"seed":[1, 2]}}`,
		"model=7":            `{"n": 1, "model" : 7,"options":{"seed":[1, 2]}}`,
		"/options/seed=null": `{"n": 1, "model" : "m","options":{"seed":null}}`,
		"options={}":         `{"n": 1, "model" : "m","options":{}}`,
		"model=a=b":          `{"n": 1, "model" : "a=b","options":{"seed":[1, 2]}}`,
		"seed=1":             body,
		"/model/x=1":         body,
	} {
		m := must.Get(parseMembers([]string{flag}))(t)[0]
		expect.Equal(t, flag, want, string(m.replace([]byte(body))))
		expect.Equal(t, flag+" is used", want != body, m.used.Load())
	}
	for _, flag := range []string{"", "model", "=x", "/=x"} {
		if _, err := parseMembers([]string{flag}); err == nil {
			t.Errorf("%q is accepted", flag)
		}
	}
}
