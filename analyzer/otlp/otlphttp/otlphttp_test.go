package otlphttp

import (
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"

	"a2atap/analyzer/otlp"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/unreachable"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func span(name string) otlp.Span {
	return otlp.Span{Service: "booker", Span: &tracepb.Span{
		TraceId: []byte("0123456789abcdef"), SpanId: []byte("01234567"), Name: name,
	}}
}

// A receiver keeps the spans that it is sent.
type receiver struct {
	mu      sync.Mutex
	names   []string
	headers []http.Header
}

func (c *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body, err := io.ReadAll(unpacked)
	data := &tracepb.TracesData{}
	if err := errors.Join(err, proto.Unmarshal(body, data)); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.headers = append(c.headers, r.Header)
	for _, r := range data.ResourceSpans {
		for _, s := range r.ScopeSpans[0].Spans {
			c.names = append(c.names, s.Name)
		}
	}
	w.Header().Set("Content-Type", "application/x-protobuf")
}

// to returns options for a receiver at a URL.
func to(t *testing.T, text string) Options {
	t.Helper()
	u := must.Get(ParseURL(text))(t)
	return Options{URL: u, Transport: &http.Transport{}, Batch: otlp.New(otlp.Options{}).Batch}
}

func TestSend(t *testing.T) {
	c := &receiver{}
	server := httptest.NewServer(c)
	defer server.Close()
	o := to(t, server.URL)
	o.Header = http.Header{"X-Api-Key": {"k1"}}
	s := New(o)
	const all = 3*otlp.BatchSize + 7
	for i := range all {
		s.Send(span(fmt.Sprint(i)))
	}
	expect.Equal(t, "", Stats{Sent: all}, s.Close(t.Context()))
	for i, name := range c.names {
		if name != fmt.Sprint(i) {
			t.Fatalf("span %d is %s", i, name)
		}
	}
	if len(c.names) != all || len(c.headers) < 4 {
		t.Errorf("%d spans came in %d requests", len(c.names), len(c.headers))
	}
	if h := c.headers[0]; h.Get("Content-Type") != "application/x-protobuf" || h.Get("X-Api-Key") != "k1" {
		t.Errorf("the headers are %v", h)
	}
	s.Send(span("late"))
	if s.stats.Dropped != 1 {
		t.Error("a span that comes after the end is not counted")
	}
}

// A collector is one function here, and time is the test's own.
type collector func(*http.Request) (*http.Response, error)

func (c collector) RoundTrip(r *http.Request) (*http.Response, error) { return c(r) }

func reply(status int, kind, body string) *http.Response {
	return &http.Response{
		StatusCode: status, Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(strings.NewReader(body)),
	}
}

// status is a google.rpc.Status.
func status(message string) string {
	return string(protowire.AppendString(protowire.AppendTag(nil, fieldStatusMessage, protowire.BytesType), message))
}

// partial is an ExportTraceServiceResponse of a partial success.
func partial(rejected uint64, message string) string {
	inner := protowire.AppendVarint(protowire.AppendTag(nil, fieldRejectedSpans, protowire.VarintType), rejected)
	inner = protowire.AppendString(protowire.AppendTag(inner, fieldErrorMessage, protowire.BytesType), message)
	return string(protowire.AppendBytes(protowire.AppendTag(nil, fieldPartialSuccess, protowire.BytesType), inner))
}

