package main

import (
	"strings"
	"testing"

	"a2atap/replay/refagent"
)

// K4: a card from before 0.1 that lacks modes of a skill does not say which version it is of. Send tries one after the
// other until the agent knows the method, and says which.
func TestSendFindsTheVersion(t *testing.T) {
	t.Parallel()
	modes := `,"inputModes":["text/plain"],"outputModes":["text/plain"]}`
	url := missionAgents(t, strings.NewReplacer(`"examples":["multi-turn start conversation"]`+modes,
		`"examples":["multi-turn start conversation"]}`), refagent.Options{}, "legacy")
	for _, mode := range []string{"send", "stream"} {
		code, out, errs := runInside(t.Context(), "send", "--mode", mode, "--poll-interval", "1ms", url, "task-lifecycle please")
		if code != 0 || !strings.Contains(out, ": completed\n") || !strings.Contains(errs, "the card does not say its version") {
			t.Errorf("%s: exit %d\n%s%s", mode, code, out, errs)
		}
	}
	code, out, errs := runInside(t.Context(), "send", "--protocol", "0.3-jsonrpc", url, "task-lifecycle please")
	if code != 3 || !strings.Contains(errs, "Method not found: message/") {
		t.Errorf("the version that was asked for: exit %d\n%s%s", code, out, errs)
	}
}
