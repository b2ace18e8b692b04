package replay

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"time"

	"a2atap/proxy/capture"
)

// maxHead bounds the head of an answer, in bytes.
const maxHead = 1 << 20

// maxBody bounds what is kept of the body of an answer, in bytes.
const maxBody = 16 << 20

// dial opens a connection to the address. TLS certificates are verified.
func dial(ctx context.Context, at address, timeout time.Duration) (net.Conn, error) {
	d := &net.Dialer{Timeout: timeout}
	if at.scheme == "https" {
		t := &tls.Dialer{NetDialer: d, Config: &tls.Config{NextProtos: []string{"http/1.1"}}}
		return t.DialContext(ctx, "tcp", at.host)
	}
	return d.DialContext(ctx, "tcp", at.host)
}

// A roundTrip is one live exchange: the request is sent over a connection of its own, and what comes back is recorded
// as it comes.
type roundTrip struct {
	conn    net.Conn
	log     *exchangeLog
	timeout time.Duration                      // how long nothing may arrive
	sent    func()                             // called when the request has been written
	event   func(e *capture.Event) (stay bool) // called with each event of a stream; false leaves it
}

// errLeft is returned where the recorded client left a stream, and the replay leaves it, too.
var errLeft = errors.New("left the stream where the recording does")

// run sends the request and reads the answer to its end. It returns how the exchange broke, or nil.
func (v *roundTrip) run(ctx context.Context, out outgoing) *capture.Fault {
	stop := context.AfterFunc(ctx, func() { v.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	defer v.conn.Close()
	v.extend(ctx)
	_, writeErr := v.conn.Write(append(bytes.Clone(out.head), out.body...))
	v.log.requestBody(out.body)
	v.sent()
	err := v.receive(ctx, out.method)
	if err != nil && writeErr != nil {
		err = fmt.Errorf("send the request: %w", writeErr)
	}
	return faultOf(ctx, err)
}

// extend lets the agent be silent for another while.
func (v *roundTrip) extend(ctx context.Context) {
	v.conn.SetDeadline(time.Now().Add(v.timeout))
	if ctx.Err() != nil {
		v.conn.SetDeadline(time.Unix(1, 0))
	}
}

func faultOf(ctx context.Context, err error) *capture.Fault {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, errLeft):
		return &capture.Fault{Kind: "client-left", Side: "client", Detail: err.Error()}
	case ctx.Err() != nil:
		return &capture.Fault{Kind: "client-left", Side: "client", Detail: "the replay was interrupted"}
	case errors.Is(err, os.ErrDeadlineExceeded):
		return &capture.Fault{Kind: "timeout", Side: "agent", Detail: "no answer within the time limit"}
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &capture.Fault{Kind: "truncated", Side: "agent", Detail: err.Error()}
	}
	return &capture.Fault{Kind: "reset", Side: "agent", Detail: err.Error()}
}

// receive reads interim responses and the final one.
func (v *roundTrip) receive(ctx context.Context, method string) error {
	wire := bufio.NewReader(&deadlineReader{v, ctx})
	for {
		head, err := readHead(wire)
		if err != nil {
			return fmt.Errorf("read the head of the answer: %w", err)
		}
		whole := bufio.NewReader(io.MultiReader(bytes.NewReader(head), wire))
		res, err := http.ReadResponse(whole, &http.Request{Method: method})
		if err != nil {
			v.log.responseHead(head, false)
			return fmt.Errorf("read the head of the answer: %w", err)
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			return v.body(res, head)
		}
		v.log.informational(head)
		wire = whole
	}
}

// A deadlineReader reader gives the agent time anew for each read.
type deadlineReader struct {
	v   *roundTrip
	ctx context.Context
}

func (p *deadlineReader) Read(b []byte) (int, error) {
	p.v.extend(p.ctx)
	return p.v.conn.Read(b)
}

// readHead reads the lines up to and including the blank one.
func readHead(r *bufio.Reader) ([]byte, error) {
	var head []byte
	for {
		line, err := r.ReadSlice('\n')
		head = append(head, line...)
		switch {
		case errors.Is(err, bufio.ErrBufferFull) && len(head) < maxHead:
			continue
		case err != nil:
			return nil, err
		case len(head) > maxHead:
			return nil, fmt.Errorf("it is longer than %d bytes", maxHead)
		case len(bytes.TrimRight(line, "\r\n")) == 0:
			return head, nil
		}
	}
}

// body reads the body of the final answer.
func (v *roundTrip) body(res *http.Response, head []byte) error {
	defer res.Body.Close()
	fields := capture.ParseResponseHead(head).Fields
	stream := fields.MediaType() == "text/event-stream"
	v.log.responseHead(head, stream)
	if stream {
		return v.stream(res, fields.Codings())
	}
	buf := make([]byte, 32<<10)
	var size, dropped int64
	for {
		n, err := res.Body.Read(buf)
		kept := min(int64(n), max(0, maxBody-size))
		size, dropped = size+int64(n), dropped+int64(n)-kept
		if kept > 0 {
			v.log.responseBody(buf[:kept], 0)
		}
		if err == nil {
			continue
		}
		if dropped > 0 {
			v.log.responseBody(nil, dropped)
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the answer: %w", err)
		}
		v.log.responseEnd(size, trailer(res))
		return nil
	}
}

// stream reads an event stream and hands out each event as it comes.
func (v *roundTrip) stream(res *http.Response, codings []string) error {
	cut := capture.Splitter{}
	leaving := false
	take := func(events []capture.Event) {
		for i := range events {
			if leaving {
				return
			}
			v.log.event(events[i])
			leaving = !v.event(&events[i])
		}
	}
	decoder, err := capture.NewStreamDecoder(codings)
	if err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	defer decoder.Close()
	decoded := func(p []byte) { take(cut.Write(p)) }
	buf := make([]byte, 32<<10)
	var size int64
	for {
		n, err := res.Body.Read(buf)
		size += int64(n)
		if decodeErr := decoder.Write(buf[:n], decoded); decodeErr != nil {
			return fmt.Errorf("read the stream: %w", decodeErr)
		}
		if leaving {
			v.conn.Close() // closing the body alone would read the stream to its end
			return errLeft
		}
		if err == nil {
			continue
		}
		if decoder.Flush(decoded) == nil {
			take(cut.Flush())
		}
		if !errors.Is(err, io.EOF) {
			return fmt.Errorf("read the stream: %w", err)
		}
		v.log.responseEnd(size, trailer(res))
		return nil
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
