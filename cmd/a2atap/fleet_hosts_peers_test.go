//go:build peers && linux

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/fleet/fleettest"
)

// TestFleetAcrossHosts records a workflow on two hosts, each a network namespace: a planner on the one asks a booker on
// the other. Their captures merged, and the stream to which both were shipped, say the same.
func TestFleetAcrossHosts(t *testing.T) {
	if _, err := fleettest.Program(); err != nil {
		t.Fatal(err)
	}
	if !fleettest.Apart(t) {
		return
	}
	network := fleettest.NewNetwork(t)
	server := fleettest.StartProcess(t, fleettest.ProcessOptions{Host: network.Address})
	for _, test := range []struct {
		name  string
		outer bool // the planner's calls pass a tap on its own host, too
	}{
		{name: "inner", outer: false},
		{name: "both", outer: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := startWorkflow(t, network, server.URL(test.name), test.outer)
			w.ask(t, "two days in Kyoto")
			w.ask(t, "two days in Nara")
			a, b := w.planner.end(t), w.booker.end(t)
			t.Logf("%s%s", a, b)
			checkFleet(t, w.url, w.planner.path, w.booker.path)
			w.compare(t)
		})
	}
}

// A hostsWorkflow is a planner and a booker on hosts of their own, each behind a tap.
type hostsWorkflow struct {
	url             string // of the stream
	planner, booker *shippingRecorder
	plannerHost     *fleettest.Host
}

const (
	agentAddress = "127.0.0.1:9001" // of the agent of each host
	tapAddress   = "7001"           // the port of its tap
)

func startWorkflow(t *testing.T, network *fleettest.Network, url string, outer bool) *hostsWorkflow {
	t.Helper()
	w := &hostsWorkflow{url: url, plannerHost: network.Host()}
	bookerHost := network.Host()
	dir := t.TempDir()
	bookerTap := "http://" + net.JoinHostPort(bookerHost.Address, tapAddress) + "/spec"
	called := bookerTap
	clients := []string{"--client", "planner=planner", "--client", "a2atap=a2atap"} // on other hosts, owners are unknown
	agents := append(slices.Clip(clients), "--agent", "planner=http://"+agentAddress+"/spec@"+tapAddress)
	if outer {
		called = "http://127.0.0.1:7002/spec"
		agents = append(agents, "--agent", "booker="+bookerTap+"@7002")
	}
	launch(t, bookerHost.Run("a2atap", "agent", "spec", "--listen", agentAddress, "--step", "20ms"))
	launch(t, w.plannerHost.Run("planner", agentAddress, called))
	w.booker = startShipping(t, bookerHost.Run(), filepath.Join(dir, "b.a2atap"), url, "beta", append(clients, "--allow-remote",
		"--agent", fmt.Sprintf("booker=http://%s/spec@%s:%s", agentAddress, bookerHost.Address, tapAddress))...)
	w.planner = startShipping(t, w.plannerHost.Run(), filepath.Join(dir, "a.a2atap"), url, "alpha", agents...)
	return w
}

// launch runs a program until the test ends, and waits for the line that it prints when it is ready.
func launch(t *testing.T, argv []string) {
	t.Helper()
	var said bytes.Buffer
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	printed := bufio.NewReader(out)
	if _, err := printed.ReadString('\n'); err != nil {
		t.Fatalf("start %s: %v\n%s", strings.Join(argv, " "), err, said.String())
	}
	go io.Copy(io.Discard, printed)
}

// ask is what a user on the planner's host does.
func (w *hostsWorkflow) ask(t *testing.T, text string) {
	t.Helper()
	argv := w.plannerHost.Run("a2atap", "send", w.planner.taps["planner"], text, "--mode", "send")
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil ||
		!strings.Contains(string(out), "two seats and a room, "+text) {
		t.Fatalf("the planner answers with %v:\n%s", err, out)
	}
}

// compare demands that the stream says what the captures of the two hosts say when they are merged, and that it is right.
func (w *hostsWorkflow) compare(t *testing.T) {
	t.Helper()
	merged := filepath.Join(t.TempDir(), "merged.a2atap")
	runForOutput(t, "merge", w.planner.path, w.booker.path, "--host", w.planner.path+"=alpha", "--host",
		w.booker.path+"=beta", "-o", merged)
	for _, command := range []string{"check --format json", "show --format tree", "show --format json"} {
		args := strings.Fields(command)
		ofFiles, _, code := call(t, append(args, merged)...)
		ofStream, _, codeOfStream := call(t, append(args, w.url)...)
		ofStream = strings.ReplaceAll(ofStream, w.url, merged)
		ofFiles = strings.ReplaceAll(ofFiles, filepath.Dir(w.booker.path)+"/", "") // recorders do not say their folders
		if diff := cmp.Diff(ofFiles, ofStream); diff != "" || code != codeOfStream {
			t.Errorf("%s exits with %d for the files merged, and with %d for the stream:\n%s", command, code, codeOfStream,
				diff)
		}
	}
	tree := runForOutput(t, "show", w.url, "--format", "tree")
	var got []string
	for line := range strings.Lines(tree) {
		if m := workflowLine.FindStringSubmatch(line); m != nil {
			got = append(got, fmt.Sprintf("%d %s %s", utf8.RuneCountInString(m[1])/3, m[2], m[3]))
		}
	}
	if diff := cmp.Diff(slices.Concat(workflowTree, workflowTree), got); diff != "" {
		t.Errorf("the tree is (-want +got):\n%s\n%s", diff, tree)
	}
}

// workflowTree is what one request of a user causes, with how deep it is in the tree: each exchange once.
var workflowTree = []string{
	"0 a2atap → planner SendMessage", "1 a2atap → planner GetAgentCard", "1 planner → booker GetAgentCard",
	"1 planner → booker SendMessage", "2 planner → booker GetTask", "1 planner → booker SendStreamingMessage",
}

var workflowLine = regexp.MustCompile(`^([│├└─ ]*)\d+ +(\S+ → \S+) +(\S+)`)
