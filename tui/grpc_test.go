package tui

import (
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"a2atap/proxy/capture/transcript"
)

// Messages of gRPC are shown by their fields, one by one, with what is found in them and in the trailer.
func TestMessagesOfGRPC(t *testing.T) {
	for file, want := range map[string][]string{
		"grpcstatus/grpc-ended-fails.txtar": {
			"2 messages; enter opens one", "·2", "status completed", "trailer grpc-status: 13", "[grpc-ended-fails]",
		},
		"task/task-state-enum-grpc.txtar": {"·2", "the state is 42", "3 messages"},
	} {
		t.Run(file, func(t *testing.T) {
			script, err := transcript.ReadFile(filepath.Join("..", "analyzer", "rules", "testdata", filepath.FromSlash(file)))
			if err != nil {
				t.Fatal(err)
			}
			synctest.Test(t, func(t *testing.T) {
				u := newUI(t, recorded(t, "grpc.txtar", script.Exchanges), 100, 40, Options{})
				u.press("g", "enter")
				u.pass(time.Second)
				for _, text := range want {
					u.sees(text)
				}
			})
		})
	}
}
