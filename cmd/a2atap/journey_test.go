package main

import (
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/replay/refagent"
)

// journey [NAME=FAULT...] starts the agents of the demo, without taps, and sets planner_URL, hotels_URL and flights_URL.
// A fault is what that agent does wrong; of flights it is in place of the demo's, and - is none.
func scriptJourney(ts *testscript.TestScript, neg bool, args []string) {
	faults := map[string]string{"flights": demoFault}
	for _, arg := range args {
		name, fault, found := strings.Cut(arg, "=")
		if !found || neg {
			ts.Fatalf("usage: journey [NAME=FAULT...]")
		}
		faults[name] = strings.TrimPrefix(fault, "-")
	}
	planner := &demoPlanner{}
	start := func(name string, o refagent.Options) string {
		o.Fault = faults[name]
		a, err := startDemoAgent(name, o)
		ts.Check(err)
		ts.Defer(a.stop)
		ts.Setenv(name+"_URL", a.tap.Agent.String())
		return a.tap.Agent.String()
	}
	planner.flights = start("flights", refagent.Options{})
	planner.hotels = start("hotels", refagent.Options{Push: true, Work: bookRoom})
	start("planner", refagent.Options{Work: planner.plan})
}
