package relay

import (
	"net"
	"syscall"
	"unsafe"
)

// States of a connection in a tcpInfo: the kernel's include/net/tcp_states.h.
const (
	tcpEstablished = 1
	tcpClose       = 7
)

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
	again   uint64 // of these, the repeated ones
}

// tellsTaking reports whether takingOf can tell anything of a connection.
func tellsTaking(c net.Conn) bool {
	_, ok := c.(syscall.Conn)
	return ok
}

// look calls see with the system's TCP information on a connection that wraps no other, if there is any.
func look(c net.Conn, see func(fd uintptr, info *tcpInfo)) {
	over, ok := c.(syscall.Conn)
	if !ok {
		return
	}
	raw, err := over.SyscallConn()
	if err != nil {
		return
	}
	raw.Control(func(fd uintptr) { //nolint:errcheck // a closed connection tells nothing
		var info tcpInfo
		size := uint32(unsafe.Sizeof(info))
		_, _, errno := syscall.Syscall6(syscall.SYS_GETSOCKOPT, fd, syscall.IPPROTO_TCP, syscall.TCP_INFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
		if errno == 0 {
			see(fd, &info)
		}
	})
}

// markOf implements MarkOf for a connection that wraps no other.
func markOf(c net.Conn) (m Mark) {
	look(c, func(_ uintptr, info *tcpInfo) {
		m = Mark{written: info.sent - info.again + uint64(info.notSent), open: info.state == tcpEstablished}
	})
	return m
}

// takingOf implements TakingOf for a connection that wraps no other.
func takingOf(c net.Conn, m Mark) (t Taking) {
	look(c, func(fd uintptr, info *tcpInfo) { t = takingAt(fd, info, m) })
	return t
}

func takingAt(fd uintptr, info *tcpInfo, m Mark) Taking {
	written := info.sent - info.again + uint64(info.notSent)
	if m.written > 0 {
		written = min(m.written, written)
	}
	acked := written > 0 && info.acked >= written
	switch {
	case info.state == tcpClose: // both sides have ended normally, or one has reset the connection
		code, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_ERROR)
		switch {
		case err == nil && code == 0:
			return Taken
		case acked:
			return TakenThenReset
		case m.open: // it need not have acknowledged the bytes it received, and may refuse later ones
			return MaybeTaken
		}
		return Refused
	case acked, info.unacked == 0 && info.notSent == 0:
		return Taken
	case info.notSent == 0:
		return Sent
	}
	return TakingUnknown
}
