package card

import (
	"strings"
	"sync"
	"time"

	"a2atap/proxy/capture"
)

const (
	patience     = 500 * time.Millisecond // for which an answer that may be a card is held
	maxCardPaths = 1000                   // that a tap remembers
)

// paths are the targets, with queries, of cards at unusual paths. Its size is bounded: a forgotten card is found again.
type paths struct {
	mu      sync.Mutex
	targets map[string]bool
}

func (c *paths) has(target string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.targets[target]
}

func (c *paths) add(target string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.targets == nil || len(c.targets) >= maxCardPaths {
		c.targets = make(map[string]bool)
	}
	c.targets[target] = true
}

// acceptsJSON reports whether a client accepts JSON as an answer: RFC 9110 section 12.5.1.
func acceptsJSON(h *capture.Head) bool {
	values := h.Fields.Values("Accept")
	if len(values) == 0 {
		return true
	}
	for _, v := range values {
		v = strings.ToLower(v)
		if strings.Contains(v, "json") || strings.Contains(v, "*/*") || strings.Contains(v, "application/*") {
			return true
		}
	}
	return false
}
