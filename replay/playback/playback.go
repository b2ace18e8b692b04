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

	"a2atap/analyzer/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay"
)

// UsedUp says what a request gets when all recorded answers to it have been given.
type UsedUp string

// The choices.
const (
	RepeatLast UsedUp = "repeat" // the last one again
	Refuse     UsedUp = "error"  // a protocol error
)

// Options say how to play. The zero value plays as fast as it can and repeats the last answer.
type Options struct {
	Speed      float64                      // of pauses before answers and between events: 1 as recorded, 2 twice as fast, 0 without
	BreakAfter int                          // cut every stream after so many events; 0 lets them end
	UsedUp     UsedUp                       // RepeatLast if empty
	Keep       func(*capture.Exchange) bool // chooses exchanges; nil chooses all
	OnMiss     func(Miss)                   // told of each request that nothing matched; called by the goroutine that serves it
}

// A Miss is a request that nothing recorded matches.
type Miss struct {
	Operation string          // or the method or path, where it is none
	Why       string          // one sentence: lower case, no final period
	Nearest   uint64          // the recorded exchange that comes closest; 0 if none has the operation
	Changes   []replay.Change // what the request has otherwise than that one
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
	opts  Options
	score *score

	mu     sync.Mutex
	names  names
	served int
	misses []Miss
	missed int
}

// maxMisses bounds the misses that a report explains.
const maxMisses = 100

// maxRequest bounds the body of a request, in bytes.
const maxRequest = 16 << 20

// New returns a player of a capture. It reads the capture whole.
func New(ctx context.Context, src capture.Source, o Options) (*Player, error) {
	if o.UsedUp == "" {
		o.UsedUp = RepeatLast
	}
	if o.UsedUp != RepeatLast && o.UsedUp != Refuse {
		return nil, fmt.Errorf("no choice %q for used up answers; there are %s, %s", o.UsedUp, RepeatLast, Refuse)
	}
	s, err := load(ctx, src)
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	if o.Keep != nil {
		s.acts = slices.DeleteFunc(s.acts, func(a *act) bool { return !o.Keep(a.x) })
	}
	p := &Player{opts: o, score: s}
	p.names = names{clientMade: s.born, recorded: map[string]string{}, live: map[string]string{}}
	return p, nil
}

// Path returns the path of the recorded agent's URL, without a slash at its end: where a client looks for the agent.
func (p *Player) Path() string {
	for _, a := range p.score.acts {
		if u, err := url.Parse(a.x.Agent.URL); err == nil {
			return strings.TrimRight(u.EscapedPath(), "/")
		}
	}
	return ""
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
	(&answering{act: a, call: &call, substitute: substitute, opts: &p.opts, w: w, r: r}).run()
}

// decode reads a request as one to an agent that speaks what the recorded one speaks.
func (p *Player) decode(r *http.Request, body []byte) a2a.Call {
	known := p.score.known[r.URL.EscapedPath()]
	known.Bindings = a2a.BindingsOf(a2a.JSONRPC, a2a.HTTPJSON)
	return a2a.DecodeRequest(a2a.Request{
		Method: r.Method, Target: r.RequestURI, Header: r.Header.Values,
		Body: body, HasBody: len(body) > 0, BodyKept: true,
	}, known)
}

// choose finds the act that answers a call, and marks it played.
func (p *Player) choose(call *a2a.Call, r *http.Request) (*act, replay.Substitute, *Miss) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a, miss := p.match(call)
	if miss != nil {
		p.missed++
		if len(p.misses) < maxMisses {
			p.misses = append(p.misses, *miss)
		}
		return nil, nil, miss
	}
	a.uses++
	p.served++
	p.names.learn(call, &a.call)
	return a, p.names.substitute(call, cardURLs(a, r)), nil
}

