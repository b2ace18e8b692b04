// Package listener opens the addresses at which clients connect to a2atap, and knows the properties of such an address:
// how a client should name it, which connections lead back to it, and which hosts requests to it may name.
//
// Taps and the forward proxy use it; [CheckHosts] restricts a net/http server to the same hosts.
//
// # What it promises
//
// An address that other machines can reach is opened only on request. Errors of accepting, such as too many open files,
// are reported and retried, and do not end listening.
//
// A request that names another host is refused: a web page can make its own host name resolve to this machine (DNS
// rebinding).
package listener

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync"
	"syscall"
	"time"

	"a2atap/proxy/hostname"
	"a2atap/proxy/relay"
)

// A Spec describes what to open. The texts are parts of messages to users.
type Spec struct {
	Address string // host:port; port 0 is a free one

	What   string // is opened: "tap planner"
	Itself string // the listener in messages to clients: "this tap"
	Where  string // another port is chosen: "with --forward (0 is a free one)"
	Danger string // of an address that other machines reach: "anybody who reaches it reaches the agent"

	AllowRemote bool               // other machines may reach it
	Names       []string           // further hosts that requests may name
	AllowHosts  []hostname.Pattern // and those that the user allows
}

// A Listener is an address to which clients connect. It may be used by several goroutines.
type Listener struct {
	what     string
	listener net.Listener
	addr     *net.TCPAddr
	hosts    *hostList
}

// Open opens a listening address. Its errors begin with what could not be opened, and suggest what to do.
func Open(spec Spec) (*Listener, error) {
	addr, err := net.ResolveTCPAddr("tcp", spec.Address)
	if err != nil {
		return nil, fmt.Errorf("open %s: %q is not an address to listen on: %w", spec.What, spec.Address, err)
	}
	if addr.IP == nil {
		addr.IP = net.IPv4zero
	}
	if !addr.IP.IsLoopback() && !spec.AllowRemote {
		return nil, fmt.Errorf("open %s: %s can be reached from other machines, and %s; listen on 127.0.0.1, or "+
			"give --allow-remote", spec.What, spec.Address, spec.Danger)
	}
	opened, err := net.ListenTCP("tcp", addr)
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("open %s: port %d of %s is in use; stop the program that listens there, or choose another port "+
			"%s: %w", spec.What, addr.Port, addr.IP, spec.Where, err)
	case errors.Is(err, syscall.EACCES):
		return nil, fmt.Errorf("open %s: port %d needs a privilege; choose a port of 1024 or above: %w", spec.What, addr.Port,
			err)
	case err != nil:
		return nil, fmt.Errorf("open %s on %s: %w", spec.What, spec.Address, err)
	}
	at := opened.Addr().(*net.TCPAddr)
	l := &Listener{what: spec.What, listener: opened, addr: at}
	l.hosts = newHostList(spec.Itself, spec.Address, at, spec.AllowHosts)
	for _, name := range spec.Names {
		l.hosts.names = append(l.hosts.names, hostname.Normal(name))
	}
	return l, nil
}

// Close closes the listening address. Connections continue.
func (l *Listener) Close() error { return l.listener.Close() }

// Addr returns the listening address, host:port.
func (l *Listener) Addr() string { return l.addr.String() }

// IP returns the address without the port.
func (l *Listener) IP() net.IP { return l.addr.IP }

// Origin returns the listening address in the form in which origins are compared.
func (l *Listener) Origin() hostname.Origin {
	return hostname.NewOrigin(l.addr.IP.String(), strconv.Itoa(l.addr.Port))
}

// At returns host:port for a client that has connected to local. Without local, a listener on all addresses returns the
// loopback address.
func (l *Listener) At(local net.Addr) string {
	ip := l.addr.IP
	if ip.IsUnspecified() {
		if at, ok := local.(*net.TCPAddr); ok {
			ip = at.IP
		} else {
			ip = net.IPv4(127, 0, 0, 1)
		}
	}
	host := ip.String()
	if l.addr.Zone != "" {
		host += "%25" + l.addr.Zone // RFC 6874 section 2
	}
	return net.JoinHostPort(host, strconv.Itoa(l.addr.Port))
}

// Authority returns the listener's authority for a URL: the one from the client's Host if it is the listener's,
// otherwise the result of At.
func (l *Listener) Authority(used string, local net.Addr) string {
	host, port, ok := hostname.Split(used)
	if ok && cmp.Or(port, "80") == strconv.Itoa(l.addr.Port) && l.hosts.has(host, cmp.Or(port, "80"), local) {
		return used
	}
	return l.At(local)
}

// Reaches reports whether a connection from local to remote reaches this listener.
func (l *Listener) Reaches(local, remote net.Addr) bool {
	from, _ := local.(*net.TCPAddr)
	to, _ := remote.(*net.TCPAddr)
	if from == nil || to == nil {
		return false
	}
	ip := l.addr.IP
	return l.addr.Port == to.Port &&
		(ip.Equal(to.IP) || ip.IsUnspecified() && (to.IP.IsLoopback() || to.IP.Equal(from.IP)))
}

// Accept serves connections, each in a goroutine of the group, until the listening address is closed. On an error of
// accepting, it waits and reports the error to notice.
func (l *Listener) Accept(ctx context.Context, group *sync.WaitGroup, notice func(string),
	serve func(context.Context, net.Conn),
) {
	const first, last = 5 * time.Millisecond, time.Second
	for pause := first; ; {
		conn, err := l.listener.Accept()
		if err == nil {
			pause = first
			group.Go(func() { serve(ctx, conn) })
			continue
		}
		if errors.Is(err, net.ErrClosed) {
			return
		}
		why := cmp.Or(relay.Exhausted(err), err.Error())
		notice(fmt.Sprintf("%s currently cannot accept connections: %s", l.what, why))
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

// Admission returns the relay.Config.Accept of one connection to local: a function that returns an error if a request
// must not name an authority. Refused is called with each such error; it may be nil. The returned function is for one
// goroutine.
func (l *Listener) Admission(local net.Addr, refused func(error)) func(authority []byte) error {
	var last []byte // the last accepted one, since most requests name the same; may be nil
	return func(authority []byte) error {
		if last != nil && bytes.Equal(authority, last) {
			return nil
		}
		if err := l.hosts.check(string(authority), local); err != nil {
			if refused != nil {
				refused(err)
			}
			return err
		}
		last = bytes.Clone(authority)
		return nil
	}
}
