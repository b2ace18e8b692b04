package judged_test

import (
	"context"
	"io"
	"iter"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/proxy/capture"
)

// A broken source panics when it is judged, as a rule could.
type broken struct{ capture.Source }

func (broken) Steps(context.Context, uint64) iter.Seq2[capture.Step, error] {
	panic("a mistake of ours")
}

// A panic while a capture is judged beside the inspector ends the judging, and not the inspector.
func TestPanicWhileRead(t *testing.T) {
	src := broken{capture.NewMemory(capture.Info{Name: "test"})}
	k := judged.KeeperOf(t.Context(), cli.Env{Out: io.Discard, Err: io.Discard}, "tui", "-", src)
	j, making := k.WhileRead(t.Context())
	if j == nil {
		t.Fatal("there is no reading")
	}
	<-making
	if j.Head().Ended {
		t.Error("the reading says that all was judged")
	}
	if err := j.Close(); err != nil {
		t.Error(err)
	}
}
