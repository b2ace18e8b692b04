package proxy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"a2atap/proxy/relay"
)

// listenTCP opens a listening address. Its errors begin with what is to be opened, and say where to choose another
// port, and what it means if other machines can reach it.
func (p *Proxy) listenTCP(what, address, where, danger string) (net.Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("open %s: %q is not an address to listen on: %w", what, address, err)
	}
	if addr.IP == nil {
		addr.IP = net.IPv4zero
	}
	if !addr.IP.IsLoopback() && !p.opts.AllowRemote {
		return nil, fmt.Errorf("open %s: %s can be reached from other machines, and %s; listen on 127.0.0.1, or "+
			"give --allow-remote", what, address, danger)
	}
	listener, err := net.ListenTCP("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("open %s: port %d of %s is in use; stop what listens there, or choose another port "+
			"%s: %w", what, addr.Port, addr.IP, where, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("open %s: port %d needs a privilege; choose a port from 1024 on: %w", what, addr.Port,
			err)
	case err != nil:
		return nil, fmt.Errorf("open %s on %s: %w", what, address, err)
	}
	return listener, nil
}

// accept serves connections until the listening address is closed. What goes wrong with one connection, such as too
// many open files, is waited out.
func (p *Proxy) accept(ctx context.Context, what string, listener net.Listener, serve func(context.Context, net.Conn)) {
	const first, last = 5 * time.Millisecond, time.Second
	for pause := first; ; {
		conn, err := listener.Accept()
		if err == nil {
			pause = first
			p.served.Go(func() { serve(ctx, conn) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		why := cmp.Or(relay.Exhausted(err), err.Error())
		p.notice(fmt.Sprintf("%s cannot accept connections for the moment: %s", what, why))
		timer := time.NewTimer(pause)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		pause = min(2*pause, last)
	}
}
