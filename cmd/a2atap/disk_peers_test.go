//go:build peers && linux

package main

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// A diskTrouble is something that happens to the file of a recorder, and how it is over; nil if it stays.
type diskTrouble struct {
	name  string
	disk  func(t *testing.T) string // a folder of it
	begin func(t *testing.T, p *killed, path string) (over func())
}

var diskTroubles = []diskTrouble{
	{
		"full", func(t *testing.T) string { return fleettest.Disk(t, 16<<20) },
		func(t *testing.T, _ *killed, path string) func() {
			ballast := fill(t, filepath.Dir(path))
			return func() { os.Remove(ballast) }
		},
	},
	{
		"limited", func(t *testing.T) string { return t.TempDir() },
		func(t *testing.T, p *killed, path string) func() {
			info := must.Get(os.Stat(path))(t)
			before := limitFiles(t, p.cmd.Process.Pid, uint64(info.Size()))
			return func() { limitFiles(t, p.cmd.Process.Pid, before) }
		},
	},
	{"read-only", ext4, func(t *testing.T, _ *killed, path string) func() {
		remountReadOnly(t, filepath.Dir(path))
		return nil
	}},
	{
		"taken away", func(t *testing.T) string { return t.TempDir() },
		func(t *testing.T, _ *killed, path string) func() {
			must.Do(t, os.Rename(path, path+".away"))
			return func() { os.Rename(path+".away", path) }
		},
	},
}

// TestCaptureFails has the table of docs/limits.md: what each policy does on disks that fail, for a time and for good,
// told to end and killed.
func TestCaptureFails(t *testing.T) {
	if !fleettest.Apart(t) {
		return
	}
	for _, trouble := range diskTroubles {
		for _, policy := range []string{"pass", "wait", "stop"} {
			for _, end := range []string{"over", "ended", "killed"} {
				if policy == "stop" && end != "ended" || end == "over" && trouble.name == "read-only" {
					continue // the recording has ended by itself; the disk is lost
				}
				t.Run(trouble.name+"/"+policy+"/"+end, func(t *testing.T) { captureFails(t, trouble, policy, end) })
			}
		}
	}
}

func captureFails(t *testing.T, trouble diskTrouble, policy, end string) {
	dir := trouble.disk(t)
	if dir == "" {
		return
	}
	path := filepath.Join(dir, "c.a2atap")
	var said lockedBuffer
	cmd := exec.Command("a2atap", "record", "--agent", "a="+cmdtest.NoiseAgent(t), "-o", path, "--format", "json",
		"--if-capture-fails", policy)
	cmd.Stderr = &said
	p := startCommand(t, cmd, &said)
	s := &numberedSends{url: p.url, answered: make(map[string]time.Time)}
	s.send("before", 100)
	waitForExchanges(t, path, 100)
	over := trouble.begin(t, p, path)
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		s.send("during", 1500)
	}()
	told := map[string]string{
		"pass": "recording is incomplete: ", "wait": "recording is blocked, and traffic waits: ",
		"stop": "--if-capture-fails is stop",
	}[policy]
	eventually(t, "that it is said: "+told, func() bool { return strings.Contains(said.String(), told) })
	early := s.count()
	if policy == "pass" {
		<-sent // nothing is held up
	}
	switch end {
	case "over":
		over()
		<-sent
		s.send("after", 100)
		fallthrough
	case "ended":
		cmd.Process.Signal(syscall.SIGTERM) //nolint:errcheck // with stop it may have ended
	case "killed":
		if policy == "wait" {
			<-time.After(time.Second) // for which traffic waits
			if late := s.count() - early; late > 4 {
				t.Errorf("%d are answered while traffic waits", late)
			}
		}
		s.killed = time.Now()
		cmd.Process.Kill()
	}
	err := cmd.Wait()
	<-sent
	if end != "over" && trouble.name == "taken away" {
		path += ".away"
	}
	kept, info := s.kept(t, path)
	if end == "killed" {
		s.checkKilled(t, trouble, policy, path, kept, info)
		return
	}
	checkEnded(t, policy, end, err, said.String(), s, kept, info.LostExchanges)
}

// checkEnded holds what a recorder says at its end against what was sent and what is in the file.
func checkEnded(t *testing.T, policy, end string, err error, said string, s *numberedSends, kept map[string]bool, lost int64) {
	t.Helper()
	summary := regexp.MustCompile(`(?m)^record: ([\d,]+) exchanges?, .*?(?:; NOT recorded: ([\d,]+) exchanges?,.*)?$`).
		FindStringSubmatch(said)
	if summary == nil {
		t.Fatalf("it says %s", said)
	}
	recorded, notRecorded := parseCount(t, summary[1]), 0
	if summary[2] != "" {
		notRecorded = parseCount(t, summary[2])
	}
	if sum := recorded + notRecorded; sum > int(s.tried.Load()) || sum < len(s.answered) || len(kept) > recorded {
		t.Errorf("%d recorded and %d not, of %d tried, %d answered; %d in the file\n%s", recorded, notRecorded,
			s.tried.Load(), len(s.answered), len(kept), said)
	}
	complete := end == "over" && (policy == "wait" || notRecorded == 0) // all may have come before the file was missed
	var exit *exec.ExitError
	switch {
	case complete && (err != nil || notRecorded > 0 || len(kept) != len(s.answered)):
		t.Errorf("nothing is said to be missing, and it ends with %v: %d of %d are in the file\n%s", err, len(kept), len(s.answered), said)
	case !complete && (!errors.As(err, &exit) || exit.ExitCode() != cli.ExitFailed ||
		notRecorded == 0 && len(kept) < len(s.answered)):
		t.Errorf("it ends with %v, and says that %d were not recorded\n%s", err, notRecorded, said)
	}
	if end == "over" && int(lost) != notRecorded {
		t.Errorf("the capture lacks %d, the summary %d", lost, notRecorded)
	}
}