// match finds the act for a call: among those that ask the same, the ones of the latest state that has been reached; of
// these the first that was not played yet, or the last.
func (p *Player) match(call *a2a.Call) (*act, *Miss) {
	if !call.A2A() || call.Batch != nil {
		return nil, &Miss{Operation: "request", Why: "it is no A2A call that can be played back"}
	}
	f := newForm(call)
	var state []*act
	var nearest *act
	var changes []replay.Change
	for _, a := range p.score.acts {
		if a.form.op != f.op || !speaks(call, a) {
			continue
		}
		different := a.form.differences(&f, &p.names)
		if len(different) > 0 {
			if nearest == nil || len(different) < len(changes) {
				nearest, changes = a, different
			}
			continue
		}
		if a.after == nil || a.after.uses > 0 {
			state = latest(state, a)
		}
	}
	switch a := next(state); {
	case a == nil:
		return nil, p.explain(&f, nearest, changes)
	case a.uses > 0 && p.opts.UsedUp == Refuse:
		return nil, &Miss{Operation: f.String(), Nearest: a.seq, Why: "all recorded answers to it have been given"}
	default:
		return a, nil
	}
}

// speaks reports whether a recorded answer can be given to a call: in its own binding, or in 1.0 in any.
func speaks(call *a2a.Call, a *act) bool {
	same := call.Dialects.Empty() || a.call.Dialects.Empty() || !call.Dialects.Intersect(a.call.Dialects).Empty()
	return same && (call.Binding == a.call.Binding || call.Dialects.Has(a2a.V1_0) && a.call.Dialects.Has(a2a.V1_0))
}

// latest keeps the acts that follow the same, latest act.
func latest(state []*act, a *act) []*act {
	if len(state) == 0 || rank(a) > rank(state[0]) {
		return []*act{a}
	}
	if rank(a) == rank(state[0]) {
		return append(state, a)
	}
	return state
}

func rank(a *act) uint64 {
	if a.after == nil {
		return 0
	}
	return a.after.seq
}

// next returns the first act that was not played yet, or the last one, or nil.
func next(state []*act) *act {
	for _, a := range state {
		if a.uses == 0 {
			return a
		}
	}
	if len(state) == 0 {
		return nil
	}
	return state[len(state)-1]
}

// explain says why nothing matches.
func (p *Player) explain(f *form, nearest *act, changes []replay.Change) *Miss {
	m := &Miss{Operation: f.String()}
	if nearest != nil {
		m.Nearest, m.Changes = nearest.seq, changes
		m.Why = fmt.Sprintf("nothing recorded matches; the nearest is exchange %d", nearest.seq)
		return m
	}
	var others []string
	for _, a := range p.score.acts {
		if name := a.form.String(); !slices.Contains(others, name) {
			others = append(others, name)
		}
		if a.form.op == f.op && a.after != nil && a.after.uses == 0 {
			m.Nearest = a.seq
			m.Why = fmt.Sprintf("exchange %d matches, but before it comes exchange %d, which was not asked for yet", a.seq, a.after.seq)
			return m
		}
	}
	m.Why = "it is not in the recording, which has " + strings.Join(others, ", ")
	if len(others) == 0 {
		m.Why = "there is nothing in the recording"
	}
	return m
}

// String names what the form asks.
func (f *form) String() string {
	if f.op != a2a.NoOperation {
		return f.op.String()
	}
	return f.method
}

// A Report says what was played.
type Report struct {
	Served   int // requests that were answered as recorded
	Missed   int // requests that nothing matched
	Used     int // recorded exchanges that were played at least once
	Unused   []Unused
	Misses   []Miss // the first hundred
	Exchange int    // recorded exchanges that can be played
}

// An Unused exchange was never asked for.
type Unused struct {
	Exchange  uint64
	Operation string
}

// Report returns what was played so far.
func (p *Player) Report() Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := Report{Served: p.served, Missed: p.missed, Misses: slices.Clone(p.misses), Exchange: len(p.score.acts)}
	for _, a := range p.score.acts {
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
		what = "nothing proved: nothing was asked for"
	}
	return fmt.Sprintf("%s; %d requests served, %d not matched, %d of %d recorded exchanges used", what, r.Served, r.Missed, r.Used, r.Exchange)
}
