package analyzer

import (
	"slices"
	"time"

	"a2atap/proxy/a2a"
)

// Bounds of what is remembered of push notification configs.
const (
	maxPushes      = 20_000 // tasks that have some
	maxTaskConfigs = 16     // of a task, and as many that were deleted
)

// A Moment is when something had been delivered.
type Moment struct {
	Arrival uint64    // of the step that completed its delivery; 0 if it never was
	At      time.Time // when that happened; zero if not known
}

// BeganAfter reports whether the exchange surely began after the moment.
func (x *Exchange) BeganAfter(m Moment) bool {
	return m.Arrival > 0 && x.beganAfter(&Sighting{Arrival: m.Arrival, At: m.At})
}

func (o *Observation) moment() Moment { return Moment{o.Arrival, o.At} }

// A PushConfig is a push notification config that a client asked for, on its own or along with a message.
type PushConfig struct {
	ID          string // that the agent gave it, else that the client chose; empty if neither is known
	TaskID      string // empty as long as the send that it came with has not named its task
	URL         string // as the client wrote it
	Token       string
	Credentials string
	Schemes     []string
	Exchange    *Exchange // that asked for it, without its bodies
	Place       Place     // of the request's body
	Confirmed   Moment    // when the agent's consent had been delivered; zero as long as there is none
	Active      bool      // since then the task was seen neither ended nor in a state that says nothing
	Doomed      bool      // somebody asked to delete it

	address string // of the URL
	alone   bool   // it did not come with a message
	settled bool   // what became of the request is known, or will never be
	tried   bool   // a notification came that it can have caused
}

func newPushConfig(x *Exchange) *PushConfig {
	asked := x.Call.PushConfig
	return &PushConfig{
		ID: x.Call.ConfigID, TaskID: x.Call.TaskID, URL: asked.URL(), Token: asked.Token(), Credentials: asked.Credentials(),
		Schemes: asked.Schemes(), Exchange: x.bare(), Place: x.RequestPlace().Body(),
		address: address(asked.URL()), alone: x.Call.Operation == a2a.CreatePushConfig,
	}
}

// Pushes is what is known of the push notification configs of one task.
type Pushes struct {
	Configs []*PushConfig // that may be there: asked for, not refused, and not known to be gone
	Deleted []Deletion    // of which none can be there again
	Missed  *MissedConfig // a list that lacked one, until it is known whether the task was still active
	Crowded bool          // there were more configs than are remembered

	addresses []string // of all configs that were ever asked for
	making    int      // requests for a config without an answer
	made      uint64   // arrival of the last step that may have made one
	removed   bool     // somebody asked to delete one
	failed    bool     // a notification was not taken
}

// Deletion returns what is known of the deletion of the config with that id, if it was over before the exchange began.
func (p *Pushes) Deletion(x *Exchange, id string) *Deletion {
	if p == nil || id == "" {
		return nil
	}
	for i := range p.Deleted {
		if d := &p.Deleted[i]; d.ID == id && x.BeganAfter(d.Confirmed) {
			return d
		}
	}
	return nil
}

// A Deletion is a confirmed deletion of a push notification config.
type Deletion struct {
	ID        string // of the config
	Place     Place  // of the answer that confirmed it
	Confirmed Moment

	address string // of the config's URL; empty if not known
}

// A MissedConfig is a list that lacked a config.
type MissedConfig struct {
	Exchange *Exchange // without its bodies
	Place    Place     // of the list
	Config   *PushConfig
	Listed   Moment
}

// PushesOf returns what is known of the configs of the task with that id, at the agent that the exchange belongs to; nil
// if nothing is.
func (s *Session) PushesOf(x *Exchange, task string) *Pushes {
	p, _ := s.pushes.get(taskKey{x.agent, x.tenant, task})
	return p
}

func (s *Session) makePushes(x *Exchange, task string) *Pushes {
	p := s.PushesOf(x, task)
	if p == nil {
		p = &Pushes{}
		s.pushes.put(taskKey{x.agent, x.tenant, task}, p)
	}
	return p
}

// askedPush remembers what a request asks about configs.
func (s *Session) askedPush(x *Exchange, arrival uint64) {
	for i := range x.Call.Batch { // what became of its calls is not followed
		if url := x.Call.Batch[i].PushConfig.URL(); url != "" {
			s.giveHook(x, url, arrival).lost = true
		}
	}
	if x.Call.Operation == a2a.DeletePushConfig {
		if p := s.PushesOf(x, x.Call.TaskID); p != nil {
			p.removed = true
			for _, c := range p.Configs {
				c.Doomed = c.Doomed || c.ID == "" || x.Call.ConfigID == "" || c.ID == x.Call.ConfigID
			}
		}
		return
	}
	if x.Call.PushConfig.URL() == "" {
		return
	}
	x.config = newPushConfig(x)
	h := s.giveHook(x, x.config.URL, arrival)
	h.expect(x.config)
	if x.config.TaskID != "" {
		p := s.makePushes(x, x.config.TaskID)
		p.making++
		p.add(x.config)
	}
}

func (p *Pushes) add(c *PushConfig) {
	p.Deleted = nil
	if !slices.Contains(p.addresses, c.address) && len(p.addresses) < maxTaskConfigs {
		p.addresses = append(p.addresses, c.address)
	}
	if len(p.Configs) == maxTaskConfigs {
		p.Configs, p.Crowded = slices.Delete(p.Configs, 0, 1), true
	}
	p.Configs = append(p.Configs, c)
}

