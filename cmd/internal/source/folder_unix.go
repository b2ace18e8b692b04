//go:build unix

package source

import (
	"errors"
	"os"
	"path/filepath"
	"syscall"
)

// fleetFolders is the pattern of folders that store data read from streams.
const fleetFolders = "a2atap-fleet-*"

// fleetLock is a file in such a folder that its process keeps locked while it runs.
const fleetLock = "lock"

// holdFolder reserves a folder for this process until release is called. It takes the lock before the lock gets its
// name. A folder with an unlocked lock is therefore abandoned.
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

// removeLeftFolders removes the folders that killed processes of this user have left. Folders that cannot be removed
// stay.
func removeLeftFolders() {
	folders, _ := filepath.Glob(filepath.Join(os.TempDir(), fleetFolders))
	for _, folder := range folders {
		f, err := os.OpenFile(filepath.Join(folder, fleetLock), os.O_RDWR, 0)
		if err != nil {
			continue // it is new, or belongs to another user
		}
		if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil {
			os.RemoveAll(folder)
		}
		f.Close()
	}
}
