package player

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/hostname"
	"a2atap/proxy/must"
)

// A live request reaches its service with the members of --set, and never the addresses of this run.
func TestChange(t *testing.T) {
	var got []string
	c := &change{
		next: roundTripper(func(q *http.Request) (*http.Response, error) {
			got = append(got, string(must.Get(io.ReadAll(q.Body))(t)))
			expect.Equal(t, "length", len(got[len(got)-1]), int(q.ContentLength))
			return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody}, nil
		}),
		own:     map[hostname.Origin]bool{hostname.NewOrigin("127.0.0.1", "9001"): true},
		members: must.Get(parseMembers([]string{"model=gpt-x"}))(t),
	}
	for _, tt := range []struct{ url, media, body, want string }{
		{"http://127.0.0.1:9002/v1", "application/json", `{"model":"m"}`, `{"model":"gpt-x"}`},
		{"http://127.0.0.1:9002/v1", "text/plain", `{"model":"m"}`, `{"model":"m"}`},
		{"http://127.0.0.1:9001/v1", "application/json", `{"model":"m"}`, ""},
		{"http://localhost:9001/v1", "application/json", `{"model":"m"}`, ""},
	} {
		got = nil
		q := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, tt.url, strings.NewReader(tt.body)))(t)
		q.Header.Set("Content-Type", tt.media)
		res, err := c.RoundTrip(q)
		if err == nil {
			res.Body.Close()
		}
		expect.Equal(t, tt.url+" fails", tt.want == "", err != nil)
		expect.Equal(t, tt.url, tt.want, strings.Join(got, ""))
	}
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(q *http.Request) (*http.Response, error) { return f(q) }

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
