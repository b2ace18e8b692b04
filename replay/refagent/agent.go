package refagent

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/spelling"
	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/fault"
	"a2atap/replay/refagent/internal/wire"
)

// An Agent is a reference agent, ready to serve. It is safe for concurrent use.
type Agent struct {
	service
	stop    context.CancelFunc
	started time.Time
}

// New returns the agent with that name. It fails if the name or the fault is unknown, with an error that lists the
// known ones, or if the options do not fit the agent. Close releases the agent's resources.
func New(name string, opts Options) (*Agent, error) {
	p := profileOf(name)
	if p == nil {
		return nil, fmt.Errorf("unknown reference agent %q; use one of %s%s", name, strings.Join(Names(), ", "),
			spelling.Hint(name, Names()))
	}
	bindings, err := p.chosen(opts.Bindings)
	if err != nil {
		return nil, err
	}
	var h wire.Hooks
	if opts.Fault != "" {
		if h, err = fault.HooksFor(name, opts.Fault, bindings); err != nil {
			return nil, err
		}
	}
	if err := p.checkTenants(opts.Tenants); err != nil {
		return nil, err
	}
	served := p.served(opts, bindings)
	given, err := cards.Read(served, opts.Card)
	if err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	a := &Agent{
		service: service{
			profile: p, opts: opts, hooks: h, served: served, given: given, engines: make(map[party]*engine.Engine),
		},
		started: opts.Now(),
	}
	if err := a.withSkills(); err != nil {
		return nil, err
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	for _, tenant := range served.Tenants {
		for _, user := range opts.Auth.Users() {
			if _, err := a.engineFor(party{tenant, user}); err != nil {
				a.Close()
				return nil, err
			}
		}
	}
	return a, nil
}

// Name returns the name under which New made the agent.
func (a *Agent) Name() string { return a.profile.name }

// Path returns the path of the agent's endpoint, without a slash at the end. It is empty for an agent at the root of
// its origin.
func (a *Agent) Path() string {
	if a.profile.atRoot {
		return ""
	}
	return "/" + a.profile.name
}

// Close ends all work and all open streams, and returns when no background work is left. A server in front of the
// agent is the caller's to shut down.
func (a *Agent) Close() {
	a.stop()
	a.mu.Lock()
	engines := slices.Collect(maps.Values(a.engines))
	a.mu.Unlock()
	for _, e := range engines {
		e.Close()
	}
}

// until returns a context that ends with ctx or with the agent.
func (a *Agent) until(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(a.ctx, cancel)
	return ctx, func() { stop(); cancel() }
}

// base returns the URL of the agent's endpoint as its card names it.
func (a *Agent) base(r *http.Request) string {
	if a.opts.BaseURL != "" {
		return a.opts.BaseURL + a.Path()
	}
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	return scheme + "://" + r.Host + a.Path()
}

// skillNamed returns the skill of that name; nil if the agent does not have it.
func (s *service) skillNamed(name string) *engine.Skill {
	if s.given != nil {
		for _, known := range s.given.Skills {
			if known.Does.Name == name {
				return known.Does
			}
		}
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "tck-"); ok && engine.Scripts[rest] != nil {
		return &engine.Skill{Name: name, Answer: engine.Scripts[rest].Answer, Run: engine.Scripts[rest].Run}
	}
	for _, known := range engine.Skills {
		if known.Name == name {
			return known
		}
	}
	return nil
}

// A service has an agent's operations, independent of the binding.
type service struct {
	profile *profile
	opts    Options
	hooks   wire.Hooks
	served  *cards.Subject  // the agent as its cards describe it
	given   *cards.Given    // nil if the card is the agent's own
	ctx     context.Context // ends when the agent is closed

	mu      sync.Mutex // guards engines
	engines map[party]*engine.Engine
}
