package remote

import (
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"a2atap/proxy/capture/bolt/internal/pages"
	"a2atap/proxy/capture/bolt/internal/segments"
)

// removeStale removes sockets of killed recorders: those of the capture at path, of other captures next to it, and in
// private folders. It keeps sockets with a running recorder, and all that may belong to other programs. It is best
// effort; leftover sockets do no harm.
func removeStale(path, mine string) {
	folder := filepath.Dir(absolute(path))
	if names, err := segments.NamesIn(folder); err == nil {
		for _, name := range names {
			if capture, ok := strings.CutSuffix(name, ".sock"); ok && isCaptureFile(filepath.Join(folder, capture)) {
				removeDead(filepath.Join(folder, name), mine)
			}
		}
	}
	for _, folder := range PrivateFolders() {
		if checkPrivate(folder) != nil {
			continue
		}
		names, err := segments.NamesIn(folder)
		if err != nil {
			continue
		}
		for _, name := range names {
			if sum, ok := strings.CutSuffix(name, ".sock"); ok && hex.DecodedLen(len(sum)) == SocketHash && isHex(sum) {
				removeDead(filepath.Join(folder, name), mine)
			}
		}
	}
}

func isHex(s string) bool {
	_, err := hex.DecodeString(s)
	return err == nil
}

// isCaptureFile reports whether a file is a capture, or was one, judging by its name.
func isCaptureFile(path string) bool {
	err := pages.Inspect(path)
	return err == nil || errors.Is(err, fs.ErrNotExist) && strings.HasSuffix(path, ".a2atap")
}

// removeDead removes a socket without a listener, unless it is mine.
func removeDead(address, mine string) {
	if address != mine && dead(address) {
		TakeAside(address)
	}
}

// TakeAside moves a socket away, and removes it and reports true if it has no listener. Otherwise a recorder has
// created it since the last look, and TakeAside moves it back.
func TakeAside(address string) (removed bool) {
	private, err := os.MkdirTemp(filepath.Dir(address), segments.TemporaryPattern)
	if err != nil {
		return false
	}
	defer os.Remove(private)
	aside := filepath.Join(private, "s")
	if os.Rename(address, aside) != nil {
		return false
	}
	if !dead(aside) {
		os.Rename(aside, address) //nolint:errcheck // it was there a moment ago
		return false
	}
	return os.Remove(aside) == nil
}

// dead reports whether a socket of this user exists without a listener. Only a refused connection proves that; a busy
// listener is not dead.
func dead(address string) bool {
	info, err := os.Lstat(address)
	if err != nil || info.Mode()&fs.ModeSocket == 0 || !ownedByUser(info) {
		return false
	}
	d := net.Dialer{Timeout: dialTimeout}
	conn, err := d.Dial("unix", address)
	if err == nil {
		conn.Close()
	}
	return errors.Is(err, syscall.ECONNREFUSED)
}
