//go:build peers && unix

package main

import (
	"path/filepath"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet/fleettest"
)

// TestFleetServerKilled kills the server of a stream in the middle of traffic, twice, and has it back.
func TestFleetServerKilled(t *testing.T) {
	t.Parallel()
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{})
	url := server.URL("traffic")
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startShipping(t, nil, path, url, "one", startSpec(t))
	traffic := startSteady(r.taps["a"])
	for range 2 {
		traffic.passed(t, 200)
		server.Kill()
		traffic.passed(t, 200)
		server.Start()
		server.Ready()
	}
	traffic.passed(t, 200)
	traffic.end(t)
	t.Log(r.end(t))
	checkFleet(t, url, path)
}

// TestFleetRecorderKilled kills a recorder in the middle of traffic, and starts another on its file.
func TestFleetRecorderKilled(t *testing.T) {
	t.Parallel()
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{})
	url, agent := server.URL("traffic"), startSpec(t)
	path := filepath.Join(t.TempDir(), "c.a2atap")
	for range 3 {
		r := startShipping(t, nil, path, url, "one", agent)
		traffic := startSteady(r.taps["a"])
		traffic.passed(t, 200)
		r.kill()
		close(traffic.stopped)
		traffic.clients.Wait()
	}
	r := startShipping(t, nil, path, url, "one", agent)
	if err := sendOnce(r.taps["a"]); err != nil {
		t.Fatal(err)
	}
	r.end(t)
	checkFleet(t, url, path)
	if code, said := runQuietly(t, "check", url); code != cli.ExitInconclusive ||
		!strings.Contains(said, "check: incomplete: ") {
		t.Errorf("check of the stream exits with %d and says %q", code, said)
	}
	if said := runForOutput(t, "hosts", url); !strings.Contains(said, "was killed (3 times)") {
		t.Errorf("hosts says %q", said)
	}
}

// TestFleetLeaderKilled kills the leader of a stream with three replicas while it is published to.
func TestFleetLeaderKilled(t *testing.T) {
	t.Parallel()
	cluster := fleettest.StartCluster(t, 3)
	url := cluster.URL("traffic")
	path := filepath.Join(t.TempDir(), "c.a2atap")
	r := startShipping(t, nil, path, url, "one", startSpec(t), "--ship-replicas", "3")
	traffic := startSteady(r.taps["a"])
	traffic.passed(t, 200)
	leader := cluster.Leader("traffic")
	leader.Kill()
	traffic.passed(t, 200)
	leader.Start()
	cluster.Leader("traffic")
	traffic.end(t)
	t.Log(r.end(t))
	runForOutput(t, "ship", path, url) // what a recorder that ends has no time for
	checkFleet(t, url, path)
}
