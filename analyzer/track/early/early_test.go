package early_test

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/track/early"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func card(name string) string {
	return fmt.Sprintf(`{"name":%q,"url":"http://booker:9001/rpc","version":"1","capabilities":{},"skills":[]}`, name)
}

const (
	send    = `{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t1","message":{"role":"user","parts":[]}}}`
	working = `{"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"working"}}}`
	aged    = `{"jsonrpc":"2.0","id":1,"result":{"id":"t1","status":{"state":"working"},"history":[{"state":"submitted"}]}}`
)

func fetch(c *enginetest.Conversation, name string) {
	c.Open("planner", "GET /.well-known/agent.json HTTP/1.1\r\nHost: booker:9001\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer(card(name))
}

// Cards are told once each, a few of an agent, whether they come before or after what shows how old it is; and not at all
// where nothing does.
func TestCardsAreToldOnce(t *testing.T) {
	cards := func(c *enginetest.Conversation) {
		for range 2 {
			for i := range 6 {
				fetch(c, fmt.Sprint("card ", i))
			}
		}
	}
	for _, test := range []struct {
		name string
		talk func(c *enginetest.Conversation)
		want int
	}{
		{"nothing shows", func(c *enginetest.Conversation) {
			cards(c)
			c.Exchange("planner", send, working)
		}, 0},
		{"cards first", func(c *enginetest.Conversation) {
			cards(c)
			c.Exchange("planner", send, aged)
			c.Exchange("planner", send, aged)
		}, 4},
		{"cards last", func(c *enginetest.Conversation) {
			c.Exchange("planner", send, aged)
			cards(c)
		}, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			told := make(map[uint64]bool)
			rule := enginetest.Rule("r", analysis.EarlySeen, func(p *analysis.Pass) {
				if early.Of(p).Card == nil || early.Of(p).Shown == (analysis.Place{}) {
					t.Errorf("%+v is no card, or does not say what shows its age", early.Of(p))
				}
				told[p.Exchange.Seq] = true
			})
			rule.Needs = []*analysis.Tracker{early.Tracker}
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			c.Judge(rule)
			expect.Equal(t, "cards are told", test.want, len(told))
		})
	}
}
