package playback

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/outbound"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// maxRead bounds the part of a forwarded answer that is read, in bytes; the whole answer passes.
const maxRead = 1 << 20

// NewForward returns a Forward to the agent at a URL, which may be nil, connected with the dialer; a nil dialer is one
// without options.
// gRPC goes over HTTP/2, all else over HTTP/1.1.
func NewForward(u *url.URL, d *outbound.Dialer) *Forward {
	d = cmp.Or(d, &outbound.Dialer{})
	t := &http.Transport{DisableCompression: true, MaxIdleConnsPerHost: 8}
	d.Configure(t)
	return &Forward{URL: u, Transport: &carriers{t, live.NewHTTP2(d)}}
}

// carriers are the transports for plain and gRPC requests.
type carriers struct{ plain, messages *http.Transport }

// RoundTrip implements [http.RoundTripper].
func (c *carriers) RoundTrip(r *http.Request) (*http.Response, error) {
	if grpc.IsMedia(r.Header.Get("Content-Type")) {
		return c.messages.RoundTrip(r)
	}
	return c.plain.RoundTrip(r)
}

// CloseIdleConnections closes the connections that no request uses any more.
func (c *carriers) CloseIdleConnections() {
	c.plain.CloseIdleConnections()
	c.messages.CloseIdleConnections()
}

// forward sends the request to the live agent, and passes its answer on as it arrives. It returns an error if the
// agent cannot be reached; then nothing has been written.
func (s *service) forward() error {
	to, at := s.p.opts.Forward, s.liveURL()
	if at == nil {
		return errors.New("it has no address at which it could be live")
	}
	s.strange(at)
	res, err := to.Transport.RoundTrip(s.outgoing(at))
	if err != nil {
		if at, ok := errors.AsType[*url.Error](err); ok {
			err = at.Err
		}
		err = fmt.Errorf("the live agent at %s could not be reached: %w", place(at.String()), outbound.Cause(err))
		s.p.notice("%s: %v", s.call.Operation, err)
		return err
	}
	defer res.Body.Close()
	s.mark("playback: answered by the live agent at %s", place(at.String()))
	if to.Note != "" {
		s.mark("playback: %s", to.Note)
	}
	s.p.mu.Lock()
	s.p.report.Forwarded++
	s.p.mu.Unlock()
	body := io.Reader(res.Body)
	if to.URL != nil && (s.call.Operation == a2a.GetCard || s.call.Operation == a2a.GetExtendedCard) {
		body = s.leadBack(res)
	}
	s.pass(res, body)
	return nil
}

// liveURL returns the URL of the live agent for a request; nil if it has none.
func (s *service) liveURL() *url.URL {
	if to := s.p.opts.Forward.URL; to != nil {
		return to
	}
	if s.p.opts.Upstream == nil {
		return nil
	}
	u, err := url.Parse(s.p.opts.Upstream(s.r))
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil
	}
	return u
}

// outlast is how long a request waits for those that were recorded before it, and that its client may send at the same
// time.
const outlast = 2 * time.Second

// awaitLive waits until all recorded calls were requested, if the live agent answers only then.
func (s *service) awaitLive() error {
	if !s.p.opts.Forward.After {
		return nil
	}
	timeout := time.NewTimer(outlast)
	defer timeout.Stop()
	for {
		s.p.mu.Lock()
		progress, unused := s.p.progress, s.p.unused()
		s.p.mu.Unlock()
		if len(unused) == 0 {
			return nil
		}
		err := fmt.Errorf("nothing is live before exchange %d was requested", unused[0].Exchange)
		if s.neighbor != nil && !s.neighbor.asks {
			return err
		}
		select {
		case <-progress:
		case <-timeout.C:
			return err
		case <-s.r.Context().Done():
			return err
		}
	}
}

