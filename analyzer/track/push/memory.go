package push

import (
	"hash/maphash"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/task"
)

// Bounds of memory. Anything beyond is forgotten: tasks, webhooks and tokens in least recently used order.
const (
	maxTasks    = 5_000  // that have configs
	maxConfigs  = 16     // of a task, and as many that were deleted
	maxWebhooks = 5_000  // webhooks
	maxUsers    = 8      // agents that were given the same webhook
	maxExpected = 64     // configs of a webhook whose tasks are not known yet
	maxWaiting  = 1000   // notifications, of all webhooks, that wait for that
	maxTokens   = 10_000 // tokens of webhooks
)

// Memory remembers push notifications.
type Memory struct {
	tasks    *task.Memory
	configs  *recent.Map[analysis.TaskKey, *Configs]
	webhooks *recent.Map[string, *webhook] // by address
	tokens   *recent.Map[uint64, *TokenUse]
	seed     maphash.Seed
	missed   bool // a request was not recorded that may have configured a webhook
	atEnd    []any
	waiting  int // notifications that wait until it is known which configs can have caused them

	config  analysis.Slot[*Config]  // that a request asks for
	webhook analysis.Slot[*webhook] // that it notifies
}

// A Config is a push notification config that a client asked for, on its own or along with a message.
type Config struct {
	ID          string // assigned by the agent, or else chosen by the client; empty if unknown
	TaskID      string // empty until the answer to its send has named the task
	URL         string // as the client wrote it
	Token       string
	Credentials string
	Schemes     []string
	Exchange    *analysis.Brief // that asked for it, without its bodies
	Place       analysis.Place  // of the request's body
	Confirmed   analysis.Moment // when the agent's consent had been delivered; zero before that
	Active      bool            // since then the task was seen neither ended nor in an unknown state
	DeleteAsked bool            // a client asked to delete it

	agent, tenant  string // that was asked
	address        string // of the URL
	callbackOrigin string // where its notifications come: see Exchange.CallbackOrigin
	alone          bool   // it did not come with a message
	decided        bool   // the outcome of the request is known, or will never be
	tried          bool   // a notification arrived that it can have caused
}

// A waiting is a notification of a task that a send under way may be about to bring.
type waiting struct {
	o     analysis.Observation
	until []*Config // have been decided
}
