package refagent

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/spelling"
	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/fault"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Options sets an agent up. The zero value is a faithful agent at its normal pace.
type Options struct {
	// BaseURL is the origin that cards put before the agent's path, such as http://127.0.0.1:9001. If it is empty,
	// cards name the origin that the request was sent to.
	BaseURL string
	// Fault is the slug of the rule to break; empty for a faithful agent.
	Fault string
	// Card is the JSON of the card to serve in place of the agent's own; empty for that. Its skills are what the agent
	// does and its capabilities what it offers, with the agent's address written in. A skill acts as the agent's own of
	// its id, or of its first tag that is such an id, or else as task-lifecycle.
	Card []byte
	// Work, if it is not nil, is what the agent does with every message in place of its skills, as a task each.
	Work Work
	// Push lets clients ask for push notifications.
	Push bool
	// Auth is what clients have to bring with every request but for the public card; nil asks for nothing.
	Auth *Credentials
	// Store keeps the tasks and their push notification configs, so that they outlive the agent: those that wait for
	// their client go on, those that were being worked on have failed when the agent is made again. nil keeps them in
	// memory. Several agents may share one; it must not be closed before them.
	Store Store
	// Tenants are those that an agent of A2A 1.0 serves, each with tasks of its own (§8.3.2); its card has an interface
	// for each, and requests for others are refused. If there are none, tenants in requests are ignored.
	Tenants []string
	// MaxTasks is how many tasks the agent takes, of each tenant if it has any; with as many, it refuses to make
	// another. 0 means that it forgets the oldest finished ones beyond ten thousand.
	MaxTasks int
	// WebhookRoots are the authorities of webhooks on https; nil are those of the system.
	WebhookRoots *x509.CertPool
	// Log, if it is not nil, is told what goes wrong beside the answers, such as a webhook that is given up; without
	// the secrets of clients. It is called by several goroutines.
	Log func(text string)
	// Delay is how long the agent takes before it answers, with anything but its public card.
	Delay time.Duration
	// StepTime is the pause between two chunks of a stream; a long-running step takes four of them, and a push
	// notification that fails is sent again after half of one, then after twice as long. Default 500 ms.
	StepTime time.Duration
	// CancelWait is how long the skill task-cancel waits to be canceled. Default 30 s.
	CancelWait time.Duration
	// Now tells the time; default time.Now. It must not run backwards.
	Now func() time.Time
	// NewID makes the ids of tasks, contexts, messages, artifacts and configs; default random UUIDs. It must be
	// safe for concurrent use and must not repeat itself.
	NewID func() string
}

func (o Options) withDefaults() Options {
	if o.StepTime == 0 {
		o.StepTime = 500 * time.Millisecond
	}
	if o.CancelWait == 0 {
		o.CancelWait = 30 * time.Second
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = uuid.NewString
	}
	if o.Log == nil {
		o.Log = func(string) {}
	}
	o.BaseURL = strings.TrimRight(o.BaseURL, "/")
	return o
}

// An Agent is a reference agent, ready to serve. It is safe for concurrent use.
type Agent struct {
	profile *profile
	opts    Options
	hooks   wire.Hooks
	served  *cards.Subject            // what cards say of the agent
	given   *cards.Given              // nil if the card is the agent's own
	engines map[string]*engine.Engine // by tenant; that of an agent without tenants by the empty name
	ctx     context.Context           // ends when the agent is closed
	stop    context.CancelFunc
	started time.Time
}