// outgoing returns the request for the live agent: unchanged except for its host, and for the path of the recorded
// agent.
func (s *service) outgoing(agent *url.URL) *http.Request {
	to := *agent
	to.User, to.Fragment, to.RawQuery = nil, "", s.r.URL.RawQuery
	path := s.r.URL.EscapedPath()
	was, now := s.p.Path(), strings.TrimRight(agent.EscapedPath(), "/")
	if s.p.opts.Forward.URL == nil {
		was, now = "", ""
	}
	rest, ours := strings.CutPrefix(path, was)
	switch {
	case now == "" && was == "", now != "" && under(path, now), !ours || !under(path, was):
	case rest == "" || rest == "/":
		path = agent.EscapedPath()
	default:
		path = now + rest
	}
	to.RawPath = path
	to.Path, _ = url.PathUnescape(path) //nolint:errcheck // it has been parsed before
	req := &http.Request{
		Method: s.r.Method, URL: &to, Host: agent.Host, Header: withoutHops(s.r.Header),
		Body: http.NoBody, ContentLength: int64(len(s.body)),
	}
	if len(s.body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(s.body))
	}
	req.Header.Del("Expect") // the body is here
	if s.overGRPC() {
		req.Header.Set("Te", "trailers")
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", "") // none is to be added
	}
	return req.WithContext(s.r.Context())
}

// under reports whether a path is another, or beneath it.
func under(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && (rest == "" || rest[0] == '/')
}

// withoutHops returns header fields without hop-by-hop fields (RFC 9110 §7.6.1).
func withoutHops(h http.Header) http.Header {
	out := h.Clone()
	for _, list := range h["Connection"] {
		for name := range strings.SplitSeq(list, ",") {
			out.Del(strings.TrimSpace(name))
		}
	}
	for _, name := range []string{
		"Connection", "Keep-Alive", "Proxy-Connection", "Proxy-Authorization", "Te", "Trailer", "Transfer-Encoding",
		"Upgrade",
	} {
		out.Del(name)
	}
	return out
}

// pass writes an answer piece by piece, each at once.
func (s *service) pass(res *http.Response, body io.Reader) {
	to := s.w.Header()
	for name, values := range withoutHops(res.Header) {
		to[name] = values
	}
	if res.Header.Get("Content-Type") == "" {
		to["Content-Type"] = nil // none is to be guessed
	}
	for name := range res.Trailer {
		to.Add("Trailer", name)
	}
	s.w.WriteHeader(res.StatusCode)
	flush := http.NewResponseController(s.w)
	flush.Flush() //nolint:errcheck // the client has left: the next write tells
	learner := &learner{service: s, res: res}
	piece := make([]byte, 32<<10)
	for {
		n, err := body.Read(piece)
		learner.take(piece[:n])
		if n > 0 {
			if _, err := s.w.Write(piece[:n]); err != nil {
				return
			}
			flush.Flush() //nolint:errcheck // as above
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			panic(http.ErrAbortHandler) // as the live agent did
		}
	}
	learner.end()
	for name, values := range res.Trailer {
		if !slices.Contains(to["Trailer"], name) { // as gRPC, which does not announce them
			name = http.TrailerPrefix + name
		}
		to[name] = values
	}
}

// leadBack returns the body of a card with addresses of the player instead of the live agent's. Its signatures become
// invalid. Any other body passes unchanged.
func (s *service) leadBack(res *http.Response) io.Reader {
	text, err := io.ReadAll(io.LimitReader(res.Body, maxRead+1))
	rest := io.Reader(bytes.NewReader(text))
	if err != nil || len(text) > maxRead || res.Header.Get("Content-Encoding") != "" {
		return io.MultiReader(rest, &failing{res.Body, err})
	}
	answer := a2a.DecodeAnswer(&s.call, res.StatusCode, mediaType(res), text)
	if answer.Payload.Kind != a2a.CardPayload {
		return rest
	}
	own, urls := origin(s.p.opts.Forward.URL), map[string]string{}
	for _, i := range a2a.DecodeCard(answer.Payload.Value).Interfaces {
		ours := false
		now, ok := led(i, func(u *url.URL) (string, string) {
			ours = origin(u) == own
			return s.p.today("", s.r)
		})
		if ok && ours {
			urls[i.URL] = now
		}
	}
	text = compare.RewriteJSON(text, &s.call, func(role compare.Role, text string) (string, bool) {
		now, ok := urls[text]
		return now, ok && role == compare.NoRole
	})
	res.Header.Set("Content-Length", strconv.Itoa(len(text)))
	return bytes.NewReader(text)
}

