package card

import (
	"fmt"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/directory"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func card(url string, streaming bool) string {
	return fmt.Sprintf(`{"name":"Booker","capabilities":{"streaming":%v},"supportedInterfaces":[`+
		`{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]}`, streaming, url)
}

func fetch(c *enginetest.Conversation, path, answer string) {
	c.Open("planner", "GET "+path+" HTTP/1.1\r\nHost: booker:9001\r\n\r\n")
	c.Add(capture.RequestEnd{})
	c.Answer(answer)
}

const at = "/.well-known/agent-card.json"

// What cards say of an interface counts for the calls that began after they had been delivered.
func TestBefore(t *testing.T) {
	const here, elsewhere = "http://booker:9001/rpc", "http://booker:9001/other"
	tests := []struct {
		name    string
		talk    func(c *enginetest.Conversation)
		before  int
		without bool // streaming
	}{
		{"none", func(*enginetest.Conversation) {}, 0, false},
		{"a card", func(c *enginetest.Conversation) { fetch(c, at, card(here, false)) }, 1, true},
		{"one that streams", func(c *enginetest.Conversation) { fetch(c, at, card(here, true)) }, 1, false},
		{"of another interface", func(c *enginetest.Conversation) { fetch(c, at, card(elsewhere, false)) }, 0, false},
		{"fetched again", func(c *enginetest.Conversation) {
			fetch(c, at, card(here, false))
			fetch(c, at, card(here, false))
		}, 1, true},
		{"that streamed once", func(c *enginetest.Conversation) {
			fetch(c, at, card(here, true))
			fetch(c, at, card(here, false))
		}, 1, false},
		{"from two paths", func(c *enginetest.Conversation) {
			fetch(c, at, card(here, false))
			fetch(c, "/.well-known/agent.json", card(here, false))
		}, 2, true},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			asked := false
			rule := enginetest.Rule("r", analysis.RequestSeen, func(p *analysis.Pass) {
				m := Of(p)
				asked = true
				if n := len(m.Before(p.Exchange)); n != test.before || len(m.Interfaces(p.Exchange)) != test.before {
					t.Errorf("%d cards came before, want %d", n, test.before)
				}
				if got := m.Without(p.Exchange, CanStream); (got != nil) != test.without {
					t.Errorf("no card says that the agent streams: %v, want %v", got != nil, test.without)
				}
			})
			rule.Needs = []*analysis.Tracker{Tracker}
			c := &enginetest.Conversation{T: t}
			test.talk(c)
			c.Exchange("planner", enginetest.Send, enginetest.Working)
			fetch(c, "/late", card(here, true))
			c.Judge(rule)
			if !asked {
				t.Error("no call was observed")
			}
		})
	}
}

// Forgotten cards and fetches are counted, and nothing is reported about them.
func TestForgottenCards(t *testing.T) {
	m := &Memory{
		cards: directory.New[*Card](2), fetches: recent.New[fetchKey, *Fetch](3),
		fetchesHere: recent.New[connKey, *Fetch](1), origins: recent.New[string, *origin](1),
	}
	fetchOf := func(i int) *analysis.Exchange {
		return &analysis.Exchange{
			Brief:  analysis.Brief{Address: fmt.Sprint("http://booker/", i), Conn: uint64(i + 1)},
			Opened: 10,
		}
	}
	for i := range 5 {
		c := &Card{URL: fmt.Sprint(i), Seen: analysis.Moment{Arrival: 1}}
		m.cards.Put(directory.Key{URL: c.URL}, c, nil)
		m.keepFetch(fetchOf(i), &Fetch{seen: c.Seen})
		m.origin(fetchOf(i))
	}
	expect.Equal(t, "forgotten", 3+2, m.Forgotten())
	if m.LastFetch(fetchOf(1)) != nil || m.LastFetch(fetchOf(2)) == nil || m.LastFetchHere(fetchOf(3)) != nil ||
		m.LastFetchHere(fetchOf(4)) == nil {
		t.Error("other fetches are kept than the last ones")
	}
}
