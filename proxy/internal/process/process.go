// Package process finds out which agent of this machine has made a TCP connection: the one whose process holds the
// connection's socket. If the process is not a known agent, the package finds the ports on which it listens, so that a
// caller may recognize it by them.
//
// It examines the sockets that the system lists and the processes that hold them, as far as permitted: through /proc on
// Linux, through lsof on macOS. A socket that it may not examine, or that another machine or network namespace holds,
// has no process, and neither has any socket on other systems; that is not an error. The package changes nothing, and
// does not contact any process.
//
// A look costs a millisecond or so, and tens of them where a listening socket is seen for the first time on a machine
// with many processes: it belongs off the path of the traffic.
package process

import (
	"net/netip"
	"slices"
)

// A Pair is the two ends of a TCP connection, as the process that made it sees them.
type Pair struct{ Local, Remote netip.AddrPort }

// unmapped returns the pair with addresses of IPv4 in their own form, and without zones.
func (p Pair) unmapped() Pair { return Pair{unmapped(p.Local), unmapped(p.Remote)} }

func unmapped(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// A Relation is how the process that made a connection was recognized as an agent.
type Relation uint8

// The relations.
const (
	None   Relation = iota
	Same            // it listens at the agent's address itself
	Child           // its parent does
	Parent          // its child does, which runs the same program
)

// A Survey is the result of one look. The zero Survey has none.
type Survey struct {
	// Listening reports for each agent whether a process listens at its address on this machine. Holders are these
	// processes, as far as they may be examined; none if the agent belongs to another user.
	Listening []bool
	Holders   [][]int

	// for each connection; while all agents of this machine listen, the look covers only processes that listen, and
	// relatives of Holders
	owners    [][]int
	lasted    []bool // whether a connection was still open after all of those had been examined
	processes map[int]details
	ports     map[int][]uint16 // on which a process listens, sorted
}

// details are known facts about a process.
type details struct {
	parent  int
	program string // the program that it runs; empty if unknown
}

// Caller returns which agent has made a connection, both as indexes into the arguments of Find, and how it was
// recognized. The relation is None unless exactly one agent matches: a process at the addresses of two is neither.
//
// A process that holds no agent's address is attributed to the agent of its parent or its child, as in servers with
// workers. The parent of a server counts as the server only if it runs the same program: a shell, an editor or a test
// in another language that starts an agent is not the agent. The first process of a system is not considered a parent,
// since it adopts all orphans.
func (s *Survey) Caller(connection int) (agent int, r Relation) {
	if connection >= len(s.owners) {
		return 0, None
	}
	for _, relation := range []func(owner, holder int) Relation{s.same, s.related} {
		found, agents := None, []int(nil)
		for _, owner := range s.owners[connection] {
			for i, holders := range s.Holders {
				for _, holder := range holders {
					if r := relation(owner, holder); r != None && !slices.Contains(agents, i) {
						found, agents = r, append(agents, i)
					}
				}
			}
		}
		switch len(agents) {
		case 0:
			continue
		case 1:
			return agents[0], found
		}
		return 0, None
	}
	return 0, None
}

// Seen reports whether the look shows which agent has made a connection, or that none has. It does not if the
// connection was over too soon.
func (s *Survey) Seen(connection int) bool {
	return connection < len(s.owners) && (len(s.owners[connection]) > 0 || s.lasted[connection])
}

// Owners returns the processes that hold a connection, as far as they were found.
func (s *Survey) Owners(connection int) []int {
	if connection >= len(s.owners) {
		return nil
	}
	return s.owners[connection]
}

// Ports returns the ports on which the process that made a connection listens itself, in order. It returns none if the
// process does not listen, or may not be examined, or if several processes that listen on different ports hold the
// connection.
func (s *Survey) Ports(connection int) []uint16 {
	if connection >= len(s.owners) {
		return nil
	}
	var ports []uint16
	for i, owner := range s.owners[connection] {
		if i > 0 && !slices.Equal(ports, s.ports[owner]) {
			return nil
		}
		ports = s.ports[owner]
	}
	return ports
}

// Recognisable reports whether any listening process could be examined.
func (s *Survey) Recognisable() bool { return len(s.ports) > 0 }

func (s *Survey) same(owner, holder int) Relation {
	if owner == holder {
		return Same
	}
	return None
}

func (s *Survey) related(owner, holder int) Relation {
	o, h := s.processes[owner], s.processes[holder]
	switch {
	case o.parent == holder && holder > 1:
		return Child
	case h.parent == owner && owner > 1 && h.program != "" && h.program == o.program:
		return Parent
	}
	return None
}

// add adds a process to a sorted list, once.
func add(list []int, pid int) []int {
	i, found := slices.BinarySearch(list, pid)
	if found {
		return list
	}
	return slices.Insert(list, i, pid)
}

// listensFor reports whether a listener at one address also serves another address, and how exact the match is: 0 not
// at all, 1 any address of both families, 2 any address of its family, 3 the same address.
func listensFor(at, reached netip.AddrPort) int {
	at, reached = unmapped(at), unmapped(reached)
	switch {
	case at.Port() != reached.Port():
		return 0
	case at.Addr() == reached.Addr():
		return 3
	case !at.Addr().IsUnspecified():
		return 0
	case at.Addr().Is4() == reached.Addr().Is4():
		return 2
	case at.Addr().Is6():
		return 1
	}
	return 0
}

// listens notes that a process listens on a port.
func (s *Survey) listens(pid int, port uint16) {
	if s.ports == nil {
		s.ports = make(map[int][]uint16)
	}
	if i, found := slices.BinarySearch(s.ports[pid], port); !found {
		s.ports[pid] = slices.Insert(s.ports[pid], i, port)
	}
}

// A listener is a listening socket of the system.
type listener struct {
	at netip.AddrPort
	id uint64 // of the socket, or of the process that holds it
}

// listenersOf returns the listeners through which an agent is reached: the best matches at the first of its addresses
// that has a listener. Several listeners may share a port.
func listenersOf(agent []netip.AddrPort, all []listener) []uint64 {
	for _, address := range agent {
		best, ids := 1, []uint64(nil)
		for _, l := range all {
			switch fit := listensFor(l.at, address); {
			case fit > best:
				best, ids = fit, []uint64{l.id}
			case fit == best:
				ids = append(ids, l.id)
			}
		}
		if ids != nil {
			return ids
		}
	}
	return nil
}

// Ancestors returns the processes above a process, its parent first, as far as the system shows them.
func Ancestors(pid int) []int {
	var all []int
	for pid = parentOf(pid); pid > 0 && !slices.Contains(all, pid); pid = parentOf(pid) {
		all = append(all, pid)
	}
	return all
}
