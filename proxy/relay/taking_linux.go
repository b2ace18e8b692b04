package relay

import (
	"net"
	"syscall"
	"unsafe"
)

// States of a connection in a tcpInfo: the kernel's include/net/tcp_states.h.
const tcpClose = 7

// A tcpInfo is the beginning of the kernel's struct tcp_info: include/uapi/linux/tcp.h.
type tcpInfo struct {
	state   uint8
	_       [7]uint8
	_       [4]uint32 // up to the receiver's segment size
	unacked uint32    // segments, our FIN included
	_       [19]uint32
	_       [2]uint64
	acked   uint64 // bytes
	_       uint64
	_       [2]uint32
	notSent uint32 // bytes; 0 from kernels that do not tell
	_       uint32
	_       [2]uint32
	_       [4]uint64
	_       [2]uint32
	sent    uint64 // bytes, repeated ones included; 0 from kernels that do not tell
	again   uint64 // of them, those that were repeated
}

// tellsTaking reports whether takingOf can tell anything of a connection.
func tellsTaking(c net.Conn) bool {
	_, ok := c.(syscall.Conn)
	return ok
}

// takingOf implements TakingOf for a connection without another one below it.
func takingOf(c net.Conn) (t Taking) {
	over, ok := c.(syscall.Conn)
	if !ok {
		return TakingUnknown
	}
	raw, err := over.SyscallConn()
	if err != nil {
		return TakingUnknown
	}
	raw.Control(func(fd uintptr) { t = takingAt(fd) }) //nolint:errcheck // a closed connection tells nothing
	return t
}

func takingAt(fd uintptr) Taking {
	var info tcpInfo
	size := uint32(unsafe.Sizeof(info))
	_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	switch {
	case errno != 0:
		return TakingUnknown
	case info.state == tcpClose: // both sides have ended in order, or one has reset it
		if code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR); err != nil || code != 0 {
			if info.sent > 0 && info.notSent == 0 && info.acked >= info.sent-info.again {
				return TakenThenReset
			}
			return Refused
		}
		return Taken
	case info.unacked == 0 && info.notSent == 0:
		return Taken
	case info.notSent == 0:
		return Sent
	}
	return TakingUnknown
}
