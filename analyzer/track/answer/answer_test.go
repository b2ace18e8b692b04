package answer

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/proxy/expect"
)

func get(id string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":%q}}`, id)
}

const (
	missing = `{"jsonrpc":"2.0","id":1,"error":{"code":-32001,"message":"Task not found"}}`
	there   = `{"jsonrpc":"2.0","id":1,"result":{"id":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`
)

// A not-found answer counts for the same client, while no client has seen the task since.
func TestNotFoundBefore(t *testing.T) {
	tests := []struct {
		name string
		talk func(c *enginetest.Conversation)
		want bool
	}{
		{"nothing", func(*enginetest.Conversation) {}, false},
		{"not found", func(c *enginetest.Conversation) { c.Exchange("planner", get("t1"), missing) }, true},
		{"for another client", func(c *enginetest.Conversation) { c.Exchange("hotel", get("t1"), missing) }, false},
		{"another task", func(c *enginetest.Conversation) { c.Exchange("planner", get("t2"), missing) }, false},
		{"seen since", func(c *enginetest.Conversation) {
			c.Exchange("planner", get("t1"), missing)
			c.Exchange("hotel", get("t1"), there)
		}, false},
		{"found, and then not", func(c *enginetest.Conversation) {
			c.Exchange("planner", get("t1"), there)
			c.Exchange("planner", get("t1"), missing)
		}, true},
	}
	for _, test := range tests {
		found := false
		rule := enginetest.Rule("r", analysis.RequestSeen,
			func(p *analysis.Pass) { found = Of(p).NotFoundBefore(p.Exchange) != nil })
		rule.Needs = []*analysis.Tracker{Tracker}
		c := &enginetest.Conversation{T: t}
		test.talk(c)
		c.Exchange("planner", get("t1"), there)
		c.Judge(rule)
		expect.Equal(t, fmt.Sprintf("%s: the task was not found before", test.name), test.want, found)
	}
}

// However many tasks are not found, some answers are remembered.
func TestAnswersAreBounded(t *testing.T) {
	var m *Memory
	rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) { m = Of(p) })
	rule.Needs = []*analysis.Tracker{Tracker}
	c := &enginetest.Conversation{T: t}
	for i := range maxAnswers + 3 {
		c.Exchange("planner", get(fmt.Sprint("t", i)), missing)
	}
	c.Judge(rule)
	if m.notFound.Len() != maxAnswers || m.refusals.Len() != maxAnswers {
		t.Errorf("%d and %d answers are kept, want %d", m.notFound.Len(), m.refusals.Len(), maxAnswers)
	}
	expect.Equal(t, "answers are counted as forgotten", 0, m.Forgotten())
}
