package probe

import (
	"context"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
)

// A Scenario is one thing to ask an agent, and what must come back.
type Scenario struct {
	// ID names it for good, in lower case with hyphens: error-task-not-found.
	ID string
	// Title says in one line what is asked and what must come.
	Title    string
	Category analysis.Category
	// Level is the requirement word behind it. A broken MUST is an error, a SHOULD a warning, all else a note.
	Level analysis.Level
	// Levels has it for the protocols in which it is another word; may be nil.
	Levels map[client.Protocol]analysis.Level
	// Sections are where the requirement stands, one for each version: "1.0 §3.1.3", "0.3 §7.3".
	Sections []string
	// Protocols are those that it is for; empty for all.
	Protocols []client.Protocol
	// Once says that it is asked once of an agent, not once on each of its interfaces.
	Once bool
	// CardOnly says that it is about the public card, and needs no interface: its session may have no client.
	CardOnly bool
	// Alone says that nothing else may go on at the same time.
	Alone bool
	// First says that it is asked before the others on its interface: those that then fail for the same reason are
	// inconclusive because of it.
	First bool
	// Stranger says that it is about callers whom the agent does not let in, so that it is asked also where the agent
	// wants credentials that it was not given.
	Stranger bool
	// Tags are the groups that it belongs to, and the ids of the same test in public lists: "acceptance", "errors",
	// "CORE-GET-002".
	Tags []string
	// Agent is the path, below the URL under test, of the agent that it is for: scenarios of the acceptance suite, which
	// is for several agents at one origin. Empty for the agent at that URL. Such a scenario names its Protocols.
	Agent string
	// Needs are capabilities without which it is skipped.
	Needs []Capability
	// Fix tells the agent's developers what to do if it fails.
	Fix string
	// Run asks. Its error tells how it came out; nil is a pass.
	Run func(ctx context.Context, s *Session) error
}

// A Capability is something that a card may declare.
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

// prefixes are how the names of cases begin.
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
// same version; empty if it is not so.
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
