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
	// Bindings are those that the agent serves and its card names, in this order: JSONRPC, HTTP+JSON, GRPC, in any case.
	// Empty are all but GRPC that the agent of that name speaks. Agents of 0.3 and 1.0 speak gRPC; it needs a server of
	// HTTP/2.
	Bindings []string
	// Fault is the slug of the rule to break; empty for a faithful agent.
	Fault string
	// Card is the JSON of the card to serve in place of the agent's own; empty for that. Its skills are what the agent
	// does and its capabilities what it offers, with the agent's address written in. A skill acts as the agent's own of
	// its id, or of its first tag that is such an id, or else as task-lifecycle.
	Card []byte
	// Skills are what skills of the Card do, by their ids, in place of what they would act as.
	Skills map[string]Skill
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
	// MaxTasks is how many tasks may be unfinished at a time, of each tenant and each user if there are any; with as many,
	// the agent refuses to make another. 0 is no limit. The oldest finished tasks beyond ten thousand are forgotten.
	MaxTasks int
	// WebhookRoots are the authorities of webhooks on https; nil are those of the system.
	WebhookRoots *x509.CertPool
	// Log, if it is not nil, is told what goes wrong beside the answers, such as a webhook that is given up; without the
	// secrets of clients. It is called by several goroutines.
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
