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
	"net/http/httptrace"
	"net/textproto"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// NewHTTP2 returns what carries requests of gRPC: over HTTP/2, with connections that several share. A nil dialer is one
// without options.
func NewHTTP2(d *outbound.Dialer) *http.Transport {
	t := &http.Transport{DisableCompression: true}
	d = cmp.Or(d, &outbound.Dialer{})
	d.Configure(t)
	outbound.OnlyHTTP2(t)
	return t
}

// A Message is a call of gRPC over HTTP/2. It is as a Call, whose Conn it does not use; begun is told of an answer of
// messages, and event of each.
type Message struct {
	*Call
	Over   *http.Transport // as NewHTTP2 returns it
	Origin string          // scheme, host and port of the agent

	from string
}

// From returns the address from which the request was sent, host and port; empty if it was not.
func (v *Message) From() string { return v.from }

// headHTTP2 writes the head of a request over HTTP/2 in the form of HTTP/1, as it is recorded.
func headHTTP2(req *http.Request, size int) []byte {
	host := cmp.Or(req.Host, req.URL.Host)
	head := fmt.Appendf(nil, "%s %s HTTP/2\r\nHost: %s\r\n", req.Method, req.URL.RequestURI(), host)
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

// Do sends the request with a head as it is recorded, and reads the answer to its end. It returns how the exchange
// broke, or nil, and does not close the log.
func (v *Message) Do(ctx context.Context, method string, head, body []byte) *capture.TransportFault {
	h := capture.ParseRequestHead(head)
	req, err := http.NewRequestWithContext(ctx, method, v.Origin+h.Target, nil)
	if err != nil {
		return faultOf(ctx, err)
	}
	for _, f := range h.Fields {
		switch name := strings.ToLower(f.Name); name {
		case "host", "content-length":
		default:
			req.Header.Add(name, f.Value)
		}
	}
	a, err := v.start(req, head, body)
	if err == nil {
		_, err = io.Copy(io.Discard, a)
		a.end(err)
	}
	return faultOf(ctx, err)
}

// start sends the request and reads the head of the answer.
func (v *Message) start(req *http.Request, head, body []byte) (*messages, error) {
	ctx, cancel := context.WithCancelCause(req.Context())
	a := &messages{v: v, cancel: cancel, meter: limits.Meter{Limits: v.Limits.OrDefaults()}}
	if v.Timeout > 0 {
		a.timer = time.AfterFunc(v.Timeout, func() { cancel(os.ErrDeadlineExceeded) })
	}
	sent := req.Clone(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) { v.from = got.Conn.LocalAddr().String() },
	}))
	sent.Body, sent.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	v.Log.RequestBody(body)
	if v.Sent != nil {
		v.Sent()
	}
	res, err := v.Over.RoundTrip(sent)
	if err != nil {
		err = a.cause(ctx, err)
		a.end(err)
		return nil, err
	}
	request := capture.ParseRequestHead(head)
	written := append(appendFields(fmt.Appendf(nil, "HTTP/2 %d\r\n", res.StatusCode), res.Header), "\r\n"...)
	answer := capture.ParseResponseHead(written)
	a.res, a.body, a.ctx, a.as = res, res.Body, ctx, capture.GRPCAnswers(&request, &answer)
	a.stream = capture.IsGRPC(answer.Fields.MediaType())
	v.Log.ResponseHead(written, a.stream)
	res.Request, res.Body = req, a
	if a.stream && v.Begun != nil && !v.Begun() {
		a.leave()
		a.end(errLeft)
		return nil, errLeft
	}
	return a, nil
}

// messages are the body of an answer of gRPC that is recorded as it is read. Leaving it resets the stream.
type messages struct {
	v      *Message
	ctx    context.Context
	res    *http.Response
	body   io.ReadCloser
	as     *grpc.Codec // how messages are read; nil if that is not known
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without a timeout
	once   sync.Once
	done   func(error) // called once, with how reading has ended; may be nil

	stream bool
	split  capture.MessageSplitter
	meter  limits.Meter
	size   int64
}

// cause returns why reading has ended: an error of the context says too little.
func (m *messages) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), os.ErrDeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	return err
}

// Read reads the body and records it. At its end it records that too.
func (m *messages) Read(p []byte) (int, error) {
	n, err := m.body.Read(p)
	m.size += int64(n)
	left := m.meter.Bytes(n)
	if left != nil {
		m.leave()
	} else if m.stream {
		left = m.take(m.split.Write(p[:n]))
	} else if n > 0 {
		m.v.Log.responseBody(p[:n], 0)
	}
	if left == nil && err != nil && m.stream {
		left = m.take(m.split.Flush())
	}
	switch {
	case left != nil:
		err = left
	case err == nil:
		return n, nil
	case errors.Is(err, io.EOF):
		m.v.Log.ResponseEnd(m.size, trailerHTTP2(m.res))
	default:
		err = fmt.Errorf("read the answer: %w", m.cause(m.ctx, err))
	}
	m.end(err)
	return n, err
}

// take records messages and hands them out.
func (m *messages) take(events []capture.Event) error {
	for i := range events {
		e := &events[i]
		if err := m.meter.Event(); err != nil {
			m.leave()
			return err
		}
		m.v.Log.event(*e)
		if m.v.Event == nil {
			continue
		}
		e.As = m.as
		switch m.v.Event(e) {
		case Progress:
			if m.timer != nil {
				m.timer.Reset(m.v.Timeout)
			}
		case Leave:
			m.leave()
			return errLeft
		}
	}
	return nil
}

// leave resets the stream.
func (m *messages) leave() {
	m.cancel(nil)
	m.body.Close()
}

func (m *messages) end(err error) {
	m.once.Do(func() {
		if m.timer != nil {
			m.timer.Stop()
		}
		m.cancel(nil)
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
	head := headHTTP2(req, len(body))
	log := t.Log.Open(t.Client, t.Agent(req.URL), head)
	if t.Noted != nil {
		t.Noted(req, log.Seq())
	}
	a, err := (&Message{Call: &Call{Log: log, Limits: t.Limits}, Over: t.http2()}).start(req, head, body)
	if err != nil {
		log.Close(faultOf(req.Context(), err))
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
