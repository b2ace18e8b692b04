//go:build unix

package stdio

import (
	"os"

	"golang.org/x/sys/unix"
)

// awaitInput waits until a read from a file does not block. It returns false if no one reads the other file any more: a
// blocked read could not be ended then, and its writer would wait for a server that is gone.
func awaitInput(from, to *os.File) bool {
	const gone = unix.POLLERR | unix.POLLHUP | unix.POLLNVAL
	files := []unix.PollFd{{Fd: int32(from.Fd()), Events: unix.POLLIN}, {Fd: int32(to.Fd())}} //nolint:gosec // descriptors are small
	for {
		switch _, err := unix.Poll(files, -1); {
		case err == unix.EINTR:
			continue
		case err != nil: // a file that cannot be polled is read
			return true
		}
		return files[0].Revents != 0 || files[1].Revents&gone == 0
	}
}
