package playback

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/neighbor"
	"a2atap/replay/canonical"
)

// playNeighbor answers a request that is not A2A as recorded. It reports whether it did.
func (s *service) playNeighbor() (done bool, miss *Miss) {
	if s.p.recording.neighbors.calls == nil && s.p.opts.Upstream == nil {
		return false, nil
	}
	q, err := s.asked()
	if err != nil {
		return false, &Miss{Operation: s.r.Method + " " + s.r.URL.Path, Why: "the request cannot be read: " + err.Error()}
	}
	s.neighbor = q
	c, repeated, miss := s.p.chooseNeighbor(q)
	if chosen, ok := s.r.Context().Value(chosenKey{}).(func()); ok {
		chosen()
	}
	if miss != nil {
		if miss.Why == "" {
			s.p.explainNeighbor(q, miss)
		}
		return false, miss
	}
	x, err := s.p.neighborExchange(c)
	if err != nil {
		return false, &Miss{Operation: titleOf(q.form), Nearest: c.seq, Why: err.Error()}
	}
	s.p.answered(c, q, repeated)
	s.played(c.seq)
	a := &neighborAnswer{service: s, x: x, recorded: c}
	if was, err := requestOf(x); err == nil && c.form.Call != nil {
		a.ids = canonical.NewIDs(was.Body, q.content)
	}
	a.run()
	return true, nil
}

// WithChosen returns a context for a request. The player calls a function once it has chosen what answers the request,
// and before it waits: so the next of several requests can be given in order.
func WithChosen(ctx context.Context, chosen func()) context.Context {
	return context.WithValue(ctx, chosenKey{}, chosen)
}

type chosenKey struct{}

// session returns the live id of a recorded session, a fresh one the first time.
func (p *Player) session(recorded string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	live, ok := p.sessions.live[recorded]
	if !ok {
		live = uuid.NewString()
		p.sessions.live[recorded], p.sessions.recorded[live] = live, recorded
	}
	return live
}

// A neighborAnswer gives the recorded answer of a call that is not A2A.
type neighborAnswer struct {
	*service
	x        *capture.Exchange
	recorded *neighborCall
	ids      *canonical.IDs // nil if nothing has to be translated
}

