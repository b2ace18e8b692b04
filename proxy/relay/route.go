package relay

import (
	"bytes"
	"net/http"
)

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

// takeRoute reports whether a Route takes a request, and finds the request's destination.
func (r *requests) takeRoute(head []byte, h *requestHead) (taken bool, err error) {
	r.to, r.routed = destination{}, false
	d := r.cfg.Route
	if d == nil {
		return false, nil
	}
	target, ok := RouteTarget(head, d.Prefix)
	if !ok {
		return false, nil
	}
	if err := accept(d.Accept, head, h); err != nil {
		return true, err
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

// appendRouted appends a head to out as the receiver must see it.
func (d *destination) appendRouted(out, head []byte, h *requestHead) []byte {
	out = append(append(out, head[:d.at]...), d.rest...)
	if !h.hasHost {
		return append(out, head[d.at+d.length:]...)
	}
	out = append(append(out, head[d.at+d.length:h.hostStart]...), d.authority...)
	return append(out, head[h.hostTo:]...)
}
