// Package otlphttp sends spans to an OpenTelemetry collector, over OTLP/HTTP with protocol buffers.
//
// Sending never blocks: spans that the collector does not accept in time are dropped and counted. If a collector is
// unreachable, slow or overloaded, the request is retried with growing pauses; if it refuses, the request is not
// retried.
//
// Source: OpenTelemetry Protocol 1.10, "OTLP/HTTP".
package otlphttp

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"a2atap/analyzer/otlp"
)

// Bounds of the queue, and of the time to send it.
const (
	maxSpans = 5_000
	maxBytes = 4 << 20 // of spans that wait, on the wire; they take some five times as much in memory

	maxRequest = 2 << 20          // bytes of spans in one request
	gather     = time.Second      // that spans wait for others, to go in one request
	patience   = 10 * time.Second // with one request
	firstPause = time.Second      // before a request is made again; doubles each time
	longPause  = 30 * time.Second
	keptFor    = 2 * time.Minute // that the same spans are sent again
)

// Options configure where and how spans are sent.
type Options struct {
	URL       *url.URL          // of the receiver, as ParseURL returns it
	Header    http.Header       // additional fields of each request
	Transport http.RoundTripper // of requests
	Batch     func([]otlp.Span) *tracepb.TracesData
	OnTrouble func(error) // called once, when spans were not taken for the first time
}

// Stats has the outcome for all spans.
type Stats struct {
	Sent    int64
	Dropped int64 // not taken by the collector, or not sent at all
	Err     error // why, of the last that were not taken; nil if all were, or if there was no room
}

// A Sender sends spans. Send may be called by several goroutines.
type Sender struct {
	o      Options
	client *http.Client
	wake   chan struct{} // contains a value when there is work
	ended  chan struct{} // closed when the goroutine is over

	mu     sync.Mutex
	queue  []otlp.Span
	bytes  int  // of queue
	last   bool // nothing follows the queue
	stats  Stats
	warned bool

	ctx    context.Context // of requests
	cancel context.CancelFunc
	over   chan struct{} // closed when pauses are over, since the end has come
}

// New returns a Sender that waits for spans. Close ends it.
func New(o Options) *Sender {
	s := &Sender{
		o: o, wake: make(chan struct{}, 1), ended: make(chan struct{}), over: make(chan struct{}),
		client: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	s.ctx, s.cancel = context.WithCancel(context.Background())
	go s.run()
	return s
}

// Send queues a span. It does not block: if the queue is full, the span is dropped and counted.
func (s *Sender) Send(span otlp.Span) {
	size := proto.Size(span.Span)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last || len(s.queue) >= maxSpans || s.bytes+size > maxBytes {
		s.stats.Dropped++
		return
	}
	s.queue = append(s.queue, span)
	s.bytes += size
	if len(s.queue) == 1 || len(s.queue) >= otlp.BatchSize || s.bytes >= maxRequest {
		s.rouse()
	}
}

func (s *Sender) rouse() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// Close sends waiting spans while the context lasts and the collector accepts them, and returns the outcome for all
// spans. Do not send after Close.
func (s *Sender) Close(ctx context.Context) Stats {
	s.mu.Lock()
	s.last = true
	s.mu.Unlock()
	close(s.over)
	s.rouse()
	stop := context.AfterFunc(ctx, s.cancel)
	<-s.ended
	stop()
	s.cancel()
	s.client.CloseIdleConnections()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stats
}

// run sends until all was sent and nothing more comes.
func (s *Sender) run() {
	defer close(s.ended)
	for s.gathered() {
		for {
			batch := s.take()
			if len(batch) == 0 {
				break
			}
			s.deliver(batch)
		}
	}
}

// gathered waits for spans, and then for enough of them, or for others to come. It is false when none will come.
func (s *Sender) gathered() bool {
	var enough <-chan time.Time
	for {
		s.mu.Lock()
		waiting, full, last := len(s.queue), len(s.queue) >= otlp.BatchSize || s.bytes >= maxRequest, s.last
		s.mu.Unlock()
		switch {
		case full || last && waiting > 0:
			return true
		case last:
			return false
		case waiting > 0 && enough == nil:
			enough = time.After(gather)
		}
		select {
		case <-s.wake:
		case <-enough:
			return true
		}
	}
}

// take removes the spans of one request from the queue.
func (s *Sender) take() []otlp.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, size := 0, 0
	for n < min(len(s.queue), otlp.BatchSize) {
		more := proto.Size(s.queue[n].Span)
		if n > 0 && size+more > maxRequest {
			break
		}
		n, size = n+1, size+more
	}
	batch := append([]otlp.Span(nil), s.queue[:n]...)
	s.queue = append(s.queue[:0], s.queue[n:]...)
	clear(s.queue[len(s.queue) : len(s.queue)+n])
	s.bytes -= size
	return batch
}

