//go:build unix

package stdio

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// folder returns the folder of sockets, which it creates if necessary, and which only this user can enter. It does not
// depend on the environment: tools are started with a reduced one.
func folder() (string, error) {
	user := strconv.Itoa(os.Geteuid())
	dir := "/tmp/a2atap-" + user
	if runtime := "/run/user/" + user; private(runtime) == nil {
		dir = runtime + "/a2atap"
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", fmt.Errorf("make the folder for sockets of recorders: %w", err)
	}
	return dir, private(dir)
}

// private returns an error unless a path is a folder of this user that no other user can enter.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(stat.Uid) != os.Geteuid() || !info.IsDir() || info.Mode().Perm()&0o077 != 0 {
		return fmt.Errorf("the folder for sockets of recorders, %s, must belong to this user, with mode 0700; remove it or set its mode", dir)
	}
	return nil
}

// refused reports whether no process listens at a socket.
func refused(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) }
