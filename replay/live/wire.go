package live

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/proxy/scheme"
	"a2atap/replay/limits"
)

// maxBody bounds what is kept of the body of an answer, in bytes.
const maxBody = 16 << 20

// errLeft is returned where [Call].Event says that the stream is to be left.
var errLeft = errors.New("left the stream where the recording does")

// errSpeaksTLS is why there is no answer to a request that was sent without TLS to an agent that expects it.
var errSpeaksTLS = errors.New(scheme.SpeaksTLS + " (a TLS record answers a request without TLS)")

// Dial opens a connection to an address, HOST:PORT, with TLS if it is to be secure; only HTTP/1.1 is offered. A nil
// dialer is one without options. Errors say which flag helps.
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

// A Call is one exchange over a connection of its own: the request is sent, and what comes back is recorded as it
// comes.
type Call struct {
	Conn    net.Conn // closed with the answer's body
	Log     *Entry
	Timeout time.Duration                  // of the whole exchange, begun anew where Event says so; 0 forever
	Sent    func()                         // called when the request has been written; may be nil
	Begun   func() (stay bool)             // called when a stream begins; false leaves it; may be nil
	Event   func(e *capture.Event) Reading // called with each block of a stream; nil goes on without a new timeout
	Limits  limits.Limits                  // of the answer
}

// A Reading says how a stream is read on after a block of it.
type Reading uint8

// The readings. Bytes alone are not progress: an agent that only pings its stream would keep a call forever.
const (
	GoOn     Reading = iota // the time that is left stays what it is
	Progress                // the timeout begins anew
	Leave                   // the connection is closed at once
)

// From returns the address from which the request is sent, host and port.
func (v *Call) From() string { return v.Conn.LocalAddr().String() }

// Do sends the request and reads the answer to its end. It returns how the exchange broke, or nil, and does not close
// the log.
func (v *Call) Do(ctx context.Context, method string, head, body []byte) *capture.TransportFault {
	a, err := v.start(ctx, method, head, body)
	if err == nil {
		_, err = io.Copy(io.Discard, a)
		a.release()
	}
	return faultOf(ctx, err)
}

// start sends the request and reads the head of the answer. The caller reads the rest and calls release.
func (v *Call) start(ctx context.Context, method string, head, body []byte) (*answer, error) {
	stop := context.AfterFunc(ctx, func() { v.Conn.SetDeadline(time.Unix(1, 0)) })
	a := &answer{v: v, ctx: ctx, stop: stop, meter: limits.Meter{Limits: v.Limits.OrDefaults()}}
	v.restart(ctx)
	_, writeErr := v.Conn.Write(append(bytes.Clone(head), body...))
	v.Log.RequestBody(body)
	if v.Sent != nil {
		v.Sent()
	}
	if err := a.receive(method); err != nil {
		a.release()
		if writeErr != nil {
			err = fmt.Errorf("send the request: %w", writeErr)
		}
		return nil, err
	}
	return a, nil
}

// restart gives the agent its time anew.
func (v *Call) restart(ctx context.Context) {
	if v.Timeout > 0 {
		v.Conn.SetDeadline(time.Now().Add(v.Timeout))
	}
	if ctx.Err() != nil { // it ended between the two
		v.Conn.SetDeadline(time.Unix(1, 0))
	}
}

func faultOf(ctx context.Context, err error) *capture.TransportFault {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLeft):
		return &capture.TransportFault{Kind: "client-left", Side: "client", Detail: err.Error()}
	case errors.As(err, new(*limits.ReachedError)):
		return &capture.TransportFault{Kind: "client-left", Side: "client", Detail: err.Error()}
	case ctx.Err() != nil:
		return &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "the client was interrupted"}
	case isDial(err):
		return &capture.TransportFault{Kind: "unreachable", Side: "agent", Detail: "connect: " + outbound.Cause(err).Error()}
	case errors.Is(err, errSpeaksTLS):
		return &capture.TransportFault{Kind: "tls", Side: "agent", Detail: errSpeaksTLS.Error()}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &capture.TransportFault{Kind: "timeout", Side: "agent", Detail: "no answer within the time limit"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &capture.TransportFault{Kind: "truncated", Side: "agent", Detail: err.Error()}
	}
	return &capture.TransportFault{Kind: "reset", Side: "agent", Detail: err.Error()}
}

