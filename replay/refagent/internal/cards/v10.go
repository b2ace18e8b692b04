// Package cards has the agent cards of reference agents in every version, and checks a card that an agent is given to
// serve: it must be in the agent's dialect, and make no false promises.
package cards

import (
	"strings"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/wire"
)

// The cards of A2A 1.0 (§4.4.1, §8), and the skills of all cards.

// A Subject is an agent as cards describe it.
type Subject struct {
	Agent     string // its name
	Face      *Face
	Push      bool
	Streaming bool
	Bindings  []wire.Binding // that it serves, the preferred one first
	Tenants   []string       // of an agent without any the one without a name
	Auth      *Credentials
	Behave    func(*engine.Skill) *engine.Skill // transforms a skill of a given card; nil leaves it unchanged
	Misfit    func(*engine.Skill) *engine.Skill // transforms the help for messages that match no skill; likewise
}

// A Skill is an entry of a card's skills.
type Skill struct {
	ID, name, description string
	tags                  []string
	example               string
}

// JSON returns the entry.
func (s Skill) JSON() any {
	o := jsonvalue.Object{
		{"id", s.ID},
		{"name", s.name},
		{"description", s.description},
		{"tags", jsonvalue.Texts(s.tags...)},
	}
	if s.example != "" {
		o = append(o, jsonvalue.Member{"examples", jsonvalue.Texts(s.example)})
	}
	return o
}

var echoCardSkills = []Skill{
	{"echo", "Echo", "Sends back the text that it was sent.", []string{"echo", "test"}, ""},
}

var specCardSkills = []Skill{
	{
		"message-only", "Message Only", "Answers with a message and makes no task.",
		[]string{"message", "stateless"},
		"message-only hello world",
	},
	{
		"task-lifecycle", "Task Lifecycle", "Takes a task from submitted to completed and delivers an artifact.",
		[]string{"task", "lifecycle", "artifact"},
		"task-lifecycle process this",
	},
	{
		"task-failure", "Task Failure", "Makes a task that fails.",
		[]string{"task", "failure", "error"},
		"task-failure trigger error",
	},
	{
		"task-cancel", "Task Cancel", "Makes a task that works until it is canceled.",
		[]string{"task", "cancel"},
		"task-cancel start",
	},
	{
		"multi-turn", "Multi-Turn", "Asks for more input until it is told that all is done.",
		[]string{"multi-turn", "input-required", "conversation"},
		"multi-turn start conversation",
	},
	{
		"streaming", "Streaming", "Delivers one artifact in four chunks.",
		[]string{"streaming", "sse", "chunks"},
		"streaming generate output",
	},
	{
		"long-running", "Long Running", "Works in five slow steps, each with an artifact.",
		[]string{"long-running", "periodic", "polling"},
		"long-running start process",
	},
	{
		"data-types", "Data Types", "Delivers artifacts of text, data and a file.",
		[]string{"data-types", "json", "file", "multi-part"},
		"data-types show all",
	},
}

// AdminCardSkill is the one that only the extended card has.
var AdminCardSkill = Skill{
	"admin-status", "Admin Status", "Reports on the agent to those who may see the extended card.",
	[]string{"admin", "diagnostics"},
	"admin-status",
}

var spec03CardSkills = []Skill{
	{
		"message-only", "Message Only", "Answers with a message and makes no task.",
		[]string{"message"},
		"message-only hello",
	},
	{
		"task-lifecycle", "Task Lifecycle", "Takes a task from submitted to completed and delivers an artifact.",
		[]string{"task"},
		"task-lifecycle process",
	},
	{"task-failure", "Task Failure", "Makes a task that fails.", []string{"task"}, "task-failure trigger"},
	{"streaming", "Streaming", "Delivers one artifact in four chunks.", []string{"streaming"}, "streaming generate"},
}

// Version is the agents' version in their cards.
const Version = "1.0.0"

// address returns the address of a binding in the form that cards use: for gRPC, a host and a port (A2A 1.0 §4.4.6),
// else base.
func address(base string, b wire.Binding) string {
	if b != wire.GRPC {
		return base
	}
	_, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// Words returns bindings as messages name them.
func Words(list []wire.Binding) string {
	words := make([]string, len(list))
	for i, b := range list {
		words[i] = string(b)
	}
	if last := len(words) - 1; last > 0 {
		return strings.Join(words[:last], ", ") + " and " + words[last]
	}
	return strings.Join(words, "")
}

// interfaces10 returns the interfaces of a 1.0 card: one for each binding, and for each tenant.
func interfaces10(a *Subject, base string) []any {
	var all []any
	for _, tenant := range a.Tenants {
		for _, b := range a.Bindings {
			all = append(all, jsonvalue.Object{
				{"url", address(base, b)}, {"protocolBinding", string(b)}, {"protocolVersion", "1.0"},
			}.Optional("tenant", tenant))
		}
	}
	return all
}

// v10Card is what all 1.0 cards have in common.
func v10Card(
	a *Subject, base, name, description string, capabilities jsonvalue.Object, outputs []string, skills []Skill,
) jsonvalue.Object {
	return jsonvalue.Object{
		{"name", name},
		{"description", description},
		{"supportedInterfaces", interfaces10(a, base)},
		{"version", Version},
		{"capabilities", capabilities},
		{"defaultInputModes", jsonvalue.Texts("text/plain")},
		{"defaultOutputModes", jsonvalue.Texts(outputs...)},
		{"skills", jsonvalue.Values(skills, Skill.JSON)},
	}
}

// EchoCard is the card of echo.
func EchoCard(a *Subject, base string) jsonvalue.Object {
	return v10Card(a, base, "Echo Agent", "Answers every message with the same text.",
		jsonvalue.Object{{"streaming", false}, {"pushNotifications", a.Push}}, []string{"text/plain"}, echoCardSkills)
}

var specOutputs = []string{"text/plain", "application/json", "image/svg+xml"}

// SpecCard declares the bearer scheme but no requirement: only the extended card is guarded.
func SpecCard(a *Subject, base string) jsonvalue.Object {
	return v10Card(a, base, "AgentBin Spec Agent", "Shows every way in which a task can go.",
		jsonvalue.Object{{"streaming", true}, {"pushNotifications", a.Push}, {"extendedAgentCard", true}},
		specOutputs, specCardSkills).
		With("securitySchemes", jsonvalue.Object{{
			"bearer_token",
			jsonvalue.Object{{"httpAuthSecurityScheme", jsonvalue.Object{{"scheme", "bearer"}}}},
		}})
}

// SpecExtendedCard is the card of spec for those who have its token.
func SpecExtendedCard(a *Subject, base string) jsonvalue.Object {
	skills := append(specCardSkills[:len(specCardSkills):len(specCardSkills)], AdminCardSkill)
	return SpecCard(a, base).
		With("name", "AgentBin Spec Agent (Extended)").
		With("skills", jsonvalue.Values(skills, Skill.JSON)).
		Without("securitySchemes")
}
