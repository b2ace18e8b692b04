package recorder

import (
	"fmt"
	"io"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/forward"
	"a2atap/proxy/must"
)

// Data at a tap or a forward proxy that is not a visible request is counted, and the verdict mentions it.
func TestUnreadIsCounted(t *testing.T) {
	t.Parallel()
	agent := must.Get(url.Parse(cmdtest.NoiseAgent(t)))(t)
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	for _, c := range []struct {
		name, sent string
		seen       bool
	}{
		{"nothing", "", true},
		{"blank lines", "\r\n\r\n\r\n", true},
		{"an ordinary request", "GET URL HTTP/1.1\r\nHost: HOST\r\n\r\n", true},
		{"binary data", "\x00\x01\x02", false},
		{"text without an end", "abc", false},
		{"text of 200 kB without an end", strings.Repeat("x", 200_000), false},
		{"SMTP", "EHLO x\r\n", false},
		{"TLS", "\x16\x03\x01\x02\x00" + strings.Repeat("x", 0x200), false},
		{"the preface of HTTP/2", preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00", false},
		{"the preface of HTTP/2, and a request of HTTP/1", preface + "GET / HTTP/1.1\r\nHost: x\r\n\r\n", false},
		{"the preface of HTTP/2, and DATA", preface + "\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00\x00\x07abc", false},
		{"a request, then binary data", "GET URL HTTP/1.1\r\nHost: HOST\r\n\r\n\x00\x01", false},
		{"a request, then text without a line end", "GET URL HTTP/1.1\r\nHost: HOST\r\n\r\nabc", false},
		{"a request, and the preface of HTTP/2", "GET URL HTTP/1.1\r\nHost: HOST\r\n\r\n" + preface, false},
		{"CONNECT", "CONNECT HOST HTTP/1.1\r\nHost: HOST\r\n\r\nabc", false},
		{"another version", "GET URL HTTP/3.7\r\nHost: HOST\r\n\r\n", false},
		{"no version", "GET URL\r\n\r\n", false},
		{"the beginning of a head", "POST URL HTTP/1.1\r\nHo", false},
		{"the beginning of a body", "POST URL HTTP/1.1\r\nHost: HOST\r\nContent-Length: 9\r\n\r\nabc", false},
		{"two lengths", "POST URL HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd", false},
		{"a chunk that is none", "POST URL HTTP/1.1\r\nHost: HOST\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc", false},
	} {
		for _, through := range []string{"tap", "forward"} {
			t.Run(c.name+"/"+through, func(t *testing.T) {
				o := Options{Output: filepath.Join(t.TempDir(), "c.a2atap")}
				o.Proxy.Forward = &forward.Spec{Listen: "127.0.0.1:0"}
				r := recordFrom(t, o)
				at, to, host := r.Taps()[0].Addr(), "/", r.Taps()[0].Addr()
				if through == "forward" {
					at, to, host = r.Forward().Addr(), agent.String()+"/", agent.Host
				}
				conn := must.Get(net.Dial("tcp", at))(t)
				defer conn.Close()
				conn.SetDeadline(time.Now().Add(must.Patience))
				fmt.Fprint(conn, strings.NewReplacer("URL", to, "HOST", host).Replace(c.sent))
				conn.(*net.TCPConn).CloseWrite()
				io.Copy(io.Discard, conn) // to an end of any kind
				result, _, err := r.Stop()
				must.Do(t, err)
				if seen := len(result.NotSeen) == 0; seen != c.seen {
					t.Errorf("not seen: %+v", result.NotSeen)
				}
			})
		}
	}
}
