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
	"a2atap/analyzer/report"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/live"
)

// Options configure a run.
type Options struct {
	// Client configures clients: credentials, tenant, the timeout of requests. Its Transport, Edit and Break are not
	// used.
	Client client.Options
	// Second has the credentials of another user, for scenarios about isolation between users; nil if there is no
	// such user. Only its Token, Header and Authorize are used.
	Second *client.Options
	// Scenarios are the scenarios to run.
	Scenarios []*Scenario
	// Protocols limits the run to these protocols of the card; empty for all.
	Protocols []client.Protocol
	// Versions limits the run to interfaces of these versions, in two parts, such as 0.2; empty for all.
	Versions []string
	// Fallback is used at the URL itself if the card is unreadable; if zero, only the card is then tested.
	Fallback client.Protocol
	// NoCard means that the card is not read: the Fallback is used, and cases about the card are skipped.
	NoCard bool
	// Keep chooses cases by scenario and name; nil for all.
	Keep func(s *Scenario, test string) bool
	// Name is the agent's name in the record; empty for host and port of its URL.
	Name string
	// Drive is the way to trigger behaviors; empty chooses it by the card.
	Drive Drive
	// Prompts are texts that trigger behaviors. They replace keywords and the card's examples.
	Prompts map[Behavior]string
	// Learned are texts that triggered behaviors in a recording; they replace the card's examples.
	Learned map[Behavior]string
	// Skills are the ids of the skills to use; empty for all.
	Skills []string
	// Patch is the patch version of the specification, 1.0.0 or 1.0.1, whose HTTP statuses are required; if empty,
	// those of either are accepted.
	Patch string
	// Timeout bounds the time for a task; 0 means a minute.
	Timeout time.Duration
	// Wait bounds the time for the agent to start.
	Wait time.Duration
	// Parallel is the number of cases that run at the same time, at least 1.
	Parallel int
	// Webhook configures where push notifications are received: address, public URL and certificate. The zero value
	// uses a port of this machine. It uses TLS, with an untrusted certificate, only if the protocol requires TLS.
	// Other fields are ignored. All webhooks of the run share one address, so that a port can be named.
	Webhook webhook.Options
	// Dialer connects to agents; nil is one without options.
	Dialer *outbound.Dialer
	// Keys are the keys that agents sign their cards with, in addition to those that a signature names at its own
	// origin.
	Keys jws.KeySet
	// Sink receives the recorded exchanges in order; nil keeps none. Seq is the number of the last exchange in it.
	Sink capture.Sink
	Seq  uint64
	// OnCases is called with the number of cases before the first one begins; may be nil.
	OnCases func(n int)
	// OnResult is called with each result as soon as it exists, one at a time; may be nil.
	OnResult func(*Result)
}

// wants reports whether to test an interface.
func (o *Options) wants(e endpoint) bool {
	return (len(o.Protocols) == 0 || slices.Contains(o.Protocols, e.Protocol)) &&
		(len(o.Versions) == 0 || slices.Contains(o.Versions, e.version))
}

// ErrSkill is the error of Run if the card has none of the named skills.
var ErrSkill = errors.New("no such skill")

// ErrWebhook is the error of Run if it cannot receive push notifications at the chosen address.
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

// Run probes the agent at a URL and returns the outcome of each case. It fails if the agent does not answer at all.
// It returns a report and an error if the record could not be kept. When the context ends, remaining cases are left
// out.
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
	report.NoTasks = r.skipTasks()
	for _, c := range r.all {
		if c.result.Status != "" {
			report.Results = append(report.Results, c.result)
		}
	}
	report.Gone = r.gone
	unkept := r.log.End()
	if err := ctx.Err(); err != nil {
		return report, err
	}
	if unkept != nil {
		return report, fmt.Errorf("record the traffic: %w", unkept)
	}
	return report, nil
}

// A runner runs cases.
type runner struct {
	url     string
	opts    *Options
	log     *live.Log
	blank   *live.Log          // keeps nothing
	targets map[string]*target // by path below the URL; set up before cases run
	// webhooks is the server behind all webhooks.
	webhooks webhooks
	all      []*probeCase

	mu       sync.Mutex
	gone     bool
	suspects []suspect  // cases after which the agent did not respond, in the order found
	previous *probeCase // the last case after which it responded

	answered map[string]bool // kinds of requests that the agent has answered
}

func newRunner(agent string, o *Options) *runner {
	r := &runner{url: agent, opts: o, targets: map[string]*target{}, answered: map[string]bool{}}
	r.webhooks.opts = o.Webhook
	r.blank = live.NewLog(0, nil, nil)
	r.log = live.NewLog(o.Seq, o.Sink, nil)
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
	t := &target{url: at, opts: r.opts, webhooks: &r.webhooks}
	t.transport = &live.Transport{
		Log: r.log, Client: capture.Peer{Name: "a2atap", How: "probe"}, Agent: t.peer, Dialer: r.opts.Dialer,
		Limits: r.opts.Client.Limits,
	}
	t.unrecorded = &live.Transport{
		Log: r.blank, Client: t.transport.Client, Agent: t.peer, Dialer: r.opts.Dialer, Limits: r.opts.Client.Limits,
	}
	r.targets[path] = t
	return t
}

// cases makes a case of each scenario for each interface that it applies to.
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

// addCells adds a case of a scenario of the acceptance suite for each of its protocols, including those that the
// agent does not offer: their number does not depend on the agent.
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

// add adds a case if the options select it.
func (r *runner) add(c *probeCase) {
	if r.opts.Keep == nil || r.opts.Keep(c.scenario, c.name()) {
		r.all = append(r.all, c)
	}
}

