package background

import "syscall"

// yield moves the thread behind those of the machine that wait for its processor. Go's scheduler knows nothing of
// other processes, and does not look at the network as long as it has something to run.
func yield() { syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) } //nolint:errcheck // it has no errors
