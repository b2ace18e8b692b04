package replay

import (
	"fmt"
	"slices"
	"strings"
)

// noteCallers says which live agents were clients, too: what they sent is sent again, as all that went to the agents that
// are replayed, and they make such calls themselves as well.
func (p *player) noteCallers() {
	asked := map[string][]string{} // by caller
	var callers, others []string
	for _, e := range p.plan.entries {
		switch {
		case e.skip != "" || e.webhook || e.client == "" || p.targets[e.agent] == nil:
		case p.targets[e.client] == nil:
			if !slices.Contains(others, e.client) {
				others = append(others, e.client)
			}
		case e.client != e.agent && !slices.Contains(asked[e.client], e.agent):
			if asked[e.client] == nil {
				callers = append(callers, e.client)
			}
			asked[e.client] = append(asked[e.client], e.agent)
		}
	}
	for _, name := range callers {
		text := fmt.Sprintf("what %s asked of %s was sent again, beside the calls that it makes itself now that it is live",
			name, strings.Join(asked[name], " and "))
		if len(others) == 1 {
			text += fmt.Sprintf("; --filter client:%s plays only what %s sent", others[0], others[0])
		}
		p.note(text)
	}
}
