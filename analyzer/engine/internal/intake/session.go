package intake

import (
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// maxURL bounds the address of a session.
const maxURL = 2000

// maxWaiting bounds the requests that wait for their results.
const maxWaiting = 1000

// A session is a stream on which an MCP server sends the results of requests that it has accepted with 202: the older
// HTTP with SSE. Such a request ends with its result.
//
// Source: MCP 2024-11-05, Transports, "HTTP with SSE".
type session struct {
	at      string                   // where the server accepts requests
	waiting map[string]*openExchange // without a result, by id
}

// sessions are the open sessions, by where they accept requests.
type sessions struct {
	open    map[string]*session
	waiting int // in all of them
}

// A result is what an exchange of a session waits for.
type result struct {
	session *session // nil of others, and once it has the result
	id      string
	at      time.Duration  // since its beginning; 0 before
	closing *capture.Step  // that ended the exchange before its result
	closed  capture.Closed // in that step
}

// join registers a request whose result may come on the stream of a session.
func (all *sessions) join(in *openExchange) {
	x := in.X
	root := x.Doc().Root
	id := string(root.Get("id").Raw())
	if len(all.open) == 0 || x.Request.Method != "POST" || id == "" || id == "null" || len(id) > 200 || !root.Has("method") {
		return
	}
	s := all.open[placeOf(x.Origin, x.Request.Target)]
	if s == nil || s.waiting[id] != nil || all.waiting == maxWaiting {
		return
	}
	s.waiting[id] = in
	all.waiting++
	in.result.session, in.result.id = s, id
}

// placeOf resolves a reference; empty if it is not a reference.
func placeOf(base, ref string) string {
	u, err := url.Parse(base)
	if err == nil {
		u, err = u.Parse(ref)
	}
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + strings.ToLower(u.Host) + u.RequestURI()
}

// leave removes an exchange from its session.
func (all *sessions) leave(in *openExchange) {
	if s := in.result.session; s != nil {
		delete(s.waiting, in.result.id)
		all.waiting--
		in.result.session = nil
	}
}

// onStream handles an event of an MCP client's stream. It reports whether the event is the result of a request of the
// session.
func (r *Reader) onStream(in *openExchange, e *capture.Event, s *capture.Step) bool {
	if s.Parsed == nil || s.Parsed.Fields == nil {
		s.Parsed = &capture.Parsed{Fields: new(e.Fields())}
	}
	f := s.Parsed.Fields
	if string(f.Type) == "endpoint" && in.stream == nil {
		at := placeOf(in.X.Origin+in.X.Path, string(f.Data))
		own := placeOf(in.X.Origin, "/") // a server speaks only for itself
		if at == "" || len(at) > maxURL || !strings.HasPrefix(at, own) || r.sessions.open[at] != nil || len(r.sessions.open) == maxWaiting {
			return false
		}
		if r.sessions.open == nil {
			r.sessions.open = make(map[string]*session)
		}
		in.stream = &session{at, make(map[string]*openExchange)}
		r.sessions.open[at] = in.stream
		return false
	}
	if in.stream == nil || len(in.stream.waiting) == 0 || len(f.Data) == 0 {
		return false
	}
	if s.Parsed.Doc == nil {
		s.Parsed = &capture.Parsed{Fields: f, Doc: new(jsondoc.Parse(f.Data))}
	}
	root := s.Parsed.Doc.Root
	to := in.stream.waiting[string(root.Get("id").Raw())]
	if to == nil || root.Has("method") {
		return false
	}
	r.sessions.leave(to)
	at := max(at(in.X, *s).Sub(to.X.Started), 1)
	to.near.Event(e, s.Parsed, at)
	if to.result.at = at; to.result.closing != nil {
		r.closed(to, *to.result.closing, to.result.closed)
	}
	return true
}

// waits reports whether the end of an exchange must wait for its result.
func (r *Reader) waits(in *openExchange, s capture.Step, c capture.Closed) bool {
	if in.result.session != nil && in.gathered.Status == 202 && c.Fault == nil && !c.Interrupted && in.result.closing == nil {
		in.result.closing, in.result.closed = &s, c
		return true
	}
	r.sessions.leave(in)
	return false
}

// streamOver ends the exchanges that have waited for a result on a stream that has ended.
func (r *Reader) streamOver(in *openExchange) {
	if in.stream == nil {
		return
	}
	delete(r.sessions.open, in.stream.at)
	waiting := slices.SortedFunc(maps.Values(in.stream.waiting), func(a, b *openExchange) int { return int(a.X.Seq) - int(b.X.Seq) }) //nolint:gosec // small
	in.stream = nil
	for _, to := range waiting {
		if r.sessions.leave(to); to.result.closing != nil {
			r.closed(to, *to.result.closing, to.result.closed)
		}
	}
}
