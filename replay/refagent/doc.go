// Package refagent plays the agent: small reference agents for tests, demos and the active suite.
//
// Each agent is an [http.Handler] that speaks the protocol as the specification words it, and is written from that
// text alone, never from an SDK. For the same reason it has its own tables of methods, routes and members, and does not
// use those of packages a2a and translate, with which everything else reads and writes A2A: tests against these agents
// compare two readings of the specification. These agents exist:
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
// A request passes through three layers. A binding (rpc.go, rest.go) reads it from HTTP, a dialect (internal/dialect)
// converts its JSON to a version-independent request (internal/model), and the operations (operate.go) act on the
// engine (internal/engine), which owns all tasks and sends every subscriber the same events in the same order. The
// answer goes back the same way. A further version is a further dialect; a further binding is a further router.
//
// # Cards, tenants and stores
//
// [Options.Card] gives an agent another card: the agent then behaves as the card declares, and New rejects a card with
// false promises (internal/cards). [Options.Tenants] gives each tenant a separate engine (tenant.go). A [Store] keeps
// tasks after the agent ends; package filestore has one, and any other key-value store can be used.
//
// # Faults
//
// [Options.Fault] makes an agent break one rule of the protocol on purpose. A fault is a set of hooks at named points
// of the way described above (internal/wire, internal/fault); everything that it does not touch stays faithful.
// [Faults] lists them.
//
// # What will surprise you
//
// Tasks live in memory unless there is an [Options.Store]; the oldest finished ones are forgotten beyond ten thousand.
// With a store, each change of a task is stored before any client sees it. A task continues when its client leaves.
// Push notifications are refused unless [Options.Push] is set. Only the extended card requires credentials, unless
// [Options.Auth] is set.
package refagent
