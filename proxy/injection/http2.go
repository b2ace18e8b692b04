package injection

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"net"
	"strconv"
	"time"

	"golang.org/x/net/http2"

	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/relay"
	"a2atap/proxy/relay/h2"
)

// WrapHTTP2 is Wrap for an HTTP/2 connection. A second relay in between injects the faults, so the first one sees what
// an agent with these faults would send. Closing the returned connection closes the other one.
func (i *Injector) WrapHTTP2(ctx context.Context, agent net.Conn) net.Conn {
	near, far := join()
	ctx, stop := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		h2.Serve(ctx, far, nil, relay.Config{ //nolint:errcheck // the first relay sees the error
			Dial: func(context.Context) (net.Conn, error) { return agent, nil }, Editor: &breaker{i},
		})
	}()
	near.ended = func() {
		stop()
		<-done
		agent.Close()
	}
	return near
}

// A breaker tells a relay of HTTP/2 where to make faults.
type breaker struct{ i *Injector }

var (
	_ h2.Breaker          = (*breaker)(nil)
	_ relay.RequestEditor = (*breaker)(nil)
)

// HoldRequest implements relay.RequestEditor.
func (b *breaker) HoldRequest(int, []byte, []byte, bool) (limit int, patience time.Duration) {
	if !b.i.plan.keeps {
		return 0, 0
	}
	return 2 * maxHeld, 0 // more than requests with a known operation have
}

// KeepRequest implements relay.RequestEditor.
func (*breaker) KeepRequest(int, []byte) bool { return true }

// RequestTooSlow implements relay.RequestEditor.
func (*breaker) RequestTooSlow(int) {}

// HeldRequest implements relay.RequestEditor.
func (*breaker) HeldRequest(int, []byte, []byte, []byte) []byte { return nil }

// Request implements relay.Editor.
func (*breaker) Request(_ int, head []byte) []byte { return head }

// Hold implements relay.Editor.
func (*breaker) Hold(int, []byte) int { return 0 }

// Answer implements relay.Editor.
func (*breaker) Answer(int, []byte, []byte, []byte) []byte { return nil }

// TooLarge implements relay.Editor.
func (*breaker) TooLarge(int) {}

// keep returns the exchange on a stream whose request must not reach the agent, or nil to forward it.
func (b *breaker) keep(stream uint32) *exchange {
	b.i.mu.Lock()
	defer b.i.mu.Unlock()
	e := b.i.streams[stream]
	if e == nil || e.fault == nil || !e.fault.Kind.keepsRequest() {
		return nil
	}
	if e.kept = true; e.ended {
		delete(b.i.streams, stream)
	}
	return e
}

// Instead implements h2.Breaker.
func (b *breaker) Instead(stream uint32) *h2.Instead {
	e := b.keep(stream)
	if e == nil {
		return nil
	}
	switch e.fault.Kind {
	case Drop:
		b.i.breakStream(e)
		return &h2.Instead{Silence: b.i.hang}
	case Status:
		head, content, _ := bytes.Cut(ownAnswer(e.fault), []byte("\r\n\r\n"))
		return &h2.Instead{Head: append(head, "\r\n\r\n"...), Content: content}
	case GRPCStatus:
		return &h2.Instead{Head: ownStatus(e.fault)}
	}
	return nil
}

// ownStatus returns a trailers-only answer with the status of a fault.
func ownStatus(f *Fault) []byte {
	head := []byte("HTTP/2 200\r\nServer: a2atap\r\nX-A2atap: fault\r\nContent-Type: application/grpc\r\n")
	status := grpc.Status{Code: f.GRPC, Message: "a fault made by the tap: " + f.String()}
	set := func(name, value string) { head = fmt.Appendf(head, "%s: %s\r\n", name, value) }
	status.Write(set, jsondoc.Value{}) //nolint:errcheck // it has no details
	return append(head, "\r\n"...)
}

