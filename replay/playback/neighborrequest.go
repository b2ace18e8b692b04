package playback

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
	"a2atap/replay/canonical"
)

// A neighborRequest is a live request for comparison.
type neighborRequest struct {
	*canonical.Request
	form    *canonical.Form
	address string // that it was sent to; "" if that does not matter
	session string // recorded id of its MCP session; "" if it has none
	asks    bool   // as in a neighborCall
	content []byte // its body without its content coding, with its secrets
}

// asked returns the request of a service for comparison, with its secrets hidden.
func (s *service) asked() (*neighborRequest, error) {
	p := s.p
	x := &capture.Exchange{
		Seq: 1, Started: time.Now().UTC(), State: capture.StateClosed,
		Request: capture.Request{
			Head: headOf(s.r), Body: capture.Body{Data: s.body, Size: int64(len(s.body)), Complete: true},
		},
	}
	if x.Request.Body.Data == nil {
		x.Request.Body.Data = []byte{}
	}
	q := &neighborRequest{}
	var err error
	if q.content, err = x.Request.Content(); err != nil {
		return nil, err
	}
	if p.opts.Upstream != nil {
		q.address = p.opts.Upstream(s.r)
		x.Agent.URL = q.address
	}
	hidden := x
	if p.opts.Hide != nil {
		if hidden, err = p.opts.Hide(x); err != nil {
			return nil, err
		}
	}
	if q.Request, err = hiddenRequest(x, hidden); err != nil {
		return nil, err
	}
	q.form = p.rules.Form(q.Request)
	q.asks = asks(q.Request, q.form, q.address)
	p.mu.Lock()
	q.session = p.sessions.recorded[s.r.Header.Get("Mcp-Session-Id")]
	p.mu.Unlock()
	return q, nil
}

// headOf returns the head of a request as a client writes it.
func headOf(r *http.Request) []byte {
	var b strings.Builder
	b.WriteString(r.Method + " " + r.RequestURI + " HTTP/1.1\r\nHost: " + r.Host + "\r\n")
	r.Header.Write(&b) //nolint:errcheck // it is a buffer
	b.WriteString("\r\n")
	return []byte(b.String())
}

// isNeighbor reports whether a request that matches nothing counts as one that is not A2A.
func (s *service) isNeighbor() bool {
	if s.neighbor == nil {
		return !s.call.A2A()
	}
	if c := s.neighbor.form.Call; c != nil && (c.Kind == neighbor.Model || c.Kind == neighbor.MCP) {
		return true
	}
	if len(s.p.recording.exchanges) == 0 {
		return true
	}
	return s.p.opts.Upstream != nil && (!s.call.A2A() || !s.p.isAgent(s.r, &s.call))
}

// isAgent reports whether an agent is played at the upstream of a request. An unknown upstream may be an agent if the
// request is a call of A2A.
func (p *Player) isAgent(r *http.Request, call *a2a.Call) bool {
	at := p.upstream(r)
	return slices.ContainsFunc(p.recording.exchanges, func(a *exchange) bool {
		return a.form.upstream == at || at == "" && call.Operation != a2a.NoOperation
	})
}
