//go:build !unix

package inflow

import "net"

// A readiness reads a connection without having room for what it may send. There is none here.
type readiness struct{}

func readinessOf(net.Conn) *readiness { return nil }

func (*readiness) read(space) (int, error) { panic("inflow: no connection has a readiness here") }
