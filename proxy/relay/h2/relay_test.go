package h2_test

import (
	"io"
	"net/http"
	"testing"

	"a2atap/proxy/expect"
)

func TestRelays(t *testing.T) {
	addr := agent(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Trailer", "X-Sum")
		w.Header().Set("X-Host", r.Host)
		io.WriteString(w, "echo "+string(body))
		w.Header().Set("X-Sum", "7")
	})
	p := newTap(t, addr, nil)
	res, got := ask(t, client(t), "http://"+p.addr+"/a?b=c", "hello")
	if got != "echo hello" || res.Header.Get("X-Host") != addr || res.Trailer.Get("X-Sum") != "7" || res.ProtoMajor != 2 {
		t.Errorf("got %q, %v, %v", got, res.Header, res.Trailer)
	}
	e := p.seen.ended(1)[0]
	want := "POST /a?b=c HTTP/2\nhost: " + p.addr +
		"\ncontent-type: application/json\ncontent-length: 5\naccept-encoding: gzip\n\n"
	expect.Equal(t, "request", want, lines(e.Request))
	if string(e.Body) != "hello" || string(e.AnswerBody) != got || e.AnswerTrailer != "x-sum: 7\r\n" || e.Fault != nil {
		t.Errorf("%+v", e)
	}
	if want := "HTTP/2 200\ntrailer: X-Sum\nx-host: " + addr + "\n"; lines(e.Answer)[:len(want)] != want {
		t.Errorf("answer %q, want %q", e.Answer, want)
	}
}
