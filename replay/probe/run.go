package probe

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/jws"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/live"
)

// Options set a run up.
type Options struct {
	// Client is what clients are made with: credentials, tenant, the time that a request may take. Its Transport, Edit
	// and Break are not used.
	Client client.Options
	// Second has the credentials of another user, for scenarios about what users see of each other; nil if there is none.
	// Only its Token, Header and Authorize are used.
	Second *client.Options
	// Scenarios are those to run.
	Scenarios []*Scenario
	// Protocols are those to speak, of those that the card offers; empty for all.
	Protocols []client.Protocol
	// Versions are those of the interfaces to speak on, in two parts, such as 0.2; empty for all.
	Versions []string
	// Fallback is spoken at the URL itself if no card can be read; zero to ask only for the card then.
	Fallback client.Protocol
	// NoCard says that no card is read: the Fallback is spoken, and what is about the card is skipped.
	NoCard bool
	// Keep chooses cases by scenario and name; nil for all.
	Keep func(s *Scenario, test string) bool
	// Name is what the agent is called in the record; empty for host and port of its URL.
	Name string
	// Drive says how the agent is brought to do something; empty chooses by its card.
	Drive Drive
	// Prompts are texts that bring the agent to do something, in place of keywords and of the examples of its card.
	Prompts map[Behavior]string
	// Learned are texts that have brought the agent to do something before; they are sent in place of the examples.
	Learned map[Behavior]string
	// Skills are the ids of those to use; empty for all.
	Skills []string
	// Patch is the patch version of the specification, 1.0.0 or 1.0.1, whose HTTP statuses are insisted on; empty where
	// those of either will do.
	Patch string
	// Timeout is how long a task may take; 0 for a minute.
	Timeout time.Duration
	// Wait is how long the agent may take to start.
	Wait time.Duration
	// Parallel is how many cases run at the same time, 1 at least.
	Parallel int
	// Webhook is where push notifications are received: address, public URL and certificate; the zero value for a port of
	// this machine, over TLS with a certificate that nobody trusts only where the protocol demands TLS. The rest of it is
	// not looked at. All webhooks of the run are at one address, so that a port can be named.
	Webhook webhook.Options
	// Dialer connects to agents; nil is one without options.
	Dialer *outbound.Dialer
	// Keys are those that agents sign their cards with, beside the ones that a card's signature names at its own origin.
	Keys jws.KeySet
	// Sink takes what is recorded, in order; nil if it is not kept. Seq is the number of the last exchange in it.
	Sink capture.Sink
	Seq  uint64
	// OnCases is called with the number of cases before the first is asked; may be nil.
	OnCases func(n int)
	// OnResult is called with each result when it is there, one at a time; may be nil.
	OnResult func(*Result)
}

// wants reports whether an interface is to be asked on.
func (o *Options) wants(e endpoint) bool {
	return (len(o.Protocols) == 0 || slices.Contains(o.Protocols, e.Protocol)) &&
		(len(o.Versions) == 0 || slices.Contains(o.Versions, e.version))
}

// ErrSkill is what Run fails with if the card has none of the skills that were named.
var ErrSkill = errors.New("no such skill")

// ErrWebhook is what Run fails with if push notifications cannot be received at the address that was chosen.
var ErrWebhook = errors.New("listen for push notifications")

// knows returns an error unless the card has all skills that were named.
func (o *Options) knows(card *client.Card) error {
	if card == nil {
		return nil
	}
	ids := make([]string, 0, len(card.Skills))
	for _, s := range card.Skills {
		ids = append(ids, s.ID)
	}
	for _, id := range o.Skills {
		if !slices.Contains(ids, id) {
			return fmt.Errorf("%w: %q; the card has %s", ErrSkill, id, strings.Join(ids, ", "))
		}
	}
	return nil
}

// Run asks the agent at a URL and returns how each case came out. It fails if the agent does not answer at all, or if
// the record could not be kept: then with the report. When the context ends, cases that have not begun are left out.
func Run(ctx context.Context, agent string, o Options) (*Report, error) {
	if u, err := url.Parse(agent); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid agent URL %q; write http://HOST:PORT/PATH", agent)
	}
	if o.Timeout <= 0 {
		o.Timeout = time.Minute
	}
	o.Client.Timeout = cmp.Or(o.Client.Timeout, o.Timeout)
	o.Parallel = max(o.Parallel, 1)
	r := newRunner(agent, &o)
	main := r.target("")
	report := &Report{URL: agent, Begun: time.Now()}
	if err := main.discover(ctx); err != nil {
		return nil, err
	}
	if err := o.knows(main.card); err != nil {
		return nil, err
	}
	defer r.webhooks.close()
	if err := r.webhooks.begin(main); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrWebhook, err)
	}
	report.Card, report.NoCard, report.Notes = main.card, main.noCard, main.notes
	for _, why := range main.shut {
		report.Shut = why
	}
	cases := r.cases(ctx)
	for _, path := range slices.Sorted(maps.Keys(r.targets)) {
		if path != "" {
			report.Notes = append(report.Notes, r.targets[path].notes...)
		}
	}
	if o.OnCases != nil {
		o.OnCases(len(cases))
	}
	r.run(ctx, cases)
	for _, c := range r.all {
		if c.result.Status != "" {
			report.Results = append(report.Results, c.result)
		}
	}
	report.Gone = r.gone
	r.log.End()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if r.unkept != nil {
		return report, fmt.Errorf("record the traffic: %w", r.unkept)
	}
	return report, nil
}

