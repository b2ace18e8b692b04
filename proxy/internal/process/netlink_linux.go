package process

import (
	"encoding/binary"
	"errors"
	"net/netip"
	"os"
	"syscall"
	"time"
)

// The kernel answers for one connection, or for only the listening sockets, at once. The tables in /proc list all
// sockets of the system, including ended ones: sock_diag(7), and the kernel's include/uapi/linux/inet_diag.h.
const (
	netlinkSockDiag  = 4
	sockDiagByFamily = 20
	listenState      = 10

	diagRequestSize = 56
	diagAnswerSize  = 72
	inodeAt         = 68 // in an answer

	netlinkTimeout = 250 * time.Millisecond
)

// ask fills the table from the kernel, and calls made when the sockets of connections are known.
func (t *table) ask(made func()) error {
	return diagnose(func(fd int, buf []byte) error {
		if err := t.connections(fd, buf); err != nil {
			return err
		}
		made()
		for _, family := range []uint8{syscall.AF_INET, syscall.AF_INET6} {
			if err := exchange(fd, buf, diagRequest(family, 1<<listenState, Pair{}, true), t.listener); err != nil {
				return err
			}
		}
		return nil
	})
}

// diagnose opens a socket to the kernel for what asks.
func diagnose(ask func(fd int, buf []byte) error) error {
	fd, err := syscall.Socket(syscall.AF_NETLINK, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, netlinkSockDiag)
	if err != nil {
		return os.NewSyscallError("socket", err)
	}
	defer syscall.Close(fd)
	timeout := syscall.NsecToTimeval(netlinkTimeout.Nanoseconds())
	if err := syscall.SetsockoptTimeval(fd, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &timeout); err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	return ask(fd, make([]byte, 32<<10))
}

// connections asks for the sockets of connections.
func (t *table) connections(fd int, buf []byte) error {
	for pair, i := range t.wanted { // first: a connection can be over soon
		family := uint8(syscall.AF_INET6)
		if pair.Local.Addr().Is4() { // which also finds IPv6 sockets with IPv4 connections
			family = syscall.AF_INET
		}
		err := exchange(fd, buf, diagRequest(family, ^uint32(0), pair, false), func(m []byte) {
			if m[1] != listenState {
				t.made[i] = uint64(binary.NativeEndian.Uint32(m[inodeAt:]))
			}
		})
		if err != nil && !errors.Is(err, syscall.ENOENT) {
			return err
		}
	}
	return nil
}

// listener notes a listening socket.
func (t *table) listener(m []byte) {
	port := binary.BigEndian.Uint16(m[4:])
	address := m[8:24]
	if m[0] == syscall.AF_INET {
		address = address[:4]
	}
	ip, _ := netip.AddrFromSlice(address)
	inode := uint64(binary.NativeEndian.Uint32(m[inodeAt:]))
	if inode != 0 {
		t.listeners = append(t.listeners, listener{unmapped(netip.AddrPortFrom(ip, port)), inode})
	}
}

// diagRequest returns the request for one connection, or for all sockets in some states.
func diagRequest(family uint8, states uint32, pair Pair, all bool) []byte {
	m := make([]byte, syscall.NLMSG_HDRLEN+diagRequestSize)
	flags := uint16(syscall.NLM_F_REQUEST)
	if all {
		flags |= syscall.NLM_F_DUMP
	}
	binary.NativeEndian.PutUint32(m, uint32(len(m)))
	binary.NativeEndian.PutUint16(m[4:], sockDiagByFamily)
	binary.NativeEndian.PutUint16(m[6:], flags)
	r := m[syscall.NLMSG_HDRLEN:]
	r[0], r[1] = family, syscall.IPPROTO_TCP
	binary.NativeEndian.PutUint32(r[4:], states)
	if all {
		return m
	}
	binary.BigEndian.PutUint16(r[8:], pair.Local.Port())
	binary.BigEndian.PutUint16(r[10:], pair.Remote.Port())
	copy(r[12:28], pair.Local.Addr().AsSlice())
	copy(r[28:44], pair.Remote.Addr().AsSlice())
	binary.NativeEndian.PutUint64(r[48:], ^uint64(0)) // any cookie
	return m
}

// exchange sends a request and calls each with every answer, which is read into buf. The error may be the kernel's.
func exchange(fd int, buf, request []byte, each func(m []byte)) error {
	to := &syscall.SockaddrNetlink{Family: syscall.AF_NETLINK}
	if err := syscall.Sendto(fd, request, 0, to); err != nil {
		return os.NewSyscallError("sendto", err)
	}
	dump := binary.NativeEndian.Uint16(request[6:])&syscall.NLM_F_DUMP != 0
	for {
		n, _, err := syscall.Recvfrom(fd, buf, 0)
		if errors.Is(err, syscall.EINTR) {
			continue
		}
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		messages, err := syscall.ParseNetlinkMessage(buf[:n])
		if err != nil {
			return os.NewSyscallError("recvfrom", err)
		}
		for _, m := range messages {
			switch {
			case m.Header.Type == syscall.NLMSG_DONE:
				return nil
			case m.Header.Type == syscall.NLMSG_ERROR && len(m.Data) >= 4:
				return syscall.Errno(-int32(binary.NativeEndian.Uint32(m.Data)))
			case m.Header.Type == sockDiagByFamily && len(m.Data) >= diagAnswerSize:
				each(m.Data)
			}
		}
		if !dump {
			return nil
		}
	}
}
