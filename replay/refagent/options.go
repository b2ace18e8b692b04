package refagent

import (
	"cmp"
	"crypto/x509"
	"strings"
	"time"

	"github.com/google/uuid"
)

// Options sets an agent up. The zero value is a faithful agent at its normal pace.
type Options struct {
	// BaseURL is the origin that cards put before the agent's path, such as http://127.0.0.1:9001. If it is empty,
	// cards name the origin that the request was sent to.
	BaseURL string
	// Bindings are the bindings that the agent serves and its card names, in this order: JSONRPC, HTTP+JSON, GRPC, in
	// any case. Empty means all of that agent's bindings except gRPC. Agents of 0.3 and 1.0 support gRPC; it needs an
	// HTTP/2 server.
	Bindings []string
	// Fault is the slug of the rule to break; empty for a faithful agent.
	Fault string
	// Card is the JSON of the card to serve instead of the agent's own; empty for the agent's own. The agent has the
	// card's skills and capabilities, and fills in its address. A skill behaves like the agent's built-in skill with
	// its id, or with its first tag that is such an id, or else like task-lifecycle.
	Card []byte
	// Skills implement skills of the Card, by id, and replace the built-in behavior.
	Skills map[string]Skill
	// Work, if not nil, handles every message instead of the skills, with a task for each.
	Work Work
	// Push lets clients ask for push notifications.
	Push bool
	// Auth is the credentials that clients must send with every request except for the public card; nil requires none.
	Auth *Credentials
	// Store keeps the tasks and their push notification configs, so that they outlive the agent: when the agent is
	// created again, tasks that wait for their client continue, and tasks that were in progress have failed. nil keeps
	// them in memory. Several agents may share one; it must not be closed before them.
	Store Store
	// Tenants are the tenants that an A2A 1.0 agent serves, each with separate tasks (§8.3.2); its card has an
	// interface for each, and requests for other tenants are refused. If Tenants is empty, tenants in requests are
	// ignored.
	Tenants []string
	// MaxTasks limits the unfinished tasks of each tenant and each user, if there are any. At the limit, the agent
	// refuses to create another. 0 is no limit. The oldest finished tasks beyond ten thousand are forgotten.
	MaxTasks int
	// WebhookRoots are the authorities of webhooks on https; nil means the system's.
	WebhookRoots *x509.CertPool
	// Log, if not nil, receives errors that no response reports, such as an abandoned webhook, without the secrets of
	// clients. It is called by several goroutines.
	Log func(text string)
	// Delay is how long the agent waits before it answers any request except for its public card.
	Delay time.Duration
	// StepTime is the pause between two chunks of a stream. A long-running step takes four of them. A failed push
	// notification is sent again after half of one, then after twice as long. Default 500 ms.
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
	o.StepTime = cmp.Or(o.StepTime, 500*time.Millisecond)
	o.CancelWait = cmp.Or(o.CancelWait, 30*time.Second)
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