// numberedSends say which exchanges were answered, and when.
type numberedSends struct {
	url    string
	tried  atomic.Int64
	killed time.Time

	mu       sync.Mutex
	answered map[string]time.Time
}

// send sends n requests with four clients, each until one fails.
func (s *numberedSends) send(name string, n int) {
	var clients sync.WaitGroup
	for c := range 4 {
		clients.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			defer client.CloseIdleConnections()
			for i := range n / 4 {
				number := fmt.Sprintf("%s-%d-%d", name, c, i)
				s.tried.Add(1)
				if sendNumbered(client, s.url, number) != nil {
					return
				}
				s.mu.Lock()
				s.answered[number] = time.Now()
				s.mu.Unlock()
			}
		})
	}
	clients.Wait()
}

// count returns how many were answered.
func (s *numberedSends) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.answered)
}

// kept returns the exchanges that a capture has, and what it says of itself.
func (s *numberedSends) kept(t *testing.T, path string) (map[string]bool, capture.Info) {
	t.Helper()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	kept := make(map[string]bool)
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		kept[numberOf(x)] = true
	}
	info := must.Get(src.Info(t.Context()))(t)
	return kept, info
}

// checkKilled holds what a killed recorder left against what was answered.
func (s *numberedSends) checkKilled(t *testing.T, trouble diskTrouble, policy, path string, kept map[string]bool, info capture.Info,
) {
	t.Helper()
	missing, oldest := 0, s.killed
	for n, at := range s.answered {
		if kept[n] {
			continue
		}
		missing++
		if at.Before(oldest) {
			oldest = at
		}
	}
	lost := s.killed.Sub(oldest)
	t.Logf("%d of %d answered are missing, the oldest %v before the kill; the capture says %v, %d lost", missing,
		len(s.answered), lost, info.Crash, info.LostExchanges)
	if code, said := runQuietly(t, "check", path); code == cli.ExitOK || !saidKilled.MatchString(said) {
		t.Errorf("check exits with %d and says %s", code, said)
	}
	if policy == "pass" {
		return // they are counted as soon as anything can be stored
	}
	if oldest.Before(info.Crash.After) {
		t.Errorf("one was answered at %v and is missing; what came before %v is said to be there", oldest, info.Crash.After)
	}
	if info.Crash.Within < lost && trouble.name != "read-only" {
		t.Errorf("the oldest that is missing was answered %v before the kill, %v is said", lost, info.Crash.Within)
	}
}

// waitForExchanges waits until a capture has so many exchanges that have ended.
func waitForExchanges(t *testing.T, path string, n int) {
	t.Helper()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	eventually(t, "that all is stored", func() bool {
		ended := 0
		for x, err := range src.Exchanges(t.Context(), 1) {
			must.Do(t, err)
			if x.Ended >= 0 {
				ended++
			}
		}
		return ended >= n
	})
}

// limitFiles sets how large the files may be that a process writes, and returns how large they might be before.
func limitFiles(t *testing.T, pid int, size uint64) (before uint64) {
	t.Helper()
	var was syscall.Rlimit
	_, _, errno := syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE, 0,
		uintptr(unsafe.Pointer(&was)), 0, 0)
	if errno == 0 {
		limit := syscall.Rlimit{Cur: size, Max: was.Max}
		_, _, errno = syscall.RawSyscall6(syscall.SYS_PRLIMIT64, uintptr(pid), syscall.RLIMIT_FSIZE,
			uintptr(unsafe.Pointer(&limit)), 0, 0, 0)
	}
	if errno != 0 {
		t.Fatal(errno)
	}
	return was.Cur
}

// ext4 mounts a file system that becomes read-only when it finds an error, and returns its folder; "" where that needs
// more rights than the test has.
func ext4(t *testing.T) string {
	t.Helper()
	image, dir := filepath.Join(t.TempDir(), "image"), t.TempDir()
	must.Do(t, errors.Join(os.WriteFile(image, nil, 0o600), os.Truncate(image, 16<<20)))
	mustRun(t, "mkfs.ext4", "-q", image)
	if out, err := exec.Command("mount", "-o", "loop,errors=remount-ro", image, dir).CombinedOutput(); err != nil {
		t.Logf("images cannot be mounted here: %v\n%s", err, out)
		return ""
	}
	t.Cleanup(func() { mustRun(t, "umount", dir) })
	return dir
}

// remountReadOnly lets the file system of a folder find an error.
func remountReadOnly(t *testing.T, dir string) {
	t.Helper()
	mounts, err := os.ReadFile("/proc/self/mounts")
	must.Do(t, err)
	for line := range strings.Lines(string(mounts)) {
		if device, at, _ := strings.Cut(line, " "); strings.HasPrefix(at, dir+" ") {
			err = os.WriteFile("/sys/fs/ext4/"+filepath.Base(device)+"/trigger_fs_error", []byte("1"), 0)
		}
	}
	must.Do(t, err)
}

func mustRun(t *testing.T, argv ...string) {
	t.Helper()
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", argv, err, out)
	}
}
