package relay

import "testing"

// TestUpgradeWithoutBytes lets the ends of an upgraded connection end it without a word of the other protocol, the
// agent first or the client: nothing broke.
func TestUpgradeWithoutBytes(t *testing.T) {
	const (
		ask  = "GET / HTTP/1.1\r\nHost: $HOST\r\nConnection: upgrade\r\nUpgrade: e\r\n\r\n"
		take = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: e\r\n\r\n"
	)
	for name, clientFirst := range map[string]bool{"agent first": false, "client first": true} {
		t.Run(name, func(t *testing.T) {
			bothWires(t, func(t *testing.T, secure bool) {
				w := newWire(t, secure, nil)
				client, agent := w.begin(ask)
				agent.tells(client, take)
				first, second := agent, client
				if clientFirst {
					first, second = client, agent
				}
				CloseWrite(first.Conn)
				second.receiveEnd()
				CloseWrite(second.Conn)
				first.receiveEnd()
				if e := w.ended(0); e.Fault != nil || !e.AnswerEnd {
					t.Errorf("recorded %+v, fault %v", e, e.Fault)
				}
			})
		})
	}
}
