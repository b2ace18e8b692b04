package tui

import (
	"testing"
	"testing/synctest"
	"time"

	"a2atap/analyzer/rulestest"
)

// Messages of gRPC are shown by their fields, one by one, with what is found in them and in the trailer.
func TestMessagesOfGRPC(t *testing.T) {
	for name, want := range map[string][]string{
		"grpcstatus/grpc-ended-fails": {
			"2 messages; enter opens one", "·2", "status completed", "trailer grpc-status: 13", "[grpc-ended-fails]",
		},
		"task/task-state-enum-grpc": {"·2", "the state is 42", "3 messages"},
	} {
		t.Run(name, func(t *testing.T) {
			exchanges := rulestest.Exchanges(t, name)
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, recorded(t, "grpc.txtar", exchanges), 100, 40, Options{})
				u.press("g", "enter")
				u.pass(time.Second)
				for _, text := range want {
					u.sees(text)
				}
			})
		})
	}
}
