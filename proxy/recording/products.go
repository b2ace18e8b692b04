package recording

import "strings"

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

// programs has the name of each process that sent a request, the first product of its User-Agent, "" if it has several. A program that reads
// a card over HTTP and calls over gRPC has two libraries, each with its own User-Agent, and is one client.
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
