package background

import "syscall"

// yield moves the thread behind those of the machine that wait for its processor. Go's scheduler knows nothing of other
// processes, and does not poll the network while it has something to run. Without yield, 16 clients on two busy
// processors make 22 % fewer exchanges, and one client's take 10 % longer in the median.
func yield() { syscall.Syscall(syscall.SYS_SCHED_YIELD, 0, 0, 0) } //nolint:errcheck // it has no errors
