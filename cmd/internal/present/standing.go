package present

import (
	"fmt"

	"a2atap/analyzer"
	"a2atap/analyzer/track/push"
)

// Standing is told at the end of a recording which push notification configs still point at it.
func (p *Recorded) Standing(all []push.Standing) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.configs = all
}

// maxStanding bounds the configs that are listed as text.
const maxStanding = 20

// printStanding lists the push notification configs that still point at the recorder. Nobody else prints any more.
func (p *Recorded) printStanding() {
	if p.JSON {
		for _, c := range p.configs {
			p.object("webhook", struct {
				Agent   string `json:"agent"`
				Client  string `json:"client"`
				Task    string `json:"task"`
				Config  string `json:"config,omitempty"`
				Address string `json:"address"`
			}{c.Link.Agent, c.Link.Client, c.TaskID, c.ConfigID, c.At})
		}
	}
	if len(p.configs) == 0 {
		return
	}
	fmt.Fprintf(p.Env.Err, "record: %s still %s at this recorder, of tasks that were not seen to end. Until one with the "+
		"same redaction key listens there again, notifications fail. Delete them at the agent, or start record again with "+
		"--agent NAME=URL@PORT:\n", analyzer.Plural(len(p.configs), "push notification config"), pointWord(len(p.configs)))
	for i, c := range p.configs {
		if i == maxStanding {
			fmt.Fprintf(p.Env.Err, "  and %d more\n", len(p.configs)-maxStanding)
			break
		}
		line := "  " + c.Link.Agent + ": task " + orUnknown(c.TaskID)
		if c.ConfigID != "" {
			line += ", config " + c.ConfigID
		}
		fmt.Fprintln(p.Env.Err, analyzer.Clean(line+", of "+c.Link.Client+", at "+c.At))
	}
}

func pointWord(n int) string {
	if n == 1 {
		return "points"
	}
	return "point"
}

func orUnknown(id string) string {
	if id == "" {
		return "not known"
	}
	return id
}
