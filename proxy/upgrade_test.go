package proxy_test

import (
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// A WebSocket passes a tap byte for byte, in both directions, for any time. The record notes that it began, and holds
// none of its contents; the user gets a notice at once.
func TestWebSocketPassesUnobserved(t *testing.T) {
	const (
		ask  = "GET /ws HTTP/1.1\r\nHost: HOST\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"
		take = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n\r\n"
		size = 4 << 20
	)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	r := newRig(t, nil, "booker=http://"+listener.Addr().String())
	tap := r.tap(0).Addr()
	client := must.Get(net.Dial("tcp", tap))(t)
	defer client.Close()
	client.SetDeadline(time.Now().Add(4 * must.Patience))
	write(t, client, strings.Replace(ask, "HOST", tap, 1))
	agent := must.Get(listener.Accept())(t)
	defer agent.Close()
	agent.SetDeadline(time.Now().Add(4 * must.Patience))
	receive(t, agent, strings.Replace(ask, "HOST", listener.Addr().String(), 1))
	write(t, agent, take)
	receive(t, client, take)
	expect.Contains(t, "notice", "booker was upgraded to websocket", r.notice())
	payload := strings.Repeat("secret frame\x00", size/13)
	for _, way := range [][2]net.Conn{{client, agent}, {agent, client}} {
		sent := make(chan error, 1)
		go func() {
			_, err := io.WriteString(way[0], payload)
			sent <- err
		}()
		receive(t, way[1], payload)
		expect.OK(t, <-sent)
	}
	client.Close()
	io.Copy(io.Discard, agent)
	agent.Close()
	r.follow(isClosed)
	x := r.record()[0]
	h := capture.ParseResponseHead(x.Response.Head)
	n := int64(len(payload))
	if h.Status != 101 || len(x.Request.Body.Data)+len(x.Response.Body.Data) != 0 || x.Request.Body.Dropped != n ||
		x.Response.Body.Dropped != n || len(x.Notes) != 1 || !strings.HasPrefix(x.Notes[0], "upgraded to websocket: ") {
		t.Errorf("recorded status %d, %d and %d bytes passed, notes %q", h.Status, x.Request.Body.Dropped,
			x.Response.Body.Dropped, x.Notes)
	}
}
