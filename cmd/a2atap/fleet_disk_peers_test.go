//go:build peers && linux

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// TestFleetDiskFull fills the disk of the server in the middle of traffic. There is place again later, and its people
// start it again: JetStream ends with a full disk.
func TestFleetDiskFull(t *testing.T) {
	must.Get(fleettest.Program())(t)
	if !fleettest.Apart(t) {
		return
	}
	disk := fleettest.Disk(t, 16<<20)
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{Store: disk})
	url := server.URL("traffic")
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startShipping(t, nil, path, url, "one", startSpec(t), "--ship-max-bytes", "4MiB")
	traffic := startSteady(r.taps["a"])
	traffic.passed(t, 200)

	ballast := fill(t, disk)
	traffic.passed(t, 400)
	eventually(t, "that the server says its disk is full", func() bool {
		return strings.Contains(server.Said(), "no space left on device")
	})
	must.Do(t, os.Remove(ballast))
	traffic.passed(t, 100)
	server.Restart()
	traffic.passed(t, 200)
	traffic.end(t)
	t.Log(r.end(t))
	t.Log(runForOutput(t, "ship", path, url))
	checkFleet(t, url, path)
}

// fill takes all place that is left on a disk, and returns the file that has it.
func fill(t *testing.T, dir string) string {
	t.Helper()
	f := must.Get(os.Create(filepath.Join(dir, "ballast")))(t)
	defer f.Close()
	for size := 1 << 20; size >= 512; {
		if _, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			size /= 2
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return f.Name()
}
