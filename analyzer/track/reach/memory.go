package reach

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
)

// Bounds of what is remembered. What goes beyond is forgotten, least recently used first.
const (
	maxOrigins  = 1_000 // schemes, hosts and ports, and as many for each client
	maxLinks    = 1_000
	maxRefusals = 8 // of a link
)

// Memory is what is remembered of who gets through.
type Memory struct {
	cards   *card.Memory
	led     *recent.Map[led, *Redirect] // by client, and where it is led
	origins *recent.Map[string, *origin]
	ways    *recent.Map[way, string] // what kept the last exchange from the agent; "" if nothing did
	links   *recent.Map[analysis.Link, *link]
}

// A way is one on which a client comes to an agent.
type way struct{ client, origin string }

// An origin is a scheme, host and port of an agent, and whether anybody is there.
type origin struct {
	answered analysis.Moment // when its last answer was complete
	broken   string          // place of the last answer, if that was a failure of the server
	attempts int             // that failed since, and began after that
	first    analysis.Place  // of them
	last     *analysis.Exchange
	why      string // the last one failed
	agent    bool   // somebody takes it for an agent: it was called, or asked for its card
}

// A link is a client and an agent, and how far calls got.
type link struct {
	succeeded bool
	refusals  []Refusal // the first of each interface and dialect
	carried   bool      // a request had credentials, or may have had some that are not on record
	login     *Login    // calls that were refused for want of credentials; nil if none was
}