func TestCollectorsInTrouble(t *testing.T) {
	const protobuf = "application/x-protobuf"
	later := reply(429, protobuf, "")
	later.Header.Set("Retry-After", "7")
	for name, test := range map[string]struct {
		answers []any // in order; the last one again and again
		took    time.Duration
		sent    int64
		err     string
	}{
		"takes all":          {answers: []any{reply(200, protobuf, "")}, sent: 2},
		"answers garbage":    {answers: []any{reply(200, protobuf, "\xff\xff\xff")}, sent: 2},
		"is overloaded once": {answers: []any{later, reply(200, protobuf, "")}, took: 7 * time.Second, sent: 2},
		"is restarted":       {answers: []any{errors.New("refused"), reply(502, "", ""), reply(202, "", "")}, sent: 2},
		"takes one of two": {
			answers: []any{reply(200, protobuf, partial(1, "too old"))},
			sent:    1, err: "did not accept all of them: too old",
		},
		"takes a lot fewer":    {answers: []any{reply(200, protobuf, partial(1<<40, ""))}, err: "did not accept all of them"},
		"takes less than none": {answers: []any{reply(200, protobuf, partial(1<<63, ""))}, sent: 2},
		"warns":                {answers: []any{reply(200, protobuf, partial(0, "slow down"))}, sent: 2},
		"refuses": {
			answers: []any{reply(400, protobuf, status("no\x1b[31m spans"))},
			err:     "answered 400 Bad Request: no\uFFFD[31m spans",
		},
		"knows nobody": {
			answers: []any{reply(401, protobuf, status("token s3cret-token is wrong"))},
			err:     "401 Unauthorized: token … is wrong",
		},
		"is a web page": {answers: []any{reply(200, "text/html; charset=utf-8", "<p>")}, err: "a web page"},
		"is a page of an error": {
			answers: []any{reply(404, "text/html", "<p>")},
			err:     "answered 404 Not Found",
		},
		"is elsewhere":         {answers: []any{reply(308, "", "")}, err: "308 Permanent Redirect, which redirects"},
		"says nothing":         {answers: []any{nil}, err: "did not answer within 10s"},
		"is never there":       {answers: []any{errors.New("refused")}, err: "refused"},
		"is always overloaded": {answers: []any{reply(503, "", "")}, err: "503 Service Unavailable"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				u := must.Get(ParseURL("http://collector.example"))(t)
				asked, troubles := 0, 0
				s := New(Options{
					URL: u, Batch: otlp.New(otlp.Options{}).Batch, OnTrouble: func(error) { troubles++ },
					Header: http.Header{"Authorization": {"Bearer s3cret-token"}},
					Transport: collector(func(r *http.Request) (*http.Response, error) {
						answer := test.answers[min(asked, len(test.answers)-1)]
						asked++
						switch a := answer.(type) {
						case error:
							return nil, a
						case *http.Response:
							return a, nil
						}
						<-r.Context().Done()
						return nil, r.Context().Err()
					}),
				})
				s.Send(span("a"))
				s.Send(span("b"))
				time.Sleep(10 * time.Minute) // of the bubble, so the test does not wait
				stats := s.Close(t.Context())
				if stats.Sent != test.sent || stats.Dropped != 2-test.sent {
					t.Errorf("%d are sent, %d dropped", stats.Sent, stats.Dropped)
				}
				if test.err == "" && stats.Err != nil || test.err != "" && (stats.Err == nil ||
					!strings.Contains(stats.Err.Error(), test.err)) {
					t.Errorf("the error is %q, want %q", stats.Err, test.err)
				}
				if wanted := min(1, len(test.err)+len(test.answers)-1); troubles != wanted {
					t.Errorf("%d troubles are told, want %d", troubles, wanted)
				}
				if asked > 20 {
					t.Errorf("it is asked %d times", asked)
				}
			})
		})
	}
}

// A collector that says when is asked then.
func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"": 0, "soon": 0, "-1": 0, "3": 3 * time.Second, "99999999999": 0, "4000000000": maxWait,
		"Thu, 01 Jan 2026 00:00:05 GMT": 5 * time.Second, "Thu, 01 Jan 2025 00:00:05 GMT": 0,
		"Thu, 01 Jan 2099 00:00:05 GMT": maxWait,
	} {
		expect.Equal(t, fmt.Sprintf("%q", value), want, retryAfter(value, now))
	}
}

// A collector that does not answer blocks no sender, and delays Close no longer than its timeout.
func TestNobodyWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := to(t, "http://collector.example")
		o.Transport = collector(func(r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, r.Context().Err()
		})
		s := New(o)
		begun := time.Now()
		const all = 2*maxSpans + 1
		for range all {
			s.Send(span("a"))
		}
		if took := time.Since(begun); took > 0 {
			t.Errorf("to send takes %v", took)
		}
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		stats := s.Close(ctx)
		expect.Equal(t, "the end takes", 5*time.Second, time.Since(begun))
		if stats.Sent != 0 || stats.Dropped != all || stats.Err == nil {
			t.Errorf("%+v", stats)
		}
	})
}

