package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/cmd/internal/demo"
	"a2atap/replay/refagent"
)

// journey [NAME=FAULT...] starts the agents of the demo, without taps, and sets planner_URL, hotels_URL and
// flights_URL. A fault is what the agent does wrong. For flights, it replaces the demo's fault; - means no fault.
func scriptJourney(ts *testscript.TestScript, neg bool, args []string) {
	faults := map[string]string{"flights": demo.Fault}
	for _, arg := range args {
		name, fault, found := strings.Cut(arg, "=")
		if !found || neg {
			ts.Fatalf("usage: journey [NAME=FAULT...]")
		}
		faults[name] = strings.TrimPrefix(fault, "-")
	}
	planner := &demo.Planner{}
	start := func(name string, o refagent.Options) string {
		o.Fault = faults[name]
		a, err := demo.Start(name, o)
		ts.Check(err)
		ts.Defer(a.Stop)
		ts.Setenv(name+"_URL", a.Tap.Agent.String())
		return a.Tap.Agent.String()
	}
	planner.Flights = start("flights", refagent.Options{})
	planner.Hotels = start("hotels", refagent.Options{Push: true, Work: demo.BookRoom})
	start("planner", refagent.Options{Work: planner.Plan})
}
