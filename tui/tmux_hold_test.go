//go:build peers

package tui_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// A request is held in a recorder with a screen, edited in the user's editor, and released. A message held when the
// recorder ends is released unchanged.
func TestHoldInTerminal(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	program, _ := recordAgent(t, dir)
	editor := filepath.Join(dir, "editor")
	must.Do(t, os.WriteFile(editor, []byte("#!/bin/sh\nexec sed -i 's/two tickets/message-only/' \"$1\"\n"), 0o700))
	s := screen{t: t, socket: filepath.Join(dir, "tmux")}
	s.tmux("new-session", "-d", "-s", "it", "-x", "80", "-y", "24", "-c", dir,
		"env TERM=screen-256color VISUAL="+editor+" "+program+" record --tui --agent booker="+
			address(t, filepath.Join(dir, "agent"))+" -o held.a2atap --ready-file held; echo ended with $?; exec sleep 60")
	t.Cleanup(func() { s.tmux("kill-server") })
	tap := address(t, filepath.Join(dir, "held"))
	s.shows("nothing recorded yet")
	send := func() (end func() string) {
		cmd := exec.Command(program, "send", tap, "two tickets", "--mode", "send")
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		must.Do(t, cmd.Start())
		return func() string {
			if err := cmd.Wait(); err != nil {
				t.Errorf("send: %v\n%s", err, out.String())
			}
			return out.String()
		}
	}
	s.keys("-l", ":hold requests op:SendMessage")
	s.keys("Enter")
	s.shows("now holding: requests that match op:SendMessage")
	first := send()
	s.shows("held: request of ", "booker: SendMessage; H shows it")
	s.keys("H")
	s.shows("1  request ", "f  choose what to hold")
	s.keys("1")
	s.shows("POST /spec HTTP/1.1", `"text": "two tickets"`, "more lines", "e  edit it, then release it")
	s.keys("e")
	s.shows("released, edited: request of ")
	if out := first(); !strings.Contains(out, "message-only") {
		t.Errorf("the agent answers\n%s", out)
	}
	second := send()
	s.shows("held: request of ")
	s.keys("Q", "Q")
	second()
	s.shows("ended with 0")
	out, err := exec.Command(program, "show", filepath.Join(dir, "held.a2atap"), "--filter", "is:faulted").Output()
	for _, words := range []string{"fault made here: edited: the request, after ", ": body", "fault made here: held="} {
		if err != nil || !strings.Contains(string(out), words) {
			t.Errorf("show does not say %q, %v:\n%s", words, err, out)
		}
	}
}
