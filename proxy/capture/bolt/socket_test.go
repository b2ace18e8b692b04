package bolt

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/remote"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestHolderIsNamed(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	recorder := startHelper(t, "record", path, 0)
	if _, ok := recorder.line(); !ok {
		t.Fatal("the recorder did not begin")
	}
	want := "process " + strconv.Itoa(recorder.cmd.Process.Pid) + " ("
	_, err := Open(path, Options{})
	if !errors.Is(err, segments.ErrLocked) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), path) {
		t.Errorf("open: %v, want %q", err, want)
	}
	if err := Check(t.Context(), path); !errors.Is(err, segments.ErrLocked) || !strings.Contains(err.Error(), want) {
		t.Errorf("check: %v, want %q", err, want)
	}
	info, err := mustRead(t, path).Info(patient(t))
	if err != nil || !info.Live || info.Tool != "helper" || info.Name != path {
		t.Errorf("info %+v, error %v", info, err)
	}
	recorder.in.Close()
	for recorder.lines.Scan() {
	}
	must.Do(t, recorder.cmd.Wait())
	expect.ErrorIs(t, "the socket was left", os.ErrNotExist, expect.Err(os.Lstat(path+".sock")))
}

// TestHolderThatDoesNotAnswer has a process lock the file that is not a recorder.
func TestHolderThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	path := closedCapture(t, Options{}, 1)
	h := startHelper(t, "hold", path, 0)
	if _, ok := h.line(); !ok {
		t.Fatal("the helper does not hold the file")
	}
	_, err := Read(path)
	if !errors.Is(err, segments.ErrLocked) || !strings.Contains(err.Error(), "does not answer") {
		t.Errorf("read: %v", err)
	}
	h.in.Close()
	h.cmd.Wait()
	mustRead(t, path)
}

// TestRecorderStartsUnderReaders keeps reading a finished capture while a recorder starts, records and ends. Neither
// gets an error.
func TestRecorderStartsUnderReaders(t *testing.T) {
	t.Parallel()
	path := closedCapture(t, Options{}, 300)
	ctx, stop := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	r := mustRead(t, path)
	go func() {
		for ctx.Err() == nil {
			for _, err := range r.Steps(ctx, 1) {
				if err != nil && ctx.Err() == nil {
					failed <- err
					return
				}
			}
		}
		failed <- nil
	}()
	for range 5 {
		s := mustOpen(t, path, Options{})
		at := s.Position()
		mustAppend(t, s, exchangeSteps(at.Seq+1, 500)...)
		must.Do(t, r.Wait(patient(t), at.Arrival+7))
		x, err := r.Exchange(patient(t), at.Seq+1)
		if err != nil || x.State != capture.StateClosed {
			t.Fatalf("exchange %+v, error %v", x, err)
		}
		mustClose(t, s)
		if err := r.Wait(patient(t), at.Arrival+8); !errors.Is(err, capture.ErrEnded) {
			t.Fatal("wait after the end:", err)
		}
	}
	stop()
	must.Do(t, <-failed)
}

// TestStuckReader requests much and reads nothing. The recorder continues, and ends in time.
func TestStuckReader(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path, Options{Flush: time.Millisecond})
	for seq := uint64(1); seq <= 2000; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 2000)...)
	}
	s.Flush()
	for range 5 {
		conn := connect(t, path)
		for range 20 {
			must.Do(t, remote.WriteFrame(conn, (&remote.Request{Ask: remote.AskBlocks, From: 1, Limit: remote.PageBytes}).Encode()))
		}
	}
	for seq := uint64(2001); seq <= 2100; seq++ {
		mustAppend(t, s, exchangeSteps(seq, 2000)...)
		s.Flush()
	}
	mustClose(t, s)
	if info, err := s.Info(patient(t)); err != nil || info.Arrivals != 2100*7 {
		t.Errorf("%d arrivals, error %v", info.Arrivals, err)
	}
}

func connect(t *testing.T, path string) net.Conn {
	t.Helper()
	conn := must.Get(net.Dial("unix", path+".sock"))(t)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// TestHostileReader sends bytes that are not a request. The recorder closes the connection and continues.
func TestHostileReader(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.Flush()
	frame := func(b ...byte) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...) }
	for name, sent := range map[string][]byte{
		"huge frame":      {0xff, 0xff, 0xff, 0xff},
		"empty frame":     frame(),
		"unknown request": frame(99, 0, 0, 0, 0),
		"short request":   frame(remote.AskFetch, 1),
		"long list":       frame(remote.AskFetch, 0, 0, 0xff, 0xff, 0xff, 0xff, 0x0f),
		"many keys":       frame((&remote.Request{Ask: remote.AskKept, Keys: make([][]byte, remote.MaxAsked+1)}).Encode()...),
		"HTTP":            []byte("GET / HTTP/1.1\r\nHost: x\r\n\r\n"),
	} {
		conn := connect(t, path)
		must.Get(conn.Write(sent))(t)
		conn.SetDeadline(time.Now().Add(must.Patience))
		// Bytes that were not read make the system say "reset" instead of "end".
		got, err := io.ReadAll(conn)
		if errors.Is(err, os.ErrDeadlineExceeded) || len(got) > 0 {
			t.Errorf("%s: answered %q, error %v; want the connection closed", name, got, err)
		}
	}
	// What is well formed and senseless gets an answer.
	for _, q := range []remote.Request{
		{Ask: remote.AskFetch, Firsts: []uint64{77, 1 << 63}, Limit: 1},
		{Ask: remote.AskFetch},
		{Ask: remote.AskBlocks, From: 1 << 63, Limit: 5},
		{Ask: remote.AskLocate, From: 1 << 63, Limit: remote.PageBytes},
		{Ask: remote.AskFind, From: 1 << 63, Limit: remote.PageBytes},
		{Ask: remote.AskKept},
		{Ask: remote.AskKept, Keys: [][]byte{nil, bytes.Repeat([]byte("x"), 9999)}},
		{Ask: remote.AskKeptRange, Low: []byte("z"), End: []byte("a"), Limit: 1},
	} {
		conn := connect(t, path)
		conn.SetDeadline(time.Now().Add(must.Patience))
		must.Do(t, remote.WriteFrame(conn, q.Encode()))
		if _, err := remote.ReadFrame(conn, remote.MaxAnswer); err != nil {
			t.Errorf("%+v: %v", q, err)
		}
	}
	expect.Equal(t, "steps", 7, len(collect(t, mustRead(t, path), 1)))
}

