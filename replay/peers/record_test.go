package peers

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

// check ends the recording and compares the capture with the agent's traffic, the findings with the pair's confirmed
// ones, and the capture with its conversions to other formats.
func (tp *tap) check(t *testing.T, pair Pair, r Result) {
	t.Helper()
	src := tp.capture(t)
	exchanges := capturetest.ReadAll(t, src)
	tp.checkWhole(t, pair, src, exchanges)
	checkFaults(t, pair, exchanges)
	if diff := compareTraffic(r, exchanges); diff != "" {
		t.Errorf("by connection, the agent got and sent something else than is in the capture (-agent +capture):\n%s", diff)
	}

	judged := judge(t, src)
	if judged.Counts.Judged != len(exchanges) {
		t.Errorf("%d of %d exchanges were judged, want all", judged.Counts.Judged, len(exchanges))
	}
	checkFindings(t, pair, judged.Findings)
	for _, watcher := range tp.watchers {
		live := <-watcher
		if live.err != nil {
			t.Errorf("follow the capture: %v", live.err)
			continue
		}
		same(t, "while it was recorded", judged, live.result)
	}
	checkReading(t, src, judged)
	checkExports(t, exchanges, judged)
	checkRedaction(t, src, judged)
}

// capture ends the recording and opens the capture.
func (tp *tap) capture(t *testing.T) capture.Source {
	t.Helper()
	if err := tp.stop(); err != nil {
		t.Fatalf("end the recording: %v", err)
	}
	if err := bolt.Check(t.Context(), tp.file); err != nil {
		t.Errorf("the capture is damaged: %v", err)
	}
	src := must.Get(bolt.Read(tp.file))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

// checkWhole checks that nothing is open, interrupted, cut or lost, and that only agent cards were changed.
func (tp *tap) checkWhole(t *testing.T, pair Pair, src capture.Source, exchanges []*capture.Exchange) {
	t.Helper()
	info := must.Get(src.Info(t.Context()))(t)
	if info.Exchanges != uint64(len(exchanges)) || info.LostExchanges != 0 || info.LostBytes != 0 || info.Live {
		t.Errorf("the capture says %+v, want %d exchanges, nothing lost, ended", info, len(exchanges))
	}
	if len(tp.notices) > 0 || (len(tp.further) == 1) != pair.Agent.Apart || len(tp.further) > 1 {
		t.Errorf("the user was told %q, and taps %q opened by themselves; want none, but for an agent with two ports",
			tp.notices, tp.further)
	}
	for _, x := range exchanges {
		if x.State != capture.StateClosed || x.Lost != 0 || len(x.Notes) > 0 {
			t.Errorf("%s: state %s, %d bytes lost, notes %q; want it closed and nothing else", title(x), x.State, x.Lost,
				x.Notes)
		}
		request, response := &x.Request.Body, &x.Response.Body
		if !request.Complete || !request.Kept() || !response.Complete && x.Fault == nil || response.Dropped != 0 {
			t.Errorf("%s: not all is in the capture: %+v %+v", title(x), request, response)
		}
		if card := isWellKnown(x); card != (len(x.Rewrites) > 0) {
			t.Errorf("%s: rewrites %v; want some in an agent card and nowhere else", title(x), x.Rewrites)
		}
	}
}

// leaves says how many streams a client leaves, at least and at most, by pair: those that it cannot read. It has to
// leave the streams that wait for it; one that ends by itself may have ended before.
var leaves = map[string]struct{ min, max int }{
	"js03-py03-rest": {2, 3}, // the agent writes an event in many data lines, as it may; the client reads the first

	// This client leaves each stream after the final status, unless its end has come first.
	"java03-go03-jsonrpc":      {0, 3},
	"java03-go2hybrid-jsonrpc": {0, 3},
	"java03-js03-jsonrpc":      {0, 3},
	"java03-js03-rest":         {0, 3},
	"java03-py03-jsonrpc":      {0, 3},
}

// checkFaults checks that no exchange broke except those streams.
func checkFaults(t *testing.T, pair Pair, exchanges []*capture.Exchange) {
	t.Helper()
	left := 0
	for _, x := range exchanges {
		switch {
		case x.Fault == nil:
		case x.Response != nil && x.Response.Stream && x.Fault.Kind == "client-left" && x.Fault.Side == "client":
			left++
		case bytes.HasPrefix(x.Request.Head, []byte("DELETE ")) && x.Response != nil && x.Fault.Side == "client":
			// the status tells all, and some SDKs do not read the rest
		default:
			t.Errorf("%s broke: %+v", title(x), x.Fault)
		}
	}
	if want := leaves[pair.String()]; left < want.min || left > want.max {
		t.Errorf("the client left %d streams, want %d to %d", left, want.min, want.max)
	}
}

func isWellKnown(x *capture.Exchange) bool {
	return strings.Contains(capture.ParseRequestHead(x.Request.Head).Target, "/.well-known/agent")
}

func title(x *capture.Exchange) string {
	return fmt.Sprintf("exchange %d, %s", x.Seq, capture.ParseRequestHead(x.Request.Head).Target)
}

// checkNotifications checks that each notification to the client's webhook passed the tap and is recorded, and that
// the record contains none of the tap's addresses.
func (tp *tap) checkNotifications(t *testing.T, r Result) {
	t.Helper()
	src := tp.capture(t)
	came, recorded := 0, 0
	for _, line := range r.Seen {
		if strings.HasPrefix(line, "webhook: ") {
			came++
		}
	}
	for _, x := range capturetest.ReadAll(t, src) {
		head := capture.ParseRequestHead(x.Request.Head)
		if strings.Contains(string(x.Request.Head), "/.a2atap/") || bytes.Contains(x.Request.Body.Data, []byte("/.a2atap/")) ||
			x.Response != nil && bytes.Contains(x.Response.Body.Data, []byte("/.a2atap/")) {
			t.Errorf("%s: an address of ours is in the record", title(x))
		}
		if name, _, _ := strings.Cut(x.Client.Name, ":"); name != tp.agent { // its further tap has a port in its name
			continue
		}
		recorded++
		if head.Method != "POST" || x.Response == nil || x.Fault != nil {
			t.Errorf("%s: fault %v; want a notification that was answered", title(x), x.Fault)
		}
	}
	if came == 0 || recorded != came {
		t.Errorf("%d notifications are recorded, %d came", recorded, came)
	}
}
