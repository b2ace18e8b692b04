package analyzer

import (
	"slices"
	"strings"

	"a2atap/analyzer/a2a"
)

// known says what cards and earlier traffic tell about the URL of a request, for the recognition of what it asks.
func (s *Session) known(x *Exchange) a2a.Known {
	var k a2a.Known
	for c := range s.cards.all() {
		for _, i := range c.Interfaces {
			k.Add(i, x.URL())
		}
	}
	if end, ok := s.endpoints.get(endpointKey{x.URL(), a2a.JSONRPC}); ok && !end.Answered.Empty() {
		k.Spoken(a2a.JSONRPC, end.Answered)
	}
	if prefix, ok := a2a.RoutePrefix(x.Path); ok {
		if end, ok := s.endpoints.get(endpointKey{x.Origin + prefix, a2a.HTTPJSON}); ok {
			k.Spoken(a2a.HTTPJSON, end.Answered)
		}
	}
	return k
}

// notice recognises a notification to a webhook: by the URL that a client configured, else by its body alone, as the
// decoder did already. What a notification says of a task counts only where the config was seen.
func (s *Session) notice(x *Exchange) {
	h, ok := s.hooks.get(x.URL())
	if !ok {
		x.Dialects = x.Call.Dialects
		return
	}
	if p := a2a.DecodeWebhook(x.Body); p.Kind == a2a.NoPayload || p.Kind == a2a.UnknownPayload {
		return
	}
	x.Call.Operation = a2a.Webhook
	x.Dialects, x.agent = h.Dialect, h.Agent
}

// place fills what the session knows of the endpoint and the task of a call.
func (s *Session) place(x *Exchange) {
	if x.Call.Operation == a2a.Webhook {
		return
	}
	key := endpointKey{x.callURL(), x.Call.Binding}
	end, ok := s.endpoints.get(key)
	if !ok {
		end = &Endpoint{URL: key.url, Binding: key.binding}
		s.endpoints.put(key, end)
	}
	x.Endpoint = end
	end.Declared = s.declared(key)
	x.Dialects = dialectsOr(x.Call.Dialects, end.Declared|end.Answered)
	if x.Call.Dialects.Empty() {
		x.Dialects = end.Declared
	}
	x.agent = s.agentOf(key.url)
	if x.Call.TaskID != "" {
		x.Known = s.Task(x.agent, x.Call.Tenant, x.Call.TaskID)
		x.Retry = x.Known != nil && x.Known.WasSent(x.Call.MessageID)
	}
}

func (s *Session) declared(key endpointKey) a2a.Dialects {
	var set a2a.Dialects
	for c := range s.cards.all() {
		set |= c.DialectsFor(key.url, key.binding)
	}
	return set
}

// agentOf returns what tasks made at a URL are filed under: one name for all interfaces of a card, else the URL itself.
func (s *Session) agentOf(url string) string {
	if home, ok := s.homes.get(url); ok {
		return home
	}
	return url
}

// callURL returns the URL of the interface that a call went to: for HTTP+JSON without the route.
func (x *Exchange) callURL() string {
	if x.Call.Binding == a2a.HTTPJSON {
		return x.Origin + strings.TrimSuffix(x.Call.Prefix, "/")
	}
	return x.URL()
}

// asked remembers what a request tells: the message sent to a task, and the webhook that it configures.
func (s *Session) asked(x *Exchange) {
	if x.Known != nil && x.Call.MessageID != "" {
		x.Known.Sent = append(x.Known.Sent, x.Call.MessageID)
		if len(x.Known.Sent) > maxMessages {
			x.Known.Sent = slices.Delete(x.Known.Sent, 0, 1)
		}
	}
	if config := x.Call.PushConfig; config.Exists() {
		if target := config.URL(); target != "" {
			s.hooks.put(target, &Hook{URL: target, Agent: x.agent, Dialect: x.Dialects, Place: x.RequestPlace().Body()})
		}
	}
}

// answered remembers what an answer or an event tells about the endpoint.
func (s *Session) answered(x *Exchange, a *a2a.Answer) {
	if spoken := dialectsOr(a.Payload.Dialects, x.Dialects); !spoken.Empty() {
		x.Endpoint.Answered |= spoken
	}
}

// learn remembers a card, and which URLs it makes one agent.
func (s *Session) learn(x *Exchange, card *Card) {
	s.cards.put(cardKey{card.URL, card.Extended, x.Call.Version}, card)
	home := ""
	for _, i := range card.Interfaces {
		if known, ok := s.homes.get(i.URL); ok {
			home = known
			break
		}
	}
	for _, i := range card.Interfaces {
		if home == "" {
			home = i.URL
		}
		s.homes.put(strings.TrimSuffix(i.URL, "/"), home)
	}
}

// sighted remembers a look at a task.
func (s *Session) sighted(x *Exchange, seen *Sighting) {
	key := taskKey{x.agent, x.Call.Tenant, seen.TaskID}
	t, ok := s.tasks.get(key)
	if !ok {
		t = &Task{ID: seen.TaskID}
		s.tasks.put(key, t)
	}
	if t.Denied != nil && t.Denied.Before(x) {
		t.Denied = nil
	}
	if t.Context == nil && seen.ContextID != "" {
		t.Context = &ContextSighting{ID: seen.ContextID, Place: seen.Context}
	}
	if t.Terminal == nil && seen.State.Terminal() {
		t.Terminal = seen
	}
	if seen.State.Known() {
		t.Last = seen
	}
	sends := x.Call.Operation == a2a.SendMessage || x.Call.Operation == a2a.SendStreamingMessage
	if t.Created == nil && sends && x.Call.TaskID == "" && seen.Snapshot {
		t.Created = &Creation{Place: seen.Place, MessageID: x.Call.MessageID, ContextID: x.Call.ContextID}
	}
	if t.Created != nil && x.Call.MessageID != "" && x.Call.TaskID == "" && sends {
		t.Sent = append(t.Sent, x.Call.MessageID)
	}
}

// denied remembers a subscription to an ended task that was told the task is not found.
func (s *Session) denied(o *Observation) {
	x := o.Exchange
	if x.Call.Operation != a2a.SubscribeToTask || x.TerminalBefore() == nil || o.Answer.Err == nil || o.Answer.Err.Name != a2a.TaskNotFound {
		return
	}
	x.Known.Denied = &Denial{Exchange: x, Place: o.Place.At(o.Answer.Err.Pointer), seen: Sighting{Arrival: o.Arrival, At: o.At}}
}

// principal tells callers apart by their credentials. Where secrets were replaced, equal ones are still equal.
func (x *Exchange) principal() string {
	return strings.Join(x.Request.Fields.Values("Authorization"), "\x00")
}
