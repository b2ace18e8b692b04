package live

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"os"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/scheme"
	"a2atap/replay/limits"
)

// maxBody bounds the part of an answer's body that is kept, in bytes.
const maxBody = 16 << 20

// An answer is the final answer to a call. Reading its body records the body.
type answer struct {
	call   *Call
	ctx    context.Context // of the call; it ends with the caller's, too
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil without a timeout
	res    *http.Response
	body   io.ReadCloser // of the wire
	spell  func(string) string
	once   sync.Once

	stream        bool
	split         splitter
	as            *grpc.Codec // decodes messages; nil if their type is unknown
	decoder       *capture.StreamDecoder
	meter         limits.Meter
	leaving       error // why reading the stream stops; nil while it continues
	size, dropped int64
}

// A splitter cuts a stream into its events.
type splitter interface {
	Write(p []byte) []capture.Event
	Flush() []capture.Event
}

// release ends the exchange: it closes the connection, or resets the stream.
func (a *answer) release() {
	a.once.Do(func() {
		if a.timer != nil {
			a.timer.Stop()
		}
		a.leave()
		if a.decoder != nil {
			a.decoder.Close()
		}
	})
}

// leave breaks the exchange off. Closing the body alone would read an answer over HTTP/1.1 to its end.
func (a *answer) leave() {
	a.cancel(nil)
	if a.call.conn != nil {
		a.call.conn.Close()
	} else if a.body != nil {
		a.body.Close()
	}
}

// cause returns the reason for an error of the wire, which may hide that the time was over.
func (a *answer) cause(err error) error {
	if errors.Is(context.Cause(a.ctx), os.ErrDeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	return err
}

// sent records the body of the request.
func (a *answer) sent() {
	a.call.Log.requestBody(a.call.Body)
	if a.call.Sent != nil {
		a.call.Sent()
	}
}

// askHTTP1 sends the request on the connection of the call. It reads interim answers and the head of the final one.
func (a *answer) askHTTP1() error {
	c := a.call
	context.AfterFunc(a.ctx, func() { c.conn.SetDeadline(time.Unix(1, 0)) }) //nolint:errcheck // of a closed connection
	_, writeErr := c.conn.Write(append(bytes.Clone(c.Head), c.Body...))
	a.sent()
	err := a.receive()
	if err != nil && writeErr != nil {
		err = fmt.Errorf("send the request: %w", writeErr)
	}
	return err
}

func (a *answer) receive() error {
	method, _, _ := strings.Cut(string(a.call.Head), " ")
	wire := bufio.NewReader(a.call.conn)
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
			a.call.Log.add(capture.ResponseHead{Head: head})
			return fmt.Errorf("read the head of the answer: %w", err)
		}
		if res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			a.spell = asIs
			return a.begin(res, head)
		}
		a.call.Log.add(capture.Informational{Head: head}) // whole has read no further: an interim answer ends with its head
	}
}

// readHead reads the lines up to and including the blank one, or as many as arrive, and at most the given number of
// bytes.
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

// askHTTP2 sends the request over HTTP/2, and reads the head of the answer.
func (a *answer) askHTTP2(over http.RoundTripper) error {
	c := a.call
	h := capture.ParseRequestHead(c.Head)
	ctx := httptrace.WithClientTrace(a.ctx, &httptrace.ClientTrace{
		GotConn: func(got httptrace.GotConnInfo) { c.From = got.Conn.LocalAddr().String() },
	})
	origin := "http://" + c.Host
	if c.Secure {
		origin = "https://" + c.Host
	}
	req, err := http.NewRequestWithContext(ctx, h.Method, origin+h.Target, bytes.NewReader(c.Body))
	if err != nil {
		return err
	}
	for _, f := range h.Fields {
		switch strings.ToLower(f.Name) {
		case "host":
			req.Host = f.Value
		case "content-length":
		default:
			req.Header.Add(f.Name, f.Value)
		}
	}
	a.sent()
	res, err := over.RoundTrip(req)
	if err != nil {
		return err
	}
	a.spell = strings.ToLower
	head := appendFields(fmt.Appendf(nil, "HTTP/2 %d\r\n", res.StatusCode), res.Header, a.spell)
	return a.begin(res, append(head, "\r\n"...))
}

// begin records the head of the final answer.
func (a *answer) begin(res *http.Response, head []byte) error {
	a.res, a.body = res, res.Body
	request, h := capture.ParseRequestHead(a.call.Head), capture.ParseResponseHead(head)
	var codings []string
	switch media := h.Fields.MediaType(); {
	case media == "text/event-stream":
		a.split, codings = &capture.Splitter{}, h.Fields.Codings()
	case capture.IsGRPC(media) && a.call.GRPC:
		a.split, a.as = &capture.MessageSplitter{}, capture.GRPCAnswers(&request, &h)
	}
	a.stream = a.split != nil
	a.call.Log.add(capture.ResponseHead{Head: head, Stream: a.stream})
	if !a.stream {
		return nil
	}
	var err error
	if a.decoder, err = capture.NewStreamDecoder(codings); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return nil
}

// Read reads the body and records it, and its end.
func (a *answer) Read(p []byte) (int, error) {
	n, err := a.body.Read(p)
	a.size += int64(n)
	if limit := a.record(p[:n], err); limit != nil {
		a.leave()
		return n, limit
	}
	if err == nil {
		return n, nil
	}
	if a.dropped > 0 {
		a.call.Log.add(capture.ResponseBody{Dropped: a.dropped})
		a.dropped = 0
	}
	if !errors.Is(err, io.EOF) {
		return n, fmt.Errorf("read the answer: %w", a.cause(err))
	}
	a.call.Log.add(capture.ResponseEnd{Size: a.size, Trailer: appendFields(nil, a.res.Trailer, a.spell)})
	return n, io.EOF
}

// record records a piece of the body; end is the error that came with the piece. It returns why reading stops, or nil.
func (a *answer) record(p []byte, end error) error {
	if !a.stream {
		if limit := a.meter.Bytes(len(p)); limit != nil {
			return limit
		}
		kept := min(int64(len(p)), max(0, maxBody-(a.size-int64(len(p)))))
		a.dropped += int64(len(p)) - kept
		if kept > 0 {
			a.call.Log.add(capture.ResponseBody{Data: p[:kept]})
		}
		return nil
	}
	decoded := func(p []byte) {
		if a.leaving == nil {
			a.leaving = a.meter.Bytes(len(p))
		}
		if a.leaving == nil {
			a.take(a.split.Write(p))
		}
	}
	if err := a.decoder.Write(p, decoded); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	if a.leaving == nil && end != nil && a.decoder.Flush(decoded) == nil {
		a.take(a.split.Flush())
	}
	return a.leaving
}

// take records events and hands them out.
func (a *answer) take(events []capture.Event) {
	for i := range events {
		if a.leaving == nil {
			a.leaving = a.meter.Event()
		}
		if a.leaving != nil {
			return
		}
		e := &events[i]
		a.call.Log.add(capture.ResponseEvent{Event: *e})
		if a.call.Event == nil {
			continue
		}
		e.As = a.as
		switch a.call.Event(e) {
		case Progress:
			if a.timer != nil {
				a.timer.Reset(a.call.Timeout)
			}
		case Leave:
			a.leaving = errLeft
		}
	}
}
