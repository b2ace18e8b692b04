package capture

import (
	"slices"
	"strconv"
	"strings"
)

// A Home identifies where a client runs: the machine, and the TCP ports on which its process listens there. It is
// recorded as the URL of the client, process:MACHINE/PORT,PORT. An agent that listens on one of these ports of the same
// machine is the client.
type Home struct {
	Machine string // equal for all programs that can reach each other over loopback, until the system restarts
	Ports   []uint16
}

const homeScheme = "process:"

// String returns the home as it is recorded; empty if the machine is not known.
func (h Home) String() string {
	if h.Machine == "" {
		return ""
	}
	ports := make([]string, len(h.Ports))
	for i, p := range h.Ports {
		ports[i] = strconv.Itoa(int(p))
	}
	return homeScheme + h.Machine + "/" + strings.Join(ports, ",")
}

// Home returns where a client lives. It reports false if nothing is known of that.
func (p *Peer) Home() (h Home, ok bool) {
	rest, found := strings.CutPrefix(p.URL, homeScheme)
	machine, list, whole := strings.Cut(rest, "/")
	if !found || !whole || machine == "" {
		return Home{}, false
	}
	h.Machine = machine
	for _, text := range strings.Split(list, ",") {
		if port, err := strconv.ParseUint(text, 10, 16); err == nil && !slices.Contains(h.Ports, uint16(port)) {
			h.Ports = append(h.Ports, uint16(port))
		}
	}
	return h, true
}
