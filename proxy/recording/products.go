package recording

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
