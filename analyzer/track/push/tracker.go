// Package push tracks push notifications: the configs that clients ask for, the webhooks that agents were given with
// them, and which configs can have caused a notification.
package push

import (
	"hash/maphash"

	"a2atap/analyzer"
	"a2atap/analyzer/recent"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Bounds of what is remembered. What goes beyond is forgotten: of tasks, webhooks and tokens, the least recently used
// first.
const (
	maxTasks    = 10_000 // that have configs
	maxConfigs  = 16     // of a task, and as many that were deleted
	maxWebhooks = 10_000 // webhooks
	maxUsers    = 8      // agents that were given the same webhook
	maxExpected = 64     // configs of a webhook whose tasks are not known yet
	maxWaiting  = 1000   // notifications, of all webhooks, that wait for that
	maxTokens   = 20_000 // tokens of webhooks
)

// Tracker remembers push notification configs and webhooks. It recognises the notifications that come to these.
var Tracker = &analyzer.Tracker{
	Name:  "push",
	Doc:   "push notification configs, the webhooks of agents, and the notifications that came to them",
	Needs: []*analyzer.Tracker{task.Tracker},
	On: analyzer.RequestDecoded | analyzer.RequestDone | analyzer.AnswerSeen | analyzer.EventSeen | analyzer.TaskSeen |
		analyzer.AnswerDone | analyzer.WebhookDone | analyzer.ExchangeDone | analyzer.CaptureDone,
	Makes: analyzer.DeliveryTraced | analyzer.ConfigIdle,
	New: func(s *analyzer.Setup) analyzer.State {
		return &Memory{
			tasks:    s.State(task.Tracker).(*task.Memory),
			configs:  recent.New[analyzer.TaskKey, *Configs](maxTasks),
			webhooks: recent.New[string, *webhook](maxWebhooks),
			tokens:   recent.New[uint64, *TokenUse](maxTokens),
			seed:     maphash.MakeSeed(),
			config:   analyzer.NewSlot[*Config](s),
			webhook:  analyzer.NewSlot[*webhook](s),
			atEnd:    s.Given(),
		}
	},
}

// Of returns what is remembered of push notifications.
func Of(p *analyzer.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory is what is remembered of push notifications.
type Memory struct {
	tasks    *task.Memory
	configs  *recent.Map[analyzer.TaskKey, *Configs]
	webhooks *recent.Map[string, *webhook] // by address
	tokens   *recent.Map[uint64, *TokenUse]
	seed     maphash.Seed
	missed   bool // a request was not recorded that may have configured a webhook
	atEnd    []any
	waiting  int // notifications that wait until it is known which configs can have caused them

	config  analyzer.Slot[*Config]  // that a request asks for
	webhook analyzer.Slot[*webhook] // that it notifies
}

// Take implements analyzer.State.
func (m *Memory) Take(p *analyzer.Pass) {
	x := p.Exchange
	if p.RequestMissed() && !m.missed {
		m.missed = true
		for _, known := range m.configs.All() {
			known.remade("") // perhaps
		}
	}
	switch p.Kind {
	case analyzer.RequestDecoded:
		m.notice(x)
	case analyzer.RequestDone:
		m.asked(x, p.Arrival)
		m.usedToken(x, x.Call.TaskID)
	case analyzer.AnswerSeen, analyzer.EventSeen:
		if p.Answer != nil {
			m.answered(p.Observation)
		}
	case analyzer.TaskSeen:
		m.seen(x, p.Task)
		if x.Call.Operation.Sends() && x.Call.TaskID == "" && p.Task.Snapshot {
			m.usedToken(x, p.Task.TaskID)
		}
	case analyzer.AnswerDone:
		if x.Call.Operation == a2a.ListPushConfigs && p.Event == nil {
			m.listed(p.Observation)
		}
		m.release(p)
	case analyzer.WebhookDone:
		m.delivered(p)
	case analyzer.ExchangeDone:
		m.abandoned(p)
	case analyzer.CaptureDone:
		m.idle(p)
		m.tellStanding()
	}
}

// Forgotten implements analyzer.State: it returns how many webhooks and tasks with configs were.
func (m *Memory) Forgotten() int { return m.configs.Forgotten() + m.webhooks.Forgotten() }
