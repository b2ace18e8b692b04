//go:build unix

package present

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
)

func TestPaint(t *testing.T) {
	line := []piece{{"1  ", inkDim}, {"a\x1b[2Jb http://u:pw@h/ ", inkPlain}, {"failed", inkBad}, {"  ", inkGood}}
	for _, tt := range []struct {
		colours bool
		want    string
	}{
		{false, "1  a\ufffd[2Jb http://…@h/ failed"},
		{true, "\x1b[2m1  \x1b[m" + "a\ufffd[2Jb http://…@h/ " + "\x1b[1;31mfailed\x1b[m"},
	} {
		expect.Equal(t, fmt.Sprintf("colours %v", tt.colours), tt.want, paint(tt.colours, line...))
	}
}

// Output in color has the same text as without: each color is reset.
func TestColoursSayNothingAlone(t *testing.T) {
	x := summary.Summary{
		Seq: 7, Link: analysis.Link{Client: "c", Agent: "a"}, Asked: "SendMessage", Status: 200, Events: 3,
		Tasks: []string{"t1"}, State: a2a.Failed, Fault: &capture.TransportFault{Kind: "reset", Side: "agent"},
	}
	x.Outcome.Failure = "TaskNotFound"
	painted := paint(true, PassedLine(&x)...)
	plain := painted
	for _, i := range []ink{inkDim, inkGood, inkBad, inkWarn, inkNote} {
		plain = string(bytes.ReplaceAll([]byte(plain), []byte("\x1b["+string(i)+"m"), nil))
	}
	plain = string(bytes.ReplaceAll([]byte(plain), []byte("\x1b[m"), nil))
	if want := paint(false, PassedLine(&x)...); plain != want || painted == want {
		t.Errorf("painted %q, want %q", painted, want)
	}
}

func TestWhenColours(t *testing.T) {
	terminal, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Fatalf("open a terminal: %v", err)
	}
	defer terminal.Close()
	for _, tt := range []struct {
		name    string
		env     map[string]string
		noColor bool
		file    *os.File
		want    bool
	}{
		{"terminal", nil, false, terminal, true},
		{"flag", nil, true, terminal, false},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1"}, false, terminal, false},
		{"dumb", map[string]string{"TERM": "dumb"}, false, terminal, false},
		{"pipe", nil, false, nil, false},
	} {
		e := cli.Env{Getenv: func(name string) string { return tt.env[name] }, Common: &cli.CommonFlags{NoColor: tt.noColor}}
		got := e.Colours(&bytes.Buffer{})
		if tt.file != nil {
			got = e.Colours(tt.file)
		}
		expect.Equal(t, fmt.Sprintf("%s: coloured", tt.name), tt.want, got)
	}
}
