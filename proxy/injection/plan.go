package injection

import (
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/a2a"
)

// A Plan selects the faults for the answers of one agent. It counts calls over all connections, and may be used by
// several goroutines.
type Plan struct {
	mu     sync.Mutex
	faults []counted
	keeps  bool // one of them keeps requests from the agent
}

// counted is a fault, and the number of calls that could have had it.
type counted struct {
	fault Fault
	calls int
}

// PlanFor returns the plan for the agent with that name, or nil if it gets no faults.
func PlanFor(agent string, specs []Spec) *Plan {
	p := &Plan{}
	for _, s := range specs {
		if s.Agent == "*" || s.Agent == agent {
			p.faults = append(p.faults, counted{fault: s.Fault})
			p.keeps = p.keeps || s.Fault.Kind.keepsRequest()
		}
	}
	if len(p.faults) == 0 {
		return nil
	}
	return p
}

// choose counts a call, and returns the fault for its answer, or nil. If several faults apply, the first counts. unfit
// has the faults that would apply over another transport.
func (p *Plan) choose(o a2a.Operation, over wire) (chosen *Fault, unfit []*Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range p.faults {
		c := &p.faults[i]
		switch {
		case !c.fault.concerns(o):
			continue
		case c.fault.Kind.needs() > over:
			unfit = append(unfit, &c.fault)
			continue
		}
		c.calls++
		if chosen == nil && c.fault.When.Includes(c.calls) {
			chosen = &c.fault
		}
	}
	return chosen, unfit
}

// Unknown returns the names of agents in specs that are not among those given, in the order of specs.
func Unknown(specs []Spec, agents []string) []string {
	var unknown []string
	for _, s := range specs {
		if s.Agent != "*" && !slices.Contains(agents, s.Agent) && !slices.Contains(unknown, s.Agent) {
			unknown = append(unknown, s.Agent)
		}
	}
	return unknown
}

// Words lists faults for people.
func Words(specs []Spec) string {
	words := make([]string, len(specs))
	for i, s := range specs {
		words[i] = s.String()
	}
	return strings.Join(words, "; ")
}
