package push

import (
	"slices"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
)

func newConfig(x *analysis.Exchange) *Config {
	asked := x.Call.PushConfig
	return &Config{
		ID: x.Call.ConfigID, TaskID: x.Call.TaskID,
		URL: asked.URL(), Token: asked.Token(), Credentials: asked.Credentials(), Schemes: asked.Schemes(),
		Exchange: x.Keep(), Place: x.RequestPlace().Body(),
		agent: x.Agent, tenant: x.Tenant, address: address.Of(asked.URL()),
		callbackOrigin: x.CallbackOrigin, alone: x.Call.Operation == a2a.CreatePushConfig,
	}
}

// Tapped reports whether the agent was given an address of the recorder, which receives all notifications for the
// config.
func (c *Config) Tapped() bool { return c.callbackOrigin != "" }

// Configs has known facts about the push notification configs of one task.
type Configs struct {
	List    []*Config     // that may exist: requested, not refused, and not known to be deleted
	Deleted []Deletion    // none of them can exist again, unless a request for a config is open
	Missed  *MissedConfig // a list that lacked one, until it is known whether the task was still active
	Crowded bool          // some configs are not remembered

	addresses []string // of all configs that were ever requested
	making    int      // requests for a config without an answer
	made      uint64   // arrival of the last step that may have made one
	removed   bool     // a client asked to delete one
	failed    bool     // a notification was not accepted
}

// Deletion returns the deletion of the config with that id, if it was complete before the exchange began and nothing
// can have created the config again.
func (p *Configs) Deletion(x *analysis.Exchange, id string) *Deletion {
	if p == nil || id == "" || p.making > 0 {
		return nil
	}
	for i := range p.Deleted {
		if d := &p.Deleted[i]; d.ID == id && x.BeganAfter(d.Confirmed) {
			return d
		}
	}
	return nil
}

// Asked reports whether a client has ever requested a config with that URL, as far as remembered.
func (p *Configs) Asked(url string) bool {
	return len(p.addresses) == maxConfigs || slices.Contains(p.addresses, address.Of(url))
}

// A Deletion is a confirmed deletion of a push notification config.
type Deletion struct {
	ID        string         // of the config
	Place     analysis.Place // of the answer that confirmed it
	Confirmed analysis.Moment

	address string // of the config's URL; empty if not known
}

// A MissedConfig is a list that lacked a config.
type MissedConfig struct {
	Exchange *analysis.Brief
	Place    analysis.Place // of the list
	Config   *Config
	Listed   analysis.Moment
}

// ConfigsOf returns known facts about the configs of the task with that id at the exchange's agent; may be nil.
func (m *Memory) ConfigsOf(x *analysis.Exchange, task string) *Configs {
	p, _ := m.configs.Get(x.TaskKey(task))
	return p
}

func (m *Memory) makeConfigs(x *analysis.Exchange, task string) *Configs {
	p := m.ConfigsOf(x, task)
	if p == nil {
		p = &Configs{}
		m.configs.Put(x.TaskKey(task), p)
	}
	return p
}

// asked records a request about configs.
func (m *Memory) asked(x *analysis.Exchange, arrival uint64) {
	for i := range x.Call.Batch { // the outcomes of its calls are not tracked
		call := &x.Call.Batch[i]
		if url := call.PushConfig.URL(); url != "" {
			m.giveWebhook(x, url, arrival).lost = true
			if p := m.ConfigsOf(x, call.TaskID); p != nil {
				p.making++ // for good
			}
		}
	}
	if x.Call.Operation == a2a.DeletePushConfig {
		if p := m.ConfigsOf(x, x.Call.TaskID); p != nil {
			p.removed = true
			for _, c := range p.List {
				c.DeleteAsked = c.DeleteAsked || c.ID == "" || x.Call.ConfigID == "" || c.ID == x.Call.ConfigID
			}
		}
		return
	}
	if x.Call.PushConfig.URL() == "" {
		return
	}
	c := newConfig(x)
	m.config.Put(x, c)
	h := m.giveWebhook(x, c.URL, arrival)
	h.expect(c)
	if c.TaskID != "" {
		p := m.makeConfigs(x, c.TaskID)
		p.making++
		p.add(c)
	}
}

// remade forgets the deletion of a config that was created again; all deletions if its id is unknown.
func (p *Configs) remade(id string) {
	if p == nil {
		return
	}
	p.Deleted = slices.DeleteFunc(p.Deleted, func(d Deletion) bool { return id == "" || d.ID == id })
}

func (p *Configs) add(c *Config) {
	if !slices.Contains(p.addresses, c.address) && len(p.addresses) < maxConfigs {
		p.addresses = append(p.addresses, c.address)
	}
	if len(p.List) == maxConfigs {
		p.List, p.Crowded = slices.Delete(p.List, 0, 1), true
	}
	p.List = append(p.List, c)
}

// answered remembers what an answer or event reports about the config that its request creates or deletes.
func (m *Memory) answered(o *analysis.Observation) {
	x := o.Exchange
	switch c := m.config.Of(x); {
	case c != nil && !c.decided:
		m.decide(o, c)
	case x.Call.Operation == a2a.DeletePushConfig && o.Answer.Err == nil && succeeded(x):
		m.deleted(o)
	}
}

