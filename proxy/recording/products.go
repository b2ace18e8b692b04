package recording

import (
	"strings"
	"time"

	"a2atap/proxy/capture"
)

// A Caller is the client of one connection during the search for its identity.
type Caller struct {
	Until   time.Time // that its name is waited for
	InDoubt bool      // it may be an agent whose process is known, until the search is over

	Done      chan struct{} // closed when the search is over
	Name, How string        // set before that; empty if it is not a known agent
	Unseen    bool          // set before that: it may be an agent, but was gone when its process was looked up
	Home      capture.Home  // its ports are also set before that
	Process   int           // set before that: its process id, which is never recorded; 0 if unknown
}

// name returns the client's name if it is an agent's. It is unseen if it may be an agent: then its User-Agent, which
// all programs with the same library share, would be a second name. A nil Caller has neither.
func (c *Caller) name(agent string) (name, how string, unseen bool) {
	if c == nil {
		return "", "", false
	}
	select {
	case <-c.Done:
		if c.Name != agent {
			name, how = c.Name, c.How
		}
		return name, how, c.Unseen
	default:
		return "", "", c.InDoubt
	}
}

// unnamed reports whether the client was looked up and not found to be an agent.
func (c *Caller) unnamed() bool {
	if c == nil {
		return false
	}
	select {
	case <-c.Done:
		return c.Name == ""
	default:
		return true
	}
}

// maxProducts bounds the products whose programs are remembered.
const maxProducts = 1000

// products has the first products of User-Agents, and whether an agent's process has sent them. Such a product does not
// name a client whose process was not seen: it may be that agent.
type products map[string]bool

// note notes which kind of program sent a product, if the search for its process has succeeded.
func (p products) note(product string, c *Caller) {
	if c == nil {
		return
	}
	select {
	case <-c.Done:
		if _, known := p[product]; !c.Unseen && (known || len(p) < maxProducts) {
			p[product] = p[product] || c.Name != ""
		}
	default:
	}
}

// maxPrograms bounds the processes whose names are remembered.
const maxPrograms = 1000

// programs has the name of each process that sent a request: the first product of its User-Agent, or "" if it has
// several. A program that reads a card over HTTP and calls over gRPC has two libraries, each with its own User-Agent, and
// is one client.
type programs map[int]string

// name returns the name of a program that sent a product: the first product of its process, if one of the two is a gRPC
// library's. Any other second product is how a program that plays several clients distinguishes them.
func (p programs) name(product string, c *Caller) string {
	if c == nil {
		return product
	}
	select {
	case <-c.Done:
	default:
		return product
	}
	first, known := p[c.Process]
	switch {
	case c.Process == 0, known && first == "":
	case !known:
		if len(p) < maxPrograms {
			p[c.Process] = product
		}
	case isGRPC(first) != isGRPC(product):
		return first
	case first != product:
		p[c.Process] = ""
	}
	return product
}

// isGRPC reports whether a product is a library of gRPC, such as grpc-go or grpc-java-netty.
func isGRPC(product string) bool {
	return product == "tonic" || strings.HasPrefix(product, "grpc-")
}