// A runner runs cases.
type runner struct {
	url     string
	opts    *Options
	tape    *tape
	log     *live.Log
	targets map[string]*target // by path below the URL; set up before cases run
	// webhooks is the server behind all webhooks.
	webhooks webhooks
	all      []*probeCase

	unkept error // guarded by the log's order: only take writes it, and it is read after End

	mu   sync.Mutex
	gone bool
}

// A probeCase is a scenario on one interface.
type probeCase struct {
	scenario *Scenario
	target   *target
	at       endpoint
	result   Result
}

// name returns the case's name: jsonrpc/error-task-not-found.
func (c *probeCase) name() string {
	if c.at.Protocol == (client.Protocol{}) {
		return c.scenario.ID
	}
	return caseName(c.scenario, c.at.version, c.at.Protocol)
}

func newRunner(agent string, o *Options) *runner {
	r := &runner{url: agent, opts: o, tape: &tape{xs: map[uint64]*capture.Exchange{}}, targets: map[string]*target{}}
	r.webhooks.opts = o.Webhook
	r.log = live.NewLog(o.Seq, func(s capture.Step) {
		r.tape.take(s.Clone())
		if o.Sink != nil && r.unkept == nil {
			r.unkept = o.Sink.Append(s)
		}
	})
	return r
}

// target returns the agent at a path below the URL; empty for the one at the URL.
func (r *runner) target(path string) *target {
	if t := r.targets[path]; t != nil {
		return t
	}
	at := r.url
	if path != "" {
		at = agentURL(at, path, r.opts.Scenarios)
	}
	t := &target{url: at, opts: r.opts, tape: r.tape, webhooks: &r.webhooks}
	t.transport = &live.Transport{
		Log: r.log, Client: capture.Peer{Name: "a2atap", How: "probe"}, Agent: t.peer, Dialer: r.opts.Dialer,
		Limits: r.opts.Client.Limits,
		Noted: func(req *http.Request, n uint64) {
			if s, ok := req.Context().Value(sessionKey{}).(*Session); ok {
				s.asked(n)
			}
		},
	}
	r.targets[path] = t
	return t
}

// cases makes a case of each scenario for each interface that it is for.
func (r *runner) cases(ctx context.Context) []*probeCase {
	for _, s := range r.opts.Scenarios {
		t := r.target(s.Agent)
		if t.card == nil && t.noCard == nil && t.endpoints == nil {
			if err := t.discover(ctx); err != nil {
				t.noCard = err
			}
		}
		if s.Agent != "" {
			r.addCells(s, t)
			continue
		}
		made := false
		for _, at := range t.endpoints {
			if (s.fits(at.Protocol) || s.foreign(at.Protocol) != "") && !(made && s.Once) {
				made = true
				r.add(&probeCase{scenario: s, target: t, at: at})
			}
		}
		if !made && len(t.endpoints) == 0 && (t.lacking() != nil || s.Once && len(s.Protocols) == 0) {
			r.add(&probeCase{scenario: s, target: t})
		}
	}
	return r.all
}

// addCells adds a case of a scenario of the acceptance suite for each protocol that it is for, also for those that the
// agent does not offer: how many there are does not depend on the agent.
func (r *runner) addCells(s *Scenario, t *target) {
	for _, p := range s.Protocols {
		at := endpoint{client.Interface{Protocol: p}, p.Version}
		if !r.opts.wants(at) {
			continue
		}
		if i := slices.IndexFunc(t.endpoints, func(e endpoint) bool { return e.Protocol == p }); i >= 0 {
			at = t.endpoints[i]
		}
		r.add(&probeCase{scenario: s, target: t, at: at})
	}
}

// add adds a case if it is wanted.
func (r *runner) add(c *probeCase) {
	if r.opts.Keep == nil || r.opts.Keep(c.scenario, c.name()) {
		r.all = append(r.all, c)
	}
}

// run runs the cases that come first, then the others side by side, and then those that must be alone.
func (r *runner) run(ctx context.Context, cases []*probeCase) {
	var group sync.WaitGroup
	free := make(chan struct{}, r.opts.Parallel)
	for _, c := range cases {
		if c.scenario.First {
			r.one(ctx, c)
		}
	}
	for _, c := range cases {
		if c.scenario.Alone || c.scenario.First {
			continue
		}
		free <- struct{}{}
		group.Go(func() {
			defer func() { <-free }()
			r.one(ctx, c)
		})
	}
	group.Wait()
	for _, c := range cases {
		if c.scenario.Alone {
			r.one(ctx, c)
		}
	}
}

