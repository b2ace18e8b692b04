package probe

import (
	"context"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
)

// A Scenario is one test of an agent: the requests and the expected answer.
type Scenario struct {
	// ID is its permanent name, in lower case with hyphens: error-task-not-found.
	ID string
	// Title describes the request and the expected answer in one line.
	Title    string
	Category analysis.Category
	// Level is the level of its requirement word. A broken MUST is an error, a SHOULD a warning, all else a note.
	Level analysis.Level
	// Levels has the level for protocols with another requirement word; may be nil.
	Levels map[client.Protocol]analysis.Level
	// Sections are the sections with the requirement, one for each version: "1.0 §3.1.3", "0.3 §7.3".
	Sections []string
	// Protocols are the protocols that it applies to; empty for all.
	Protocols []client.Protocol
	// Once means that it runs once per agent, not once on each of its interfaces.
	Once bool
	// CardOnly means that it tests the public card, and needs no interface: its session may have no client.
	CardOnly bool
	// EachSkill means that it gives a task to each skill of the card. Each may take as long as another scenario.
	EachSkill bool
	// Alone means that no other case may run at the same time.
	Alone bool
	// First means that it runs before the others on its interface. Others that fail for the same reason are then
	// inconclusive.
	First bool
	// Stranger means that it tests callers that the agent rejects. It also runs if the agent requires credentials
	// that the run does not have.
	Stranger bool
	// Tags are its groups, and the ids of the same test in public lists: "acceptance", "errors", "CORE-GET-002".
	Tags []string
	// Agent is the path of its agent below the URL under test. It is for scenarios of the acceptance suite, which
	// tests several agents at one origin. Empty means the agent at that URL. Such a scenario names its Protocols.
	Agent string
	// Needs are capabilities without which it is skipped.
	Needs []Capability
	// Fix tells the agent's developers how to fix a failure.
	Fix string
	// Run runs the scenario. It returns the outcome as an error; nil is a pass.
	Run func(ctx context.Context, s *Session) error
}

// A Capability is a feature that a card may declare.
type Capability string

// The capabilities.
const (
	Streaming    Capability = "streaming"
	Push         Capability = "push notifications"
	ExtendedCard Capability = "an extended card"
)

// Has reports whether a card declares the capability.
func (c Capability) Has(card *client.Card) bool {
	switch c {
	case Streaming:
		return card.Streaming
	case Push:
		return card.Push
	case ExtendedCard:
		return card.Extended
	}
	return false
}

// prefixes are the first parts of case names.
var prefixes = map[client.Protocol]string{
	client.JSONRPC10: "jsonrpc",
	client.REST10:    "rest",
	client.GRPC10:    "grpc",
	client.JSONRPC03: "v03",
	client.REST03:    "v03-rest",
	client.GRPC03:    "v03-grpc",
	client.JSONRPC01: "v01",
	client.Early:     "legacy",
}

// caseName returns the name of a scenario on an interface: jsonrpc/error-task-not-found.
func caseName(s *Scenario, version string, p client.Protocol) string {
	prefix := prefixes[p]
	switch {
	case s.Once:
		return s.ID
	case p == client.JSONRPC03 && version == "0.2":
		prefix = "v02"
	case prefix == "":
		prefix = strings.ToLower(p.Version)
	}
	return prefix + "/" + s.ID
}

// LevelIn returns the requirement word in a protocol.
func (s *Scenario) LevelIn(p client.Protocol) analysis.Level {
	if level, ok := s.Levels[p]; ok {
		return level
	}
	return s.Level
}

// foreign returns why a scenario has no meaning in a protocol over gRPC, though it has one in other bindings of the
// same version; empty if it has one.
func (s *Scenario) foreign(p client.Protocol) string {
	if !p.OverGRPC() || s.fits(p) {
		return ""
	}
	var about []string
	for _, other := range s.Protocols {
		if other.Version == p.Version {
			about = append(about, other.Binding)
		}
	}
	switch slices.Sort(about); {
	case len(about) == 0:
		return ""
	case about[0] == client.JSONRPC10.Binding:
		return "it is about JSON-RPC"
	case len(about) == 1:
		return "it is about HTTP+JSON"
	}
	return "it is about HTTP and JSON"
}

// fits reports whether a scenario is for a protocol.
func (s *Scenario) fits(p client.Protocol) bool {
	return len(s.Protocols) == 0 || slices.Contains(s.Protocols, p)
}
