package translate_test

import (
	"net/http"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/internal/translate"
)

// A recorded request is rejected, or becomes the same call in the other protocol: never a different one.
func FuzzCall(f *testing.F) {
	for _, s := range speakers {
		for _, r := range requests {
			if is := s.ask(f, func(c *client.Client) { r.call(f.Context(), c) }); is != nil {
				f.Add(is.method, is.target, is.header.Get("A2A-Version"), is.body)
			}
		}
	}
	f.Add("POST", "/a2a?x=%zz&=&A2A-Version=0.3", "", []byte(send10(`{"text":"x","metadata":null}`)))
	f.Add("POST", "/a2a/v1/message:send", "0.3", []byte(`{"request":{"role":"ROLE_USER","content":[{"data":{}}]}}`))
	f.Fuzz(func(t *testing.T, method, target, version string, body []byte) {
		is := &sent{method: method, target: target, header: http.Header{"A2a-Version": {version}}, body: body}
		for _, from := range []translate.Protocol{rpc10, rest10, grpc10, rpc03, rest03, grpc03} {
			call := decode(from, "", is)
			if !call.A2A() {
				continue
			}
			for _, to := range []translate.Protocol{rpc10, rest10, grpc10, rpc03, rest03, grpc03, rpc02} {
				there, err := say(&call, is.header, to, "")
				if err != nil {
					continue
				}
				now := decode(to, "", there)
				if a, b := meaning(&call), meaning(&now); a != b || now.Binding != to.Binding {
					t.Fatalf("%s %s %s from %s to %s is %s %s %s, which means\n%s, want\n%s",
						method, target, body, from, to, there.method, there.target, there.body, b, a)
				}
				if len(there.body) > 0 && a2a.Parse(there.body).Err != nil {
					t.Fatalf("%s %s from %s to %s has a body that is not JSON: %s", method, target, from, to, there.body)
				}
			}
		}
	})
}
