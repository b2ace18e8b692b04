package playback

import (
	"errors"
	"io"
	"net/http"

	"a2atap/proxy/a2a"
)

// ServeHTTP implements http.Handler.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s := &service{p: p, w: w, r: r}
	if p.opts.OnRequest != nil {
		s.marked = p.opts.OnRequest(r)
	}
	var err error
	if s.body, err = io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest)); err != nil {
		status, why := http.StatusBadRequest, "the request could not be read"
		if tooLong := (*http.MaxBytesError)(nil); errors.As(err, &tooLong) {
			status, why = http.StatusRequestEntityTooLarge, "the request is larger than 16 MiB"
		}
		p.Refuse(r.Method+" "+r.URL.Path, why)
		http.Error(w, "playback: "+why, status)
		return
	}
	s.call = p.decode(r, s.body)
	if !s.obey(p.plan(&s.call)) {
		return
	}
	done, neighborMiss := s.playNeighbor()
	if done {
		return
	}
	if neighborMiss != nil && s.isNeighbor() {
		s.missed(neighborMiss)
		return
	}
	a, names, miss := p.choose(&s.call, p.upstream(r))
	if miss != nil {
		s.missed(miss)
		return
	}
	was, err := p.recording.open(p.ctx, a) // a client that closed its sending side may still read
	if err != nil {
		p.mu.Lock()
		p.report.Served--
		p.mu.Unlock()
		s.missed(&Miss{Operation: s.call.Operation.String(), Nearest: a.seq, Why: err.Error()})
		return
	}
	substitute := names.substitute(&s.call, &was.call, p.cardURLs(was, r))
	defer p.notify(a, substitute)()
	s.played(a.seq)
	(&responder{service: s, exchange: was, substitute: substitute}).run()
}

// missed answers an unmatched request: through the live agent if there is one, else with an error of its binding.
func (s *service) missed(m *Miss) {
	if s.p.opts.Forward != nil {
		err := s.awaitLive()
		if err == nil {
			err = s.forward()
		}
		if err == nil {
			return
		}
		m.Why += "; " + err.Error()
	}
	if q := s.neighbor; q != nil && s.isNeighbor() && !q.asks {
		s.refuseNeighbor(m)
		return
	}
	s.p.count(m)
	if s.p.opts.OnMiss != nil {
		s.p.opts.OnMiss(*m)
	}
	if s.neighbor != nil && s.isNeighbor() {
		s.refuseNeighbor(m)
		return
	}
	e := &refusal{name: a2a.InternalError, message: "playback: " + m.String()}
	if s.call.Binding == a2a.NoBinding {
		e.status = http.StatusNotFound
	}
	s.refuse(e)
}

// decode reads a request as one to an agent with the recorded agent's protocols.
func (p *Player) decode(r *http.Request, body []byte) a2a.Call {
	known := p.recording.reader.Known(p.agentURL(r), r.URL.EscapedPath())
	known.Bindings = a2a.BindingsOf(a2a.JSONRPC, a2a.HTTPJSON, a2a.GRPC)
	return a2a.DecodeRequest(a2a.Request{
		Method: r.Method, Target: r.RequestURI, Header: r.Header.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: true,
	}, known)
}

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 16 << 20