// isDial reports whether an error is that there was no connection.
func isDial(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// An answer is the final answer of a call. Reading its body records it.
type answer struct {
	v    *Call
	ctx  context.Context
	stop func() bool
	res  *http.Response
	body io.ReadCloser // of the wire
	once sync.Once

	stream        bool
	cut           capture.Splitter
	decoder       *capture.StreamDecoder
	meter         limits.Meter
	leaving       error // why the rest of the stream is not read; nil if it is
	size, dropped int64
}

// release closes the connection.
func (a *answer) release() {
	a.once.Do(func() {
		a.stop()
		a.v.Conn.Close()
		if a.decoder != nil {
			a.decoder.Close()
		}
	})
}

// receive reads interim responses and the head of the final one.
func (a *answer) receive(method string) error {
	wire := bufio.NewReader(a.v.Conn)
	for left := limits.Head; ; {
		head, err := readHead(wire, left)
		left -= len(head)
		if scheme.IsTLSRecord(head) {
			err = errSpeaksTLS
		}
		if err != nil {
			return fmt.Errorf("read the head of the answer: %w", err)
		}
		whole := bufio.NewReader(io.MultiReader(bytes.NewReader(head), wire))
		res, err := http.ReadResponse(whole, &http.Request{Method: method})
		if err != nil {
			a.v.Log.ResponseHead(head, false)
			return fmt.Errorf("read the head of the answer: %w", err)
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			a.res, a.body = res, res.Body
			return a.begin(head)
		}
		a.v.Log.informational(head)
		wire = whole
	}
}

func (a *answer) begin(head []byte) error {
	fields := capture.ParseResponseHead(head).Fields
	a.stream = fields.MediaType() == "text/event-stream"
	a.v.Log.ResponseHead(head, a.stream)
	if !a.stream {
		return nil
	}
	decoder, err := capture.NewStreamDecoder(fields.Codings())
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	a.decoder = decoder
	if a.v.Begun != nil && !a.v.Begun() {
		return errLeft
	}
	return nil
}

// readHead reads the lines up to and including the blank one, or what there is of them, and no more
// than a number of bytes.
func readHead(r *bufio.Reader, most int) ([]byte, error) {
	var head []byte
	for {
		line, err := r.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(head) <= most:
			continue
		case len(head) > most:
			return nil, limits.HeadTooLong()
		case err != nil:
			return head, err
		case len(bytes.TrimRight(line, "\r\n")) == 0:
			return head, nil
		}
	}
}

// Read reads the body and records it. At its end it records that too.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	a.size += int64(n)
	if !a.stream {
		if limit := a.meter.Bytes(n); limit != nil {
			a.v.Conn.Close() // closing the body alone would read the answer to its end
			return n, limit
		}
	}
	if a.stream {
		if streamErr := a.streamed(p[:n], err); streamErr != nil {
			return n, streamErr
		}
	} else {
		kept := min(int64(n), max(0, maxBody-(a.size-int64(n))))
		a.dropped += int64(n) - kept
		if kept > 0 {
			a.v.Log.responseBody(p[:kept], 0)
		}
	}
	if err == nil {
		return n, nil
	}
	if a.dropped > 0 {
		a.v.Log.responseBody(nil, a.dropped)
		a.dropped = 0
	}
	if !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read the answer: %w", err)
	}
	a.v.Log.ResponseEnd(a.size, trailer(a.res))
	return n, io.EOF
}

// streamed records the events in a piece of a stream and hands them out.
func (a *answer) streamed(p []byte, end error) error {
	decoded := func(p []byte) {
		if a.leaving == nil {
			a.leaving = a.meter.Bytes(len(p))
		}
		if a.leaving == nil {
			a.take(a.cut.Write(p))
		}
	}
	if err := a.decoder.Write(p, decoded); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	if a.leaving != nil {
		a.v.Conn.Close() // closing the body alone would read the stream to its end
		return a.leaving
	}
	if end != nil && a.decoder.Flush(decoded) == nil {
		a.take(a.cut.Flush())
	}
	return nil
}

func (a *answer) take(events []capture.Event) {
	for i := range events {
		if a.leaving == nil {
			a.leaving = a.meter.Event()
		}
		if a.leaving != nil {
			return
		}
		a.v.Log.event(events[i])
		if a.v.Event == nil {
			continue
		}
		switch a.v.Event(&events[i]) {
		case Progress:
			a.v.restart(a.ctx)
		case Leave:
			a.leaving = errLeft
		}
	}
}

// trailer writes the trailer fields of an answer whose body has been read.
func trailer(res *http.Response) []byte {
	var b bytes.Buffer
	for name, values := range res.Trailer {
		for _, value := range values {
			fmt.Fprintf(&b, "%s: %s\r\n", textproto.CanonicalMIMEHeaderKey(name), value)
		}
	}
	return b.Bytes()
}