// breakStream notes that the stream of an exchange breaks off for its fault.
func (i *Injector) breakStream(e *exchange) {
	i.mu.Lock()
	defer i.mu.Unlock()
	e.breaks = true
}

// leave notes the last stream that the connection accepts.
func (i *Injector) leave(e *exchange, last uint32) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.left, i.last = e, last
}

// Break implements h2.Breaker.
func (b *breaker) Break(stream uint32, head []byte, whole bool) *h2.Break {
	i := b.i
	i.mu.Lock()
	e := i.streams[stream]
	i.mu.Unlock()
	if e == nil {
		return nil
	}
	i.overtaken(e)
	f := e.fault
	switch {
	case f == nil:
		return nil
	case f.Kind.ofStream():
		if whole {
			return nil
		}
		return i.breakEvents(e, head)
	}
	switch f.Kind {
	case Delay:
		i.mark(e, "", nil)
		return &h2.Break{Wait: f.Delay}
	case Reset:
		status := capture.ParseResponseHead(head).Status
		i.mark(e, "the agent had answered with "+strconv.Itoa(status), nil)
		i.breakStream(e)
		return &h2.Break{Reset: f.code()}
	case GoAway:
		i.mark(e, "", nil)
		return &h2.Break{Leave: func(last uint32) http2.ErrCode {
			i.leave(e, last)
			return *f.code()
		}}
	case ContentType:
		edited, was := withField(head, "Content-Type", f.Type)
		i.mark(e, "", []capture.Rewrite{{Place: "response.header[Content-Type]", Was: was, Now: f.Type}})
		return &h2.Break{Head: edited}
	case ResetBody:
		if !whole {
			return &h2.Break{Content: i.halfOf(e)}
		}
	}
	return nil
}

// halfOf returns half of the first piece of an answer, and then a reset.
func (i *Injector) halfOf(e *exchange) func([]byte, bool) ([]h2.Piece, *h2.Ending) {
	return func(p []byte, _ bool) ([]h2.Piece, *h2.Ending) {
		if len(p) == 0 {
			return nil, nil
		}
		i.mark(e, "", nil)
		i.breakStream(e)
		return []h2.Piece{{Bytes: bytes.Clone(p[:len(p)/2])}}, &h2.Ending{Reset: e.fault.code()}
	}
}

// breakEvents changes the events of a stream: messages of gRPC, or server-sent events without a content coding. Any
// other answer is not touched.
func (i *Injector) breakEvents(e *exchange, head []byte) *h2.Break {
	h := capture.ParseResponseHead(head)
	isGRPC := capture.IsGRPC(h.Fields.MediaType())
	if h.Status != 200 || !isGRPC && (h.Fields.MediaType() != "text/event-stream" || len(h.Fields.Codings()) > 0) {
		return nil
	}
	i.mark(e, "", nil)
	changed := newEvents(e.fault, false)
	if isGRPC {
		changed.splitter = &capture.MessageSplitter{Limit: math.MaxInt}
	}
	return &h2.Break{Content: func(p []byte, last bool) (pieces []h2.Piece, ending *h2.Ending) {
		var out []delayed
		then := changed.then()
		switch {
		case then != goOn: // before the first one
		case last:
			out, then = changed.flush()
		default:
			out, then = changed.write(p)
		}
		for _, d := range out {
			pieces = append(pieces, h2.Piece{Wait: d.wait, Bytes: d.bytes})
		}
		return pieces, i.ending(e, then, isGRPC)
	}}
}

// ending returns how an answer ends after an event.
func (i *Injector) ending(e *exchange, then action, isGRPC bool) *h2.Ending {
	switch {
	case then == goOn:
		return nil
	case then == hang:
		i.breakStream(e)
		return &h2.Ending{Silence: i.hang}
	case then == endHere && isGRPC:
		return &h2.Ending{Trailer: []byte(grpc.StatusField + ": 0\r\n")}
	case then == breakOff && !isGRPC:
		i.breakStream(e)
		return &h2.Ending{Reset: e.fault.code()}
	}
	return &h2.Ending{}
}
