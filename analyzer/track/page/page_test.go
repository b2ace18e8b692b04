package page

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func list(token string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"ListTasks","params":{"pageToken":%q}}`, token)
}

func leadsTo(token string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"tasks":[],"nextPageToken":%q,"pageSize":1,"totalSize":2}}`,
		token)
}

// A token is unknown only if every answer that may have led to it was read.
func TestUnknownToken(t *testing.T) {
	tests := []struct {
		name string
		talk func(c *enginetest.Conversation)
		want bool
	}{
		{"nothing before", func(*enginetest.Conversation) {}, true},
		{
			"a page that leads to it", func(c *enginetest.Conversation) { c.Exchange("planner", list(""), leadsTo("a")) },
			false,
		},
		{
			"one that leads elsewhere", func(c *enginetest.Conversation) { c.Exchange("planner", list(""), leadsTo("b")) },
			true,
		},
		{"a list without an answer", func(c *enginetest.Conversation) {
			c.Open("planner", enginetest.RPCHead)
			c.Ask(list(""))
			c.Add(capture.Closed{})
		}, false},
		{"a list whose answer was not kept", func(c *enginetest.Conversation) { // and which is not closed yet
			c.Open("planner", enginetest.RPCHead)
			c.Ask(list(""))
			c.Add(capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")})
			c.Add(capture.ResponseBody{Dropped: 300})
			c.Add(capture.ResponseEnd{Size: 300})
		}, false},
		{"a list under way", func(c *enginetest.Conversation) {
			c.Open("planner", enginetest.RPCHead)
			c.Ask(list(""))
		}, false},
		{"a request under way", func(c *enginetest.Conversation) { c.Open("planner", enginetest.RPCHead) }, false},
		{"another call under way", func(c *enginetest.Conversation) {
			c.Open("planner", enginetest.RPCHead)
			c.Ask(enginetest.Send)
		}, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			unknown := false
			rule := enginetest.Rule("r", analysis.RequestSeen,
				func(p *analysis.Pass) { unknown = Of(p).UnknownToken(p.Exchange) })
			rule.Needs = []*analysis.Tracker{Tracker}
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			c.Exchange("planner", list("a"), leadsTo(""))
			c.Judge(rule)
			expect.Equal(t, "the token is unknown", test.want, unknown)
		})
	}
}

// Who forgot a page cannot say that a token is unknown.
func TestForgottenPages(t *testing.T) {
	var m *Memory
	rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) {
		if m == nil {
			m = Of(p)
			m.pages = recent.New[uint64, *page](1)
		}
		if m.UnknownToken(p.Exchange) != (p.Exchange.Call.PageToken == "c") {
			t.Errorf("token %q is unknown: %v", p.Exchange.Call.PageToken, m.UnknownToken(p.Exchange))
		}
	})
	rule.Needs = []*analysis.Tracker{Tracker}
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", list(""), leadsTo("a"))
	c.Exchange("planner", list("c"), leadsTo("b"))
	c.Exchange("planner", list("a"), leadsTo("d"))
	c.Exchange("planner", list("e"), leadsTo("f"))
	c.Judge(rule)
	if m.pages.Len() != 1 || m.pages.Forgotten() != 3 {
		t.Errorf("%d pages are kept and %d forgotten, want 1 and 3", m.pages.Len(), m.pages.Forgotten())
	}
}