func (a *neighborAnswer) run() {
	switch silenceOf(a.x) {
	case stays:
		a.stay()
	case breaks:
		panic(http.ErrAbortHandler)
	case noSilence:
	}
	res := a.x.Response
	head := capture.ParseResponseHead(res.Head)
	if !a.pause(res.At - max(0, a.x.Request.Body.At)) {
		return
	}
	if res.Stream {
		a.stream(&head)
		return
	}
	body, coded := a.body(&head)
	a.head(&head, coded)
	length := head.Fields.Has("Content-Length") && head.Status != http.StatusNoContent && head.Status != http.StatusNotModified
	if length && a.r.Method != http.MethodHead {
		a.w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	a.w.WriteHeader(head.Status)
	if !length && !coded && isLines(&head) {
		a.lines(body)
	} else {
		a.w.Write(body) //nolint:errcheck // the client has left
	}
	a.broken()
}

// body returns the body to send, and whether it has the recorded content coding.
func (a *neighborAnswer) body(head *capture.Head) (body []byte, coded bool) {
	recorded := &a.x.Response.Body
	text, err := recorded.Decode(head)
	codings := head.Fields.Codings()
	if err != nil {
		return recorded.Data, len(codings) > 0 && !recorded.Decoded
	}
	now := text
	if a.ids != nil {
		now = a.ids.Rewrite(text)
	}
	switch {
	case len(codings) == 0:
		return now, false
	case !a.accepts(codings):
		return now, false
	case bytes.Equal(now, text) && !recorded.Decoded:
		return recorded.Data, true
	case len(codings) == 1 && codings[0] == "gzip":
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(now) //nolint:errcheck // it is a buffer
		z.Close()    //nolint:errcheck // as above
		return b.Bytes(), true
	}
	return now, false
}

// accepts reports whether the live client reads content codings.
func (a *neighborAnswer) accepts(codings []string) bool {
	list := strings.ToLower(strings.Join(a.r.Header.Values("Accept-Encoding"), ","))
	for _, c := range codings {
		if !strings.Contains(list, c) && !strings.Contains(list, "*") {
			return false
		}
	}
	return true
}

// head sets the recorded header fields, except those of the recorded connection, and the coding if the body has it.
func (a *neighborAnswer) head(head *capture.Head, coded bool) {
	to := a.w.Header()
	for _, f := range head.Fields {
		switch strings.ToLower(f.Name) {
		case "connection", "keep-alive", "transfer-encoding", "trailer", "upgrade", "content-length":
			continue
		case "content-encoding":
			if !coded {
				continue
			}
		case "mcp-session-id":
			to.Set(f.Name, a.p.session(a.hiddenSession(f.Value)))
			continue
		}
		to.Add(f.Name, f.Value)
	}
	if !head.Fields.Has("Content-Type") {
		to["Content-Type"] = nil // none is to be guessed
	}
	if !head.Fields.Has("Date") {
		to["Date"] = nil
	}
}

// hiddenSession returns the id of a recorded session as recorded requests have it when they are compared.
func (a *neighborAnswer) hiddenSession(id string) string {
	x, err := a.p.recording.hidden(a.x)
	if err != nil || x.Response == nil {
		return id
	}
	head := capture.ParseResponseHead(x.Response.Head)
	return head.Fields.Get("Mcp-Session-Id")
}

// isLines reports whether a body is a stream of JSON values, one a line.
func isLines(head *capture.Head) bool {
	kind := head.Fields.MediaType()
	return strings.HasSuffix(kind, "json") && kind != "application/json"
}

// lines sends a body line by line. When each line came is not recorded.
func (a *neighborAnswer) lines(body []byte) {
	for line := range bytes.Lines(body) {
		if _, err := a.w.Write(line); err != nil {
			return
		}
		a.flush()
	}
}

// stream sends the events of a stream, each at its time. The recording has them decoded.
func (a *neighborAnswer) stream(head *capture.Head) {
	codings := head.Fields.Codings()
	coded := len(codings) == 1 && codings[0] == "gzip" && a.accepts(codings)
	a.head(head, coded)
	a.w.WriteHeader(head.Status)
	var z *gzip.Writer
	out := io.Writer(a.w)
	if coded {
		z = gzip.NewWriter(a.w)
		out = z
	}
	a.flush()
	res := a.x.Response
	before, given := res.At, 0
	for i := range res.Events {
		e := &res.Events[i]
		if !a.recorded.asks && !a.await(a.x.Started.Add(e.At)) || a.recorded.asks && !a.pause(e.At-before) {
			return
		}
		before = e.At
		if _, err := out.Write(a.event(e)); err != nil {
			return
		}
		if z != nil {
			z.Flush() //nolint:errcheck // the next write tells
		}
		a.flush()
		if e.K > 0 {
			given++
		}
		if limit := a.p.opts.BreakAfter; limit > 0 && given >= limit {
			a.cut(given)
		}
	}
	if a.staysOpen() {
		a.stay()
	}
	a.broken()
	if z != nil {
		z.Close() //nolint:errcheck // the client has left
	}
}

// await waits until the client has asked what was asked before a recorded time: the server may have had it in mind when
// it said something. It reports whether the client is still there.
func (a *neighborAnswer) await(t time.Time) bool {
	for {
		a.p.mu.Lock()
		progress, missing := a.p.progress, false
		for _, c := range a.p.recording.neighbors.calls {
			missing = missing || c.uses == 0 && c.asks && c.upstream == a.recorded.upstream && c.started.Before(t)
		}
		a.p.mu.Unlock()
		if !missing {
			return a.r.Context().Err() == nil
		}
		select {
		case <-progress:
		case <-a.r.Context().Done():
			return false
		case <-a.p.ctx.Done():
			return false
		}
	}
}

// event returns the bytes of an event with the ids of the live client.
func (a *neighborAnswer) event(e *capture.Event) []byte {
	fields := e.Fields()
	if a.ids == nil || !fields.HasData || e.K == 0 {
		return e.Raw
	}
	data := a.ids.Rewrite(fields.Data)
	if bytes.Equal(data, fields.Data) {
		return e.Raw
	}
	return eventOf(&fields, data)
}

// staysOpen reports whether the recorded server kept a stream open after its last event: its client left, and had not
// received everything that it asked for.
func (a *neighborAnswer) staysOpen() bool {
	f := a.x.Fault
	if a.x.Response.Body.Complete || f != nil && f.Side == "agent" {
		return false
	}
	r := neighbor.Read(a.x, 0)
	return r == nil || !r.Answered
}

// broken cuts the answer off where the recorded service did.
func (a *neighborAnswer) broken() {
	if f := a.x.Fault; f != nil && f.Side == "agent" {
		panic(http.ErrAbortHandler)
	}
}

// refuseNeighbor answers a request that is not A2A with an error that its client shows and does not retry.
func (s *service) refuseNeighbor(m *Miss) {
	q := s.neighbor
	var call *neighbor.Call
	var raw []byte
	if q != nil {
		call, raw = q.form.Call, q.content
	}
	if q != nil && !q.asks { // MCP lets servers have no such stream, and no sessions to end
		s.w.Header().Set("Allow", "POST")
		s.w.WriteHeader(http.StatusMethodNotAllowed)
		return
	}
	body := canonical.Refusal(call, raw, "a2atap playback: "+m.String())
	s.w.Header().Set("X-Should-Retry", "false")
	if body != nil {
		s.w.Header().Set("Content-Type", "application/json")
	}
	s.w.WriteHeader(canonical.RefusalStatus)
	s.w.Write(body) //nolint:errcheck // the client has left
}