// answeredPush remembers what an answer, or an event, says of the config that its request asked for or deletes.
func (s *Session) answeredPush(o *Observation) {
	x := o.Exchange
	switch {
	case x.config != nil && !x.config.settled:
		s.settleConfig(o, x.config)
	case x.Call.Operation == a2a.DeletePushConfig && o.Answer.Err == nil && succeeded(x):
		s.deleted(o)
	}
}

func succeeded(x *Exchange) bool { return x.Response.Status >= 200 && x.Response.Status < 300 }

func (s *Session) settleConfig(o *Observation, c *PushConfig) {
	x, payload := o.Exchange, &o.Answer.Payload
	task := taskIDOf(payload)
	switch {
	case o.Answer.Err != nil || !succeeded(x):
		s.refuse(x, c)
	case c.alone && payload.Kind == a2a.PushConfigPayload:
		if id := (a2a.PushConfig{Value: payload.Value}).ID(); id != "" {
			c.ID = id
		}
		s.confirm(o, c)
	case c.alone: // it may be there, it may be not
	case task != "":
		c.ID = "" // nobody says which id it was given
		if c.TaskID == "" {
			c.TaskID = task
			s.makePushes(x, task).add(c)
		}
		s.confirm(o, c)
	case payload.Kind == a2a.MessagePayload && c.TaskID == "":
		s.refuse(x, c) // there is no task to tell of
	default:
		return // the next event may tell
	}
	c.settled = true
}

func (s *Session) confirm(o *Observation, c *PushConfig) {
	c.Confirmed = o.moment()
	s.made(o.Exchange, c, o.Arrival)
}

func (s *Session) refuse(x *Exchange, c *PushConfig) {
	if p := s.PushesOf(x, c.TaskID); p != nil {
		p.Configs = slices.DeleteFunc(p.Configs, func(other *PushConfig) bool { return other == c })
	}
	s.made(x, c, 0)
	c.TaskID = ""
}

// made notes that a request for a config of a known task has been answered.
func (s *Session) made(x *Exchange, c *PushConfig, arrival uint64) {
	if p := s.PushesOf(x, x.Call.TaskID); p != nil && x.Call.TaskID != "" {
		p.making--
		p.made = max(p.made, arrival)
	} else if p := s.PushesOf(x, c.TaskID); p != nil {
		p.made = max(p.made, arrival)
	}
}

// deleted remembers a confirmed deletion, unless a request that is or was under way beside it may have made the config
// again.
func (s *Session) deleted(o *Observation) {
	x := o.Exchange
	if x.Call.TaskID == "" || x.Call.ConfigID == "" {
		return
	}
	p := s.makePushes(x, x.Call.TaskID)
	d := Deletion{ID: x.Call.ConfigID, Place: o.Place, Confirmed: o.moment()}
	p.Configs = slices.DeleteFunc(p.Configs, func(c *PushConfig) bool {
		gone := c.ID == d.ID && x.BeganAfter(c.Confirmed)
		if gone {
			d.address = c.address
		}
		return gone
	})
	if p.making > 0 || p.made >= x.Opened || p.Deletion(x, d.ID) != nil {
		return
	}
	p.Deleted = slices.DeleteFunc(p.Deleted, func(old Deletion) bool { return old.ID == d.ID })
	if len(p.Deleted) == maxTaskConfigs {
		p.Deleted = slices.Delete(p.Deleted, 0, 1)
	}
	p.Deleted = append(p.Deleted, d)
}

// listed remembers a list that is to be whole and lacks a config, which is a fault only if the task is active even later:
// configs go when their task has ended.
func (s *Session) listed(o *Observation) {
	x := o.Exchange
	if x.Call.Operation != a2a.ListPushConfigs || o.Answer.Err != nil || o.Dialects != a2a.Of(a2a.V1_0) {
		return
	}
	p := s.PushesOf(x, x.Call.TaskID)
	if p == nil || !isWholeList(&x.Call, &o.Answer.Payload) {
		return
	}
	there := make(map[string]bool)
	for c := range o.Answer.Payload.PushConfigs() {
		there[c.ID()] = true
	}
	for _, c := range p.Configs {
		if c.ID != "" && !there[c.ID] && c.alone && !c.Doomed && x.BeganAfter(c.Confirmed) && c.Exchange.samePrincipal(x) {
			p.Missed = &MissedConfig{Exchange: x.bare(), Place: o.Place.At(o.Answer.Payload.Pointer), Config: c, Listed: o.moment()}
			return
		}
	}
}

// isWholeList reports whether an answer is the one page of a list of configs.
func isWholeList(call *a2a.Call, payload *a2a.Payload) bool {
	next := payload.Value.Get("nextPageToken")
	return call.PageToken == "" && payload.Kind == a2a.PushConfigListPayload && payload.Value.Kind() == a2a.Object &&
		payload.Value.Get("configs").Kind() == a2a.Array && (!next.Exists() || next.IsNull() || next.Is(""))
}

// samePrincipal reports whether two exchanges come from the same client with the same credentials.
func (x *Exchange) samePrincipal(y *Exchange) bool {
	return x.Link == y.Link && x.Principal() == y.Principal()
}

// sightedPush notes for the configs of a task that it was seen at work, or that it has ended.
func (s *Session) sightedPush(x *Exchange, seen *Sighting) {
	p := s.PushesOf(x, seen.TaskID)
	if p == nil || seen.Late || !seen.State.Known() {
		return
	}
	if p.Missed != nil && x.BeganAfter(p.Missed.Listed) {
		p.Missed = nil
	}
	for _, c := range p.Configs {
		sent := x.config == c && c.settled
		if !seen.State.Terminal() && (sent || x.BeganAfter(c.Confirmed)) {
			c.Active = true
		}
	}
}
