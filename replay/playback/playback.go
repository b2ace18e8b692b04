package playback

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
)

// UsedUp says what a request gets when all recorded answers to it have been given.
type UsedUp string

// The choices.
const (
	RepeatLast UsedUp = "repeat" // the last one again
	Refuse     UsedUp = "error"  // a protocol error
)

// A Match says how much of a request has to be as it was recorded, beside the operation.
type Match string

// The choices, each of which asks for more than the one before. Ids that clients make are never compared.
const (
	ByOperation Match = "operation" // task, context and kinds of parts; the order of requests decides the rest
	ByShape     Match = "shape"     // all parameters by name and type
	ByValue     Match = "exact"     // all parameters
)

// Options say how to play. The zero value plays as fast as it can and repeats the last answer.
type Options struct {
	Agent      string   // plays what went to this agent, by its recorded name; empty plays all as one
	Speed      float64  // of recorded pauses: 1 as recorded, 2 twice as fast, 0 without pauses
	BreakAfter int      // cut every stream after so many events; 0 lets them end
	UsedUp     UsedUp   // RepeatLast if empty
	Match      Match    // ByOperation if empty
	Pointers   []string // values that have to be as recorded, too: JSON Pointers (RFC 6901) from the parameters

	Keep func(*capture.Exchange) bool // chooses exchanges; nil chooses all

	Faults  []Disruption // in the order in which they were asked for
	Forward *Forward     // takes requests that nothing matches; nil refuses them

	// Remote lets notifications go to webhooks on other machines; otherwise they go to loopback addresses only. Roots are
	// trusted for webhooks on https; nil is the system's.
	Remote bool
	Roots  *x509.CertPool

	OnMiss   func(Miss)        // called with each unmatched request, by the goroutine that serves it
	OnNotice func(text string) // called with what the user should know at once, by several goroutines

	// OnRequest is called with each request, by the goroutine that serves it, and what it returns with a note of each
	// thing that is done to the request otherwise than it was recorded, before the client can see it: "fault made here:
	// …" or "playback: …". It may be nil, and return nil.
	OnRequest func(*http.Request) (mark func(text string))
}

// A Player plays an agent. It is safe for concurrent use.
type Player struct {
	opts      Options
	recording *recording
	places    map[string]string // of other agents that are played: origins by recorded origins; see Place

	mu     sync.Mutex
	names  names
	report Report // but for what Player.Report adds
	came   []int  // requests that concern each fault

	theirs, theirContexts map[string]bool // ids of tasks and contexts that the live agent knows

	webhooks http.RoundTripper
	targets  map[string][]target      // webhooks, by task
	behind   map[string]chan struct{} // closed when the notifications of a task that are under way have been delivered

	ctx        context.Context // of what goes on in the background
	stop       context.CancelFunc
	background sync.WaitGroup
}

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 16 << 20

