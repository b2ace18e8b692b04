//go:build unix && !solaris && !aix && !android

package bolt

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// canUnlock says that the lock of a file that is open can be let go and taken again: it is the one that the database
// takes.
const canUnlock = true

func lockShared(f *os.File) error    { return flock(f, syscall.LOCK_SH) }
func lockExclusive(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// flock takes a lock, or returns errLocked if another has it.
func flock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}

func unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// Readers let go of a file many times a second, for moments. Who wants it alone looks often, for a while.
const (
	lockPatience = 20 * time.Millisecond
	lockPause    = readersPause / 4
)

// awaitExclusive takes the lock of a file that is to be written, if readers let go of it soon.
func awaitExclusive(f *os.File) {
	for end := time.Now().Add(lockPatience); errors.Is(lockExclusive(f), errLocked) && time.Now().Before(end); {
		time.Sleep(lockPause)
	}
}
