package present_test

import (
	"bytes"
	"errors"
	"testing"

	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/proxy/expect"
	"a2atap/proxy/recording"
)

// The counts of recorded and lost exchanges are printed even if a damaged file cannot be checked.
func TestWhatWasNotJudgedIsCounted(t *testing.T) {
	var said bytes.Buffer
	p := &present.Recorded{Env: cli.Env{Out: &said, Err: &said}}
	broken := errors.New("the file is damaged")
	stats := recording.Stats{Exchanges: 12, Bytes: 3400, LostExchanges: 5, LostBytes: 600}
	if err := p.End(judgment.Gate{}, "c.a2atap", nil, stats, broken); !errors.Is(err, broken) {
		t.Errorf("it returns %v, want %v", err, broken)
	}
	want := "record: 12 exchanges, 3400 bytes in c.a2atap; NOT recorded: 5 exchanges, 600 bytes\n"
	expect.Equal(t, "it says", want, said.String())
}
