//go:build peers && unix

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The page's first command is the server's own: with it the others lead to the same picture.
func TestFleetFromNothingWithItsServer(t *testing.T) {
	t.Parallel()
	fleetFromNothing(t, func(line string) string {
		args := strings.Fields(line)
		module, version, _ := strings.Cut(args[2], "@")
		if !strings.Contains(goMod(t), "\t"+module+" "+version+"\n") {
			t.Errorf("the page runs %s, another version than the other tests", args[2])
		}
		dir := t.TempDir()
		var said bytes.Buffer
		cmd := exec.Command(args[0], append(args[1:], "-p", "-1", "--ports_file_dir", dir)...)
		cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &said, &said
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // go run does not hand signals on
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM)
			cmd.Wait()
		})
		for deadline := time.Now().Add(2 * time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
			files, _ := filepath.Glob(filepath.Join(dir, "*.ports"))
			if len(files) == 0 {
				continue
			}
			var ports struct {
				NATS []string `json:"nats"`
			}
			text, err := os.ReadFile(files[0])
			if err == nil && json.Unmarshal(text, &ports) == nil && len(ports.NATS) > 0 {
				return ports.NATS[0]
			}
		}
		t.Fatalf("%s does not listen: %s", line, said.String())
		return ""
	})
}
