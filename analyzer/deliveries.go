package analyzer

import (
	"net/http"
	"slices"
	"time"

	"a2atap/proxy/a2a"
)

// A Delivery is a notification together with the configs that can have caused it.
type Delivery struct {
	Known   *Task         // that it is about; nil if the task was not seen, or if it is not certain which agent's it is
	Configs []*PushConfig // of that task for the URL that was called
	Whole   bool          // there can be no others: the task's beginning was seen, and every request for a config since
	Bound   bool          // a config of that task for that URL was asked for at any time
	Deleted *Deletion     // of the last such config, which was over before the notification began
	Retry   bool          // an earlier notification of the task was not taken
	Refused int           // how many notifications in a row the receiver has not taken, this one included
}

// A waiting is a notification of a task that a send under way may be about to bring.
type waiting struct {
	in    *intake
	o     *Observation
	until []*PushConfig // have been settled
}

// trace observes a notification as soon as it is known which configs can have caused it: at once, unless a request is
// under way whose answer may say so.
func (e *Engine) trace(in *intake, o *Observation) {
	h := in.x.hook
	if h == nil {
		return
	}
	h.count(in.x)
	w := &waiting{in: in, o: o}
	for _, c := range h.expected {
		if !c.settled {
			w.until = append(w.until, c)
		}
	}
	switch {
	case len(w.until) == 0:
		e.traced(w)
	case e.waiting == maxWaiting:
		h.lost = true
	default:
		e.waiting++
		h.waiting = append(h.waiting, w)
	}
}

// count counts what the receiver did with a notification.
func (h *hook) count(x *Exchange) {
	switch status := x.Response.Status; {
	case succeeded(x):
		h.taken++
		h.refused = 0
	case refusesAll(status):
		h.refused++
	}
}

// refusesAll reports whether a status refuses a notification for no reason that it gives: neither for its body, its
// credentials, its task or its rate, nor because the receiver failed.
func refusesAll(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusRequestTimeout,
		http.StatusGone, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusTooManyRequests:
		return false
	}
	return status >= 300 && status < 500
}

// settleExpected ends the wait for what becomes of an exchange's config.
func (e *Engine) settleExpected(x *Exchange) {
	c := x.config
	if c == nil || !c.settled {
		return
	}
	h, ok := e.session.hooks.get(c.address)
	if !ok {
		return
	}
	h.expected = slices.DeleteFunc(h.expected, func(other *PushConfig) bool { return other == c })
	if len(h.waiting) == 0 {
		return
	}
	var ready []*waiting
	h.waiting = slices.DeleteFunc(h.waiting, func(w *waiting) bool {
		w.until = slices.DeleteFunc(w.until, func(other *PushConfig) bool { return other == c })
		if len(w.until) == 0 {
			ready = append(ready, w)
		}
		return len(w.until) == 0
	})
	e.waiting -= len(ready)
	for _, w := range ready {
		e.traced(w)
	}
}

// abandonConfig ends the wait where the exchange is over and never said.
func (e *Engine) abandonConfig(x *Exchange) {
	c := x.config
	if c == nil || c.settled {
		return
	}
	c.settled = true
	if h, ok := e.session.hooks.get(c.address); ok && c.TaskID == "" {
		h.lost = true
	}
	e.settleExpected(x)
}

func (e *Engine) traced(w *waiting) {
	o := *w.o
	o.Kind, o.Delivery = DeliveryTraced, e.session.trace(w.in.x)
	for _, c := range o.Delivery.Configs {
		c.tried = true
	}
	e.observe(w.in, &o)
	if p := e.session.PushesOf(w.in.x, w.in.x.Call.TaskID); p != nil && !succeeded(w.in.x) {
		p.failed = true
	}
}

// trace says which configs can have caused a notification.
func (s *Session) trace(x *Exchange) *Delivery {
	h, task := x.hook, x.Call.TaskID
	d := &Delivery{Refused: h.refused}
	if sender, ok := s.sender(h, task); ok && sender.since < x.Opened { // which may be known by now
		x.agent, x.tenant = sender.agent, sender.tenant
	}
	if x.agent == "" || task == "" {
		h.vague = true
		return d
	}
	d.Known = s.TaskOf(x, task)
	p := s.PushesOf(x, task)
	d.Whole = (d.Known != nil && d.Known.Created != nil || p.only()) && len(h.users) == 1 && !h.lost && !s.blind && s.pushes.forgotten == 0 &&
		!slices.ContainsFunc(h.expected, func(c *PushConfig) bool { return c.TaskID == "" })
	if p == nil {
		return d
	}
	d.Retry = p.failed
	d.Whole = d.Whole && !p.Crowded && !p.removed
	d.Bound = p.Crowded || slices.Contains(p.addresses, x.address)
	for _, c := range p.Configs {
		if c.address == x.address {
			d.Configs = append(d.Configs, c)
		}
	}
	if len(d.Configs) > 0 || h.lost || p.Crowded || p.making > 0 {
		return d
	}
	for i := range p.Deleted {
		if gone := &p.Deleted[i]; gone.address == x.address && x.BeganAfter(gone.Confirmed) {
			d.Deleted = gone
		}
	}
	return d
}

// idle observes, at the end of a capture, the configs for which nothing was sent although their task has ended. When the
// capture ended has to be known.
func (e *Engine) idle() {
	s := e.session
	for item := s.pushes.order.Front(); item != nil; item = item.Next() {
		known := item.Value.(*entry[taskKey, *Pushes])
		t := s.task(known.key)
		if s.blind || t == nil || t.Terminal == nil || t.Terminal.At.IsZero() {
			continue
		}
		for _, c := range known.value.Configs {
			if h, ok := s.hooks.get(c.address); ok && h.answers() && !c.tried && !c.Doomed && c.Active && c.Confirmed.Arrival < t.Terminal.Arrival {
				e.observe(&intake{judged: true}, &Observation{
					Kind: ConfigIdle, Exchange: c.Exchange, Dialects: c.Exchange.Dialects, Place: c.Place, Config: c, Task: t.Terminal, At: e.now,
				})
			}
		}
	}
}

// answers reports whether the notifications of a webhook pass here, and were taken, all of them.
func (h *hook) answers() bool {
	return h.taken > 0 && h.posted == h.taken && len(h.users) == 1 && len(h.waiting) == 0 && !h.vague && !h.lost
}

// tick notes the instant of a step.
func (e *Engine) tick(at time.Time) {
	if at.After(e.now) {
		e.now = at
	}
}

// only reports whether the configs that were seen leave no room for one from before the recording: in 0.1 a task has one.
func (p *Pushes) only() bool {
	return p != nil && len(p.Configs) > 0 && !slices.ContainsFunc(p.Configs, func(c *PushConfig) bool {
		return c.Exchange.Dialects != a2a.Of(a2a.V0_1)
	})
}
