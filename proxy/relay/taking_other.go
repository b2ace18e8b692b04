//go:build !linux

package relay

import "net"

func tellsTaking(net.Conn) bool { return false }

func takingOf(net.Conn) Taking { return TakingUnknown }
