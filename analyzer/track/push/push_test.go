package push

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func create(task, id, url string) string {
	return fmt.Sprintf(
		`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":%q,"id":%q,"url":%q}}`, task,
		id, url,
	)
}

func created(task, id, url string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"taskId":%q,"id":%q,"url":%q}}`, task, id, url)
}

const hotel = "http://hotel:9100/hook"

// deliver adds a notification to the webhook of the hotel.
func deliver(c *enginetest.Conversation) {
	const body = `{"statusUpdate":{"taskId":"t1","contextId":"c1","status":{"state":"TASK_STATE_WORKING"}}}`
	c.Open("booker", "POST /hook HTTP/1.1\r\nHost: hotel:9100\r\nContent-Type: application/json\r\n\r\n")
	opened := c.Steps[len(c.Steps)-1].What.(capture.Opened)
	opened.Agent = capture.Peer{Name: "hotel", URL: "http://hotel:9100"}
	c.Steps[len(c.Steps)-1].What = opened
	c.Ask(body)
	c.Answer("")
}

// A notification is traced to the configs that can have caused it: at once, or when what may have caused it is known.
func TestDeliveries(t *testing.T) {
	const with = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER",` +
		`"parts":[{"text":"hi"}]},"configuration":{"taskPushNotificationConfig":{"url":"` + hotel + `"}}}}`
	tests := []struct {
		name    string
		talk    func(c *enginetest.Conversation)
		traced  int
		configs int
	}{
		{"nobody gave the webhook", deliver, 0, 0},
		{"a config", func(c *enginetest.Conversation) {
			c.Exchange("planner", create("t1", "p1", hotel), created("t1", "p1", hotel))
			deliver(c)
		}, 1, 1},
		{"of another task", func(c *enginetest.Conversation) {
			c.Exchange("planner", create("t2", "p1", hotel), created("t2", "p1", hotel))
			deliver(c)
		}, 1, 0},
		{"two", func(c *enginetest.Conversation) {
			c.Exchange("planner", create("t1", "p1", hotel), created("t1", "p1", hotel))
			c.Exchange("planner", create("t1", "p2", hotel+"/"), created("t1", "p2", hotel+"/"))
			deliver(c)
		}, 1, 2},
		{"refused", func(c *enginetest.Conversation) {
			c.Exchange("planner", create("t1", "p1", hotel), `{"jsonrpc":"2.0","id":1,"error":{"code":-32003,"message":"no"}}`)
			deliver(c)
		}, 1, 0},
		{"a send without an answer yet", func(c *enginetest.Conversation) {
			c.Open("planner", enginetest.RPCHead)
			c.Ask(with)
			deliver(c)
		}, 0, 0},
		{"a send that is answered afterwards", func(c *enginetest.Conversation) {
			c.Open("planner", enginetest.RPCHead)
			c.Ask(with)
			answer := len(c.Steps)
			c.Answer(enginetest.Working)
			held := append([]capture.Step(nil), c.Steps[answer:]...)
			c.Steps = c.Steps[:answer]
			deliver(c)
			c.Steps = append(c.Steps, held...)
		}, 1, 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			traced, configs := 0, 0
			rule := enginetest.Rule("r", analysis.DeliveryTraced, func(p *analysis.Pass) {
				traced++
				configs += len(Traced(p).Configs)
			})
			rule.Needs = []*analysis.Tracker{Tracker}
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			c.Judge(rule)
			if traced != test.traced || configs != test.configs {
				t.Errorf("%d notifications are traced to %d configs, want %d and %d", traced, configs, test.traced, test.configs)
			}
		})
	}
}

// Of the configs of one task the newest are remembered, and that there were more.
func TestConfigsAreBounded(t *testing.T) {
	var m *Memory
	rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) { m = Of(p) })
	rule.Needs = []*analysis.Tracker{Tracker}
	c := &enginetest.Conversation{T: t}
	for i := range maxConfigs + 2 {
		id, url := fmt.Sprint("p", i), fmt.Sprintf("http://hotel:9100/%d", i)
		c.Exchange("planner", create("t1", id, url), created("t1", id, url))
	}
	c.Judge(rule)
	known := m.ConfigsOf(&analysis.Exchange{Agent: "http://booker:9001/rpc"}, "t1")
	if known == nil || len(known.List) != maxConfigs || !known.Crowded || known.List[0].ID != "p2" {
		t.Errorf("got %+v, want the last %d configs", known, maxConfigs)
	}
}

// Webhooks and tasks with configs that had to be forgotten are counted.
func TestForgottenWebhooks(t *testing.T) {
	m := &Memory{configs: analysis.RecentByTask[*Configs](2), webhooks: recent.New[string, *webhook](3)}
	for i := range 5 {
		x := &analysis.Exchange{Brief: analysis.Brief{Dialects: a2a.Of(a2a.V1_0)}, Agent: "http://booker:9001/rpc"}
		m.makeConfigs(x, fmt.Sprint("t", i))
		m.giveWebhook(x, fmt.Sprintf("http://hotel:9100/%d", i), 1)
	}
	expect.Equal(t, "forgotten", 3+2, m.Forgotten())
}

// If every agent was given the same webhook, only some are remembered, and no agent is taken for the sender.
func TestUsersOfWebhooksAreBounded(t *testing.T) {
	m := &Memory{webhooks: recent.New[string, *webhook](1)}
	var h *webhook
	for i := range 2 * maxUsers {
		h = m.giveWebhook(&analysis.Exchange{Agent: fmt.Sprint("agent ", i)}, hotel, 1)
	}
	expect.Equal(t, "agents are kept", maxUsers, len(h.users))
	for range 2 * maxExpected {
		h.expect(&Config{})
	}
	if len(h.expected) != maxExpected || !h.lost {
		t.Errorf("%d configs are expected, and more were not followed: %v; want %d, true", len(h.expected), h.lost,
			maxExpected)
	}
}