func succeeded(x *analysis.Exchange) bool { return x.Response.Status >= 200 && x.Response.Status < 300 }

// decide records the outcome of the request for a config, if it is known now.
func (m *Memory) decide(o *analysis.Observation, c *Config) {
	x, payload := o.Exchange, &o.Answer.Payload
	task := taskIDOf(payload)
	switch failure := o.Answer.Err; {
	case failure != nil || !succeeded(x):
		if x.Response.Status >= 500 || failure != nil && failure.Name == a2a.InternalError {
			m.ConfigsOf(x, c.TaskID).remade("") // the agent may have failed after it had made the config
		}
		m.refuse(x, c)
	case c.alone && payload.Kind == a2a.PushConfigPayload:
		id := (a2a.PushConfig{Value: payload.Value}).ID()
		if id != "" {
			c.ID = id
		}
		m.confirm(o, c)
		m.ConfigsOf(x, c.TaskID).remade(id)
	case c.alone: // it may or may not exist
	case task != "":
		c.ID = "" // its id is unknown
		if c.TaskID == "" {
			c.TaskID = task
			m.makeConfigs(x, task).add(c)
		}
		m.confirm(o, c)
		m.ConfigsOf(x, c.TaskID).remade("")
	case payload.Kind == a2a.MessagePayload && c.TaskID == "":
		m.refuse(x, c) // without a task, there are no notifications
	default:
		return // the next event may show it
	}
	c.decided = true
}

func (m *Memory) confirm(o *analysis.Observation, c *Config) {
	c.Confirmed = o.Moment()
	m.made(o.Exchange, c, o.Arrival)
}

func (m *Memory) refuse(x *analysis.Exchange, c *Config) {
	if p := m.ConfigsOf(x, c.TaskID); p != nil {
		p.List = slices.DeleteFunc(p.List, func(other *Config) bool { return other == c })
	}
	m.made(x, c, 0)
	c.TaskID = ""
}

// made records that a request for a config of a known task has been answered.
func (m *Memory) made(x *analysis.Exchange, c *Config, arrival uint64) {
	if p := m.ConfigsOf(x, x.Call.TaskID); p != nil && x.Call.TaskID != "" {
		p.making--
		p.made = max(p.made, arrival)
	} else if p := m.ConfigsOf(x, c.TaskID); p != nil {
		p.made = max(p.made, arrival)
	}
}

// deleted remembers a confirmed deletion, unless a request in parallel may have created the config again.
func (m *Memory) deleted(o *analysis.Observation) {
	x := o.Exchange
	if x.Call.TaskID == "" || x.Call.ConfigID == "" {
		return
	}
	p := m.makeConfigs(x, x.Call.TaskID)
	d := Deletion{ID: x.Call.ConfigID, Place: o.Place, Confirmed: o.Moment()}
	p.List = slices.DeleteFunc(p.List, func(c *Config) bool {
		gone := c.ID == d.ID && x.BeganAfter(c.Confirmed)
		if gone {
			d.address = c.address
		}
		return gone
	})
	if m.missed || p.making > 0 || p.made >= x.Opened || p.Deletion(x, d.ID) != nil {
		return
	}
	p.Deleted = slices.DeleteFunc(p.Deleted, func(old Deletion) bool { return old.ID == d.ID })
	if len(p.Deleted) == maxConfigs {
		p.Deleted = slices.Delete(p.Deleted, 0, 1)
	}
	p.Deleted = append(p.Deleted, d)
}

// listed records a complete list that lacks a config. That is a fault only if the task is active even later: configs
// are deleted when their task has ended.
func (m *Memory) listed(o *analysis.Observation) {
	x := o.Exchange
	if o.Answer.Err != nil || o.Dialects != a2a.Of(a2a.V1_0) {
		return
	}
	p := m.ConfigsOf(x, x.Call.TaskID)
	if p == nil || !isWholeList(&x.Call, &o.Answer.Payload) {
		return
	}
	for _, v := range o.Answer.Payload.Value.Get("configs").Elems() {
		if v.Kind() != a2a.Object || v.Get("id").Exists() && v.Get("id").Kind() != a2a.String {
			return // the config cannot be identified
		}
	}
	there := make(map[string]bool)
	for c := range o.Answer.Payload.PushConfigs() {
		there[c.ID()] = true
	}
	for _, c := range p.List {
		own := c.alone && !c.DeleteAsked && x.BeganAfter(c.Confirmed) && c.Exchange.SamePrincipal(&x.Brief)
		if own && c.ID != "" && !there[c.ID] {
			at := o.Place.At(o.Answer.Payload.Pointer)
			p.Missed = &MissedConfig{Exchange: x.Keep(), Place: at, Config: c, Listed: o.Moment()}
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

// seen records for the configs of a task that it was seen at work, or that it has ended.
func (m *Memory) seen(x *analysis.Exchange, seen *analysis.TaskObservation) {
	p := m.ConfigsOf(x, seen.TaskID)
	if p == nil || seen.Late || !seen.State.Known() {
		return
	}
	if p.Missed != nil && x.BeganAfter(p.Missed.Listed) {
		p.Missed = nil
	}
	for _, c := range p.List {
		sent := m.config.Of(x) == c && c.decided
		if !seen.State.Terminal() && (sent || x.BeganAfter(c.Confirmed)) {
			c.Active = true
		}
	}
}
