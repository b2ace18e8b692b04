//go:build peers && unix

package main

import (
	"bufio"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"a2atap/proxy/fleet/fleettest"
)

// TestFleetReaderStopped stops a reader that follows a stream for as long as some traffic takes. It has all of it in the
// end.
func TestFleetReaderStopped(t *testing.T) {
	t.Parallel()
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{})
	url := server.URL("traffic")
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startShipping(t, nil, path, url, "one", startSpec(t))
	if err := sendOnce(r.taps["a"]); err != nil {
		t.Fatal(err)
	}
	reader := exec.Command("a2atap", "show", url, "--follow", "--format", "json")
	out, err := reader.StdoutPipe()
	if err == nil {
		err = reader.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
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
	if err := reader.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	traffic.passed(t, 2000)
	if err := reader.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	traffic.passed(t, 100)
	traffic.end(t)
	r.end(t)
	if n, want := <-shown, len(traffic.took)+1; n != want {
		t.Errorf("%d exchanges are shown, want %d", n, want)
	}
	checkFleet(t, url, path)
}
