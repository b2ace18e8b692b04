package message_test

import (
	"fmt"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/track/message"
	"a2atap/proxy/expect"
)

// A different message under the same id is distinguished from a repeated one, for each client separately.
func TestOther(t *testing.T) {
	tests := []struct {
		name, client, request string
		want                  bool
	}{
		{"the same", "planner", enginetest.Send, false},
		{
			"the same in other parts", "planner",
			strings.Replace(enginetest.Send, `{"text":"hi"}`, `{"text":"h"},{"text":"i"}`, 1), false,
		},
		{"with metadata", "planner", strings.Replace(enginetest.Send, `"text"`, `"metadata":{},"text"`, 1), false},
		{"another text", "planner", strings.Replace(enginetest.Send, "hi", "ho", 1), true},
		{"another role", "planner", strings.Replace(enginetest.Send, "USER", "AGENT", 1), true},
		{"under another id", "planner", strings.NewReplacer("hi", "ho", "m1", "m2").Replace(enginetest.Send), false},
		{"without parts", "planner", strings.Replace(enginetest.Send, `"parts":[{"text":"hi"}]`, `"content":{"text":"hi"}`, 1), false},
		{"of another client", "hotel", strings.Replace(enginetest.Send, "hi", "ho", 1), false},
	}
	for _, test := range tests {
		other := false
		rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) {
			earlier, ok := message.Of(p).Other(p.Exchange)
			if other = ok; ok && earlier != (analysis.Place{Exchange: 1, Part: "body"}) {
				t.Errorf("%s: the earlier message is at %s", test.name, earlier)
			}
		})
		rule.Needs = []*analysis.Tracker{message.Tracker}
		c := &enginetest.Conversation{T: t}
		c.Exchange("planner", enginetest.Send, enginetest.Working)
		c.Exchange(test.client, test.request, enginetest.Working)
		c.Judge(rule)
		expect.Equal(t, fmt.Sprintf("%s: another message", test.name), test.want, other)
	}
}
