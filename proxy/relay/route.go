package relay

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"strings"
)

// A Route takes requests to somebody else than the agent that Config.Dial connects to: those whose target, in origin
// form, begins with Prefix. Where they go is the target's own affair, so Config.Accept is not asked about the host that
// they name.
//
// Such a request goes on with another target and the receiver's authority in Host; everything else passes as it came.
// As with a forward proxy (see [Forward]) one connection is open at a time: a request to somebody else waits until those
// before it have been answered.
type Route struct {
	Prefix string

	// Resolve returns where a request with that target goes, the authority that Host is to name, and the target in
	// origin form that it has there. With an error the request gets 403 with the error's text and is not forwarded.
	Resolve func(target string) (to Target, authority, rest string, err error)

	// Dial connects to a receiver, TLS included where its scheme asks for it. It bounds its own time, and its context
	// ends with that of Serve.
	Dial func(ctx context.Context, to Target) (net.Conn, error)

	// Receiver is what messages call the one that is dialled, such as "the webhook". It has to begin with "the".
	Receiver string
}

// RouteTarget returns the target of a request head if a Route with that prefix takes it.
func RouteTarget(head []byte, prefix string) (target string, ok bool) {
	line, _ := firstLine(head)
	_, rest, _ := bytes.Cut(line, space)
	if len(rest) < len(prefix) || string(rest[:len(prefix)]) != prefix {
		return "", false
	}
	if end := bytes.LastIndexByte(rest, ' '); end >= 0 {
		rest = rest[:end]
	}
	return string(rest), true
}

// takeRoute finds out where a request goes that a Route takes, and reports whether one does.
func (r *requests) takeRoute(head []byte) (taken bool, err error) {
	r.to, r.routed = destination{}, false
	d := r.cfg.Route
	if d == nil {
		return false, nil
	}
	target, ok := RouteTarget(head, d.Prefix)
	if !ok {
		return false, nil
	}
	to, authority, rest, err := d.Resolve(target)
	if err != nil {
		return true, &malformed{err.Error(), http.StatusForbidden}
	}
	line, _ := firstLine(head)
	r.routed = true
	r.to = destination{
		Target: to, authority: authority, rest: rest,
		at: bytes.Index(head, line) + bytes.IndexByte(line, ' ') + 1, length: len(target),
	}
	return true, nil
}

// appendRouted appends a head to out as the receiver is to see it.
func (d *destination) appendRouted(out, head []byte, h *requestHead) []byte {
	out = append(append(out, head[:d.at]...), d.rest...)
	if !h.hasHost {
		return append(out, head[d.at+d.length:]...)
	}
	out = append(append(out, head[d.at+d.length:h.hostStart]...), d.authority...)
	return append(out, head[h.hostTo:]...)
}

// dialFault is DialFault for the one that the current request goes to.
func (r *requests) dialFault(err error) Fault {
	f := DialFault(err, r.authority())
	if r.routed {
		f.Detail = strings.Replace(f.Detail, "connect to the agent", "connect to "+r.cfg.Route.Receiver, 1)
		f.advice = "see that it listens there"
	}
	return f
}
