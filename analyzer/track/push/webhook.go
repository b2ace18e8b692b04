package push

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/address"
	"a2atap/proxy/a2a"
)

// A webhook is a webhook URL that clients gave to agents.
type webhook struct {
	users    []webhookUser
	expected []*Config // whose requests have not been answered, or never will be
	waiting  []*waiting
	lost     bool // it was configured in ways that could not be followed
	vague    bool // a notification with an unknown subject arrived
	posted   int  // notifications seen
	taken    int  // of them, how many the receiver accepted
	refused  int  // how many in a row it refused
}

// A webhookUser is an agent that was given a webhook.
type webhookUser struct {
	agent, tenant string
	name          string       // of the agent in links
	dialects      a2a.Dialects // of the request that configured it
	since         uint64       // arrival number of that request's end
}

// giveWebhook remembers that the agent of a call was given a webhook.
func (m *Memory) giveWebhook(x *analysis.Exchange, target string, arrival uint64) *webhook {
	at := address.Of(target)
	h, ok := m.webhooks.Get(at)
	if !ok {
		h = &webhook{}
		m.webhooks.Put(at, h)
	}
	user := webhookUser{x.Agent, x.Tenant, x.Link.Agent, x.Dialects, arrival}
	known := slices.ContainsFunc(h.users, func(u webhookUser) bool {
		return u.agent == user.agent && u.tenant == user.tenant && u.name == user.name && u.dialects == user.dialects
	})
	if len(h.users) < maxUsers && !known {
		h.users = append(h.users, user)
	}
	return h
}

// expect remembers a config until its outcome is known.
func (h *webhook) expect(c *Config) {
	h.expected = slices.DeleteFunc(h.expected, func(c *Config) bool { return c.decided })
	if len(h.expected) == maxExpected {
		h.lost = true
		return
	}
	h.expected = append(h.expected, c)
}

// notice recognizes a notification to a webhook: by the URL that a client configured, else only by its body, as the
// decoder did already. A notification's statements about a task count only if its sender is certain.
func (m *Memory) notice(x *analysis.Exchange) {
	h, ok := m.webhooks.Get(x.Address)
	if !ok || x.Call.Operation != a2a.Webhook && !a2a.IsNotification(x.Request.Method, x.Doc()) && !h.misdirected(x) {
		return
	}
	p := a2a.ReadWebhook(x.Doc())
	task := cmp.Or(taskIDOf(&p), a2a.TaskIDIn(x.Doc().Root))
	if p.Kind == a2a.UnknownPayload && !m.notifies(h, x, task) {
		return
	}
	x.Call.Operation, x.Call.TaskID = a2a.Webhook, task
	m.webhook.Put(x, h)
	h.posted++
	x.Dialects = 0
	for _, u := range h.usersOf(x) {
		x.Dialects |= u.dialects
	}
	if sender, ok := m.sender(h, x); ok && sender.since < x.Opened {
		x.Agent, x.Tenant, x.Dialects = sender.agent, sender.tenant, sender.dialects
	}
}

// notifies reports whether an unknown object comes from an agent that was given the webhook. One URL may also receive
// the events of other programs.
func (m *Memory) notifies(h *webhook, x *analysis.Exchange, task string) bool {
	root := x.Doc().Root
	switch {
	case x.Call.Operation == a2a.Webhook, x.Sender != "", root.Kind() != a2a.Object, root.Len() == 0, root.Has("jsonrpc"):
		return true
	case len(x.Request.Fields.Values("X-A2A-Notification-Token")) > 0:
		return true
	}
	return slices.ContainsFunc(h.users, func(u webhookUser) bool {
		return u.name == x.Link.Client || task != "" && m.tasks.At(analysis.TaskKeyOf(u.agent, u.tenant, task)) != nil
	})
}

// misdirected reports whether a request with a method other than POST, and without A2A content, is certainly a
// notification: it has a notification's token, or an agent that was given the webhook uses a modifying method. Agents
// also check a webhook with HEAD, OPTIONS, or GET.
func (h *webhook) misdirected(x *analysis.Exchange) bool {
	switch x.Request.Method {
	case http.MethodPost, http.MethodHead, http.MethodOptions:
		return false
	}
	if _, query, _ := strings.Cut(x.Request.Target, "?"); strings.Contains(strings.ToLower(query), "challenge") ||
		strings.Contains(strings.ToLower(query), "token") {
		return false
	}
	if len(x.Request.Fields.Values("X-A2A-Notification-Token")) > 0 {
		return true
	}
	return x.Request.Method != http.MethodGet && (x.Sender != "" ||
		slices.ContainsFunc(h.users, func(u webhookUser) bool { return u.name == x.Link.Client }))
}

// usersOf returns the agents that were given a webhook and can have sent a notification: all of them, unless the
// address that received it was made for one.
func (h *webhook) usersOf(x *analysis.Exchange) []webhookUser {
	if x.Sender == "" {
		return h.users
	}
	var users []webhookUser
	for _, u := range h.users {
		if u.name == x.Sender {
			users = append(users, u)
		}
	}
	return users
}

// sender returns which of the agents that were given a webhook sends a notification about a task: the only one, or the
// only one that is known to have the task, if each of the others has named its own.
func (m *Memory) sender(h *webhook, x *analysis.Exchange) (webhookUser, bool) {
	users, task := h.usersOf(x), x.Call.TaskID
	if m.missed && x.Sender == "" {
		return webhookUser{}, false // another agent may have been given it by a request that was not recorded
	}
	if len(users) == 1 {
		return users[0], true
	}
	var found []webhookUser
	for _, u := range users {
		if m.tasks.At(analysis.TaskKeyOf(u.agent, u.tenant, task)) != nil {
			found = append(found, u)
		}
	}
	if len(found) != 1 || len(h.users) >= maxUsers || h.lost || h.othersMayHave(found[0]) {
		return webhookUser{}, false
	}
	return found[0], true
}

// othersMayHave reports whether another agent was given the webhook along with a message and has not named the task
// yet, which may have the same id as the user's task.
func (h *webhook) othersMayHave(user webhookUser) bool {
	return slices.ContainsFunc(h.expected, func(c *Config) bool {
		return !c.decided && c.TaskID == "" && (c.agent != user.agent || c.tenant != user.tenant)
	})
}

// taskIDOf returns the id of the task that a payload is about; empty if it names none.
func taskIDOf(p *a2a.Payload) string {
	switch p.Kind {
	case a2a.TaskPayload:
		return a2a.Task{Value: p.Value}.ID()
	case a2a.StatusPayload:
		return a2a.StatusUpdate{Value: p.Value}.TaskID()
	case a2a.ArtifactPayload:
		return a2a.ArtifactUpdate{Value: p.Value}.TaskID()
	case a2a.MessagePayload:
		return a2a.Message{Value: p.Value}.TaskID()
	}
	return ""
}

// Configured reports whether the exchange is a notification to a webhook whose config was seen.
func (m *Memory) Configured(x *analysis.Exchange) bool { return m.webhook.Of(x) != nil }
