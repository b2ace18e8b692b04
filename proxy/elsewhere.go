package proxy

import (
	"net/netip"
	"os"

	"a2atap/proxy/internal/process"
)

// Elsewhere returns where the processes that this process has started, and those that they have started, are connected by
// TCP at the moment, except to addresses at which one of them or this process listens. It returns false where the system
// does not show that. A look takes some milliseconds.
func Elsewhere() (list []netip.AddrPort, shown bool) { return process.Elsewhere(os.Getpid()) }
