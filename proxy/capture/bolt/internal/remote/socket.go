package remote

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"

	"a2atap/proxy/capture/bolt/internal/segments"
)

// maxSocketPath is how long the name of a unix socket may be on all systems: macOS has room for 104 bytes with the
// zero.
const maxSocketPath = 100

// SocketHash is how many bytes of a hash name a socket in a private folder.
const SocketHash = 12

// socketPaths returns the possible addresses of a capture's recorder, best first: next to the file; and, if that name
// is too long or the folder does not support sockets, in the user's folders under a hash of the file's name. Recorder
// and reader compute the same list.
func socketPaths(path string) []string {
	path = absolute(path)
	var paths []string
	if beside := path + ".sock"; len(beside) <= maxSocketPath &&
		len(filepath.Join(filepath.Dir(path), segments.LongestTemporary)) <= maxSocketPath {
		paths = append(paths, beside)
	}
	sum := sha256.Sum256([]byte(path))
	name := hex.EncodeToString(sum[:SocketHash]) + ".sock"
	for _, folder := range PrivateFolders() {
		if p := filepath.Join(folder, name); len(p) <= maxSocketPath {
			paths = append(paths, p)
		}
	}
	return paths
}

// absolute names a file in the one way that does not depend on how it was reached. The file need not exist.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}

// PrivateFolders returns the folders for sockets that cannot be next to their file.
func PrivateFolders() []string {
	var folders []string
	if cache, err := os.UserCacheDir(); err == nil {
		folders = append(folders, filepath.Join(cache, "a2atap"))
	}
	return append(folders, filepath.Join(os.TempDir(), "a2atap-"+strconv.Itoa(os.Getuid())))
}

// Trusted refuses a socket in a shared folder that is not private: in a folder that everyone may write, such as the
// system's temporary one, anyone could have put it there.
func Trusted(address string) error {
	folder := filepath.Dir(address)
	for _, private := range PrivateFolders() {
		if folder == private {
			return checkPrivate(folder)
		}
	}
	return nil
}

// trustedSocket refuses a socket of another user. Anyone who may read a capture can lock it, and anyone who may write
// to its folder can listen there instead of its recorder.
func trustedSocket(path, address string) error {
	if err := Trusted(address); err != nil {
		return err
	}
	socket, err := os.Lstat(address)
	if err != nil {
		return err
	}
	capture, err := os.Stat(path)
	if err != nil {
		capture = nil
	}
	if !isOfRecorder(capture, socket) {
		return fmt.Errorf("%s belongs to another user; remove it", address)
	}
	return nil
}

// isOfRecorder reports whether a socket can belong to the recorder of a capture: its owner is the user, or the owner of
// the capture.
func isOfRecorder(capture, socket fs.FileInfo) bool {
	return socket.Mode()&fs.ModeSocket != 0 && (ownedByUser(socket) || capture != nil && owner(capture) == owner(socket))
}

func checkPrivate(folder string) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 && !NoFileModes || !ownedByUser(info) {
		return fmt.Errorf("%s is not a directory that only you can use; remove it", folder)
	}
	return nil
}

// listen opens the recorder's socket at the first place that works, and returns the place. It replaces a socket that a
// killed recorder left there: the caller holds the capture's lock, so no other recorder can be alive.
func listen(path string) (*net.UnixListener, string, error) {
	var errs []error
	for _, address := range socketPaths(path) {
		l, err := ListenAt(address)
		if err == nil {
			return l, address, nil
		}
		errs = append(errs, err)
	}
	if len(errs) == 0 {
		errs = append(errs, errors.New("every possible path for it is too long"))
	}
	return nil, "", errors.Join(errs...)
}

// ListenAt creates the socket in a private folder and then moves it into place, so that its mode is 0600 at all times.
func ListenAt(address string) (*net.UnixListener, error) {
	folder := filepath.Dir(address)
	if Trusted(address) != nil {
		if err := os.MkdirAll(folder, 0o700); err != nil {
			return nil, err
		}
		if err := Trusted(address); err != nil {
			return nil, err
		}
	}
	private, err := os.MkdirTemp(folder, segments.TemporaryPattern)
	if err != nil {
		return nil, err
	}
	defer os.Remove(private)
	temporary := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: temporary, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	if err = os.Chmod(temporary, 0o600); err == nil {
		err = replaceSocket(temporary, address)
	}
	if err != nil {
		l.Close()
		os.Remove(temporary)
		return nil, err
	}
	return l, nil
}

// replaceSocket moves a socket into place. It replaces only a socket: a user's file that happens to have the same name
// stays.
func replaceSocket(temporary, address string) error {
	if info, err := os.Lstat(address); err == nil && info.Mode()&fs.ModeSocket == 0 {
		return fmt.Errorf("%s exists, and is not a recorder's socket; move it", address)
	}
	return os.Rename(temporary, address)
}
