//go:build unix

package source

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// fleetFolders is the pattern of folders in which what is read of streams is kept.
const fleetFolders = "a2atap-fleet-*"

// fleetLock is a file in such a folder that its process holds as long as it lives.
const fleetLock = "lock"

// holdFolder takes a folder for this process, until the function that it returns is called. The lock is held before it
// has its name: a folder whose lock nobody holds was left.
func holdFolder(folder string) (release func(), err error) {
	f, err := os.CreateTemp(folder, fleetLock+"-*")
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		err = os.Rename(f.Name(), filepath.Join(folder, fleetLock))
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return func() { f.Close() }, nil
}

// removeLeftFolders removes what killed processes of this user have left. What cannot be removed stays.
func removeLeftFolders() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), fleetFolders))
	for _, folder := range folders {
		f, err := os.OpenFile(filepath.Join(folder, fleetLock), os.O_RDWR, 0)
		if err != nil {
			continue // it has just been made, or is another user's
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(folder)
		}
		f.Close()
	}
}
