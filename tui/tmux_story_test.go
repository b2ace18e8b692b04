//go:build peers

package tui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// A user follows a bug in a real terminal: a growing recording, a finding, a mark, a comparison with another call, the
// same request again, and an export of the response.
func TestStoryInTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	program, tap := recordAgent(t, dir)
	send := func(args ...string) {
		t.Helper()
		if out, err := exec.Command(program, append([]string{"send", tap}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("send: %v\n%s", err, out)
		}
	}
	editor := filepath.Join(dir, "editor")
	script := "#!/bin/sh\nexec sed -i.was 's/two tickets/three tickets/' \"$1\"\n"
	if err := os.WriteFile(editor, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}

	s := screen{t: t, socket: filepath.Join(dir, "tmux")}
	s.tmux("new-session", "-d", "-s", "it", "-x", "100", "-y", "30", "-c", dir,
		"env TERM=screen-256color VISUAL="+editor+" "+program+" tui c.a2atap; echo ended with $?; exec sleep 60")
	t.Cleanup(func() { s.tmux("kill-server") })
	s.shows("nothing recorded yet")
	send("task-lifecycle: a room", "--mode", "send")
	s.shows("SendMessage")
	send("--stream", "streaming two tickets")
	s.shows("SendStreamingMessage", "1 error, live")

	s.keys("n")
	s.shows(">!  4 ")
	s.keys("x")
	s.shows(">!  4*", "4 is marked")
	s.keys("#")
	s.shows("comment on 4:")
	s.keys("-l", "the stream goes on")
	s.keys("Enter")
	s.shows("# the stream goes on", "4 has your comment")

	send("--stream", "streaming four tickets")
	s.shows("2 errors, live")
	s.keys("G")
	s.shows(">!  6 ")
	s.keys("D")
	s.shows("diff of 4 and 6", "no difference")
	s.keys("Tab")
	s.shows("lines that differ", "streaming two tickets", "streaming four tickets")
	s.keys("q")

	s.keys("N")
	s.shows(">!  4*")
	s.keys("r")
	s.shows("send POST http://127.0.0.1:", "it stays on this machine", "saved in c-resent.a2atap", "> n ")
	s.keys("n")
	s.shows("nothing was sent")
	s.keys("r")
	s.shows("e  edit it first")
	s.keys("e")
	s.shows("(edited)")
	s.keys("y")
	s.shows("exchange 1 in c-resent.a2atap", "SendStreamingMessage 200")
	s.keys("o")
	s.shows("1 in c-resent.a2atap", "three tickets")
	s.keys("q")
	s.shows(">!  4*")
	s.keys("R")
	s.shows("1 request of the task")
	s.keys("y")
	s.shows("no difference; 1 sent, 1 matched")
	s.keys("q")
	s.shows(">!  4*")
	s.keys("E")
	s.shows("marked: 1 exchange")
	s.keys("m")
	s.shows("transcript, HTTP as text")
	s.keys("t")
	s.shows("write to c-marked.txtar")
	s.keys("Enter")
	s.shows("wrote c-marked.txtar: 1 exchange")
	s.keys("Q", "Q")
	s.shows("ended with 0")

	marked, err := exec.Command(program, "show", filepath.Join(dir, "c.a2atap"), "--filter", "is:marked", "--format",
		"json").Output()
	if err != nil || !strings.Contains(string(marked), `"marks":["marked"],"comment":"the stream goes on"`) {
		t.Errorf("show says %.200s, %v", marked, err)
	}
	exported, err := os.ReadFile(filepath.Join(dir, "c-marked.txtar"))
	if err != nil || !strings.Contains(string(exported), "-- 4.request --") {
		t.Errorf("exported: %.200s, %v", exported, err)
	}
}
