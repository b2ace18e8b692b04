//go:build unix

package remote

import (
	"io/fs"
	"os"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/expect"
)

// A file is a file of a mode and a user.
type file struct {
	mode fs.FileMode
	user int
}

func (f file) Name() string       { return "c.a2atap.sock" }
func (f file) Size() int64        { return 0 }
func (f file) Mode() fs.FileMode  { return f.mode }
func (f file) ModTime() time.Time { return time.Time{} }
func (f file) IsDir() bool        { return f.mode.IsDir() }
func (f file) Sys() any           { return &syscall.Stat_t{Uid: uint32(f.user)} }

// Readers take a socket only of their user or of the owner of the capture.
func TestSocketsOfOthers(t *testing.T) {
	us := os.Geteuid()
	for _, test := range []struct {
		name    string
		capture int
		socket  file
		want    bool
	}{
		{"ours", us, file{fs.ModeSocket | 0o600, us}, true},
		{"ours, beside the capture of another user", us + 1, file{fs.ModeSocket | 0o600, us}, true},
		{"of the owner of the capture", us + 1, file{fs.ModeSocket | 0o600, us + 1}, true},
		{"of another user, beside our capture", us, file{fs.ModeSocket | 0o777, us + 1}, false},
		{"of a third user", us + 1, file{fs.ModeSocket | 0o777, us + 2}, false},
		{"a link", us, file{fs.ModeSymlink | 0o777, us}, false},
		{"a FIFO", us, file{fs.ModeNamedPipe | 0o600, us}, false},
		{"a file", us, file{0o600, us}, false},
	} {
		expect.Equal(t, test.name, test.want, isOfRecorder(file{0o644, test.capture}, test.socket))
	}
	expect.Equal(t, "no capture", false, isOfRecorder(nil, file{fs.ModeSocket, us + 1}))
}
