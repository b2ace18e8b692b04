//go:build peers && unix

package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// TestFleetReaderStopped stops a reader that follows a stream, for the duration of some traffic. In the end, the reader
// has all of it.
func TestFleetReaderStopped(t *testing.T) {
	t.Parallel()
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{})
	url := server.URL("traffic")
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startShipping(t, nil, path, url, "one", startSpec(t))
	must.Do(t, sendOnce(r.taps["a"]))
	reader := exec.Command("a2atap", "show", url, "--follow", "--format", "json")
	out, err := reader.StdoutPipe()
	if err == nil {
		err = reader.Start()
	}
	must.Do(t, err)
	defer func() {
		reader.Process.Kill()
		reader.Wait()
	}()
	shown := make(chan int, 1)
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 16<<20)
	if !lines.Scan() {
		t.Fatal("the reader shows nothing")
	}
	go func() {
		n := 1
		for lines.Scan() {
			n++
		}
		shown <- n
	}()
	traffic := startSteady(r.taps["a"])
	traffic.passed(t, 100)
	must.Do(t, reader.Process.Signal(syscall.SIGSTOP))
	traffic.passed(t, 2000)
	must.Do(t, reader.Process.Signal(syscall.SIGCONT))
	traffic.passed(t, 100)
	traffic.end(t)
	r.end(t)
	if n, want := <-shown, len(traffic.took)+1; n != want {
		t.Errorf("%d exchanges are shown, want %d", n, want)
	}
	checkFleet(t, url, path)
}
