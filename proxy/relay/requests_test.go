package relay

import (
	"errors"
	"testing"

	"a2atap/proxy/expect"
)

// TestMisdirected refuses the second of two pipelined requests for the host that it names: the answer to the first one
// comes first, and the agent sees nothing of the second.
func TestMisdirected(t *testing.T) {
	w := newWire(t, false, func(c *Config) {
		c.Accept = func(authority []byte) error {
			if string(authority) == "evil.example" {
				return errors.New("not here")
			}
			return nil
		}
	})
	client := w.client()
	client.send(w.host(get + "GET http://$HOST/ HTTP/1.1\r\nHost: evil.example\r\n\r\n"))
	agent := w.accept()
	agent.receive(w.agentHost(get))
	agent.tells(client, ok)
	if status, kind := ownAnswerOf(t, client); status != 421 || kind != KindRefused {
		t.Errorf("got %d %s", status, kind)
	}
	agent.receiveEnd()
	client.Close()
	if e := w.ended(0); e.Fault != nil {
		t.Errorf("got fault %v for the first request, want none", e.Fault)
	}
	if f := w.ended(1).Fault; f == nil || f.Status != 421 || f.Detail != "not here" {
		t.Errorf("got fault %+v", f)
	}
}

func TestTargetAuthority(t *testing.T) {
	for target, want := range map[string]string{
		"http://a.example/x": "a.example", "HTTPS://a:1?x": "a:1", "ws://a": "a", "http://b@a/": "a", "http:///x": "",
		"/x": "-", "//a/x": "-", "*": "-", "a:1": "-", "/http://a": "-", "http:/a": "-",
	} {
		got, ok := targetAuthority([]byte("\r\nGET " + target + " HTTP/1.1\r\n\r\n"))
		if !ok {
			got = []byte("-")
		}
		expect.Equal(t, target, want, string(got))
	}
}
