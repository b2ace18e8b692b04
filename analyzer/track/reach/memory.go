package reach

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Bounds of memory. Anything beyond is forgotten, least recently used first.
const (
	maxOrigins  = 1_000 // schemes, hosts and ports, and as many for each client
	maxLinks    = 1_000
	maxRefusals = 8 // of a link
)

// Memory remembers which agents were reachable, and which calls succeeded.
type Memory struct {
	cards   *card.Memory
	led     *recent.Map[led, *Redirect] // by client, and the redirect target
	visits  *recent.Map[led, uint64]    // when a client last requested a URL: Brief.Opened
	origins *recent.Map[string, *origin]
	links   *recent.Map[analysis.Link, *link]
}

// An origin is a scheme, host and port of an agent, and whether a program answers there.
type origin struct {
	answered analysis.Moment    // when its last answer was complete, or broke off
	met      bool               // a connection to it succeeded
	broken   bool               // the last answer was a failure of the server
	attempts int                // failed attempts since, which began after that
	first    *analysis.Exchange // of them
	refused  bool               // the host refused the last connection
	why      string             // the last attempt failed
	agent    bool               // a client takes it for an agent: it was called, or asked for its card
}

// A link is a client and an agent, and how far calls got.
type link struct {
	succeeded bool
	refusals  []Refusal // the first of each interface and dialect
	carried   bool      // a request had credentials, or may have had some that are not on record
	login     *Login    // calls that were refused for missing credentials; nil without any
}

// A Login is a client's calls that were refused for missing credentials. It is the detail of a LoginMissed.
type Login struct {
	Count int

	first *analysis.Exchange // without its bodies
	at    analysis.Place     // of its request
}

// A Redirect is calls, or card fetches, that were redirected. It is the detail of a RedirectMissed.
type Redirect struct {
	Status   int
	Location string // without the query
	Count    int    // how many were redirected
	Lost     bool   // the client followed with GET, and lost the request body
	Past     bool   // the target is the agent's own address, past the recorder: clients that follow are not seen
	Declared bool   // a card names the requested URL

	first    *analysis.Exchange // without its bodies
	dialects a2a.Dialects
}

// led is a client and the target of its redirect. If a client is redirected past the recorder to the same path, a
// repeated request here does not count as following.
type led struct {
	client, url string
	unseen      bool
}
