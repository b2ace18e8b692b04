package playback

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/replay/canonical"
)

// UsedUp selects the answer to a request for which all recorded answers have been used.
type UsedUp string

// The choices.
const (
	RepeatLast UsedUp = "repeat" // the last one again
	Refuse     UsedUp = "error"  // a protocol error
)

// A Match selects what, besides the operation, must be equal in a request and the recorded one.
type Match string

// The choices, each of which asks for more than the one before. Ids that clients make are never compared.
const (
	ByOperation Match = "operation" // task, context and kinds of parts; the order of requests decides the rest
	ByShape     Match = "shape"     // all parameters by name and type
	ByValue     Match = "exact"     // all parameters
)

// Options configure a Player. The zero value plays as fast as possible. It repeats the last answer of an agent, and refuses
// further requests to models, tools and other services.
type Options struct {
	Agent      string   // plays what went to this agent, by its recorded name; empty plays all as one
	Speed      float64  // of recorded pauses: 1 as recorded, 2 twice as fast, 0 without pauses
	BreakAfter int      // cut every stream after so many events; 0 lets them end
	UsedUp     UsedUp   // if empty, RepeatLast for A2A, with Upstream only for calls that change no task, and else Refuse
	Match      Match    // ByOperation if empty
	Pointers   []string // values that have to be as recorded, too: JSON Pointers (RFC 6901) from the parameters

	// Binding is the only binding that cards of 1.0 offer, instead of the recorded ones; NoBinding leaves them
	// unchanged.
	Binding a2a.Binding

	Keep func(*capture.Exchange) bool // chooses exchanges; nil chooses all

	// Ignore has patterns of what may differ in requests that are not A2A, in addition to values that every run generates.
	Ignore []*regexp.Regexp
	// Hide returns an exchange as it is in the recording, without its secrets; nil if the recording has them.
	Hide func(*capture.Exchange) (*capture.Exchange, error)
	// Exposed is set if nothing was hidden in the recording, although Hide is set: another program made it.
	Exposed bool
	// Upstream returns the URL to which the client of a request sent it. Cards then keep their addresses, except for
	// those of Place. If it is nil, all requests go to the player's own address.
	Upstream func(*http.Request) string

	Faults  []Disruption // in the order of the options
	Forward *Forward     // gets unmatched requests; nil refuses them

	// Remote allows notifications to webhooks on other machines; otherwise they go only to loopback addresses. Roots
	// are trusted for webhooks on https; nil means the system's.
	Remote bool
	Roots  *x509.CertPool

	OnMiss   func(Miss)        // called with each unmatched request, by the goroutine that serves it
	OnNotice func(text string) // called with urgent notices for the user, by several goroutines

	// OnRequest is called with each request, by the goroutine that serves it. Its result is called with a note of
	// each deviation from the recording, before the client can see the deviation: "fault made here: …" or "playback:
	// …". It may be nil, and return nil.
	OnRequest func(*http.Request) (mark func(text string))
}

// A Player plays an agent. It is safe for concurrent use.
type Player struct {
	opts      Options
	rules     *canonical.Rules // for what is not A2A
	recording *recording
	index     *index
	places    map[string]string // of other agents that are played: origins by recorded origins; see Place

	mu       sync.Mutex
	names    names
	sessions sessions
	progress chan struct{} // closed, and replaced, when a call that is not A2A was found
	report   Report        // without the parts that Player.Report adds
	came     []int         // number of requests that each fault applies to

	theirs, theirContexts map[string]bool // ids of tasks and contexts that the live agent knows

	webhooks http.RoundTripper
	targets  map[string][]target      // webhooks, by task
	behind   map[string]chan struct{} // closed when the notifications of a task that are under way have been delivered

	ctx        context.Context // for background work
	stop       context.CancelFunc
	background sync.WaitGroup
}

// New returns a player of a capture. It reads the capture once, and reads exchanges again to play them: the source
// must stay open until Close, which must be called.
func New(ctx context.Context, src capture.Source, o Options) (*Player, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	rules := &canonical.Rules{Ignore: o.Ignore}
	s, err := load(ctx, src, &o, rules)
	if err != nil {
		return nil, fmt.Errorf("read the capture: %w", err)
	}
	if err := s.offers(o.Binding); err != nil {
		return nil, err
	}
	if o.Pointers, err = s.pointers(o.Pointers); err != nil {
		return nil, err
	}
	p := &Player{
		opts: o, rules: rules, recording: s, progress: make(chan struct{}), sessions: sessions{live: map[string]string{}, recorded: map[string]string{}},
		came: make([]int, len(o.Faults)), theirs: map[string]bool{},
		theirContexts: map[string]bool{},
		webhooks:      o.webhookTransport(), targets: map[string][]target{}, behind: map[string]chan struct{}{},
	}
	p.ctx, p.stop = context.WithCancel(context.WithoutCancel(ctx))
	p.names = newNames(s.ids, o.Match != ByValue)
	p.index = newIndex(s, o.Match != ByOperation || len(o.Pointers) > 0)
	return p, nil
}

