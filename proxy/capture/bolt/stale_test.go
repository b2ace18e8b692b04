package bolt

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// leave makes a socket without a listener, as a killed process leaves it.
func leave(t *testing.T, address string) {
	t.Helper()
	l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: address, Net: "unix"}))(t)
	l.SetUnlinkOnClose(false)
	must.Do(t, l.Close())
}

func there(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// TestStaleSocketsGo starts a recorder next to stale sockets of other recorders, and sockets in use.
func TestStaleSocketsGo(t *testing.T) {
	dir, cache := shortTempDir(t), shortTempDir(t)
	t.Setenv("XDG_CACHE_HOME", cache)
	t.Setenv("HOME", cache)
	private := remote.PrivateFolders()[0]
	must.Do(t, os.MkdirAll(private, 0o700))
	mustClose(t, mustOpen(t, filepath.Join(dir, "finished"), Options{}))
	living := mustOpen(t, filepath.Join(dir, "living.a2atap"), Options{})
	writeFile(t, filepath.Join(dir, "file.a2atap.sock"), nil)
	writeFile(t, filepath.Join(dir, "notes"), []byte("no capture"))
	hash := strings.Repeat("0a", remote.SocketHash)
	sockets := []struct {
		name  string
		stays bool
	}{
		{filepath.Join(dir, "c.a2atap.sock"), true}, // the recorder's own now
		{filepath.Join(dir, "gone.a2atap.sock"), false},
		{filepath.Join(dir, "finished.sock"), false},
		{filepath.Join(dir, "database.sock"), true},
		{filepath.Join(dir, "notes.sock"), true},
		{filepath.Join(private, hash+".sock"), false},
		{filepath.Join(private, "other.sock"), true},
	}
	for _, c := range sockets {
		leave(t, c.name)
	}
	s := mustOpen(t, filepath.Join(dir, "c.a2atap"), Options{OnError: func(err error) { t.Error(err) }})
	for _, c := range sockets {
		expect.Equal(t, c.name+": there", c.stays, there(t, c.name))
	}
	for _, name := range []string{"living.a2atap.sock", "file.a2atap.sock"} {
		if !there(t, filepath.Join(dir, name)) {
			t.Errorf("%s was removed", name)
		}
	}
	for _, path := range []string{s.local.path, living.local.path} {
		if info, err := mustRead(t, path).Info(patient(t)); err != nil || !info.Live {
			t.Errorf("the recorder of %s: %+v, error %v", path, info, err)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, segments.TemporaryPattern+"*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left in the folder: %v, error %v", left, err)
	}
}

// TestSocketThatComesAlive is put back: its recorder put it there after it was seen to be dead.
func TestSocketThatComesAlive(t *testing.T) {
	dir := shortTempDir(t)
	address := filepath.Join(dir, "c.a2atap.sock")
	l := must.Get(remote.ListenAt(address))(t)
	defer l.Close()
	if remote.TakeAside(address) {
		t.Error("a socket that is listened on was removed")
	}
	conn, err := net.Dial("unix", address)
	if err != nil {
		t.Fatal("it is not back:", err)
	}
	conn.Close()
}
