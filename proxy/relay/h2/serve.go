package h2

import (
	"context"
	"errors"
	"io"
	"net"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/relay"
)

// Serve relays between a client that speaks HTTP/2 and its agent until both directions have ended, and closes both
// connections. begun is the part of the client's data that was already read. cfg is as for relay.New; Forward and HTTP2
// are ignored. When ctx ends, Serve returns in bounded time, and exchanges in flight are reported as a TransportError
// of relay.KindShutdown.
//
// The error is like that of relay.Session.Serve.
func Serve(ctx context.Context, client net.Conn, begun []byte, cfg relay.Config) error {
	c := newConn(client, cfg)
	stop := context.AfterFunc(ctx, c.shutdown)
	defer stop()
	var end context.CancelFunc
	c.ctx, end = context.WithCancel(ctx)
	defer end()
	c.up.in.Add(begun)
	c.serve(ctx)
	return c.close(end)
}

func newConn(client net.Conn, cfg relay.Config) *conn {
	if cfg.Observer == nil {
		cfg.Observer = relay.Discard{}
	}
	if cfg.HeadLimit <= 0 {
		cfg.HeadLimit = relay.DefaultHeadLimit
	}
	c := &conn{
		cfg: cfg, client: newEnd(client, relay.SideClient), agent: newEnd(nil, relay.SideAgent),
		streams: make(map[uint32]*stream), heads: budget.NewPool(budget.ConnHeaderBytes), idleSince: time.Now(),
		givenUp: make(givenUp),
	}
	c.obs.To, c.edited.By = cfg.Observer, cfg.Editor
	c.up = c.newHalf(c.client, c.agent)
	c.up.does = &requests{half: c.up}
	c.up.credit.turns.kept = true
	c.down = c.newHalf(c.agent, c.client)
	c.down.does = &answers{half: c.down}
	c.up.in.Watch(client)
	return c
}

func (c *conn) newHalf(from, to *end) *half {
	h := &half{conn: c, from: from, to: to, blocks: newBlockReader(c.cfg.HeadLimit)}
	h.strays = strayWatch{conn: c, from: from}
	h.credit.init(func(stream uint32, n int64) {
		from.out.post(func(o *outlet) { o.bytes = appendCredit(o.bytes, stream, n) })
	})
	return h
}

// serve waits for the preface, dials the agent, and relays.
func (c *conn) serve(ctx context.Context) {
	up := c.up.does.(*requests)
	if !up.awaitPreface() {
		return
	}
	agent, err := c.cfg.Dial(ctx)
	if err != nil {
		up.withoutAgent(err)
		return
	}
	c.mu.Lock()
	c.agent.Conn = agent
	c.mu.Unlock()
	if c.over.Load() {
		return
	}
	up.forwardPreface()
	c.down.in.Watch(agent)
	c.reader.Go(func() {
		c.down.run()
		c.down.does.(*answers).prove(true)
	})
	c.up.run()
}

// close waits for the answers, closes both connections, and returns the first error.
func (c *conn) close(endDeliveries context.CancelFunc) error {
	c.reader.Wait()
	endDeliveries()
	c.stopWaiting()
	c.deliveries.Wait()
	if c.receivers != nil {
		c.receivers.close()
	}
	for _, e := range []*end{c.client, c.agent} {
		if e.Conn != nil {
			e.SetWriteDeadline(time.Now().Add(relay.LingerTime))
		}
		e.out.close()
	}
	if c.over.Load() || c.agent.Conn == nil { // the client may still have to read the relay's own frames
		c.linger()
		io.Copy(io.Discard, c.client.Conn) //nolint:errcheck // the connection is finished in any case
	}
	c.client.Close()
	if c.agent.Conn != nil {
		c.agent.Close()
	}
	c.endAll(c.reason(relay.TransportError{
		Kind: relay.KindTruncated, Side: relay.SideAgent, Detail: "connection closed before the answer was complete",
	}))
	return errors.Join(c.firstFault, c.obs.Failure(), c.edited.Failure())
}

// shutdown breaks off exchanges in flight, so that no client takes them for complete, and closes idle connections.
func (c *conn) shutdown() {
	c.client.SetWriteDeadline(time.Now().Add(relay.LingerTime))
	c.client.out.await(relay.LingerTime) // write what was reported as complete
	c.over.Store(true)
	c.mu.Lock()
	agent := c.agent.Conn
	c.mu.Unlock()
	f := c.stopCause()
	c.setCause(f)
	_, idle := c.idle()
	c.endAll(f)
	c.stopWaiting()
	if agent != nil {
		relay.Reset(agent)
	}
	if idle {
		c.client.Close()
	} else {
		relay.Reset(c.client.Conn)
	}
}
