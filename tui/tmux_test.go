//go:build peers

package tui_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// The one test in a real terminal: a recording by another process is followed, a finding is reached from the list and
// left again, and the terminal is as it was. It needs tmux.
func TestInTerminal(t *testing.T) {
	dir := t.TempDir()
	program, tap := recordAgent(t, dir)

	s := screen{t: t, socket: filepath.Join(dir, "tmux")}
	s.tmux("new-session", "-d", "-s", "it", "-x", "80", "-y", "24", "-c", dir,
		"env TERM=screen-256color "+program+" tui c.a2atap; echo ended with $?; exec sleep 60")
	t.Cleanup(func() { s.tmux("kill-server") })
	s.shows("nothing recorded yet")
	if out, err := exec.Command(program, "send", "--stream", tap, "streaming two tickets").CombinedOutput(); err != nil {
		t.Fatalf("send: %v\n%s", err, out)
	}
	s.shows("SendStreamingMessage", "! 1 error, live")

	s.keys("n")
	s.shows(">!  2 ")
	s.keys("Enter", "n")
	s.shows("exchanges › 2 ", ">│ ! status", "[stream-closed-on-terminal]")
	s.keys("l", "n")
	s.shows("ladder of 2", "! stream-closed-on-terminal", "◀")
	s.keys("e")
	s.shows("── rule", "reported instead of state-terminal-immutable")
	s.tmux("resize-window", "-t", "it", "-x", "120", "-y", "40")
	s.shows("Not reported", "n next finding")
	s.keys("Escape")
	s.shows("ladder of 2", "◀") // before the next key: one right behind Escape would be Alt and that key
	s.keys("q", "q")
	s.shows("c.a2atap › exchanges ", ">!  2 ")
	s.keys("W")
	s.shows("workflow of 2 ", "2 exchanges", "! stream-closed-on-terminal")
	s.keys("Tab")
	s.shows("└─ 1 ", "SendStreamingMessage")
	s.keys("q")
	s.shows("c.a2atap › exchanges ", ">!  2 ")
	s.keys("q")
	s.shows("Quit? q again to quit")
	s.keys("q")
	s.shows("ended with 0")
	if modes := s.tmux("display-message", "-p", "-t", "it",
		"#{alternate_on} #{cursor_flag} #{mouse_any_flag}"); strings.TrimSpace(modes) != "0 1 0" {
		t.Errorf("the terminal is left with alternate screen, cursor, mouse at %s", modes)
	}
}

// recordAgent builds the program, and records an agent that breaks a rule. It returns the program and the tap's URL.
func recordAgent(t *testing.T, dir string) (program, tap string) {
	t.Helper()
	program = filepath.Join(dir, "a2atap")
	if out, err := exec.Command("go", "build", "-o", program, "a2atap/cmd/a2atap").CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	start := func(args ...string) {
		t.Helper()
		cmd := exec.Command(program, args...)
		cmd.Dir = dir
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cmd.Process.Signal(os.Interrupt)
			cmd.Wait()
		})
	}
	start("agent", "spec", "--fault", "stream-closed-on-terminal", "--step", "50ms", "--listen", "127.0.0.1:0",
		"--ready-file", "agent")
	start("record", "--quiet", "--client", "a2atap=a2atap", "--agent", "booker="+address(t, filepath.Join(dir, "agent")),
		"-o", "c.a2atap", "--ready-file", "tap")
	return program, address(t, filepath.Join(dir, "tap"))
}

// A screen is a terminal in tmux, on a server of its own.
type screen struct {
	t      *testing.T
	socket string
}

func (s screen) tmux(args ...string) string {
	s.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-S", s.socket, "-f", "/dev/null"}, args...)...).CombinedOutput()
	if err != nil {
		s.t.Fatalf("tmux %s: %v\n%s", args[0], err, out)
	}
	return string(out)
}

func (s screen) keys(names ...string) {
	s.t.Helper()
	s.tmux(append([]string{"send-keys", "-t", "it"}, names...)...)
}

// shows looks at the screen until it has all of the words.
func (s screen) shows(words ...string) {
	s.t.Helper()
	var seen string
	await(s.t, func() bool {
		seen = s.tmux("capture-pane", "-p", "-t", "it")
		for _, w := range words {
			if !strings.Contains(seen, w) {
				return false
			}
		}
		return true
	}, func() string { return fmt.Sprintf("the screen does not show %q:\n%s", words, seen) })
}

// address waits for a ready file and returns the address in it.
func address(t *testing.T, path string) string {
	t.Helper()
	var words []string
	await(t, func() bool {
		line, err := os.ReadFile(path)
		words = strings.Fields(string(line))
		return err == nil && len(words) == 2
	}, func() string { return path + " does not come" })
	return words[1]
}

// await asks again and again until something holds that only another process knows.
func await(t *testing.T, holds func() bool, otherwise func() string) {
	t.Helper()
	deadline := time.After(must.Patience)
	for again := time.NewTicker(20 * time.Millisecond); !holds(); {
		select {
		case <-again.C:
		case <-deadline:
			t.Fatal(otherwise())
		}
	}
}