// failing is a reader that returns err, if it is set, instead of reading.
type failing struct {
	io.Reader
	err error
}

// Read implements io.Reader.
func (f *failing) Read(p []byte) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.Reader.Read(p)
}

func mediaType(res *http.Response) string {
	name, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return strings.ToLower(strings.TrimSpace(name))
}

// strange reports ids of the recording in a request to the live agent, which cannot know them.
func (s *service) strange(live *url.URL) {
	p, call := s.p, &s.call
	p.mu.Lock()
	task := call.TaskID != "" && p.names.made("task", call.TaskID) != 0 && !p.theirs[call.TaskID]
	name := contextOf(call)
	ctx := name != "" && p.names.made("context", name) == agentMade && !p.theirContexts[name]
	p.mu.Unlock()
	switch at := place(live.String()); {
	case task:
		p.notice("%s about task %s goes to the live agent at %s, which does not know the task: it is from the recording",
			call.Operation, call.TaskID, at)
	case ctx:
		p.notice("%s in context %s goes to the live agent at %s, which does not know the context: it is from the "+
			"recording", call.Operation, name, at)
	}
}

// A learner reads the live agent's task and context ids in its answer before the client has received them all.
type learner struct {
	*service
	res    *http.Response
	text   []byte
	events capture.Splitter
	// messages splits the body of a gRPC answer.
	messages capture.MessageSplitter
	done     bool
}

func (l *learner) take(p []byte) {
	if l.done || l.res.Header.Get("Content-Encoding") != "" {
		return
	}
	if capture.IsGRPC(mediaType(l.res)) {
		codec := grpc.Codec{Type: l.call.RPC.Answer, Encoding: l.res.Header.Get("Grpc-Encoding")}
		for _, e := range l.messages.Write(p) {
			if read := codec.Read(e.Raw); read.Err == nil {
				l.learn(a2a.ReadEvent(&l.call, &read.Doc).Payload)
			}
		}
		return
	}
	if mediaType(l.res) == "text/event-stream" {
		for _, e := range l.events.Write(p) {
			if fields := e.Fields(); fields.HasData {
				l.learn(a2a.DecodeEvent(&l.call, fields.Data).Payload)
			}
		}
		return
	}
	if l.done = len(l.text)+len(p) > maxRead; l.done {
		return
	}
	if l.text = append(l.text, p...); int64(len(l.text)) == l.res.ContentLength {
		l.end()
	}
}

func (l *learner) end() {
	if !l.done && len(l.text) > 0 {
		l.learn(a2a.DecodeAnswer(&l.call, l.res.StatusCode, mediaType(l.res), l.text).Payload)
	}
	l.done = true
}

// learn notes the ids of tasks and contexts.
func (l *learner) learn(payload a2a.Payload) {
	switch v := payload.Value; payload.Kind {
	case a2a.TaskPayload:
		l.own(a2a.Task{Value: v}.ID(), contextOfTask(a2a.Task{Value: v}))
	case a2a.StatusPayload:
		l.own(a2a.StatusUpdate{Value: v}.TaskID(), a2a.StatusUpdate{Value: v}.ContextID())
	case a2a.ArtifactPayload:
		l.own(a2a.ArtifactUpdate{Value: v}.TaskID(), a2a.ArtifactUpdate{Value: v}.ContextID())
	case a2a.MessagePayload:
		l.own("", a2a.Message{Value: v}.ContextID())
	case a2a.TaskListPayload:
		for t := range payload.Tasks() {
			l.own(t.ID(), contextOfTask(t))
		}
	}
}

func (l *learner) own(task, ctx string) {
	l.p.mu.Lock()
	known := task != "" && l.p.names.made("task", task) != 0 && !l.p.theirs[task]
	if task != "" {
		l.p.theirs[task] = true
	}
	if ctx != "" {
		l.p.theirContexts[ctx] = true
	}
	l.p.mu.Unlock()
	if known {
		l.p.notice("the live agent and the recording both have a task %s; requests about it go to the live agent",
			task)
	}
}
