package replay_test

import (
	"bytes"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/compare"
)

// Notifications in another dialect are compared by their states.
func TestReplayNotifiedTranslated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		from client.Protocol
		o    replay.Options
	}{
		{"0.3 in 1.0", client.JSONRPC03, replay.Options{Dialect: a2a.Of(a2a.V1_0)}},
		{"1.0 in 0.3", client.REST10, replay.Options{Dialect: a2a.Of(a2a.V0_3)}},
		{"1.0 over the other binding", client.REST10, replay.Options{Binding: a2a.JSONRPC}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			start := func(t testing.TB) string { return startPolyglot(t, "") }
			src := recordPush(t, way{c.name, start, c.from})
			r := play(t, src, start(t), c.o)
			wantSame(t, r)
			if r.Deliveries.Expected == 0 || r.Deliveries.Received != r.Deliveries.Expected {
				t.Errorf("deliveries %+v", r.Deliveries)
			}
			failed := edited(t, src, func(x *capture.Exchange) {
				if x.Agent.Name == "webhook" {
					body := bytes.ReplaceAll(x.Request.Body.Data, []byte("completed"), []byte("rejected"))
					x.Request.Body.Data = bytes.ReplaceAll(body, []byte("COMPLETED"), []byte("REJECTED"))
				}
			})
			c.o.Timeout = time.Second
			r = play(t, failed, start(t), c.o)
			if len(r.Differences) == 0 || r.Differences[0].Kind != compare.DifferentDelivery {
				t.Errorf("another state was recorded: %s %v", r.Verdict(), r.Differences)
			}
		})
	}
}
