package playback

import (
	"context"
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
	"a2atap/replay/report"
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
	Speed      float64                      // of recorded pauses: 1 as recorded, 2 twice as fast, 0 without pauses
	BreakAfter int                          // cut every stream after so many events; 0 lets them end
	UsedUp     UsedUp                       // RepeatLast if empty
	Match      Match                        // ByOperation if empty
	Keep       func(*capture.Exchange) bool // chooses exchanges; nil chooses all
	OnMiss     func(Miss)                   // called with each unmatched request, by the goroutine that serves it
}

// A Miss is a request that matches no recorded one.
type Miss struct {
	Operation string          // or the method or path, where it is none
	Why       string          // one sentence: lower case, no final period
	Nearest   uint64          // the recorded exchange that comes closest; 0 if none has the operation
	Changes   []report.Change // how the request differs from that one
}

// String returns the miss in words.
func (m Miss) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", m.Operation, m.Why)
	for _, c := range m.Changes {
		fmt.Fprintf(&b, "; %s is %s, recorded %s", c.Pointer, orNothing(c.Now), orNothing(c.Was))
	}
	return b.String()
}

func orNothing(s string) string {
	if s == "" {
		return "absent"
	}
	return s
}

// A Player plays the agent. It is safe for concurrent use.
type Player struct {
	opts      Options
	recording *recording

	mu     sync.Mutex
	names  names
	served int
	differ int // of those that were served, how many were not as recorded
	ignore int // values in which they differed
	misses []Miss
	missed int

	targets               map[string]target // by task
	notified, undelivered int

	ctx        context.Context // of what goes on in the background
	stop       context.CancelFunc
	background sync.WaitGroup
}

// maxMisses bounds the misses that a report explains.
const maxMisses = 100

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 16 << 20

// New returns a player of a capture. It reads the capture whole. Close must be called.
func New(ctx context.Context, src capture.Source, o Options) (*Player, error) {
	if o.UsedUp == "" {
		o.UsedUp = RepeatLast
	}
	if o.UsedUp != RepeatLast && o.UsedUp != Refuse {
		return nil, fmt.Errorf("unknown word %q for used up answers; use one of %s, %s", o.UsedUp, RepeatLast, Refuse)
	}
	switch o.Match {
	case "":
		o.Match = ByOperation
	case ByOperation, ByShape, ByValue:
	default:
		return nil, fmt.Errorf("unknown match %q; use one of %s, %s, %s", o.Match, ByOperation, ByShape, ByValue)
	}
	s, err := load(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	if o.Keep != nil {
		s.exchanges = slices.DeleteFunc(s.exchanges, func(a *exchange) bool { return !o.Keep(a.x) })
	}
	p := &Player{opts: o, recording: s, targets: map[string]target{}}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.names = names{
		clientMade: s.clientNamed, known: s.seen, free: o.Match != ByValue,
		recorded: map[string]string{}, live: map[string]string{},
	}
	return p, nil
}

// Close ends the delivery of notifications, and waits at most ten seconds for the one under way. The caller shuts down
// the server that uses the player first.
func (p *Player) Close() {
	p.stop()
	p.background.Wait()
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

// ServeHTTP implements http.Handler.
func (p *Player) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "the request could not be read", http.StatusBadRequest)
		return
	}
	call := p.decode(r, body)
	a, substitute, miss := p.choose(&call, r)
	if miss != nil {
		if p.opts.OnMiss != nil {
			p.opts.OnMiss(*miss)
		}
		refuse(w, &call, miss)
		return
	}
	defer p.notify(a, substitute)
	(&responder{exchange: a, call: &call, substitute: substitute, opts: &p.opts, w: w, r: r}).run()
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
		p.missed++
		if len(p.misses) < maxMisses {
			p.misses = append(p.misses, *miss)
		}
		return nil, nil, miss
	}
	a.uses++
	p.served++
	if n := len(a.form.values(form)); n > 0 {
		p.differ++
		p.ignore += n
	}
	p.names.learn(call, a)
	p.hook(a, call)
	return a, p.names.substitute(call, cardURLs(a, r)), nil
}

// A Report says what was played.
type Report struct {
	Served   int // requests that were answered as recorded
	Missed   int // requests that nothing matched
	Differed int // requests that were answered although their parameters are not those of the recorded one
	Ignored  int // values in which they differ
	Used     int // recorded exchanges that were played at least once
	Unused   []Unused
	Misses   []Miss // the first hundred
	Exchange int    // recorded exchanges that can be played

	Notified    int // recorded notifications that the live client's webhook accepted
	Undelivered int // those that it did not
}

// An Unused exchange was never requested.
type Unused struct {
	Exchange  uint64
	Operation string
}

// Report returns what was played so far.
func (p *Player) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{
		Served: p.served, Differed: p.differ, Ignored: p.ignore, Missed: p.missed, Misses: slices.Clone(p.misses), Exchange: len(p.recording.exchanges),
		Notified: p.notified, Undelivered: p.undelivered,
	}
	for _, a := range p.recording.exchanges {
		if a.uses > 0 {
			r.Used++
		} else {
			r.Unused = append(r.Unused, Unused{a.seq, a.form.String()})
		}
	}
	return r
}

// Verdict returns the report in one line.
func (r *Report) Verdict() string {
	what := "played"
	if r.Served == 0 {
		what = "inconclusive: no request came"
	}
	s := fmt.Sprintf("%s; %d requests served, %d not matched, %d of %d recorded exchanges used",
		what, r.Served, r.Missed, r.Used, r.Exchange)
	if r.Ignored > 0 {
		s += fmt.Sprintf("; ignored: %d differences in %d requests", r.Ignored, r.Differed)
	}
	if r.Notified+r.Undelivered > 0 {
		s += fmt.Sprintf("; %d notifications delivered, %d not", r.Notified, r.Undelivered)
	}
	return s
}