func TestSocketIsPrivate(t *testing.T) {
	path := newPath(t)
	mustOpen(t, path, Options{})
	expect.Equal(t, "mode", 0o600, fileMode(t, path+".sock"))
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 2 {
		t.Errorf("left in the folder: %v, error %v", entries, err)
	}
}

// TestLongName records a capture whose name leaves no room for a socket next to it.
func TestLongName(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", shortTempDir(t))
	t.Setenv("HOME", os.Getenv("XDG_CACHE_HOME"))
	dir := filepath.Join(t.TempDir(), strings.Repeat("long", 25))
	must.Do(t, os.Mkdir(dir, 0o700))
	path := filepath.Join(dir, "c.a2atap")
	s := mustOpen(t, path, Options{OnError: func(err error) { t.Error(err) }})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.Flush()
	expect.Equal(t, "steps", 7, len(collect(t, mustRead(t, path), 1)))
	cache := must.Get(os.UserCacheDir())(t)
	expect.Equal(t, "mode of the folder", 0o700, fileMode(t, filepath.Join(cache, "a2atap")))
}

// shortTempDir is a temporary folder with a name that leaves room for a socket.
func shortTempDir(t *testing.T) string {
	t.Helper()
	dir := must.Get(os.MkdirTemp("", "s"))(t)
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// TestFolderOfOthers does not trust a private folder that others may write to.
func TestFolderOfOthers(t *testing.T) {
	dir := shortTempDir(t)
	t.Setenv("XDG_CACHE_HOME", dir)
	t.Setenv("HOME", dir)
	cache := must.Get(os.UserCacheDir())(t)
	folder := filepath.Join(cache, "a2atap")
	must.Do(t, os.MkdirAll(folder, 0o700))
	expect.OK(t, remote.Trusted(filepath.Join(folder, "x.sock")))
	must.Do(t, os.Chmod(folder, 0o770))
	expect.Error(t, "a folder that a group may write to was trusted", remote.Trusted(filepath.Join(folder, "x.sock")))
	expect.Error(t, "a recorder listens in a folder that a group may write to",
		expect.Err(remote.ListenAt(filepath.Join(folder, "x.sock"))))
}

// TestSocketsInTheWay replaces what a killed recorder left, and nothing else.
func TestSocketsInTheWay(t *testing.T) {
	path := newPath(t)
	l := must.Get(net.ListenUnix("unix", &net.UnixAddr{Name: path + ".sock", Net: "unix"}))(t)
	l.SetUnlinkOnClose(false)
	l.Close()
	s := mustOpen(t, path, Options{OnError: func(err error) { t.Error(err) }})
	mustRead(t, path)
	mustClose(t, s)

	t.Setenv("XDG_CACHE_HOME", shortTempDir(t))
	writeFile(t, path+".sock", []byte("mine"))
	s = mustOpen(t, path, Options{OnError: func(err error) { t.Error(err) }})
	if info, err := mustRead(t, path).Info(patient(t)); err != nil || !info.Live {
		t.Errorf("info %+v, error %v", info, err)
	}
	mustClose(t, s)
	expect.Equal(t, "the user's file was replaced", "mine", string(readFile(t, path+".sock")))
}

// TestOtherVersion meets a recorder that speaks another version of the protocol.
func TestOtherVersion(t *testing.T) {
	path := closedCapture(t, Options{}, 1)
	stop := playRecorder(t, path, func(conn net.Conn) {
		remote.ReadFrame(conn, remote.MaxRequest)
		e := remote.Encoder{Encoder: layout.Encoder{B: []byte{remote.AnswerOK}}}
		e.Holder(remote.Holder{Version: remote.WireVersion + 1, PID: 42, Program: "a2atap"})
		remote.WriteFrame(conn, append(e.B, "and more that we do not know"...))
	})
	defer stop()
	_, err := Read(path)
	if !errors.Is(err, segments.ErrLocked) ||
		!strings.Contains(err.Error(), "process 42 (a2atap); read it with the same version") {
		t.Errorf("read: %v", err)
	}
}

// playRecorder has a capture, as a recorder does, and answers each who connects. Stop ends that.
func playRecorder(t *testing.T, path string, answer func(net.Conn)) (stop func()) {
	t.Helper()
	s := &segments.Segment{Path: path}
	must.Do(t, s.TryExclusive(0))
	l := must.Get(remote.ListenAt(path + ".sock"))(t)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			answer(conn)
			conn.Close()
		}
	}()
	return func() {
		l.Close()
		<-done
		os.Remove(path + ".sock")
		s.DB.Close()
	}
}

func TestClosedReader(t *testing.T) {
	path := closedCapture(t, Options{SegmentSize: 1}, 4)
	r := mustRead(t, path)
	expect.Equal(t, "not all steps", 28, len(collect(t, r, 1)))
	r.Close()
	expect.ErrorIs(t, "info after close", remote.ErrReaderClosed, expect.Err(r.Info(patient(t))))
}
