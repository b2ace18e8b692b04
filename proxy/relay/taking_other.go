//go:build !linux

package relay

import "net"

func tellsTaking(net.Conn) bool { return false }

func markOf(net.Conn) Mark { return Mark{} }

func takingOf(net.Conn, Mark) Taking { return TakingUnknown }