// skipTasks skips the cases about tasks if the agent makes none, which is allowed. It then has answered each message
// with a message, including one to each skill. skipTasks reports whether it skipped them.
func (r *runner) skipTasks() bool {
	skills := 0
	var about []*probeCase
	for _, c := range r.all {
		for _, life := range c.result.Skills {
			if !slices.Equal(life.States, []string{"message"}) {
				return false
			}
			skills++
		}
		switch {
		case c.noTask:
			about = append(about, c)
		case c.result.Status == Pass && slices.Contains(aboutTasks, c.scenario.ID):
			return false
		}
	}
	if skills == 0 || len(about) == 0 {
		return false
	}
	for _, c := range about {
		c.result.Status, c.result.Message = Skipped, "the agent creates no tasks: it answers each message with a message"
	}
	return true
}

// aboutTasks are scenarios that only pass if the agent makes a task.
var aboutTasks = []string{"task-completes", "task-cancel", "multi-turn", "concurrent-tasks"}

// turn returns when a case runs: 0 before the others, 1 in parallel with others, 2 alone, because an invalid request
// may crash the agent, and 3 alone at the end.
func (c *probeCase) turn() int {
	switch s := c.scenario; {
	case s.First:
		return 0
	case s.Alone:
		return 3
	case s.Category == analysis.ErrorHandling:
		return 2
	}
	return 1
}

// run runs the cases by their turns.
func (r *runner) run(ctx context.Context, cases []*probeCase) {
	for turn := range 4 {
		most := 1
		if turn == 1 {
			most = r.opts.Parallel
		}
		var group sync.WaitGroup
		free := make(chan struct{}, most)
		for _, c := range cases {
			if c.turn() != turn {
				continue
			}
			free <- struct{}{}
			group.Go(func() {
				defer func() { <-free }()
				r.one(ctx, c)
			})
		}
		group.Wait()
		r.blame()
	}
	r.survived(nil)
}

// one runs a case.
func (r *runner) one(ctx context.Context, c *probeCase) {
	if ctx.Err() != nil {
		return
	}
	result := Result{Test: report.Test{Name: c.name()}, Scenario: c.scenario, Protocol: c.at.Protocol}
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
		result.Status, result.Message = Unproved, "not tested: the agent had stopped answering"
	} else if why != "" && !c.scenario.Stranger && !c.scenario.CardOnly && c.scenario.Category != analysis.AgentCard {
		result.Status, result.Message = Unproved, "not tested: "+why
	} else {
		err := r.ask(ctx, c, s)
		if c.scenario.First {
			c.target.setBase(c, err)
		}
		if ctx.Err() != nil {
			return // interrupted: counts as not begun
		}
		c.judge(s, err, &result)
	}
	result.Duration = time.Since(begun)
	s.fill(&result)
	got, answered := reached(s)
	isGone := s.Asks() > 0 && !gone && !c.target.healthy(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	c.result = result
	for _, kind := range answered {
		r.answered[kind] = true
	}
	switch {
	case isGone:
		r.gone = true
		r.suspects = append(r.suspects, suspect{c, got})
	case got.level > 0:
		r.survived(c)
	default:
		c.result.forget()
	}
	if r.opts.OnResult != nil {
		r.opts.OnResult(&c.result)
	}
}

// ask runs the scenario if the agent has the required capabilities.
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
		return &Skip{Why: "the card is not to be read"}
	}
	switch {
	case c.scenario.CardOnly || c.at.URL != "":
	case c.at.Protocol != (client.Protocol{}) && s.Card != nil:
		return &Skip{Why: fmt.Sprintf("the card does not offer %s", c.at.Protocol)}
	case !c.scenario.Once:
		return Unclear("not tested: no interface is known")
	}
	// A case may wait for a task more than once. The last request has the timeout of requests, which may be longer.
	// Beyond that something hangs.
	limit := 3*r.opts.Timeout + r.opts.Client.Timeout
	if c.scenario.EachSkill {
		limit *= time.Duration(max(1, len(s.Skills())))
	}
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
		err = Fail("all requests to end", "none within %v", limit)
	}
	return err
}

// A sessionTransport carries the requests of a session's clients.
type sessionTransport struct {
	*live.Transport
	session *Session
}

// RoundTrip implements [http.RoundTripper].
func (t sessionTransport) RoundTrip(req *http.Request) (*http.Response, error) {
	return t.Carry(req, t.session.asked)
}

// judge sets the outcome of a case.
func (c *probeCase) judge(s *Session, err error, result *Result) {
	var failure *Failure
	var skip *Skip
	var unclear *Inconclusive
	var refused *client.Error
	switch {
	case err == nil:
		result.Status = Pass
	case errors.As(err, &skip):
		result.Status, result.Message = Skipped, skip.Why
	case errors.As(err, &unclear):
		result.Status, result.Message = Unproved, unclear.Why
		c.noTask = errors.Is(err, errNoTask)
	case c.target.follows(c, s, err) != "":
		result.Status, result.Message = Unproved, c.target.follows(c, s, err)
	case errors.As(err, &failure):
		result.Status, result.Message = Failed, failure.Error()
		result.Expected, result.Seen, result.Level = failure.Expected, failure.Seen, failure.Level
	case errors.As(err, &refused):
		result.Status, result.Expected, result.Seen = Failed, "success", Describe(refused)
		result.Message = "expected success; seen " + result.Seen
	default:
		result.Status, result.Message, result.Seen = Failed, err.Error(), err.Error()
		result.Expected = "an answer that can be read"
	}
}
