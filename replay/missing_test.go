package replay

import (
	"slices"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay/client/auth"
)

// A missing secret is reported once, with the requests that need it and the form of credentials that supplies it.
func TestMissingSecrets(t *testing.T) {
	t.Parallel()
	const hidden = "redacted.0123456789abcdef.01234567"
	heads := []string{
		"GET /.well-known/agent-card.json HTTP/1.1\r\nHost: h\r\n\r\n",
		"GET /tasks/t1?key=" + hidden + "&a=b HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + hidden + "\r\n\r\n",
		"GET /tasks/t2 HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer " + hidden + "\r\nCookie: " + hidden + "\r\n\r\n",
		"GET /tasks/t3 HTTP/1.1\r\nHost: h\r\nAuthorization: Basic " + hidden + "\r\n\r\n",
	}
	memory := capture.NewMemory(capture.Info{})
	p := &player{src: memory, plan: &plan{}, targets: map[string]*target{}}
	for i, head := range heads {
		seq := uint64(i) + 1
		opened := capture.Opened{Agent: capture.Peer{Name: "booker"}, Head: []byte(head)}
		must.Do(t, memory.Append(capture.Step{Seq: seq, What: opened}))
		p.plan.entries = append(p.plan.entries, &entry{seq: seq, agent: "booker"})
	}
	for name, test := range map[string]struct {
		authorize auth.Method
		want      []string
	}{
		"nothing given": {nil, []string{
			"exchange 2 and 1 more to booker: header Authorization had a secret that is not in the recording: " +
				"bearer:env:TOKEN",
			"exchange 2 to booker: query parameter key had a secret that is not in the recording: query:key=env:SECRET",
			"exchange 3 to booker: header Cookie had a secret that is not in the recording: header:Cookie=env:SECRET",
			"exchange 4 to booker: header Authorization had a secret that is not in the recording: " +
				"basic:USER:env:PASSWORD",
		}},
		"one given": {auth.Bearer("t"), []string{
			"exchange 2 to booker: query parameter key had a secret that is not in the recording: query:key=env:SECRET",
			"exchange 3 to booker: header Cookie had a secret that is not in the recording: header:Cookie=env:SECRET",
		}},
		"another given, instead of all": {auth.Header("X-Key", "k"), nil},
	} {
		p.targets["booker"] = &target{authorize: test.authorize}
		var got []string
		p.opts.OnMissing = func(m *Missing) { got = append(got, m.String()+": "+m.Credentials()) }
		must.Do(t, p.tellMissing(t.Context()))
		if !slices.Equal(got, test.want) {
			t.Errorf("%s: got\n%q, want\n%q", name, got, test.want)
		}
	}
}