// New returns a player of a capture. It reads the capture whole. Close must be called.
func New(ctx context.Context, src capture.Source, o Options) (*Player, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	s, err := load(ctx, src, o.Agent)
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	if o.Keep != nil {
		s.exchanges = slices.DeleteFunc(s.exchanges, func(a *exchange) bool { return !o.Keep(a.x) })
	}
	if o.Pointers, err = s.pointers(o.Pointers); err != nil {
		return nil, err
	}
	p := &Player{
		opts: o, recording: s, came: make([]int, len(o.Faults)), theirs: map[string]bool{},
		theirContexts: map[string]bool{},
		webhooks:      o.webhookTransport(), targets: map[string][]target{}, behind: map[string]chan struct{}{},
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.names = names{
		clientMade: s.clientNamed, known: s.seen, free: o.Match != ByValue,
		recorded: map[string]string{}, live: map[string]string{}, configs: map[string]string{},
	}
	return p, nil
}

// check fills in what is left out, and refuses words that are none.
func (o *Options) check() error {
	if o.UsedUp == "" {
		o.UsedUp = RepeatLast
	}
	if o.UsedUp != RepeatLast && o.UsedUp != Refuse {
		return fmt.Errorf("unknown word %q for used up answers; use one of %s, %s", o.UsedUp, RepeatLast, Refuse)
	}
	switch o.Match {
	case "":
		o.Match = ByOperation
	case ByOperation, ByShape, ByValue:
	default:
		return fmt.Errorf("unknown match %q; use one of %s, %s, %s", o.Match, ByOperation, ByShape, ByValue)
	}
	return nil
}

// Close ends the delivery of notifications, and waits at most ten seconds for the one under way. The caller shuts down
// the server that uses the player first.
func (p *Player) Close() {
	p.mu.Lock()
	p.stop()
	p.mu.Unlock() // nothing begins any more
	p.background.Wait()
	if f := p.opts.Forward; f != nil {
		if t, ok := f.Transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// Path returns the path of the recorded agent's URL, without a slash at its end: where a client looks for the agent.
func (p *Player) Path() string {
	for _, a := range p.recording.exchanges {
		if u, err := url.Parse(a.x.Agent.URL); err == nil {
			return strings.TrimRight(u.EscapedPath(), "/")
		}
	}
	return ""
}

// agentURL returns the URL of the recorded agent; "" if none was recorded.
func (p *Player) agentURL() string {
	if len(p.recording.exchanges) == 0 {
		return ""
	}
	return p.recording.exchanges[0].x.Agent.URL
}

// A service is one request and what is known of it.
type service struct {
	p      *Player
	w      http.ResponseWriter
	r      *http.Request
	call   a2a.Call
	body   []byte
	marked func(string) // nil if nobody wants to know
}

// mark tells of something that is done otherwise than it was recorded.
func (s *service) mark(format string, args ...any) {
	if s.marked != nil {
		s.marked(fmt.Sprintf(format, args...))
	}
}

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
			status, why = http.StatusRequestEntityTooLarge, "a request may have 16 MiB"
		}
		http.Error(w, "playback: "+why, status)
		return
	}
	s.call = p.decode(r, s.body)
	if !s.obey(p.plan(&s.call)) {
		return
	}
	a, substitute, miss := p.choose(&s.call, r)
	if miss != nil {
		s.missed(miss)
		return
	}
	defer p.notify(a, substitute)()
	(&responder{service: s, exchange: a, substitute: substitute}).run()
}

// missed answers a request that nothing matches: by the live agent if there is one, else with an error of its binding.
func (s *service) missed(m *Miss) {
	if s.p.opts.Forward != nil {
		err := s.forward()
		if err == nil {
			return
		}
		m.Why += "; " + err.Error()
	}
	s.p.count(m)
	if s.p.opts.OnMiss != nil {
		s.p.opts.OnMiss(*m)
	}
	e := &refusal{name: a2a.InternalError, message: "playback: " + m.String()}
	if s.call.Binding == a2a.NoBinding {
		e.status = http.StatusNotFound
	}
	e.write(s.w, &s.call)
}

func (p *Player) count(m *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.report.Missed++
	if len(p.report.Misses) < maxMisses {
		p.report.Misses = append(p.report.Misses, *m)
	}
}

func (p *Player) notice(format string, args ...any) {
	if p.opts.OnNotice != nil {
		p.opts.OnNotice(fmt.Sprintf(format, args...))
	}
}

// decode reads a request as one to an agent that speaks what the recorded one speaks.
func (p *Player) decode(r *http.Request, body []byte) a2a.Call {
	known := p.recording.reader.Known(p.agentURL(), r.URL.EscapedPath())
	known.Bindings = a2a.BindingsOf(a2a.JSONRPC, a2a.HTTPJSON)
	return a2a.DecodeRequest(a2a.Request{
		Method: r.Method, Target: r.RequestURI, Header: r.Header.Get,
		Body: body, HasBody: len(body) > 0, BodyKept: true,
	}, known)
}

// choose finds the exchange that answers a call, and marks it as played.
func (p *Player) choose(call *a2a.Call, r *http.Request) (*exchange, compare.Substitute, *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, form, miss := p.match(call)
	if miss != nil {
		return nil, nil, miss
	}
	a.uses++
	p.report.Served++
	if n := len(a.form.values(form)); n > 0 {
		p.report.Differed++
		p.report.Ignored += n
	}
	p.names.learn(call, a)
	p.hook(a, call)
	return a, p.names.substitute(call, &a.call, p.cardURLs(a, r)), nil
}