// one runs a case.
func (r *runner) one(ctx context.Context, c *probeCase) {
	if ctx.Err() != nil {
		return
	}
	result := Result{Test: c.name(), Scenario: c.scenario, Protocol: c.at.Protocol}
	r.mu.Lock()
	gone := r.gone
	r.mu.Unlock()
	begun := time.Now()
	s := &Session{
		Card: c.target.card, URL: c.target.url, Version: c.at.version, Patch: r.opts.Patch,
		Timeout: r.opts.Timeout, target: c.target, endpoint: c.at.Interface, drive: r.opts.Drive, skills: r.opts.Skills,
	}
	if s.drive == "" {
		s.drive = driveOf(s.Card)
	}
	if why := c.target.shut[c.at.Interface]; gone {
		result.Status, result.Message = Unproved, "not asked: the agent was gone"
	} else if why != "" && !c.scenario.Stranger && !c.scenario.CardOnly && c.scenario.Category != analysis.AgentCard {
		result.Status, result.Message = Unproved, "not asked: "+why
	} else {
		err := r.ask(ctx, c, s)
		if c.scenario.First {
			c.target.setBase(c, err)
		}
		if ctx.Err() != nil {
			return // interrupted: it is as if it had not begun
		}
		r.judge(ctx, c, s, err, &result)
	}
	result.Duration = time.Since(begun)
	s.fill(&result)
	r.tape.drop(result.Exchanges)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.result = result
	if r.opts.OnResult != nil {
		r.opts.OnResult(&c.result)
	}
}

// ask runs the scenario if the agent has what it needs.
func (r *runner) ask(ctx context.Context, c *probeCase, s *Session) error {
	if why := c.scenario.foreign(c.at.Protocol); why != "" {
		return &Skip{Why: "not applicable over gRPC: " + why}
	}
	if s.Card != nil {
		for _, need := range c.scenario.Needs {
			if !need.Has(s.Card) {
				return &Skip{Why: fmt.Sprintf("the card does not advertise %s", need)}
			}
		}
	}
	if r.opts.NoCard && c.scenario.Category == analysis.AgentCard {
		return &Skip{Why: "no card is to be read"}
	}
	switch {
	case c.scenario.CardOnly || c.at.URL != "":
	case c.at.Protocol != (client.Protocol{}) && s.Card != nil:
		return &Skip{Why: fmt.Sprintf("the card does not offer %s", c.at.Protocol)}
	case !c.scenario.Once:
		return Unclear("not asked: no interface is known to ask on")
	}
	// A task may be waited for more than once, and the request at the end of that has the time of requests, which may be
	// longer; beyond that something hangs.
	limit := 3*r.opts.Timeout + r.opts.Client.Timeout
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.at.URL != "" {
		s.Client = c.target.client(c.at.Interface, c.target.options(s))
		defer s.Client.Close()
	}
	err := c.scenario.Run(ctx, s)
	if s.Card == nil {
		err = cardless(s, c.scenario.Needs, err)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = Fail("an end of all that was asked", "none within %v", limit)
	}
	return err
}

type sessionKey struct{}

// A sessionTransport carries the requests of a session's clients.
type sessionTransport struct {
	*live.Transport
	session *Session // nil if it is nobody's
}

// RoundTrip implements [http.RoundTripper].
func (t sessionTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	if t.session != nil {
		req = req.WithContext(context.WithValue(req.Context(), sessionKey{}, t.session))
	}
	return t.Transport.RoundTrip(req)
}

// judge says how a case came out.
func (r *runner) judge(ctx context.Context, c *probeCase, s *Session, err error, result *Result) {
	var failure *Failure
	var skip *Skip
	var unclear *Inconclusive
	var refused *client.Error
	switch {
	case err == nil:
		result.Status = Pass
		return
	case errors.As(err, &skip):
		result.Status, result.Message = Skipped, skip.Why
		return
	case errors.As(err, &unclear):
		result.Status, result.Message = Unproved, unclear.Why
		return
	case c.target.follows(c, s, err) != "":
		result.Status, result.Message = Unproved, c.target.follows(c, s, err)
		return
	case errors.As(err, &failure):
		result.Status, result.Message = Failed, failure.Error()
		result.Expected, result.Seen = failure.Expected, failure.Seen
	case errors.As(err, &refused):
		result.Status, result.Expected, result.Seen = Failed, "success", Describe(refused)
		result.Message = "expected success; seen " + result.Seen
	default:
		result.Status, result.Message, result.Seen = Failed, err.Error(), err.Error()
		result.Expected = "an answer that can be read"
	}
	if refused == nil && s.Last().Status < http.StatusInternalServerError && failure != nil {
		return
	}
	if c.target.healthy(ctx) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.gone { // what was asked at the same time did not crash it once more
		result.Status, result.Message = Unproved, "not asked to its end: the agent was gone"
		return
	}
	r.gone = true
	result.Status, result.Message = Critical, "the agent does not answer any more; "+result.Message
}
