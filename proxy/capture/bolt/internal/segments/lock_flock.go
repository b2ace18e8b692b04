//go:build unix && !solaris && !aix && !android

package segments

import (
	"errors"
	"os"
	"syscall"
	"time"
)

// CanUnlock reports that the lock of an open file can be released and taken again: the database uses the same lock.
const CanUnlock = true

func lockShared(f *os.File) error { return flock(f, syscall.LOCK_SH) }

// LockExclusive locks a file for writing, or returns ErrLocked.
func LockExclusive(f *os.File) error { return flock(f, syscall.LOCK_EX) }

// flock takes a lock, or returns ErrLocked if another has it.
func flock(f *os.File, how int) error {
	err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return ErrLocked
	}
	return err
}

// Unlock lets go of the lock of a file.
func Unlock(f *os.File) error { return syscall.Flock(int(f.Fd()), syscall.LOCK_UN) }

// Readers release a file many times a second, for moments. A process that needs it exclusively retries often, for a
// while.
const (
	lockPatience = 20 * time.Millisecond
	lockPause    = ReadersPause / 4
)

// AwaitExclusive locks a file for writing, if readers release it soon.
func AwaitExclusive(f *os.File) {
	for end := time.Now().Add(lockPatience); errors.Is(LockExclusive(f), ErrLocked) && time.Now().Before(end); {
		time.Sleep(lockPause)
	}
}
