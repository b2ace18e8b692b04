//go:build !unix

package relay

import "net"

// A readiness reads a connection without having room for what it may send. There is none here.
type readiness struct{}

func readinessOf(net.Conn) *readiness { return nil }

func (*readiness) read(*buffer) (int, error) { panic("relay: no connection has a readiness here") }
