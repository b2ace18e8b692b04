package live

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/textproto"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/outbound"
)

// NewHTTP2 returns what carries requests of gRPC: over HTTP/2, with connections that several share. A nil dialer is one
// without options.
func NewHTTP2(d *outbound.Dialer) *http.Transport {
	t := &http.Transport{DisableCompression: true}
	if d == nil {
		d = &outbound.Dialer{}
	}
	d.Configure(t)
	outbound.OnlyHTTP2(t)
	return t
}

// A Message is a call of gRPC over HTTP/2: the request is sent, and what comes back is recorded as it comes.
type Message struct {
	Over  *http.Transport // as NewHTTP2 returns it
	Log   *Entry
	Sent  func()                         // called when the request is on its way; may be nil
	Begun func() (stay bool)             // called when the answer begins; false leaves it; may be nil
	Event func(e *capture.Event) Reading // called with each message; nil reads on
}

// HeadHTTP2 writes the head of a request over HTTP/2 in the form of HTTP/1, as it is recorded.
func HeadHTTP2(req *http.Request, size int) []byte {
	head := fmt.Appendf(nil, "%s %s HTTP/2\r\nHost: %s\r\n", req.Method, req.URL.RequestURI(), cmp.Or(req.Host, req.URL.Host))
	head = appendFields(head, req.Header)
	return fmt.Appendf(head, "content-length: %d\r\n\r\n", size)
}

// appendFields writes fields in the order of their names: how they came is not known.
func appendFields(head []byte, fields http.Header) []byte {
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		for _, value := range fields[name] {
			head = fmt.Appendf(head, "%s: %s\r\n", strings.ToLower(name), value)
		}
	}
	return head
}

// Do sends the request and reads the answer to its end. It returns how the exchange broke, or nil, and does not close
// the log.
func (v *Message) Do(req *http.Request, body []byte) *capture.Fault {
	a, err := v.start(req, body)
	if err == nil {
		_, err = io.Copy(io.Discard, a)
		a.res.Body.Close()
	}
	return faultOf(req.Context(), err)
}

// start sends the request and reads the head of the answer.
func (v *Message) start(req *http.Request, body []byte) (*messages, error) {
	ctx, cancel := context.WithCancel(req.Context())
	sent := req.Clone(ctx)
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	v.Log.RequestBody(body)
	if v.Sent != nil {
		v.Sent()
	}
	res, err := v.Over.RoundTrip(sent)
	if err != nil {
		cancel()
		return nil, err
	}
	head := appendFields(fmt.Appendf(nil, "HTTP/2 %d\r\n", res.StatusCode), res.Header)
	stream := grpc.IsMedia(res.Header.Get("Content-Type"))
	v.Log.ResponseHead(append(head, "\r\n"...), stream)
	a := &messages{v: v, res: res, body: res.Body, cancel: cancel, stream: stream}
	res.Request, res.Body = req, a
	if stream && v.Begun != nil && !v.Begun() {
		a.leave()
		return nil, errLeft
	}
	return a, nil
}

// messages are the body of an answer of gRPC that is recorded as it is read. Leaving it resets the stream.
type messages struct {
	v      *Message
	res    *http.Response
	body   io.ReadCloser
	cancel context.CancelFunc
	once   sync.Once
	done   func(error) // called once, with how reading has ended; may be nil

	stream bool
	rest   []byte // of a message that is not whole yet
	k      int
	size   int64
}

// Read reads the body and records it. At its end it records that too.
func (m *messages) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	m.size += int64(n)
	if !m.stream {
		m.v.Log.responseBody(p[:n], 0)
	} else if left := m.take(p[:n], err); left != nil {
		err = left
	}
	switch {
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		m.v.Log.ResponseEnd(m.size, trailerHTTP2(m.res))
	case !errors.Is(err, errLeft):
		err = fmt.Errorf("read the answer: %w", err)
	}
	m.end(err)
	return n, err
}

// take records the messages in a piece of the body, at its end also one that is not whole.
func (m *messages) take(p []byte, end error) error {
	m.rest = append(m.rest, p...)
	for {
		frame, rest, ok := grpc.Cut(m.rest)
		if !ok || !frame.Whole() {
			break
		}
		raw := bytes.Clone(m.rest[:len(m.rest)-len(rest)])
		m.rest = rest
		if err := m.event(raw, false); err != nil {
			return err
		}
	}
	if end != nil && len(m.rest) > 0 {
		return m.event(bytes.Clone(m.rest), true)
	}
	return nil
}

func (m *messages) event(raw []byte, cut bool) error {
	m.k++
	e := capture.Event{K: m.k, At: capture.NotKnown, Raw: raw, Unterminated: cut}
	m.v.Log.event(e)
	if m.v.Event != nil && m.v.Event(&e) == Leave {
		m.leave()
		return errLeft
	}
	return nil
}

// leave resets the stream.
func (m *messages) leave() {
	m.cancel()
	m.body.Close()
}

func (m *messages) end(err error) {
	m.once.Do(func() {
		m.cancel()
		if m.done != nil {
			m.done(err)
		}
	})
}

// Close leaves an answer that has not been read to its end.
func (m *messages) Close() error {
	m.leave()
	m.end(errLeft)
	return nil
}

// trailerHTTP2 writes the trailer fields of an answer whose body has been read.
func trailerHTTP2(res *http.Response) []byte {
	fields := make(http.Header, len(res.Trailer))
	for name, values := range res.Trailer {
		fields[textproto.CanonicalMIMEHeaderKey(name)] = values
	}
	return appendFields(nil, fields)
}

// roundTripHTTP2 is RoundTrip for a request of gRPC.
func (t *Transport) roundTripHTTP2(req *http.Request) (*http.Response, error) {
	var body []byte
	if req.Body != nil {
		var err error
		body, err = io.ReadAll(req.Body)
		req.Body.Close()
		if err != nil {
			return nil, fmt.Errorf("read the body of the request: %w", err)
		}
	}
	log := t.Log.Open(t.Client, t.Agent(req.URL), HeadHTTP2(req, len(body)))
	if t.Noted != nil {
		t.Noted(req, log.Seq())
	}
	a, err := (&Message{Over: t.http2(), Log: log}).start(req, body)
	if err != nil {
		fault := faultOf(req.Context(), err)
		if fault.Kind == "reset" {
			fault = &capture.Fault{Kind: "unreachable", Side: "agent", Detail: Cause(err).Error()}
		}
		log.Close(fault)
		if req.Context().Err() != nil {
			err = req.Context().Err()
		}
		return nil, err
	}
	a.done = func(err error) {
		if err == io.EOF {
			err = nil
		}
		log.Close(faultOf(req.Context(), err))
	}
	return a.res, nil
}

// http2 returns what carries requests of gRPC.
func (t *Transport) http2() *http.Transport {
	t.once.Do(func() { t.over2 = NewHTTP2(t.Dialer) })
	return t.over2
}

// CloseIdleConnections closes the connections that no exchange uses any more.
func (t *Transport) CloseIdleConnections() { t.http2().CloseIdleConnections() }
