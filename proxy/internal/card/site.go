package card

import (
	"net"

	"a2atap/proxy/capture"
)

// A Site is the tap that cards are rewritten in: what an Editor has to know of it. It is made once for all connections.
type Site struct {
	Name string // of the agent, for people

	// Route returns the authority that takes the place of that of an address in the agent's card, for a client that has
	// reached us at local and has named used in Host; "" leaves it as it is. Notice is for the user; "" is none.
	Route func(address URL, used string, local net.Addr) (authority, notice string)

	// State describes all that Route depends on: entity tags of cards that were rewritten in another state do not hold.
	State func(used string, local net.Addr) []string

	Notice func(text string)

	// Leaves says that cards pass as they came: Route returns notices alone, and the Editor is no relay.Editor. It is told
	// of answers then, see Editor.ObserveAnswer.
	Leaves bool

	found paths
}

// Facts take what is learned of an exchange. A recording.Conn does.
type Facts interface {
	Fact(x int, f capture.Fact)
}
