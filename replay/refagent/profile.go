package refagent

import (
	"slices"
)

// A profile is what tells one agent from another.
type profile struct {
	name       string
	dialect    dialect      // of JSON-RPC; nil if it is not served
	rest       *restBinding // nil if HTTP+JSON is not served
	face       *cardFace    // what its cards look like
	cardNames  []string     // under which the card lies below /.well-known; empty for all
	streaming  bool
	atRoot     bool              // the endpoint is the origin
	subscribe  bool              // streams have a path of their own, as before 0.1
	clientIDs  bool              // clients choose the ids of tasks, as in 0.1
	versioned  bool              // heeds A2A-Version, as 1.0 does
	moves      map[state][]state // from states that do not end a task; nil if the protocol allows any
	route      func(*message) *skill
	behave     func(*skill) *skill // what a skill of a given card becomes; nil leaves it as it is
	misfit     func(*skill) *skill // what becomes of the help for messages that fit none; nil leaves it as it is
	card       func(a *servedCard, base string) object
	declare    func(card object, c *Credentials) object // credentials in the card
	extended   func(a *servedCard, base string) object  // nil if there is no extended card
	noExtended *failure                                 // the answer then
}

var profiles = []*profile{
	{
		name: "echo", dialect: v10{}, rest: rest10, face: face10, versioned: true, card: echoCard, declare: declare10,
		route:      func(*message) *skill { return echoSkill },
		behave:     func(*skill) *skill { return echoSkill },
		misfit:     func(*skill) *skill { return echoSkill },
		noExtended: fail(codeUnsupported, "This agent has no extended card"),
	},
	{
		name: "spec", dialect: v10{}, rest: rest10, face: face10, versioned: true, streaming: true, route: route,
		card: specCard, declare: declare10, extended: specExtendedCard,
		noExtended: fail(codeUnsupported, "This agent has no extended card"),
	},
	{
		name: "spec03", dialect: v03{}, face: face03, streaming: true, route: route, card: spec03Card, declare: declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec03-rest", rest: rest03, face: face03, streaming: true, route: route, card: spec03RESTCard,
		declare:    declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec03-proto", rest: rest03proto, face: face03, streaming: true, route: route, card: spec03ProtoCard,
		declare:    declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec02", dialect: v02{}, face: face02, streaming: true, route: route, cardNames: []string{"agent.json"},
		card: spec02Card, declare: declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec01", dialect: v01{}, face: face01, streaming: true, clientIDs: true, route: taskRoute01,
		behave: inTask, misfit: inTask,
		cardNames: []string{"agent.json"},
		card:      spec01Card, declare: declare01, noExtended: noExtended03,
	},
	{
		name: "legacy", dialect: legacy{}, face: faceLegacy, streaming: true, clientIDs: true, route: legacyRoute,
		behave: inTask, misfit: unmatched, moves: legacyMoves,
		atRoot: true, subscribe: true, cardNames: []string{"agent.json"}, card: legacyCard, declare: declare01,
	},
}

// noExtended03 is the answer of agents before 1.0 that have no extended card.
var noExtended03 = fail(codeExtendedCardNotFound, "Authenticated Extended Card is not configured")

// Names returns the names of the agents that [New] knows.
func Names() []string {
	names := make([]string, len(profiles))
	for i, p := range profiles {
		names[i] = p.name
	}
	return names
}

func profileOf(name string) *profile {
	i := slices.IndexFunc(profiles, func(p *profile) bool { return p.name == name })
	if i < 0 {
		return nil
	}
	return profiles[i]
}

// transport returns the name of the binding of an agent before 1.0, which has one.
func (p *profile) transport() string {
	if p.dialect == nil {
		return string(httpJSON)
	}
	return string(jsonRPC)
}

// served returns what cards say of an agent with these options.
func (p *profile) served(o Options) *servedCard {
	tenants := o.Tenants
	if len(tenants) == 0 {
		tenants = []string{""}
	}
	return &servedCard{
		agent: p.name, face: p.face, push: o.Push, streaming: p.streaming, transport: p.transport(), tenants: tenants,
		auth: o.Auth, behave: p.behave, misfit: p.misfit,
	}
}
