package refagent

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/cards"
	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// A profile has the properties that distinguish one agent from another.
type profile struct {
	name       string
	dialect    model.Dialect // of JSON-RPC; nil if it is not served
	rest       *restBinding  // nil if HTTP+JSON is not served
	grpc       *grpcBinding  // nil if gRPC cannot be served
	face       *cards.Face   // what its cards look like
	cardNames  []string      // under which the card lies below /.well-known; empty for all
	streaming  bool
	atRoot     bool                          // the endpoint is the origin
	subscribe  bool                          // streams have a path of their own, as before 0.1
	clientIDs  bool                          // clients choose the ids of tasks, as in 0.1
	versioned  bool                          // heeds A2A-Version, as 1.0 does
	moves      map[model.State][]model.State // from states that do not end a task; nil if the protocol allows any
	route      func(*model.Message) *engine.Skill
	behave     func(*engine.Skill) *engine.Skill // transforms a skill of a given card; nil leaves it unchanged
	misfit     func(*engine.Skill) *engine.Skill // transforms the help for messages that match no skill; likewise
	card       func(a *cards.Subject, base string) jsonvalue.Object
	declare    func(card jsonvalue.Object, c *Credentials) jsonvalue.Object // credentials in the card
	extended   func(a *cards.Subject, base string) jsonvalue.Object         // nil if there is no extended card
	noExtended *model.Failure                                               // the answer then
}

var profiles = []*profile{
	{
		name: "echo", dialect: dialect.V10{}, rest: rest10, grpc: grpc10,
		face: cards.Face10, versioned: true, card: cards.EchoCard,
		declare:    cards.Declare10,
		route:      func(*model.Message) *engine.Skill { return engine.EchoSkill },
		behave:     func(*engine.Skill) *engine.Skill { return engine.EchoSkill },
		misfit:     func(*engine.Skill) *engine.Skill { return engine.EchoSkill },
		noExtended: model.Fail(model.CodeUnsupported, "This agent has no extended card"),
	},
	{
		name: "spec", dialect: dialect.V10{}, rest: rest10, grpc: grpc10,
		face: cards.Face10, versioned: true, streaming: true,
		route: engine.Route,
		card:  cards.SpecCard, declare: cards.Declare10, extended: cards.SpecExtendedCard,
		noExtended: model.Fail(model.CodeUnsupported, "This agent has no extended card"),
	},
	{
		name: "spec03", dialect: dialect.V03{}, grpc: grpc03, face: cards.Face03, streaming: true, route: engine.Route,
		card: cards.Spec03Card, declare: cards.Declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec03-rest", rest: rest03, grpc: grpc03, face: cards.Face03, streaming: true, route: engine.Route,
		card:       cards.Spec03RESTCard,
		declare:    cards.Declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec03-proto", rest: rest03proto, grpc: grpc03, face: cards.Face03, streaming: true, route: engine.Route,
		card:       cards.Spec03ProtoCard,
		declare:    cards.Declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec02", dialect: dialect.V02{}, face: cards.Face02, streaming: true, route: engine.Route,
		cardNames: []string{"agent.json"},
		card:      cards.Spec02Card, declare: cards.Declare03,
		noExtended: noExtended03,
	},
	{
		name: "spec01", dialect: dialect.V01{}, face: cards.Face01, streaming: true, clientIDs: true,
		route:  engine.TaskRoute01,
		behave: engine.InTask, misfit: engine.InTask,
		cardNames: []string{"agent.json"},
		card:      cards.Spec01Card, declare: cards.Declare01, noExtended: noExtended03,
	},
	{
		name: "legacy", dialect: dialect.Legacy{}, face: cards.FaceLegacy, streaming: true, clientIDs: true,
		route:  engine.LegacyRoute,
		behave: engine.InTask, misfit: engine.Unmatched, moves: dialect.LegacyMoves,
		atRoot: true, subscribe: true, cardNames: []string{"agent.json"}, card: cards.LegacyCard, declare: cards.DeclareLegacy,
	},
}

// noExtended03 is the answer of agents before 1.0 that have no extended card.
var noExtended03 = model.Fail(model.CodeExtendedCardNotFound, "Authenticated Extended Card is not configured")

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

// bindings returns the agent's bindings if its options name none.
func (p *profile) bindings() []wire.Binding {
	var all []wire.Binding
	if p.dialect != nil {
		all = append(all, wire.JSONRPC)
	}
	if p.rest != nil {
		all = append(all, wire.HTTPJSON)
	}
	return all
}

// chosen returns the bindings to serve. It fails if the agent does not support one of them.
func (p *profile) chosen(words []string) ([]wire.Binding, error) {
	own := p.bindings()
	if len(words) == 0 {
		return own, nil
	}
	if p.grpc != nil {
		own = append(own, wire.GRPC)
	}
	var all []wire.Binding
	for _, word := range words {
		b := wire.Binding(strings.ToUpper(word))
		if !slices.Contains(own, b) {
			return nil, fmt.Errorf("agent %s does not speak %s; it speaks %s", p.name, word, cards.Words(own))
		}
		if slices.Contains(all, b) {
			return nil, fmt.Errorf("the binding %s is named twice; name each once", word)
		}
		all = append(all, b)
	}
	return all, nil
}

// served returns an agent with these options as cards describe it.
func (p *profile) served(o Options, bindings []wire.Binding) *cards.Subject {
	tenants := o.Tenants
	if len(tenants) == 0 {
		tenants = []string{""}
	}
	return &cards.Subject{
		Agent: p.name, Face: p.face, Push: o.Push, Streaming: p.streaming, Bindings: bindings, Tenants: tenants,
		Auth: o.Auth, Behave: p.behave, Misfit: p.misfit,
	}
}
