package proxy_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A talker is an agent that answers a send with a task, and a streamed one with three events.
type talker struct {
	URL   string
	asked atomic.Int64 // how many requests it got
}

func newTalker(t *testing.T) *talker {
	a := &talker{}
	a.URL = newAgent(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		a.asked.Add(1)
		if !strings.Contains(string(body), "Stream") && !strings.HasSuffix(r.URL.Path, ":stream") {
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, wholeAnswer)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, ": hello\n\n")
		for n := 1; n <= 3; n++ {
			io.WriteString(w, eventText(n))
			w.(http.Flusher).Flush()
		}
	}).URL
	return a
}

const wholeAnswer = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","contextId":"c1"}}}`

func eventText(n int) string { return fmt.Sprintf("data: {\"n\":%d}\n\n", n) }

func eventTexts(numbers ...int) string {
	text := ": hello\n\n"
	for _, n := range numbers {
		text += eventText(n)
	}
	return text
}

const (
	askOnce   = `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{}}`
	askStream = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{}}`
)

func withFaults(t *testing.T, flags ...string) func(*proxy.Options, *recording.Options) {
	t.Helper()
	return func(o *proxy.Options, _ *recording.Options) {
		for _, flag := range flags {
			spec := must.Get(injection.Parse(flag))(t)
			o.Faults = append(o.Faults, spec)
		}
	}
}

// askFor posts a body and returns the result. err is the error of the call or of the body.
func askFor(t *testing.T, c *http.Client, url, body string) (status int, h http.Header, text string, err error) {
	t.Helper()
	resp, err := c.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		return 0, nil, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, resp.Header, string(b), err
}

func TestFaults(t *testing.T) {
	t.Parallel()
	reset, cut := syscall.ECONNRESET, io.ErrUnexpectedEOF
	for _, tt := range []struct {
		fault  string
		ask    string
		status int
		text   string
		err    error
		broken string // of the record
	}{
		{"status=503", askOnce, 503, "", nil, ""},
		{"status=429,retry-after=7", askStream, 429, "", nil, ""},
		{"delay=30ms", askOnce, 200, wholeAnswer, nil, ""},
		{"delay=30ms", askStream, 200, eventTexts(1, 2, 3), nil, ""},
		{"content-type=text/html", askOnce, 200, wholeAnswer, nil, ""},
		{"content-type=application/json", askStream, 200, eventTexts(1, 2, 3), nil, ""},
		{"reset", askOnce, 0, "", reset, "injected"},
		{"reset", askStream, 0, "", reset, "injected"},
		{"reset-body", askOnce, 0, "", reset, "injected"},
		{"reset-body", askStream, 0, "", reset, "injected"},
		{"cut-stream=0", askStream, 200, "", cut, "injected"},
		{"cut-stream=2", askStream, 200, eventTexts(1, 2), cut, "injected"},
		{"end-stream=1", askStream, 200, eventTexts(1), nil, ""},
		{"duplicate-event=2", askStream, 200, eventTexts(1, 2, 2, 3), nil, ""},
		{"delay-events=10ms", askStream, 200, eventTexts(1, 2, 3), nil, ""},
		{"cut-stream=9", askStream, 200, eventTexts(1, 2, 3), nil, ""},
	} {
		for _, binding := range []string{"JSON-RPC", "HTTP+JSON"} {
			name := tt.fault + " " + binding
			t.Run(name, func(t *testing.T) {
				agent := newTalker(t)
				r := newRig(t, withFaults(t, "a:"+tt.fault), "a="+agent.URL)
				url, body := "http://"+r.tap(0).Addr()+"/", tt.ask
				if binding == "HTTP+JSON" {
					url, body = url+"v1/message:send", `{"message":{"role":"ROLE_USER","parts":[]}}`
					if tt.ask == askStream {
						url = strings.Replace(url, ":send", ":stream", 1)
					}
				}
				begun := time.Now()
				status, header, text, err := askFor(t, newClient(t), url, body)
				if !errors.Is(err, tt.err) && tt.err != reset || tt.err != nil && err == nil {
					t.Fatalf("got error %v, want %v", err, tt.err)
				}
				if tt.err != reset && status != tt.status || tt.text != "" && text != tt.text {
					t.Errorf("got %d %q, want %d %q", status, text, tt.status, tt.text)
				}
				if strings.HasPrefix(tt.fault, "delay") && time.Since(begun) < 30*time.Millisecond {
					t.Errorf("the answer came after %v", time.Since(begun))
				}
				if tt.status == 429 && header.Get("Retry-After") != "7" {
					t.Errorf("Retry-After is %q", header.Get("Retry-After"))
				}
				if got, want := agent.asked.Load() == 0, strings.HasPrefix(tt.fault, "status"); got != want {
					t.Errorf("the agent got no request: %v, want %v", got, want)
				}
				x := r.record()[0]
				checkFaulted(t, x, tt.fault, tt.broken)
				if got := recordedAnswer(x); tt.err == nil && got != text {
					t.Errorf("the client got %q, the record has %q", text, got)
				}
			})
		}
	}
}

func recordedAnswer(x *capture.Exchange) string {
	if x.Response == nil {
		return ""
	}
	text := string(x.Response.Body.Data)
	for _, e := range x.Response.Events {
		text += string(e.Raw)
	}
	return text
}
