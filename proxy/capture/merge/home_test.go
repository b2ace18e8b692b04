package merge

import (
	"testing"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
)

// TestClientsAreKnownByTheirPorts has a recorder for each agent. The client of one agent is another agent if its
// process listens on that agent's port on the same machine. Otherwise it keeps its name.
func TestClientsAreKnownByTheirPorts(t *testing.T) {
	asked := func(n int, name, url, machine string, ports ...uint16) ask {
		a := innerAsk(n)
		a.agent = capture.Peer{Name: name, URL: url}
		a.client = capture.Peer{
			Name: "python", How: "user-agent", URL: capture.Home{Machine: machine, Ports: ports}.String(),
		}
		return a
	}
	const planner, hotel = "http://localhost:9001", "http://127.0.0.1:9002/a2a"
	delivered := func(n int, url string) ask {
		a := asked(n, "python", url, "m", 9002)
		a.client.Name, a.client.How = "hotel", "webhook"
		return a
	}
	named := asked(8, "hotel", hotel, "m", 9001)
	named.client.Name, named.client.How = "mine", "--client user-agent"
	_, merged := run(t, []Recording{
		recorded(t, "a", capture.Info{}, noon, asked(1, "planner", planner, "m"), asked(2, "planner", planner, "m", 9002)),
		recorded(t, "b", capture.Info{}, noon,
			asked(3, "hotel", hotel, "m", 9001),
			asked(4, "hotel", hotel, "m", 9001, 9100), // a port without a known agent
			asked(5, "hotel", hotel, "m", 9100),
			asked(6, "hotel", hotel, "m", 9002),       // which calls itself
			asked(7, "hotel", hotel, "m", 9001, 9002), // two agents
			named,
			delivered(9, "http://127.0.0.1:9001/hook"),
			delivered(10, "http://127.0.0.1:9100/hook"),
		),
		recorded(t, "c", capture.Info{}, noon, asked(11, "payer", "http://127.0.0.1:9003", "other", 9001)),
	})
	var got []string
	for _, x := range capturetest.ReadAll(t, merged) {
		got = append(got, x.Client.Name+" ("+x.Client.How+") "+x.Agent.Name)
	}
	const process = " (socket of the agent's process) "
	want := []string{
		"python (user-agent) planner", "hotel" + process + "planner", "planner" + process + "hotel",
		"planner" + process + "hotel", "python (user-agent) hotel", "python (user-agent) hotel",
		"python (user-agent) hotel", "mine (--client user-agent) hotel", "hotel (webhook) planner",
		"hotel (webhook) python", "python (user-agent) payer",
	}
	expect.Same(t, "who calls whom", want, got)
}