// Close retries an overloaded collector while there is time.
func TestOverloadedAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		o := to(t, "http://collector.example")
		o.Transport = collector(func(*http.Request) (*http.Response, error) {
			if asked++; asked < 3 {
				return reply(503, "", ""), nil
			}
			return reply(200, "", ""), nil
		})
		s := New(o)
		s.Send(span("a"))
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if stats := s.Close(ctx); stats.Sent != 1 {
			t.Errorf("%+v", stats)
		}
	})
}

// Spans are sent together after a second at latest, and large ones in separate requests. The queue has room for all
// three large ones, so that none is dropped if all come before the first is sent.
func TestBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []int
		spans := otlp.New(otlp.Options{})
		o := to(t, "http://collector.example")
		o.Batch = func(batch []otlp.Span) *tracepb.TracesData {
			sizes = append(sizes, len(batch))
			return spans.Batch(batch)
		}
		o.Transport = collector(func(*http.Request) (*http.Response, error) { return reply(200, "", ""), nil })
		s := New(o)
		s.Send(span("a"))
		time.Sleep(gather / 2)
		s.Send(span("b"))
		time.Sleep(gather)
		synctest.Wait()
		if fmt.Sprint(sizes) != "[2]" {
			t.Errorf("requests have %v spans", sizes)
		}
		for range 3 {
			s.Send(span(strings.Repeat("x", maxRequest*5/9)))
		}
		s.Close(t.Context())
		if fmt.Sprint(sizes) != "[2 1 1 1]" {
			t.Errorf("requests have %v spans", sizes)
		}
	})
}

// A collector behind TLS has to prove who it is.
func TestUntrusted(t *testing.T) {
	c := &receiver{}
	server := httptest.NewUnstartedServer(c)
	server.Config.ErrorLog = nil
	server.StartTLS()
	defer server.Close()
	o := to(t, server.URL)
	s := New(o)
	s.Send(span("a"))
	if stats := s.Close(t.Context()); stats.Sent != 0 || !strings.Contains(fmt.Sprint(stats.Err), "certificate") {
		t.Errorf("%+v", stats)
	}
	o.Transport = &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: server.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs,
	}}
	s = New(o)
	s.Send(span("a"))
	if stats := s.Close(t.Context()); stats.Sent != 1 {
		t.Errorf("%+v", stats)
	}
}

// Whatever a collector answers, it is an outcome.
func FuzzAnswer(f *testing.F) {
	f.Add(200, "application/x-protobuf", "1", []byte(partial(1, "x")))
	f.Add(429, "text/plain", "Thu, 01 Jan 2026 00:00:05 GMT", []byte(status("x")))
	f.Fuzz(func(t *testing.T, code int, kind, wait string, body []byte) {
		r := reply(code, kind, string(body))
		r.Header.Set("Retry-After", wait)
		o := read(r, time.Unix(0, 0))
		switch {
		case o.wait < 0 || o.wait > maxWait:
			t.Errorf("it waits for %v", o.wait)
		case o.rejected < 0:
			t.Errorf("%d spans are rejected", o.rejected)
		case o.again && o.err == nil:
			t.Error("it is asked again for nothing")
		case o.err != nil && strings.ContainsFunc(o.err.Error(), control):
			t.Errorf("%q has control characters", o.err)
		}
	})
}

// A closed port is reported at once.
func TestAway(t *testing.T) {
	o := to(t, "http://"+unreachable.Address(t))
	told := make(chan error, 1)
	o.OnTrouble = func(err error) { told <- err }
	s := New(o)
	s.Send(span("a"))
	if err := <-told; !strings.Contains(err.Error(), "refused") {
		t.Error(err)
	}
	if stats := s.Close(t.Context()); stats.Dropped != 1 {
		t.Errorf("%+v", stats)
	}
}
