package replay_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
)

// single is a recorded request with a head of these lines.
func single(agent, body string, head ...string) *capture.Exchange {
	return &capture.Exchange{
		Seq: 3, Agent: capture.Peer{Name: "a", URL: agent},
		Request: capture.Request{
			Head: []byte(strings.Join(head, "\r\n") + "\r\n\r\n"),
			Body: capture.Body{Data: []byte(body), Size: int64(len(body)), Complete: true},
		},
	}
}

// The request is sent as recorded, except for fields of the connection and secrets.
func TestSingleOnTheWire(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		expect.OK(t, err)
		r.Header.Set("Body", string(body))
		got <- r
		io.WriteString(w, "{}")
	}))
	defer server.Close()
	hidden := credential.Placeholder(strings.Repeat("a", 64), strings.Repeat("b", 16))
	x := single("http://elsewhere.example/base", `{"token":"`+hidden+`"}`,
		"POST http://recorded.example/rpc?a=%20&key="+hidden+" HTTP/1.1", "Host: recorded.example", "X-Own: 1",
		"Connection: X-Hop", "X-Hop: 2", "Authorization: Bearer "+hidden, "Transfer-Encoding: chunked")
	s := must.Get(replay.NewSingle(x))(t)
	if s.URL != "http://recorded.example/rpc?a=%20" || s.Here() || !s.Placeholders {
		t.Errorf("it goes to %s, here %v, placeholders %v", s.URL, s.Here(), s.Placeholders)
	}
	if want := []string{"query parameter key", "header Authorization"}; !slices.Equal(s.Unsent, want) {
		t.Errorf("not sent: %q, want %q", s.Unsent, want)
	}
	must.Do(t, s.Through(server.URL+"/somewhere"))
	if s.URL != server.URL+"/rpc?a=%20" || !s.Here() || len(s.Unsent) != 2 {
		t.Errorf("through the tap it goes to %s, here %v, without %q", s.URL, s.Here(), s.Unsent)
	}
	answer, from, err := s.Send(t.Context(), replay.SingleOptions{})
	must.Do(t, err)
	r := <-got
	if r.Header.Get("X-Own") != "1" || r.Header.Get("X-Hop") != "" || r.Header.Get("Authorization") != "" ||
		r.Header.Get("Body") != string(x.Request.Body.Data) || r.RequestURI != "/rpc?a=%20" {
		t.Errorf("the agent gets %s %v", r.RequestURI, r.Header)
	}
	if from != r.RemoteAddr || !answer.Replayed || string(answer.Response.Body.Data) != "{}" || answer.Fault != nil {
		t.Errorf("sent from %s, came to %+v", from, answer)
	}
}

func TestSingleRefuses(t *testing.T) {
	t.Parallel()
	for why, x := range map[string]*capture.Exchange{
		"no request to send": single("http://a", ""),
		"where the agent":    single("", "", "GET /x HTTP/1.1"),
		"is not a path":      single("http://a", "", "OPTIONS * HTTP/1.1"),
		"cannot be decoded":  single("http://a", "x", "POST / HTTP/1.1", "Content-Encoding: gzip"),
		"invalid agent URL":  single("ftp://a", "", "GET /x HTTP/1.1"),
	} {
		expect.ErrorHas(t, "", why, expect.Err(replay.NewSingle(x)))
	}
}

// endsWhenAsked is a context that ends on the first check.
type endsWhenAsked struct {
	context.Context
	cancel context.CancelFunc
}

func (c endsWhenAsked) Err() error {
	c.cancel()
	return c.Context.Err()
}

// Nothing stays open if the user cancels just when the connection is made.
func TestSingleIsCanceledOnceConnected(t *testing.T) {
	t.Parallel()
	agent := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer agent.Close()
	s, err := replay.NewSingle(single("http://"+agent.Addr().String(), "", "GET /x HTTP/1.1"))
	must.Do(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, _, err = s.Send(endsWhenAsked{ctx, cancel}, replay.SingleOptions{})
	expect.ErrorHas(t, "sent", "canceled", err)
	conn := must.Get(agent.Accept())(t)
	defer conn.Close()
	conn.SetReadDeadline(time.Now().Add(must.Patience))
	if n, err := conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
		t.Errorf("the agent reads %d bytes, %v, want the end", n, err)
	}
}
