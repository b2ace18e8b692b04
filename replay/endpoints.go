package replay

import (
	"fmt"
	"net/url"
	"strings"
	"sync"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
	"a2atap/proxy/hostname"
	"a2atap/replay/client"
	"a2atap/replay/compare"
)

// An address is where a request goes: scheme and authority, and the target in origin form.
type address struct {
	scheme string // "http" or "https"
	host   string // host:port
	target string
}

// authority returns the value for the Host field: with a port only if it is not the scheme's default (RFC 9110 section
// 4.2.3).
func (a address) authority() string {
	port := map[string]string{"http": ":80", "https": ":443"}[a.scheme]
	return strings.TrimSuffix(a.host, port)
}

// endpoints maps the addresses of the recorded agent to those of the live one. At first paths are kept below the
// agent's base; cards that show both agents' interfaces correct that. It is safe for concurrent use.
type endpoints struct {
	live    *url.URL
	private *client.Options // limits where requests' credentials may go; nil if there are no credentials
	stay    bool            // requests go only to the origin of live

	mu    sync.Mutex
	moved map[place]moved // by the recorded interface
	rpc   *moved          // address of gRPC, which has no paths; nil unless it is known to be another one
}

// A place is where an agent has an interface: the port of its origin, and an escaped path without a slash at its end.
type place struct{ port, path string }

func placeOf(u *url.URL) place {
	return place{port: hostname.OriginOf(u).Port, path: strings.TrimRight(u.EscapedPath(), "/")}
}

// A moved interface is where the live agent has it.
type moved struct {
	scheme, host, path string
}

func newEndpoints(to string) (*endpoints, error) {
	u, err := url.Parse(to)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid agent URL %q; write http://HOST:PORT/PATH", to)
	}
	if u.User != nil {
		return nil, fmt.Errorf("the agent URL %s contains credentials; give them separately", u.Redacted())
	}
	return &endpoints{live: u, moved: map[place]moved{}}, nil
}

// locate returns where a recorded request to an agent goes now. The agent's URL may be empty.
func (e *endpoints) locate(agentURL, target string) address {
	if u, err := url.Parse(target); err == nil && u.Host != "" { // absolute form, from a forward proxy
		target = u.RequestURI()
	}
	path, query, hasQuery := strings.Cut(target, "?")
	at := address{scheme: e.live.Scheme, host: hostname.HostPort(e.live)}
	if _, is := grpc.MethodOf(path); is {
		e.mu.Lock()
		if e.rpc != nil {
			at.scheme, at.host = e.rpc.scheme, e.rpc.host
		}
		e.mu.Unlock()
	} else if rest, m, ok := e.movedFor(agentURL, path); ok {
		at.scheme, at.host, path = m.scheme, m.host, m.path+rest
	} else {
		path = e.rebase(agentURL, path)
	}
	at.target = path
	if !strings.HasPrefix(at.target, "/") {
		at.target = "/" + at.target
	}
	if hasQuery {
		at.target += "?" + query
	}
	return at
}

// movedFor finds the interface that a path is at or below. Of several with the same path, it is the one with the port to
// which the request went: an agent may have its bindings on several ports.
func (e *endpoints) movedFor(agentURL, path string) (rest string, m moved, ok bool) {
	var port string
	if u, err := url.Parse(agentURL); err == nil {
		port = hostname.OriginOf(u).Port
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var found place
	for from, to := range e.moved {
		below, is := strings.CutPrefix(path, from.path)
		if !is || below != "" && below[0] != '/' {
			continue
		}
		if !ok || len(from.path) > len(found.path) || len(from.path) == len(found.path) && found.port != port &&
			(from.port == port || from.port < found.port) {
			rest, m, ok, found = below, to, true, from
		}
	}
	return rest, m, ok
}

// rebase moves a path from below the recorded agent's base to below the live one's. An address without a path means the
// origin; paths outside the base, such as a card at the root, stay the same.
func (e *endpoints) rebase(agentURL, path string) string {
	base, live := basePath(agentURL), strings.TrimRight(e.live.EscapedPath(), "/")
	if live == "" || below(path, live) && base == "" {
		return path
	}
	if !below(path, base) || base == "" && a2a.IsCardPath(path) {
		return path
	}
	return live + strings.TrimPrefix(path, base)
}

func below(path, base string) bool {
	rest, ok := strings.CutPrefix(path, base)
	return ok && (rest == "" || rest[0] == '/')
}

// learn compares two cards of the same agent and notes where its interfaces have gone. It returns notes on interfaces
// at which the live agent is not followed.
func (e *endpoints) learn(recorded, live a2a.Card) (notes []string) {
	for _, was := range recorded.Interfaces {
		if was.Binding == a2a.GRPC {
			notes = append(notes, e.moveRPC(was, live)...)
			continue
		}
		from, err := url.Parse(was.URL)
		if err != nil || from.Host == "" {
			continue
		}
		to, ok := compare.SameInterface(was, live.Interfaces)
		if !ok {
			continue
		}
		u, err := url.Parse(to.URL)
		if err != nil || u.Host == "" {
			continue
		}
		if note := e.move(from, u); note != "" {
			notes = append(notes, note)
		}
	}
	return notes
}

// moveRPC notes the current address of gRPC.
func (e *endpoints) moveRPC(was a2a.Interface, live a2a.Card) (notes []string) {
	to, ok := compare.SameInterface(was, live.Interfaces)
	if !ok {
		return nil
	}
	u, err := url.Parse(client.GRPCURL(to.URL, e.live.String()))
	if err != nil || u.Host == "" {
		return nil
	}
	m, note := e.follow(u)
	if note != "" {
		return []string{note}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.rpc = &m
	return nil
}

func (e *endpoints) move(from, to *url.URL) string {
	m, note := e.follow(to)
	if note == "" {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.moved[placeOf(from)] = m
	}
	return note
}

// follow returns the address to use for an address in the live card, or a note that it is not followed.
func (e *endpoints) follow(to *url.URL) (m moved, note string) {
	if !sameMachine(to.Hostname(), e.live.Hostname()) || to.Scheme != "http" && to.Scheme != "https" {
		return m, fmt.Sprintf("the card advertises %s, which is not at %s, so requests are not sent there", to, e.live.Host)
	}
	m = moved{to.Scheme, hostname.HostPort(to), strings.TrimRight(to.EscapedPath(), "/")}
	if to.Port() == e.live.Port() {
		m.scheme, m.host = e.live.Scheme, hostname.HostPort(e.live) // one agent in several spellings
	}
	at := m.scheme + "://" + m.host
	if only := (&client.Options{}); e.stay && !only.Trusts(e.live.String(), at) {
		return m, fmt.Sprintf("the card advertises %s, but replay stays at %s, so requests are not sent there", to, e.live.Host)
	}
	if e.private != nil && !e.private.Trusts(e.live.String(), at) {
		return m, fmt.Sprintf("the card advertises %s, but credentials are only for %s, so requests are not sent there; "+
			"--credentials-to %s also sends them there", to, e.live.Host, at)
	}
	return m, ""
}

func sameMachine(a, b string) bool {
	return hostname.Normal(a) == hostname.Normal(b) || isLoopback(a) && isLoopback(b)
}

// isLoopback reports whether a host is this machine, including the names that servers use when they listen on all
// addresses.
func isLoopback(host string) bool {
	host = hostname.Normal(host)
	return hostname.IsLoopback(host) || host == "0.0.0.0" || host == "::"
}
