package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"

	"a2atap/proxy/capture"
	"a2atap/proxy/relay"
)

// tunnel passes the bytes of a connection without opening it. It is recorded as one exchange, with how many bytes
// passed and none of them, so that nobody takes what was not observed for clean. The client may have its answer to
// CONNECT already.
func (c *connect) tunnel(why string, answered bool) {
	to := c.to
	to.Scheme = "http" // whatever it is, the bytes go as they come
	l := c.link()
	l.isTunnel = true
	l.Request(0, c.head)
	defer l.Ended(0)
	l.RequestEnd(0, nil)
	l.Fact(0, capture.Fact{Note: "tunnelled, not observed: " + why})
	agent, err := c.forward.dial(c.ctx, to, "")
	if err != nil {
		f := relay.DialFault(err, to.Authority())
		if answered {
			f.Status = 0
			abort(c)
		}
		l.Fault(0, f)
		if !answered {
			writeFinalAnswer(c, relay.OwnAnswer("", f))
		}
		return
	}
	defer agent.Close()
	l.Answer(0, []byte(established))
	l.Upgraded(0)
	if !answered {
		if _, err := io.WriteString(c.Conn, established); err != nil {
			l.Fault(0, relay.Fault{
				Kind: relay.KindClientLeft, Side: relay.SideClient,
				Detail: "connection closed before CONNECT was answered",
			})
			return
		}
	}
	if f := c.splice(agent, l); f != nil {
		l.Fault(0, *f)
		return
	}
	l.AnswerEnd(0, nil)
}

// splice passes bytes in both directions until both have ended, and returns what broke them off.
func (c *connect) splice(agent net.Conn, l *forwardLink) *relay.Fault {
	var mu sync.Mutex
	var first *relay.Fault
	broken := func(kind, side, detail string) {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = &relay.Fault{Kind: kind, Side: side, Detail: detail}
		}
		abort(agent)
		abort(c)
	}
	stop := context.AfterFunc(c.ctx, func() { broken(relay.KindShutdown, relay.SideProxy, "the proxy was stopped") })
	defer stop()
	var wg sync.WaitGroup
	pass := func(from, to net.Conn, tell func(int, []byte), fromSide, toSide string) {
		switch side, err := copyBytes(from, to, tell); {
		case err == nil:
			closeWrite(to)
		case side == from:
			broken(relay.KindReset, fromSide, resetReason(err))
		default:
			broken(relay.KindReset, toSide, resetReason(err))
		}
	}
	wg.Go(func() { pass(c, agent, l.RequestBody, relay.SideClient, relay.SideAgent) })
	wg.Go(func() { pass(agent, c, l.AnswerBody, relay.SideAgent, relay.SideClient) })
	wg.Wait()
	mu.Lock()
	defer mu.Unlock()
	return first
}

// copyBytes passes what comes from one connection to another until it ends. With an error it says whose it was.
func copyBytes(from, to net.Conn, tell func(int, []byte)) (net.Conn, error) {
	var piece [16 << 10]byte
	for {
		n, err := from.Read(piece[:])
		if n > 0 {
			if _, err := to.Write(piece[:n]); err != nil {
				return to, err
			}
			tell(0, piece[:n])
		}
		switch err {
		case nil:
		case io.EOF:
			return nil, nil
		default:
			return from, err
		}
	}
}

// resetReason says in few words why bytes could not pass, without the ports that make equal errors differ.
func resetReason(err error) string {
	var number syscall.Errno
	if errors.As(err, &number) {
		return number.Error()
	}
	return "connection closed"
}

// abort closes a connection so that the other end sees a reset.
func abort(c net.Conn) {
	if r, ok := c.(interface{ NetConn() net.Conn }); ok {
		c = r.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		tcp.SetLinger(0)
	}
	c.Close()
}