// New returns the agent of that name. It fails if the name or the fault is unknown, and then names the known ones, and
// if the options do not fit the agent.
// Close releases what the agent holds.
func New(name string, opts Options) (*Agent, error) {
	p := profileOf(name)
	if p == nil {
		text := fmt.Sprintf("unknown reference agent %q; use one of %s", name, strings.Join(Names(), ", "))
		if near := spelling.Near(name, Names(), 1); len(near) > 0 {
			text += fmt.Sprintf("; did you mean %q?", near[0])
		}
		return nil, errors.New(text)
	}
	var h wire.Hooks
	if opts.Fault != "" {
		var err error
		if h, err = fault.HooksFor(name, opts.Fault); err != nil {
			return nil, err
		}
	}
	if err := p.checkTenants(opts.Tenants); err != nil {
		return nil, err
	}
	served := p.served(opts)
	given, err := cards.Read(served, opts.Card)
	if err != nil {
		return nil, err
	}
	opts = opts.withDefaults()
	a := &Agent{
		profile: p, opts: opts, hooks: h, served: served, given: given, engines: make(map[string]*engine.Engine),
		started: opts.Now(),
	}
	a.ctx, a.stop = context.WithCancel(context.Background())
	for _, tenant := range served.Tenants {
		e := engine.New(a.ctx, engine.Options{
			StepTime: opts.StepTime, CancelWait: opts.CancelWait, MaxTasks: opts.MaxTasks, Moves: p.moves,
			NoStatuses: given != nil && !given.Statuses, Store: opts.Store, WebhookRoots: opts.WebhookRoots,
			Edit: h.Deliver, Log: opts.Log, Now: opts.Now, NewID: opts.NewID,
		})
		a.engines[tenant] = e
		if err := e.Restore(a.owner(tenant), a.skillNamed); err != nil {
			a.Close()
			return nil, err
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
	for _, e := range a.engines {
		e.Close()
	}
}

// ServeHTTP implements [http.Handler].
func (a *Agent) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	path := r.URL.EscapedPath()
	rest, below := strings.CutPrefix(path, a.Path())
	below = below && (rest == "" || rest[0] == '/')
	card := a.hasCardAt(path) || below && a.hasCardAt(rest)
	allowOrigins(w, r, card)
	if r.Method == http.MethodOptions {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	ctx, stop := a.until(r.Context())
	defer stop()
	r = r.WithContext(ctx)
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	if card || below && rest == "" && !a.profile.atRoot && reads {
		a.serveCard(w, r)
		return
	}
	if !engine.Wait(ctx, a.opts.Delay) {
		return
	}
	a.route(w, r, path, rest, below)
}

// route answers what is not a request for a card; rest is what follows the agent's own path, if it is below that.
func (a *Agent) route(w http.ResponseWriter, r *http.Request, path, rest string, below bool) {
	switch {
	case path == "/health":
		if !a.refuseStranger(w, r) {
			a.serveHealth(w)
		}
	case !below:
		a.notFound(w, r)
	case a.profile.subscribe && a.streams() && rest == "/subscribe":
		a.serveSubscribe(w, r)
	case a.profile.dialect != nil && (rest == "" || rest == "/"):
		a.serveRPC(w, r)
	case a.profile.rest != nil && len(rest) > 1:
		a.serveREST(w, r, rest[1:])
	default:
		a.notFound(w, r)
	}
}

func (a *Agent) notFound(w http.ResponseWriter, r *http.Request) {
	if !a.refuseStranger(w, r) {
		http.NotFound(w, r)
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

func (a *Agent) serveHealth(w http.ResponseWriter) {
	body := jsonvalue.Append(nil, jsonvalue.Object{{"Status", "Healthy"}, {"Timestamp", model.Timestamp(a.opts.Now())}})
	w.Header().Set("Content-Type", "application/json")
	w.Write(body) // an error means that the client has left
}

// allowOrigins lets web pages of any origin talk to the agent. The card says so to everybody: who keeps a copy of it
// need not ask again for each origin.
func allowOrigins(w http.ResponseWriter, r *http.Request, card bool) {
	if r.Header.Get("Origin") == "" && !card {
		return
	}
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", "*")
	h.Set("Access-Control-Expose-Headers", "A2A-Version, ETag, WWW-Authenticate")
	if r.Method != http.MethodOptions {
		return
	}
	methods := "GET, POST, DELETE, HEAD, OPTIONS"
	if card {
		methods = "GET, HEAD, OPTIONS"
	}
	h.Set("Access-Control-Allow-Methods", methods)
	if asked := r.Header.Get("Access-Control-Request-Headers"); asked != "" {
		h.Set("Access-Control-Allow-Headers", asked)
	}
}

// Mux serves several agents on one origin, each below its own path. The first one's card is the origin's card; but an
// agent at the root of its origin has that, and all that is below no other's path.
func Mux(agents ...*Agent) http.Handler {
	root := slices.IndexFunc(agents, func(a *Agent) bool { return a.Path() == "" })
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, a := range agents {
			rest, ok := strings.CutPrefix(r.URL.EscapedPath(), a.Path())
			if ok && a.Path() != "" && (rest == "" || rest[0] == '/') {
				a.ServeHTTP(w, r)
				return
			}
		}
		if len(agents) == 0 {
			http.NotFound(w, r)
			return
		}
		agents[max(root, 0)].ServeHTTP(w, r)
	})
}

// owner names what belongs to a tenant of the agent in a store.
func (a *Agent) owner(tenant string) string {
	if tenant == "" {
		return a.profile.name
	}
	return a.profile.name + "/" + tenant
}

// skillNamed returns the skill of that name; nil if the agent does not have it.
func (a *Agent) skillNamed(name string) *engine.Skill {
	if a.given != nil {
		for _, s := range a.given.Skills {
			if s.Does.Name == name {
				return s.Does
			}
		}
		return nil
	}
	if rest, ok := strings.CutPrefix(name, "tck-"); ok && engine.Scripts[rest] != nil {
		return &engine.Skill{Name: name, Answer: engine.Scripts[rest].Answer, Run: engine.Scripts[rest].Run}
	}
	for _, s := range engine.Skills {
		if s.Name == name {
			return s
		}
	}
	return nil
}
