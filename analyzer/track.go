package analyzer

import (
	"strconv"
	"strings"

	"a2atap/proxy/a2a"
)

// known says what cards and earlier traffic tell about the URL of a request, for the recognition of what it asks.
func (s *Session) known(x *Exchange) a2a.Known {
	var k a2a.Known
	for _, d := range s.cards.near(x.address) {
		k.Add(d.entry, x.address)
	}
	key := endpointKey{x.address, a2a.JSONRPC}
	if end, ok := s.endpoints.get(key); ok && !end.Answered.Empty() {
		end.decide(s.cards.declared(key))
		k.Spoken(a2a.JSONRPC, end.Answered)
	}
	if prefix, ok := a2a.RoutePrefix(x.Path); ok {
		if end, ok := s.endpoints.get(endpointKey{address(x.Origin + prefix), a2a.HTTPJSON}); ok {
			k.Spoken(a2a.HTTPJSON, end.Answered)
		}
	}
	return k
}

// place fills what the session knows of the endpoint and the task of a call.
func (s *Session) place(x *Exchange) {
	if x.Call.Operation == a2a.Webhook {
		return
	}
	key := x.endpointKey()
	end, ok := s.endpoints.get(key)
	if !ok {
		end = &Endpoint{URL: x.callURL(), Binding: key.binding}
		s.endpoints.put(key, end)
	}
	x.Endpoint = end
	end.decide(s.cards.declared(key))
	declared := end.Declared
	if declared.Empty() { // a card that names only other bindings here tells the version all the same
		declared = s.cards.declaredAt(key.address)
	}
	x.Dialects = dialectsOr(x.Call.Dialects, declared|end.Answered)
	if x.Call.Dialects.Empty() {
		x.Dialects = end.Declared
	}
	x.cards = s.cardsBefore(x, key)
	x.agent, x.tenant = s.agentOf(key.address), x.Call.Tenant
	x.unreleased = unreleased(x.Call.Version)
	if x.Call.TaskID != "" {
		x.Known = s.TaskOf(x, x.Call.TaskID)
		x.Retry = x.Known != nil && (s.blind || x.Known.WasSent(x.Call.MessageID))
	}
}

// decide takes up what cards declare for the endpoint. It decides which of 0.2 and 0.3 is spoken where the answers before
// the card left that open.
func (e *Endpoint) decide(declared a2a.Dialects) {
	e.Declared = declared
	kind := a2a.Of(a2a.V0_2, a2a.V0_3)
	if one := declared.Intersect(kind); e.Answered.Intersect(kind) == kind && !one.Empty() {
		e.Answered = e.Answered&^kind | one
	}
}

// dialectsOr narrows what a message may be in by what is known beside it. A message that contradicts that is believed.
func dialectsOr(own, fallback a2a.Dialects) a2a.Dialects {
	if own.Empty() {
		return fallback
	}
	if both := own.Intersect(fallback); !both.Empty() {
		return both
	}
	return own
}

// unreleased reports whether a version is one after 1.0. Patch versions do not count (A2A 1.0 §3.6).
func unreleased(version string) bool {
	major, rest, _ := strings.Cut(strings.TrimPrefix(version, "v"), ".")
	minor, _, _ := strings.Cut(rest, ".")
	m, err := strconv.Atoi(major)
	n, _ := strconv.Atoi(minor)
	return err == nil && (m > 1 || m == 1 && n > 0)
}

// agentOf returns what tasks made at an address are filed under: one name for all interfaces of a card, else the address.
func (s *Session) agentOf(address string) string {
	if h, ok := s.homes.get(address); ok {
		return h.name
	}
	return address
}

// callURL returns the URL of the interface that a call went to: for HTTP+JSON without the route.
func (x *Exchange) callURL() string {
	if x.Call.Binding == a2a.HTTPJSON {
		return x.Origin + strings.TrimSuffix(x.Call.Prefix, "/")
	}
	return x.URL()
}

func (x *Exchange) endpointKey() endpointKey {
	if x.Call.Binding == a2a.HTTPJSON {
		return endpointKey{address(x.callURL()), a2a.HTTPJSON}
	}
	return endpointKey{x.address, x.Call.Binding}
}

// asked remembers what a request tells: the message sent to a task, and the webhook that it configures.
func (s *Session) asked(x *Exchange, arrival uint64) {
	if x.Known != nil {
		x.Known.remember(x.Call.MessageID)
		x.Known.asked(x)
	}
	s.askedPush(x, arrival)
	s.usedToken(x, x.Call.TaskID)
	s.said(x)
}

// answered remembers what an answer or an event tells about the endpoint.
func (s *Session) answered(x *Exchange, a *a2a.Answer) {
	if spoken := dialectsOr(a.Payload.Dialects, x.Dialects); !spoken.Empty() {
		x.Endpoint.Answered |= spoken
		s.origin(x).spoken |= spoken
	}
}

