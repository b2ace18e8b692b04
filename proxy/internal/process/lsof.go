package process

import (
	"bufio"
	"bytes"
	"net/netip"
	"strconv"
	"strings"
)

// A held socket is one that lsof lists.
type heldSocket struct {
	pid       int
	local     netip.AddrPort
	remote    netip.AddrPort // not valid of a listening socket
	listening bool
}

// parseLsof parses the output of lsof -F pRcfnPT: a line for each field, which begins with the field's letter. A
// process's fields come first, then those of each of its files. Unknown fields are skipped.
func parseLsof(text []byte) ([]heldSocket, map[int]details) {
	var sockets []heldSocket
	processes := make(map[int]details)
	pid, name, listening := 0, "", false
	file := func() {
		if s, ok := parseSocketName(name); ok && pid != 0 {
			s.pid, s.listening = pid, listening
			sockets = append(sockets, s)
		}
		name, listening = "", false
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := lines.Text()
		if line == "" {
			continue
		}
		value := line[1:]
		switch line[0] {
		case 'p':
			file()
			pid, _ = strconv.Atoi(value)
		case 'R':
			d := processes[pid]
			d.parent, _ = strconv.Atoi(value)
			processes[pid] = d
		case 'c':
			d := processes[pid]
			d.program = value
			processes[pid] = d
		case 'f':
			file()
		case 'n':
			name = value
		case 'T':
			listening = listening || value == "ST=LISTEN"
		}
	}
	file()
	return sockets, processes
}

// parseSocketName reads the name of a socket, LOCAL or LOCAL->REMOTE. Any address is *.
func parseSocketName(name string) (heldSocket, bool) {
	from, to, connected := strings.Cut(name, "->")
	var s heldSocket
	var err error
	if host, port, found := strings.Cut(from, ":"); found && host == "*" {
		from = "[::]:" + port
	}
	if s.local, err = netip.ParseAddrPort(from); err != nil {
		return s, false
	}
	if connected {
		s.remote, err = netip.ParseAddrPort(to)
	}
	return s, err == nil
}

// surveyOf derives the Survey of agents and connections from sockets and processes.
func surveyOf(sockets []heldSocket, processes map[int]details, agents [][]netip.AddrPort, connections []Pair, self int,
) Survey {
	s := Survey{
		Listening: make([]bool, len(agents)), Holders: make([][]int, len(agents)),
		owners: make([][]int, len(connections)), lasted: make([]bool, len(connections)), processes: processes,
	}
	var listeners []listener
	for _, held := range sockets {
		if held.listening {
			s.listens(held.pid, held.local.Port())
			listeners = append(listeners, listener{unmapped(held.local), uint64(held.pid)})
		}
	}
	for i, agent := range agents {
		ids := listenersOf(agent, listeners)
		s.Listening[i] = ids != nil
		for _, id := range ids {
			if int(id) != self {
				s.Holders[i] = add(s.Holders[i], int(id))
			}
		}
	}
	for i, c := range connections {
		for _, held := range sockets {
			if !held.listening && held.remote.IsValid() && (Pair{held.local, held.remote}).unmapped() == c.unmapped() {
				s.owners[i] = add(s.owners[i], held.pid)
			}
		}
	}
	return s
}
