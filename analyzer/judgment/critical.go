package judgment

import (
	"slices"

	"a2atap/analyzer/analysis"
)

// Critical names the missing agents, each once, in the order of detection.
type Critical struct {
	Gone         []string // at the end of a recording
	NeverReached []string // during the whole recording
}

// Agents returns all missing agents; nil if none was missing.
func (c Critical) Agents() []string { return slices.Concat(c.Gone, c.NeverReached) }

// String returns the agents as text for a verdict, each after a semicolon.
func (c Critical) String() string {
	var text string
	for _, agent := range c.Gone {
		text += "; critical: agent " + analysis.Clean(agent) + " was gone at the end"
	}
	for _, agent := range c.NeverReached {
		text += "; critical: agent " + analysis.Clean(agent) + " was never reached"
	}
	return text
}

// add adds an agent that a finding reports as missing.
func (c *Critical) add(absence analysis.Absence, agent string) {
	switch {
	case absence == analysis.Gone && !slices.Contains(c.Gone, agent):
		c.Gone = append(c.Gone, agent)
	case absence == analysis.NeverReached && !slices.Contains(c.NeverReached, agent):
		c.NeverReached = append(c.NeverReached, agent)
	}
}

// merge adds the agents that another capture misses.
func (c *Critical) merge(other Critical) {
	for _, agent := range other.Gone {
		c.add(analysis.Gone, agent)
	}
	for _, agent := range other.NeverReached {
		c.add(analysis.NeverReached, agent)
	}
}
