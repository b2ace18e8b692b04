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
