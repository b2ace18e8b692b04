package live

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/limits"
)

// A Transport sends calls. As an [http.RoundTripper] it records its requests in Log. It is safe for concurrent use.
type Transport struct {
	Dialer *outbound.Dialer // connects to agents; nil is one without options
	Limits limits.Limits    // of the part of an answer that is recorded and passed on

	// For RoundTrip.
	Log    *Log
	Client capture.Peer                   // recorded as the client
	Agent  func(at *url.URL) capture.Peer // returns the peer recorded as the agent for a URL

	once  sync.Once
	over2 *http.Transport // sends requests over HTTP/2; see http2
}

// NewHTTP2 returns a transport for gRPC requests: HTTP/2 over shared connections. A nil dialer is a dialer without
// options.
func NewHTTP2(d *outbound.Dialer) *http.Transport {
	t := &http.Transport{DisableCompression: true}
	d = cmp.Or(d, &outbound.Dialer{})
	d.Configure(t)
	outbound.OnlyHTTP2(t)
	return t
}

// http2 returns the transport for gRPC requests.
func (t *Transport) http2() *http.Transport {
	t.once.Do(func() { t.over2 = NewHTTP2(t.Dialer) })
	return t.over2
}

// CloseIdleConnections closes the connections that no exchange uses any more.
func (t *Transport) CloseIdleConnections() { t.http2().CloseIdleConnections() }

// Dial opens a connection to an address, HOST:PORT, with TLS if secure is true; it offers only HTTP/1.1. A nil dialer
// is a dialer without options. Errors name the flag that helps.
func Dial(
	ctx context.Context, d *outbound.Dialer, hostPort string, secure bool, timeout time.Duration,
) (net.Conn, error) {
	d = cmp.Or(d, &outbound.Dialer{})
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	host, _, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, err
	}
	conn, err := d.Dial(ctx, hostPort, secure, host, nil)
	return conn, d.Explain(err, hostPort)
}

// Connect connects a call to its agent, if it is not connected yet. A call over gRPC is connected when it is sent.
func (t *Transport) Connect(ctx context.Context, c *Call) (err error) {
	if c.GRPC || c.conn != nil {
		return nil
	}
	if c.conn, err = Dial(ctx, t.Dialer, c.Host, c.Secure, cmp.Or(c.Timeout, dialTimeout)); err == nil {
		c.From = c.conn.LocalAddr().String()
	}
	return err
}

// dialTimeout is how long connecting may take for a call without a timeout.
const dialTimeout = 30 * time.Second

// Do connects the call, sends the request, reads the answer to its end, and closes the log.
func (t *Transport) Do(ctx context.Context, c *Call) {
	a, err := t.open(ctx, c)
	if err == nil {
		_, err = io.Copy(io.Discard, a)
		a.release()
		c.Log.close(faultOf(ctx, err))
	}
}

// open connects the call, sends the request and reads the head of the answer. The caller reads the rest, releases the
// answer and closes the log; open does so itself before it returns an error.
func (t *Transport) open(ctx context.Context, c *Call) (*answer, error) {
	if err := t.Connect(ctx, c); err != nil {
		if c.Sent != nil {
			c.Sent()
		}
		c.Log.close(&capture.TransportFault{
			Kind: "unreachable", Side: "agent", Detail: fmt.Sprintf("connect to %s: %v", c.Host, outbound.Cause(err)),
		})
		return nil, err
	}
	a := &answer{call: c, meter: limits.Meter{Limits: t.Limits.OrDefaults()}}
	a.ctx, a.cancel = context.WithCancelCause(ctx)
	if c.Timeout > 0 {
		a.timer = time.AfterFunc(c.Timeout, func() { a.cancel(os.ErrDeadlineExceeded) })
	}
	var err error
	if c.GRPC {
		err = a.askHTTP2(t.http2())
	} else {
		err = a.askHTTP1()
	}
	if err != nil {
		err = a.cause(err)
	} else if a.stream && c.Begun != nil && !c.Begun() {
		err = errLeft
	}
	if err != nil {
		a.release()
		c.Log.close(faultOf(ctx, err))
		return nil, err
	}
	return a, nil
}

func faultOf(ctx context.Context, err error) *capture.TransportFault {
	kind, side, detail := "reset", "agent", ""
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLeft), errors.As(err, new(*limits.ReachedError)):
		kind, side = "client-left", "client"
	case ctx.Err() != nil:
		kind, side, detail = "client-left", "client", "the client was interrupted"
	case isDial(err):
		kind, detail = "unreachable", "connect: "+outbound.Cause(err).Error()
	case errors.Is(err, errSpeaksTLS):
		kind, detail = "tls", errSpeaksTLS.Error()
	case errors.Is(err, os.ErrDeadlineExceeded):
		kind, detail = "timeout", "no answer within the time limit"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		kind = "truncated"
	}
	return &capture.TransportFault{Kind: kind, Side: side, Detail: cmp.Or(detail, err.Error())}
}

// isDial reports whether connecting has failed.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// Sleep waits for a duration. It returns false if the context ends first.
func Sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
