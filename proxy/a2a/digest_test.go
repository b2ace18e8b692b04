package a2a_test

import (
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// Two tasks have the same digest if they say the same, in whatever flavour.
func TestTaskDigest(t *testing.T) {
	const (
		plain = `{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_COMPLETED",` +
			`"timestamp":"2026-03-01T10:00:00Z"},"artifacts":[{"artifactId":"a1","parts":[{"text":"é"},` +
			`{"data":{"n":1,"s":[true,null]}},{"raw":"-_8="}]}]}`
		kinds = `{"kind":"task","metadata":{"x":1},"artifacts":[{"name":"","artifactId":"a1","parts":[{"kind":"text",` +
			`"text":"\u00e9"},{"kind":"data","data":{"s":[true,null],"n":1.0}},{"kind":"file",` +
			`"file":{"bytes":"+/8"}}]}],"history":[],"status":{"timestamp":"2026-03-01T10:00:00.000Z",` +
			`"state":"completed"},"contextId":"c1","id":"t1"}`
	)
	tests := []struct {
		name, a, b string
		context    bool
		status     bool
		artifacts  bool
		history    bool
	}{
		{"itself", plain, plain, true, true, true, true},
		{"another flavour", plain, kinds, true, true, true, true},
		{"another context", `{"contextId":"c1"}`, `{"contextId":"c2"}`, false, true, true, true},
		{
			"another state", `{"status":{"state":"completed"}}`, `{"status":{"state":"TASK_STATE_FAILED"}}`, true,
			false,
			true, true,
		},
		{
			"another instant", `{"status":{"timestamp":"2026-03-01T10:00:00Z"}}`,
			`{"status":{"timestamp":"2026-03-01T11:00:00Z"}}`, true, true, true, true,
		},
		{
			"no artifact", plain,
			`{"contextId":"c1","status":{"state":"TASK_STATE_COMPLETED","timestamp":"2026-03-01T10:00:00Z"}}`, true,
			true, false, true,
		},
		{
			"another text", `{"artifacts":[{"artifactId":"a","parts":[{"text":"x"}]}]}`,
			`{"artifacts":[{"artifactId":"a","parts":[{"text":"y"}]}]}`, true, true, false, true,
		},
		{
			"another link", `{"artifacts":[{"artifactId":"a","parts":[{"url":"http://x?1"}]}]}`,
			`{"artifacts":[{"artifactId":"a","parts":[{"url":"http://x?2"}]}]}`, true, true, true, true,
		},
		{
			"parts in another order", `{"artifacts":[{"parts":[{"text":"x"},{"text":"y"}]}]}`,
			`{"artifacts":[{"parts":[{"text":"y"},{"text":"x"}]}]}`, true, true, false, true,
		},
		{
			"another role", `{"history":[{"role":"user","parts":[]}]}`,
			`{"history":[{"role":"ROLE_AGENT","parts":[]}]}`,
			true, true, true, false,
		},
		{
			"zero and zero", `{"artifacts":[{"parts":[{"data":{"n":0}}]}]}`,
			`{"artifacts":[{"parts":[{"data":{"n":-0.0}}]}]}`, true, true, true, true,
		},
		{
			"true and false", `{"artifacts":[{"parts":[{"data":{"n":true}}]}]}`,
			`{"artifacts":[{"parts":[{"data":{"n":false}}]}]}`, true, true, false, true,
		},
	}
	d := a2a.NewDigester()
	digest := func(text string) a2a.TaskDigest {
		doc := a2a.Parse([]byte(text))
		return d.Task(a2a.Task{doc.Root})
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			a, b := digest(test.a), digest(test.b)
			for _, part := range []struct {
				name string
				same bool
				want bool
			}{
				{"context", a.Context == b.Context, test.context},
				{"status", a.Status == b.Status, test.status},
				{"artifacts", a.Artifacts == b.Artifacts, test.artifacts},
				{"history", a.History == b.History, test.history},
			} {
				expect.Equal(t, part.name+": same", part.want, part.same)
			}
		})
	}
}