// deliver sends spans, with retries if they may help, and counts the results. At the end it retries only if the
// collector answers.
func (s *Sender) deliver(batch []otlp.Span) {
	body, err := s.encode(batch)
	if err != nil {
		s.count(len(batch), outcome{err: err})
		return
	}
	begun := time.Now()
	for pause := firstPause; ; pause = min(2*pause, longPause) {
		ending := s.ending()
		o := s.post(body)
		if !o.again || ending && !o.answered || s.ctx.Err() != nil || time.Since(begun) > keptFor {
			s.count(len(batch), o)
			return
		}
		s.trouble(o.err)
		s.pause(max(o.wait, pause+rand.N(pause/4)), ending)
	}
}

// ending reports whether no more spans will come, so that there is no time to wait for the collector.
func (s *Sender) ending() bool {
	select {
	case <-s.over:
		return true
	default:
		return false
	}
}

// pause waits, but not beyond the moment at which the end begins, or is over.
func (s *Sender) pause(d time.Duration, ending bool) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	begins := s.over
	if ending {
		begins = nil
	}
	select {
	case <-timer.C:
	case <-begins:
	case <-s.ctx.Done():
	}
}

func (s *Sender) encode(batch []otlp.Span) ([]byte, error) {
	message, err := proto.Marshal(s.o.Batch(batch))
	if err != nil {
		return nil, fmt.Errorf("encode spans: %w", err)
	}
	var body bytes.Buffer
	w := gzip.NewWriter(&body)
	_, err = w.Write(message)
	err = errors.Join(err, w.Close())
	return body.Bytes(), err
}

// post makes one request.
func (s *Sender) post(body []byte) outcome {
	ctx, cancel := context.WithTimeout(s.ctx, patience)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.o.URL.String(), bytes.NewReader(body))
	if err != nil {
		return outcome{err: err}
	}
	for name, values := range s.o.Header {
		r.Header[name] = values
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	r.Header.Set("Content-Encoding", "gzip")
	if r.Header.Get("User-Agent") == "" {
		r.Header.Set("User-Agent", "a2atap")
	}
	answer, err := s.client.Do(r)
	if err != nil {
		return outcome{err: s.unreached(err), again: true}
	}
	defer answer.Body.Close()
	o := read(answer, time.Now())
	o.err = s.masked(o.err)
	return o
}

// unreached explains why a request got no answer.
func (s *Sender) unreached(err error) error {
	var inner *url.Error
	if errors.As(err, &inner) {
		err = inner.Err
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("the collector did not answer within %v", patience)
	case errors.Is(err, context.Canceled):
		return errors.New("the collector did not answer before the end")
	case s.o.URL.Port() == "4317":
		return fmt.Errorf("%w; 4317 is the gRPC port, and OTLP over HTTP usually uses 4318", err)
	}
	return s.masked(err)
}

// masked removes the values of the user's headers from a message: a collector may repeat what it received.
func (s *Sender) masked(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	for _, values := range s.o.Header {
		for _, v := range values {
			_, token, _ := strings.Cut(v, " ")
			for _, secret := range []string{v, token} {
				if len(secret) >= 4 {
					text = strings.ReplaceAll(text, secret, "…")
				}
			}
		}
	}
	if text == err.Error() {
		return err
	}
	return errors.New(text)
}

// count counts the results for the spans of a request.
func (s *Sender) count(spans int, o outcome) {
	s.mu.Lock()
	dropped := int64(0)
	if o.err != nil {
		dropped = int64(spans)
		if o.rejected > 0 {
			dropped = min(dropped, o.rejected)
		}
		s.stats.Err = o.err
	}
	s.stats.Dropped += dropped
	s.stats.Sent += int64(spans) - dropped
	s.mu.Unlock()
	if o.err != nil {
		s.trouble(o.err)
	}
}

// trouble reports the first rejected spans.
func (s *Sender) trouble(err error) {
	s.mu.Lock()
	first := !s.warned
	s.warned = true
	s.mu.Unlock()
	if first && s.o.OnTrouble != nil {
		s.o.OnTrouble(err)
	}
}
