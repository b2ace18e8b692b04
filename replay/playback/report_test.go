package playback_test

import (
	"testing"

	"a2atap/replay/playback"
)

// The list of unrequested exchanges fits on a screen, however long the recording is.
func TestNotRequested(t *testing.T) {
	var r playback.Report
	for seq := range uint64(21) {
		r.Unused = append(r.Unused, playback.Unused{Exchange: seq + 1, Operation: "GetTask"})
	}
	lines := r.NotRequested()
	if len(lines) != 21 || lines[19] != "not requested: exchange 20 GetTask" || lines[20] != "not requested: 1 more exchange" {
		t.Errorf("%q", lines)
	}
	r.Unused = r.Unused[:20]
	if lines := r.NotRequested(); len(lines) != 20 {
		t.Errorf("of twenty: %q", lines)
	}
}
