package playback_test

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/playback"
)

// Requests that are not A2A get an error, and never disturb the player.
func TestPlaybackRefusesOtherRequests(t *testing.T) {
	p, origin := perform(t, capture.NewMemory(capture.Info{}), playback.Options{})
	for _, request := range []string{
		"GET / HTTP/1.1", "GET /favicon.ico HTTP/1.1", "POST /rpc HTTP/1.1 {", "POST /rpc HTTP/1.1 []",
		`POST /rpc HTTP/1.1 [{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}]`,
	} {
		method, rest, _ := strings.Cut(request, " ")
		path, rest, _ := strings.Cut(rest, " ")
		_, body, _ := strings.Cut(rest, " ")
		req, err := http.NewRequestWithContext(t.Context(), method, origin+path, bufio.NewReader(strings.NewReader(body)))
		must.Do(t, err)
		res := must.Get(http.DefaultClient.Do(req))(t)
		res.Body.Close()
		if res.StatusCode < 400 && request[0] == 'G' {
			t.Errorf("%s: status %d", request, res.StatusCode)
		}
	}
	if r := p.Report(); r.Missed != 5 || r.Served != 0 || !strings.Contains(r.Verdict(), "inconclusive") {
		t.Errorf("report %+v", r)
	}
	http.DefaultClient.CloseIdleConnections()
}

// endless is a body without an end.
type endless struct{}

func (endless) Read(p []byte) (int, error) { return len(p), nil }

// A client that sends too much, or stalls, gets an error or can wait, and does not affect other clients.
func TestPlaybackForHostileClients(t *testing.T) {
	t.Parallel()
	src := lifecycle(t, way{"spec", client.JSONRPC10})
	p, origin := perform(t, src, playback.Options{})
	slow, hold := io.Pipe()
	req := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/spec", slow))(t)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answered := make(chan error, 1)
	go func() {
		res, err := transport.RoundTrip(req)
		if err == nil {
			err = res.Body.Close()
		}
		answered <- err
	}()
	if _, err := hold.Write([]byte(`{"jsonrpc":`)); err != nil { // the request has begun, and stalls here
		t.Fatal(err)
	}
	huge := must.Get(http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/spec", endless{}))(t)
	res, err := transport.RoundTrip(huge)
	if err == nil {
		expect.Equal(t, "a request without an end is answered with "+res.Status,
			http.StatusRequestEntityTooLarge, res.StatusCode)
		res.Body.Close()
	}
	c := connect(t, origin+"/spec", client.JSONRPC10)
	send(t, c, "hello")
	hold.Close()
	expect.OK(t, <-answered)
	if r := p.Report(); r.Served != 2 || r.Missed != 2 {
		t.Errorf("%s", r.Verdict())
	}
}
