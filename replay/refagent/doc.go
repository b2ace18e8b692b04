// Package refagent plays the agent: small reference agents for tests, demos and the active suite.
//
// Each agent is an [http.Handler] that speaks the protocol as the specification words it, and is written from that
// text alone, never from an SDK, so that one reading does not judge itself. These agents exist:
//
//	echo          A2A 1.0, JSON-RPC and HTTP+JSON at one URL; answers every message with a message, never with a task
//	spec          A2A 1.0, JSON-RPC and HTTP+JSON at one URL; one skill for every way in which a task can go
//	spec03        A2A 0.3, JSON-RPC; the skills of spec
//	spec03-rest   A2A 0.3, HTTP+JSON, in the JSON of the JSON-RPC binding
//	spec03-proto  A2A 0.3, HTTP+JSON, in the JSON of the proto definition
//	spec02        A2A 0.2, JSON-RPC
//	spec01        A2A 0.1, JSON-RPC; clients choose the ids of tasks, and get no messages for an answer
//	legacy        the dialect before A2A 0.1: named events at /subscribe, a history of statuses, codes of its own
//
// An agent named N answers below the path /N: the JSON-RPC endpoint and the HTTP+JSON base are both /N, its card is
// at /N/.well-known/agent-card.json (also at /N and, when it is alone, at the origin's root). The agent legacy answers
// at the root. [Mux] puts several agents on one origin.
//
// # How it is built
//
// A request passes through three layers. A binding (rpc.go, rest.go) takes it off HTTP, a dialect (v10.go, v03.go, …)
// turns its JSON into a request free of versions, and the operations (operate.go) act on the engine (engine.go),
// which owns all tasks and hands every subscriber the same events in the same order. The answer goes back the same
// way. A further version is a further dialect; a further binding is a further router.
//
// # Cards, tenants and stores
//
// [Options.Card] gives an agent another card: then it does what that says, and is refused if the card promises more
// than it keeps (cardgiven.go, cardcheck.go). [Options.Tenants] gives each tenant an engine of its own (tenant.go). A
// [Store] keeps tasks beyond the life of an agent (store.go); package taskfile is one, and any other place that keeps
// values by their keys can be.
//
// # Faults
//
// [Options.Fault] makes an agent break one rule of the protocol on purpose. A fault is a set of hooks at named points
// of the way described above (fault.go); everything that it does not touch stays faithful. [Faults] lists them.
//
// # What will surprise you
//
// Tasks live in memory unless there is an [Options.Store]; the oldest finished ones are forgotten beyond ten thousand.
// With a store each change of a task is stored before anybody hears of it. A task goes on when its client leaves. Push notifications are refused unless [Options.Push] is set. Only the extended card asks for credentials,
// unless [Options.Auth] is set.
package refagent
