package replay_test

import (
	"context"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/injection"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// A faithful client gets each fault from a faithful agent, over each binding. The record marks the fault, and neither
// side is blamed.
func TestFaultsMadeByTheTap(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		fault  string
		stream bool
		fails  bool
		events int // at least
	}{
		{"delay=5ms", false, false, 1},
		{"status=503", false, true, 0},
		{"status=503", true, true, 0},
		{"reset", false, true, 0},
		{"reset-body", false, true, 0},
		{"reset-body", true, true, 0},
		{"content-type=text/html", false, false, 1},
		{"delay-events=1ms", true, false, 3},
		{"cut-stream=2", true, true, 2},
		{"end-stream=2", true, false, 2},
		{"duplicate-event=2", true, false, 4},
		{"grpc-status=UNAVAILABLE", false, true, 0},
		{"grpc-status=ABORTED", true, true, 0},
		{"reset=ENHANCE_YOUR_CALM", false, true, 0},
		{"cut-stream=0", true, true, 0},
		{"goaway", false, false, 1},
		{"goaway", true, false, 4},
	} {
		for _, p := range []client.Protocol{client.JSONRPC10, client.REST10, client.GRPC10, client.GRPC03} {
			over2 := p == client.GRPC10 || p == client.GRPC03
			if !over2 && (strings.HasPrefix(tt.fault, "grpc") || strings.HasPrefix(tt.fault, "goaway")) {
				continue // which has no meaning there
			}
			t.Run(tt.fault+" "+p.String(), func(t *testing.T) {
				spec := must.Get(injection.Parse("booker:" + tt.fault))(t)
				name, options := "spec", refagent.Options{}
				if p == client.GRPC03 {
					name = "spec03"
				}
				if over2 {
					options.Bindings = []string{"grpc"}
				}
				agent := agenttest.Start(t, name, options)
				events := 0
				var failed error
				src := agenttest.Record(t, agenttest.Recording{Faults: []injection.Spec{spec}}, map[string]string{"booker": agent}, func(taps map[string]string) {
					c := agenttest.Connect(t, taps["booker"], p, client.Options{})
					if !tt.stream {
						if _, failed = c.Send(t.Context(), client.Text("task-lifecycle"), client.SendOptions{}); failed == nil {
							events = 1
						}
						return
					}
					for _, err := range c.Stream(t.Context(), client.Text("task-lifecycle"), client.SendOptions{}) {
						if failed = err; err != nil {
							break
						}
						events++
					}
				})
				fails, least := tt.fails, tt.events
				if over2 && strings.HasPrefix(tt.fault, "content-type") { // which says that it is not gRPC
					fails, least = true, 0
				}
				if (failed != nil) != fails || events < least {
					t.Errorf("the client got %d events and %v", events, failed)
				}
				result := must.Get(engine.Run(context.Background(), rules.All, src, nil))(t)
				for _, f := range result.Findings {
					if f.Side == a2a.Agent {
						t.Errorf("the agent is blamed: %s", &f)
					}
				}
				if calls := result.Verdict(analysis.Error).Calls; result.Counts.Made != 1 || calls.Made != 0 {
					t.Errorf("%d exchanges with faults, calls %+v", result.Counts.Made, calls)
				}
			})
		}
	}
}
