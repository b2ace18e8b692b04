package relay

import (
	"bytes"
	"net/http"
)

// accept reports what a request is refused with because of a host that it names; nil lets it pass. A request of
// HTTP/1.0 need not name any.
func (r *requests) accept(head []byte, h *requestHead) error {
	if r.cfg.Accept == nil {
		return nil
	}
	if h.hasHost {
		if err := r.cfg.Accept(head[h.hostStart:h.hostTo]); err != nil {
			return &malformed{err.Error(), http.StatusMisdirectedRequest}
		}
	}
	if authority, ok := targetAuthority(head); ok {
		if err := r.cfg.Accept(authority); err != nil {
			return &malformed{err.Error(), http.StatusMisdirectedRequest}
		}
	}
	return nil
}

// targetAuthority returns the authority of a request target in absolute form, which an origin server takes before Host
// (RFC 9112 section 3.2.2), whatever its scheme. User information is left out. It returns false for other forms.
func targetAuthority(head []byte) (authority []byte, ok bool) {
	line, _ := firstLine(head)
	_, target, _ := bytes.Cut(line, space)
	if len(target) == 0 || target[0] == '/' {
		return nil, false
	}
	target = target[:bytes.LastIndexByte(target, ' ')]
	_, rest, ok := bytes.Cut(target, schemeEnd)
	if !ok {
		return nil, false
	}
	if end := bytes.IndexAny(rest, "/?#"); end >= 0 {
		rest = rest[:end]
	}
	return rest[bytes.LastIndexByte(rest, '@')+1:], true
}

var schemeEnd = []byte("://")
