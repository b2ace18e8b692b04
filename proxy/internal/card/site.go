package card

import (
	"net"

	"a2atap/proxy/capture"
)

// A Site has the facts about a tap that an Editor needs to rewrite cards. It is made once for all connections.
type Site struct {
	Name string // of the agent, for people

	// Route returns the authority that replaces the one of an address in the agent's card, for a client that has
	// connected to local and named used in Host; "" leaves it unchanged. Notice is for the user; it may be empty.
	Route func(address URL, used string, local net.Addr) (authority, notice string)

	// State describes everything that Route depends on: entity tags of cards that were rewritten in another state are
	// invalid.
	State func(used string, local net.Addr) []string

	Notice func(text string)

	// Leaves means that cards pass unchanged: Route returns only notices, and the Editor is not used as a relay.Editor.
	// It observes answers instead, see Editor.ObserveAnswer.
	Leaves bool

	found paths
}

// Facts receive facts about an exchange. A recording.Conn implements it.
type Facts interface {
	Fact(x int, f capture.Fact)
}