// ErrOtherBinding is wrapped by the error of New if the recording cannot be converted to the Binding of the options.
var ErrOtherBinding = errors.New("answers can be translated to another binding only in A2A 1.0")

// offers returns an error if the recording has calls whose answers cannot be converted to a binding.
func (s *recording) offers(b a2a.Binding) error {
	for _, a := range s.exchanges {
		is := a.binding
		if b != a2a.NoBinding && is != a2a.NoBinding && is != b && !a.dialects.Has(a2a.V1_0) {
			return fmt.Errorf("%w, and exchange %d is %s %s", ErrOtherBinding, a.seq, is, a.dialects)
		}
	}
	return nil
}

// check sets defaults, and rejects unknown values.
func (o *Options) check() error {
	if o.UsedUp != "" && o.UsedUp != RepeatLast && o.UsedUp != Refuse {
		return fmt.Errorf("unknown word %q for used-up answers; use one of %s, %s", o.UsedUp, RepeatLast, Refuse)
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
	p.mu.Unlock() // nothing begins after this
	p.background.Wait()
	if f := p.opts.Forward; f != nil {
		if t, ok := f.Transport.(interface{ CloseIdleConnections() }); ok {
			t.CloseIdleConnections()
		}
	}
}

// Path returns the path of the recorded agent's URL, without a slash at its end: clients use it to find the agent.
func (p *Player) Path() string {
	for _, a := range p.recording.exchanges {
		if u, err := url.Parse(a.agent.URL); err == nil {
			return strings.TrimRight(u.EscapedPath(), "/")
		}
	}
	return ""
}

// agentURL returns the URL of the recorded agent that a request is for; "" if none was recorded.
func (p *Player) agentURL(r *http.Request) string {
	at := p.upstream(r)
	for _, a := range p.recording.exchanges {
		if at == "" || a.form.upstream == at {
			return a.agent.URL
		}
	}
	return ""
}

// upstream returns the recorded address that a request is for; "" if that does not matter, or is not recorded.
func (p *Player) upstream(r *http.Request) string {
	if p.opts.Upstream == nil {
		return ""
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	at, known := p.recording.upstreams.of(p.opts.Upstream(r))
	if !known {
		return ""
	}
	return at
}

func (p *Player) notice(format string, args ...any) {
	if p.opts.OnNotice != nil {
		p.opts.OnNotice(fmt.Sprintf(format, args...))
	}
}

// A Disruption is a requested deviation before an answer, or instead of it. A request that gets an error or no answer
// does not consume a recorded answer: the next request gets that answer.
type Disruption struct {
	injection.When               // the requests that it concerns
	Delay          time.Duration // before the answer; an operation's delay overrides the general one
	Error          *Error        // replaces the answer; nil for no error
	Drop           bool          // the connection is closed without an answer
}

// An Error is the error that a Disruption returns: a protocol error by its name, a JSON-RPC code without a name, or
// only an HTTP status.
type Error struct {
	Name   a2a.ErrorName
	Code   int64
	Status int
}

// String returns a description of the error, such as "TaskNotFoundError (-32001)".
func (e *Error) String() string {
	switch {
	case e.Status != 0:
		return "HTTP " + strconv.Itoa(e.Status)
	case e.Name.String() != "":
		row, _ := e.Name.Row()
		return fmt.Sprintf("%s (%d)", row.Title, row.Code)
	}
	return "error " + strconv.FormatInt(e.Code, 10)
}

// A Forward is a live agent that receives unmatched requests.
type Forward struct {
	URL       *url.URL          // of the agent: http or https; if nil, requests go where their clients sent them
	After     bool              // only once all recorded calls were requested
	Note      string            // on how requests to it are changed; may be empty
	Transport http.RoundTripper // must leave content codings alone; idle connections are closed by Player.Close
}

// A target is a webhook of the live client for a task.
type target struct {
	recorded    string // its URL in the recording
	url         string
	token       string
	credentials string // as in an Authorization header, with the scheme
}
