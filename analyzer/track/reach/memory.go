package reach

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
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
	visits  *recent.Map[led, uint64]    // when a client last came to a URL: Brief.Opened
	origins *recent.Map[string, *origin]
	ways    *recent.Map[way, string] // why the last exchange got no answer; "" if it got one
	links   *recent.Map[analysis.Link, *link]
}

// A way is one on which a client comes to an agent: with calls of one operation, or with any exchange.
type way struct {
	client, origin string
	operation      a2a.Operation // NoOperation for any exchange
}

// An origin is a scheme, host and port of an agent, and whether anybody is there.
type origin struct {
	answered analysis.Moment    // when its last answer was complete, or broke off
	met      bool               // a connection to it was made: it was there
	broken   bool               // the last answer was a failure of the server
	attempts int                // that failed since, and began after that
	first    analysis.Place     // of them
	last     *analysis.Exchange // the last attempt, if the host refused the connection; nil if the host accepted it
	why      string             // the last attempt failed
	agent    bool               // a client takes it for an agent: it was called, or asked for its card
}

// A link is a client and an agent, and how far calls got.
type link struct {
	succeeded bool
	refusals  []Refusal // the first of each interface and dialect
	carried   bool      // a request had credentials, or may have had some that are not on record
	login     *Login    // calls that were refused for want of credentials; nil if none was
}

// A Login is calls of a client that were refused for want of credentials. It is the detail of a LoginMissed.
type Login struct {
	Count int

	first *analysis.Exchange // without its bodies
	at    analysis.Place     // of its request
}

// A Redirect is calls, or fetches of a card, that were answered with a redirect. It is the detail of a RedirectMissed.
type Redirect struct {
	Status   int
	Location string // without the query
	Count    int    // how many were answered so
	Lost     bool   // the client came with GET, and what it had posted was lost
	Past     bool   // it leads to the agent's own address, which the client does not use: who follows is not seen
	Declared bool   // a card names the URL that was asked

	first    *analysis.Exchange // without its bodies
	dialects a2a.Dialects
}

// led is a client, and where it is led. A client that is led past the recorder to the path that it asked is not seen to
// follow when it asks here again.
type led struct {
	client, url string
	unseen      bool
}
