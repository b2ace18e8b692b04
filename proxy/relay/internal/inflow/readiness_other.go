//go:build !unix

package inflow

import "net"

// A readiness waits for data on a connection without a buffer for it. This platform does not support that.
type readiness struct{}

func readinessOf(net.Conn) *readiness { return nil }

func (*readiness) read(space) (int, error) { panic("inflow: no connection has a readiness here") }
