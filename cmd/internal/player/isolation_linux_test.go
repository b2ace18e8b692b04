package player

import (
	"bytes"
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/playback"
)

// A connection of a child that leads elsewhere is seen, unless that service is live. It is reported, and with
// --require-isolated it decides, unless a miss does.
func TestIsolation(t *testing.T) {
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	conn := must.Get(net.Dial("tcp", l.Addr().String()))(t)
	defer conn.Close()
	other := must.Get(l.Accept())(t)
	defer other.Close()
	at := l.Addr().String()
	must.Do(t, l.Close()) // from now on, it is no address of this process
	held := must.Get(conn.(*net.TCPConn).File())(t)
	defer held.Close()
	child := exec.Command("cat")
	child.ExtraFiles = []*os.File{held}
	in := must.Get(child.StdinPipe())(t)
	must.Do(t, child.Start())
	defer child.Wait() //nolint:errcheck // it ends with its input
	defer in.Close()

	player := must.Get(playback.New(t.Context(), recorded(t), playback.Options{Upstream: upstream}))(t)
	defer player.Close()
	for _, tt := range []struct {
		name  string
		flags Flags
		live  string
		code  int
		want  string
	}{
		{"seen", Flags{allowEmpty: true}, "", cli.ExitOK, "not isolated: the program connected past a2atap to " + at},
		{"required", Flags{allowEmpty: true, isolated: true}, "", cli.ExitInconclusive, "not isolated: the program connected past a2atap to " + at},
		{"live", Flags{allowEmpty: true, isolated: true}, "http://" + at, cli.ExitOK, "isolated: no connection past a2atap was seen"},
	} {
		var said bytes.Buffer
		r := &run{env: cli.Env{Err: &said, Common: &cli.CommonFlags{}}, flags: &tt.flags, player: player, live: map[string]bool{playback.Upstream(tt.live): true}}
		r.look()
		code := cli.ExitOK
		if exit, ok := errors.AsType[*cli.Exit](r.verdict("planner", 0)); ok {
			code = exit.Code
		}
		expect.Equal(t, tt.name+": exit status", tt.code, code)
		if !strings.Contains(said.String(), "playback: "+tt.want+"\n") {
			t.Errorf("%s: got %s", tt.name, said.String())
		}
		if notes := r.report(new(player.Report()), "planner", 0).Notes; notes[len(notes)-1] != tt.want {
			t.Errorf("%s: notes %q", tt.name, notes)
		}
	}
	unknown := &run{env: cli.Env{Err: &bytes.Buffer{}, Common: &cli.CommonFlags{}}, flags: &Flags{allowEmpty: true, isolated: true}, player: player}
	exit, _ := errors.AsType[*cli.Exit](unknown.verdict("planner", 0))
	expect.Equal(t, "where the system shows nothing", cli.ExitInconclusive, exit.Code)
}
