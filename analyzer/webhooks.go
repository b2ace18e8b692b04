package analyzer

import (
	"slices"

	"a2atap/analyzer/a2a"
)

// A hook is a webhook URL that clients gave to agents.
type hook struct{ users []hookUser }

// A hookUser is an agent that was given a webhook.
type hookUser struct {
	agent, tenant string
	dialects      a2a.Dialects // of the request that configured it
	since         uint64       // arrival number of that request's end
}

// giveHook remembers that the agent of a call was given a webhook.
func (s *Session) giveHook(x *Exchange, target string, arrival uint64) {
	if target == "" {
		return
	}
	at := address(target)
	h, ok := s.hooks.get(at)
	if !ok {
		h = &hook{}
		s.hooks.put(at, h)
	}
	user := hookUser{x.agent, x.tenant, x.Dialects, arrival}
	known := slices.ContainsFunc(h.users, func(u hookUser) bool {
		return u.agent == user.agent && u.tenant == user.tenant && u.dialects == user.dialects
	})
	if len(h.users) < maxHookUsers && !known {
		h.users = append(h.users, user)
	}
}

// notice recognises a notification to a webhook: by the URL that a client configured, else by its body alone, as the
// decoder did already. What a notification says of a task counts only where it is certain which agent sent it.
func (s *Session) notice(x *Exchange) {
	x.agent = ""
	h, ok := s.hooks.get(x.address)
	if !ok || x.Request.Method != "POST" {
		x.Dialects = x.Call.Dialects
		return
	}
	p := a2a.DecodeWebhook(x.Body)
	if p.Kind == a2a.UnknownPayload || p.Kind == a2a.NoPayload && len(x.Body) == 0 {
		return
	}
	x.Call.Operation = a2a.Webhook
	x.Dialects = h.users[0].dialects
	for _, u := range h.users {
		x.Dialects |= u.dialects
	}
	if sender, ok := s.sender(h, taskIDOf(&p)); ok && sender.since < x.Opened {
		x.agent, x.tenant, x.Dialects = sender.agent, sender.tenant, sender.dialects
	}
}

// sender returns which of the agents that were given a webhook sends a notification about a task: the only one, or the
// only one that is known to have the task.
func (s *Session) sender(h *hook, task string) (hookUser, bool) {
	if len(h.users) == 1 {
		return h.users[0], true
	}
	var found []hookUser
	for _, u := range h.users {
		if _, ok := s.tasks.get(taskKey{u.agent, u.tenant, task}); ok {
			found = append(found, u)
		}
	}
	if len(found) != 1 || len(h.users) >= maxHookUsers {
		return hookUser{}, false
	}
	return found[0], true
}

func taskIDOf(p *a2a.Payload) string {
	switch p.Kind {
	case a2a.TaskPayload:
		return a2a.Task{Value: p.Value}.ID()
	case a2a.StatusPayload:
		return a2a.StatusUpdate{Value: p.Value}.TaskID()
	case a2a.ArtifactPayload:
		return a2a.ArtifactUpdate{Value: p.Value}.TaskID()
	}
	return ""
}
