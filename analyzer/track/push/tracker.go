// Package push tracks push notifications: the configs that clients ask for, the webhooks that agents were given with
// them, and which configs can have caused a notification.
package push

import (
	"hash/maphash"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// Tracker remembers push notification configs and webhooks. It recognizes notifications to these webhooks.
var Tracker = &analysis.Tracker{
	Name:  "push",
	Doc:   "push notification configs, the webhooks of agents, and the notifications that they received",
	Needs: []*analysis.Tracker{task.Tracker},
	On: analysis.RequestDecoded | analysis.RequestDone | analysis.AnswerSeen | analysis.EventSeen | analysis.TaskSeen |
		analysis.AnswerDone | analysis.WebhookDone | analysis.ExchangeDone | analysis.CaptureDone,
	Makes: analysis.DeliveryTraced | analysis.ConfigIdle,
	New: func(s *analysis.Setup) analysis.State {
		return &Memory{
			tasks:    s.State(task.Tracker).(*task.Memory),
			configs:  analysis.RecentByTask[*Configs](maxTasks),
			webhooks: recent.New[string, *webhook](maxWebhooks),
			tokens:   recent.New[uint64, *TokenUse](maxTokens),
			seed:     maphash.MakeSeed(),
			config:   analysis.NewSlot[*Config](s),
			webhook:  analysis.NewSlot[*webhook](s),
			atEnd:    s.Given(),
		}
	},
}

// Of returns the Memory of push notifications.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Take implements analysis.State.
func (m *Memory) Take(p *analysis.Pass) {
	x := p.Exchange
	if p.RequestMissed() && !m.missed {
		m.missed = true
		for _, known := range m.configs.All() {
			known.remade("") // perhaps
		}
	}
	switch p.Kind {
	case analysis.RequestDecoded:
		m.notice(x)
	case analysis.RequestDone:
		m.asked(x, p.Arrival)
		m.usedToken(x, x.Call.TaskID)
	case analysis.AnswerSeen, analysis.EventSeen:
		if p.Answer != nil {
			m.answered(p.Observation)
		}
	case analysis.TaskSeen:
		m.seen(x, p.Task)
		if x.Call.Operation.Sends() && x.Call.TaskID == "" && p.Task.Snapshot {
			m.usedToken(x, p.Task.TaskID)
		}
	case analysis.AnswerDone:
		if x.Call.Operation == a2a.ListPushConfigs && p.Event == nil {
			m.listed(p.Observation)
		}
		m.release(p)
	case analysis.WebhookDone:
		m.delivered(p)
	case analysis.ExchangeDone:
		m.abandoned(p)
	case analysis.CaptureDone:
		m.idle(p)
		m.tellStanding()
	}
}

// Forgotten implements analysis.State: it returns how many webhooks and tasks with configs were.
func (m *Memory) Forgotten() int { return m.configs.Forgotten() + m.webhooks.Forgotten() }
