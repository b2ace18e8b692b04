package outbound

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	socks "golang.org/x/net/proxy"
)

// maxConnectHead bounds the head of a proxy's answer, in bytes.
const maxConnectHead = 64 << 10

var errConnectHead = errors.New("its answer is not HTTP/1 (RFC 9112 section 4)")

// connect asks an HTTP proxy for a tunnel to an agent: RFC 9110 section 9.3.6.
func connect(conn net.Conn, via *url.URL, address string) error {
	request := "CONNECT " + address + " HTTP/1.1\r\nHost: " + address + "\r\n"
	if via.User != nil { // RFC 7617
		password, _ := via.User.Password()
		credentials := base64.StdEncoding.EncodeToString([]byte(via.User.Username() + ":" + password))
		request += "Proxy-Authorization: Basic " + credentials + "\r\n"
	}
	if _, err := io.WriteString(conn, request+"\r\n"); err != nil {
		return err
	}
	status, err := readConnected(conn)
	switch {
	case err != nil:
		return err
	case status < 200 || status > 299:
		return &ProxyError{
			Status: status,
			text: fmt.Sprintf("the upstream proxy %s refuses to connect to %s: %d %s", via.Host, address, status,
				http.StatusText(status)),
		}
	}
	return nil
}

// readConnected reads the head of a proxy's answer to CONNECT, and not a byte beyond it: what follows is the agent's. It
// returns the status. Interim answers are passed over.
func readConnected(from io.Reader) (status int, err error) {
	for total := 0; ; {
		head, err := readHead(from, maxConnectHead-total)
		if err != nil {
			return 0, err
		}
		total += len(head)
		answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)),
			&http.Request{Method: http.MethodConnect})
		if err != nil {
			return 0, errConnectHead
		}
		answer.Body.Close()
		if answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer.StatusCode, nil
		}
	}
}

// readHead reads to the first blank line, byte by byte: it is one short head for each connection.
func readHead(from io.Reader, limit int) ([]byte, error) {
	var head []byte
	one := make([]byte, 1)
	for len(head) < limit {
		if _, err := io.ReadFull(from, one); err != nil {
			if err == io.EOF {
				err = errors.New("it closed the connection without an answer")
			}
			return nil, err
		}
		head = append(head, one[0])
		if bytes.HasSuffix(head, []byte("\n\r\n")) || bytes.HasSuffix(head, []byte("\n\n")) {
			return head, nil
		}
	}
	return nil, errConnectHead
}

// through connects to an agent by way of a proxy.
func (d *Dialer) through(
	ctx context.Context, via *url.URL, address string, check func(net.Conn) error,
) (net.Conn, error) {
	at := via.Host
	if via.Port() == "" {
		at = net.JoinHostPort(via.Hostname(), ports[via.Scheme])
	}
	refused := error(nil)
	conn, err := dialTCP(ctx, at, func(c net.Conn) error {
		if check != nil {
			refused = check(c)
		}
		return refused
	})
	switch {
	case refused != nil:
		return nil, refused
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return nil, err // no fault of the proxy
	case err != nil:
		return nil, proxyError(via, "connect", err)
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	over, err := d.tunnel(ctx, conn, via, address)
	if !stop() && err == nil {
		err = proxyError(via, "connect to "+address, ctx.Err())
	}
	if err != nil {
		conn.Close()
		return nil, err
	}
	return over, nil
}

// tunnel has a proxy connect to the agent.
func (d *Dialer) tunnel(ctx context.Context, conn net.Conn, via *url.URL, address string) (net.Conn, error) {
	if strings.HasPrefix(via.Scheme, "socks5") {
		if err := d.socks(ctx, conn, via, address); err != nil {
			return nil, proxyError(via, "connect to "+address, orTimeout(ctx, err))
		}
		return conn, nil
	}
	if via.Scheme == "https" {
		toProxy := &Dialer{Roots: d.Roots, Insecure: d.Insecure}
		session, err := toProxy.secure(ctx, conn, via.Host, via.Hostname(), []string{"http/1.1"})
		if err != nil {
			return nil, proxyError(via, "TLS", orTimeout(ctx, err))
		}
		conn = session
	}
	if err := connect(conn, via, address); err != nil {
		if known, ok := errors.AsType[*ProxyError](err); ok {
			return nil, known
		}
		return nil, proxyError(via, "connect to "+address, orTimeout(ctx, err))
	}
	return conn, nil
}

// orTimeout returns why the context has ended, which then is why a connection was closed, or the error.
func orTimeout(ctx context.Context, err error) error { return cmp.Or(ctx.Err(), err) }

// socks asks a SOCKS proxy for a connection, by the name of the agent: the proxy resolves it. RFC 1928, RFC 1929.
func (d *Dialer) socks(ctx context.Context, conn net.Conn, via *url.URL, address string) error {
	var auth *socks.Auth
	if via.User != nil {
		password, _ := via.User.Password()
		auth = &socks.Auth{User: via.User.Username(), Password: password}
	}
	dialer, err := socks.SOCKS5("tcp", via.Host, auth, there{conn})
	if err != nil {
		return err
	}
	_, err = dialer.(socks.ContextDialer).DialContext(ctx, "tcp", address)
	return err
}

// there is a dialer that returns an existing connection.
type there struct{ net.Conn }

// Dial implements proxy.Dialer.
func (t there) Dial(string, string) (net.Conn, error) { return t.Conn, nil }

// DialContext implements proxy.ContextDialer.
func (t there) DialContext(context.Context, string, string) (net.Conn, error) { return t.Conn, nil }

// proxyError returns an error about a proxy.
func proxyError(via *url.URL, what string, err error) *ProxyError {
	var ne net.Error
	return &ProxyError{
		text:      fmt.Sprintf("the upstream proxy %s: %s: %v", via.Host, what, cause(err)),
		timeout:   errors.Is(err, context.DeadlineExceeded) || errors.As(err, &ne) && ne.Timeout(),
		untrusted: isUntrusted(err),
	}
}

// cause strips the addresses that package net adds, since the caller names them.
func cause(err error) error {
	if op, ok := errors.AsType[*net.OpError](err); ok {
		return op.Err
	}
	return err
}
