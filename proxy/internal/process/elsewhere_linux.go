package process

import (
	"encoding/binary"
	"net/netip"
	"slices"
	"syscall"
)

// connectedStates are the states of sockets that have a connection, or wait for one: the kernel's
// include/net/tcp_states.h.
const connectedStates = 1<<1 | 1<<2 | 1<<4 | 1<<5 | 1<<8 | 1<<9

// Elsewhere returns where the descendants of a process have connected by TCP, except to ports at which the process or a
// descendant listens. Connections that others have made to them do not count. It returns false if the system does not
// show sockets.
func Elsewhere(pid int) (list []netip.AddrPort, shown bool) {
	f, t := &Finder{}, newTable(nil)
	type connection struct {
		local uint16
		to    netip.AddrPort
		inode uint64
	}
	var all []connection
	err := diagnose(func(fd int, buf []byte) error {
		for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
			err := exchange(fd, buf, diagRequest(family, connectedStates, Pair{}, true), func(m []byte) {
				address := m[24:40]
				if m[0] == syscall.AF_INET {
					address = address[:4]
				}
				ip, _ := netip.AddrFromSlice(address)
				all = append(all, connection{
					binary.BigEndian.Uint16(m[4:]), unmapped(netip.AddrPortFrom(ip, binary.BigEndian.Uint16(m[6:]))),
					uint64(binary.NativeEndian.Uint32(m[inodeAt:])),
				})
			})
			if err != nil {
				return err
			}
		}
		return t.ask(func() {})
	})
	if err != nil {
		return nil, false
	}
	held := map[uint64]bool{}
	f.descriptors(pid, func(_ string, inode uint64) { held[inode] = true })
	theirs := map[uint64]bool{}
	for family := f.children(pid); len(family) > 0; family = append(family[1:], f.children(family[0])...) {
		f.descriptors(family[0], func(_ string, inode uint64) { held[inode], theirs[inode] = true, true })
	}
	ports := map[uint16]bool{}
	for _, l := range t.listeners {
		if held[l.id] {
			ports[l.at.Port()] = true
		}
	}
	for _, c := range all {
		if theirs[c.inode] && !ports[c.local] && !(ports[c.to.Port()] && c.to.Addr().IsLoopback()) && !slices.Contains(list, c.to) {
			list = append(list, c.to)
		}
	}
	return list, true
}
