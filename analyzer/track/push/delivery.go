package push

import (
	"net/http"
	"slices"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
)

// A Delivery is a notification together with the configs that can have caused it. It is the detail of a DeliveryTraced.
type Delivery struct {
	Known   *task.Task // that it is about; nil if the task was not seen, or if it is not certain which agent's it is
	Configs []*Config  // of that task for the URL that was called
	Whole   bool       // there can be no others: the task's beginning was seen, and every request for a config since
	Bound   bool       // a config of that task for that URL was asked for at any time
	Deleted *Deletion  // of the last such config, which was over before the notification began
	Retry   bool       // an earlier notification of the task was not taken
	Refused int        // how many notifications in a row the receiver has refused, this one included
}

// Traced returns the delivery of a DeliveryTraced.
func Traced(p *analysis.Pass) *Delivery { return p.Detail.(*Delivery) }

// delivered observes a notification as soon as the configs that can have caused it are known: at once, unless a pending
// request's answer may add one.
func (m *Memory) delivered(p *analysis.Pass) {
	h := m.webhook.Of(p.Exchange)
	if h == nil {
		return
	}
	h.count(p.Exchange)
	w := &waiting{o: *p.Observation}
	for _, c := range h.expected {
		if !c.decided {
			w.until = append(w.until, c)
		}
	}
	switch {
	case len(w.until) == 0:
		m.traced(p, w)
	case m.waiting == maxWaiting:
		h.lost = true
	default:
		m.waiting++
		h.waiting = append(h.waiting, w)
	}
}

// count counts the receiver's response to a notification.
func (h *webhook) count(x *analysis.Exchange) {
	switch status := x.Response.Status; {
	case succeeded(x):
		h.taken++
		h.refused = 0
	case refusesAll(status):
		h.refused++
	}
}

// refusesAll reports whether a status refuses a notification without a specific reason: not for its body, its
// credentials, its task or its rate, nor as gateways do.
func refusesAll(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound,
		http.StatusRequestTimeout,
		http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return false
	}
	return status >= 300
}

// release ends the wait for the outcome of an exchange's config, if it is known.
func (m *Memory) release(p *analysis.Pass) {
	c := m.config.Of(p.Exchange)
	if c == nil || !c.decided {
		return
	}
	h, ok := m.webhooks.Get(c.address)
	if !ok {
		return
	}
	h.expected = slices.DeleteFunc(h.expected, func(other *Config) bool { return other == c })
	if len(h.waiting) == 0 {
		return
	}
	var ready []*waiting
	h.waiting = slices.DeleteFunc(h.waiting, func(w *waiting) bool {
		w.until = slices.DeleteFunc(w.until, func(other *Config) bool { return other == c })
		if len(w.until) == 0 {
			ready = append(ready, w)
		}
		return len(w.until) == 0
	})
	m.waiting -= len(ready)
	for _, w := range ready {
		m.traced(p, w)
	}
}

// abandoned ends the wait if the exchange ended without an answer about the config.
func (m *Memory) abandoned(p *analysis.Pass) {
	c := m.config.Of(p.Exchange)
	if c == nil || c.decided {
		return
	}
	c.decided = true
	if h, ok := m.webhooks.Get(c.address); ok && c.TaskID == "" {
		h.lost = true
	}
	m.release(p)
}

// traced observes a notification with the configs that can have caused it, as known now.
func (m *Memory) traced(p *analysis.Pass, w *waiting) {
	x := w.o.Exchange
	d := m.trace(x)
	for _, c := range d.Configs {
		c.tried = true
	}
	w.o.Kind, w.o.Detail = analysis.DeliveryTraced, d
	p.Observe(w.o)
	if known := m.ConfigsOf(x, x.Call.TaskID); known != nil && !succeeded(x) {
		known.failed = true
	}
}

// trace returns the configs that can have caused a notification.
func (m *Memory) trace(x *analysis.Exchange) *Delivery {
	h, id := m.webhook.Of(x), x.Call.TaskID
	d := &Delivery{Refused: h.refused}
	if sender, ok := m.sender(h, x); ok && sender.since < x.Opened { // the sender may be known by now
		x.Agent, x.Tenant = sender.agent, sender.tenant
	}
	if x.Agent == "" || id == "" {
		h.vague = true
		return d
	}
	d.Known = m.tasks.Get(x, id)
	p := m.ConfigsOf(x, id)
	d.Whole = (d.Known != nil && d.Known.Created != nil || p.only()) &&
		len(h.usersOf(x)) == 1 && !h.lost && !m.missed && m.configs.Forgotten() == 0 &&
		!slices.ContainsFunc(h.expected, func(c *Config) bool { return c.TaskID == "" })
	if p == nil {
		return d
	}
	d.Retry = p.failed
	d.Whole = d.Whole && !p.Crowded && !p.removed
	d.Bound = p.Crowded || slices.Contains(p.addresses, x.Address)
	for _, c := range p.List {
		if c.address == x.Address {
			d.Configs = append(d.Configs, c)
		}
	}
	if len(d.Configs) > 0 || h.lost || p.Crowded || p.making > 0 {
		return d
	}
	for i := range p.Deleted {
		if gone := &p.Deleted[i]; gone.address == x.Address && x.BeganAfter(gone.Confirmed) {
			d.Deleted = gone
		}
	}
	return d
}

// idle observes, at the end of a capture, the configs for which no notification was sent although their task has ended.
// The time of the capture's end must be known.
func (m *Memory) idle(p *analysis.Pass) {
	if m.missed {
		return
	}
	for key, known := range m.configs.All() {
		t := m.tasks.At(key)
		if t == nil || t.Terminal == nil || t.Terminal.At.IsZero() {
			continue
		}
		for _, c := range known.List {
			h, ok := m.webhooks.Get(c.address)
			if ok && h.shows(c) && c.unused(t.Terminal) {
				p.Observe(analysis.Observation{
					Kind: analysis.ConfigIdle, Exchange: c.Exchange.Exchange(), Dialects: c.Exchange.Dialects,
					Place: c.Place, Detail: c, Task: t.Terminal, At: observedUntil(p, t.Terminal.At),
				})
			}
		}
	}
}

// observedUntil returns the end of the recording that contains at. The capture may have later recordings, between which
// traffic was not seen.
func observedUntil(p *analysis.Pass, at time.Time) time.Time {
	for _, ended := range p.Pauses {
		if !ended.Before(at) {
			return ended
		}
	}
	return p.At
}

// unused reports whether a config existed when its task ended, and nothing was sent for it.
func (c *Config) unused(end *analysis.TaskObservation) bool {
	return !c.tried && !c.DeleteAsked && c.Active && c.Confirmed.Arrival < end.Arrival
}

// Idle returns the config of a ConfigIdle. Observation.Task is the end of its task, and At the end of that recording.
func Idle(p *analysis.Pass) *Config { return p.Detail.(*Config) }

// shows reports whether a notification for the config would have been seen: it would go to the recorder, or others were
// seen, all were accepted, and each can be assigned to a task.
func (h *webhook) shows(c *Config) bool {
	return (c.Tapped() || h.taken > 0) && h.posted == h.taken && len(h.users) == 1 && len(h.waiting) == 0 && !h.vague &&
		!h.lost
}

// only reports whether the configs that were seen exclude one from before the recording: in 0.1 a task has one.
func (p *Configs) only() bool {
	return p != nil && len(p.List) > 0 && !slices.ContainsFunc(p.List, func(c *Config) bool {
		return c.Exchange.Dialects != a2a.Of(a2a.V0_1)
	})
}