// learn remembers a card, and which addresses it makes one agent.
func (s *Session) learn(x *Exchange, card *Card) {
	s.cards.put(cardKey{card.URL, card.Extended, x.Call.Version}, card)
	own := home{origin: address(x.Origin)}
	addresses := make([]string, 0, len(card.Interfaces))
	for _, i := range card.Interfaces[:min(len(card.Interfaces), maxInterfaces)] {
		if at := address(i.URL); i.URL != "" && s.mayClaim(at, own.origin) {
			addresses = append(addresses, at)
		}
	}
	own.name = s.homeName(addresses, own.origin)
	for _, at := range addresses {
		s.homes.put(at, own)
	}
}

// mayClaim reports whether a card from an origin speaks for an address: unless one from another origin did before. Agents
// that were set up from one template often name the same wrong address, and are not one agent for that. The address's own
// origin knows best.
func (s *Session) mayClaim(at, origin string) bool {
	known, ok := s.homes.get(at)
	return !ok || known.origin == origin || originOf(at) == origin
}

// homeName returns what the tasks of a card's addresses are filed under: what they were before, else the first address
// at the card's own origin, under which its tasks were filed before the card was seen.
func (s *Session) homeName(addresses []string, origin string) string {
	name := ""
	for _, at := range addresses {
		if known, ok := s.homes.get(at); ok && known.origin == origin {
			return known.name
		}
		if name == "" || originOf(at) == origin && originOf(name) != origin {
			name = at
		}
	}
	return name
}

// sighted remembers a look at a task.
func (s *Session) sighted(x *Exchange, seen *Sighting) {
	key := taskKey{x.agent, x.tenant, seen.TaskID}
	s.appeared(key)
	t := s.task(key)
	if t == nil {
		t = &Task{ID: seen.TaskID, debut: x.Seq}
		s.tasks.put(key, t)
	}
	if t.Denied != nil && !seen.Late && t.Denied.Before(x) {
		t.Denied = nil
	}
	if t.Refused != nil && !seen.Late && seen.State.Known() && t.Refused.Before(x) {
		t.Refused = nil
	}
	if t.First == nil && !seen.Late {
		t.First, t.finder = seen, s.principal(x)
	}
	switch {
	case seen.ContextID == "":
	case t.Context == nil:
		t.Context = &ContextSighting{ID: seen.ContextID, Place: seen.ContextPlace()}
	case t.Context.ID != seen.ContextID:
		t.Moved = true
	}
	if x.Stream != nil {
		x.Stream.named.note(seen)
	}
	t.dated(seen)
	if t.inflight == x.Seq {
		t.inflight = 0
	}
	if t.Terminal == nil && seen.State.Terminal() {
		t.Terminal, t.ending = seen, s.caller(x)
		t.Reopened = t.inflight != 0
	}
	if seen.State.Known() {
		t.Last = seen
	}
	s.sightedPush(x, seen)
	if x.Call.Operation.Sends() && x.Known == nil && x.Call.TaskID == seen.TaskID {
		t.remember(x.Call.MessageID) // the task was made before the recording began
	}
	if !x.Call.Operation.Sends() || x.Call.TaskID != "" || !seen.Snapshot {
		return
	}
	if t.Created == nil {
		t.Created = &Creation{Place: seen.Object, MessageID: x.Call.MessageID, ContextID: x.Call.ContextID, References: x.References()}
	}
	t.remember(x.Call.MessageID)
	s.usedToken(x, seen.TaskID)
}

// References returns the ids of the tasks that the message of a send refers to, at most a few.
func (x *Exchange) References() []string {
	var ids []string
	for i, id := range x.Call.Message.Get("referenceTaskIds").Elems() {
		if i == maxReferences {
			break
		}
		ids = append(ids, id.Text())
	}
	return ids
}

// denied remembers a subscription to an ended task that was told the task is not found. Only 1.0 says which error it has
// to be.
func (s *Session) denied(o *Observation) {
	x := o.Exchange
	if x.Call.Operation != a2a.SubscribeToTask || o.Dialects != a2a.Of(a2a.V1_0) || x.TerminalBefore() == nil {
		return
	}
	if err := o.Answer.Err; err != nil && err.Name == a2a.TaskNotFound {
		x.Known.Denied = &Denial{Exchange: x.bare(), Place: o.Place.At(err.Pointer), seen: Sighting{Arrival: o.Arrival, At: o.At}}
	}
}

// bare returns the exchange without what takes room.
func (x *Exchange) bare() *Exchange {
	return &Exchange{
		Seq: x.Seq, ID: x.ID, Link: x.Link, Conn: x.Conn, Origin: x.Origin, Path: x.Path, Request: x.Request, Response: x.Response, Dialects: x.Dialects,
		address: x.address, principal: x.principal, principalKnown: x.principalKnown,
		Call: a2a.Call{Binding: x.Call.Binding, Operation: x.Call.Operation, Dialects: x.Call.Dialects, Version: x.Call.Version},
	}
}
