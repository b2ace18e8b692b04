package recorder

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
)

// A trouble is something that happens to the disk under a recording.
type trouble struct {
	name  string
	fault func(path string) error // of each commit
	begin func(path string) error
	mend  func(path string) error // nil if it stays
	ends  func(path string) string
	fails bool // all commits fail from its beginning
}

func moved(path string) string { return path + ".moved" }

var troubles = []trouble{
	{name: "full", fails: true, fault: func(string) error { return &fs.PathError{Op: "write", Err: syscall.ENOSPC} }},
	{name: "limited", fault: func(path string) error {
		if info, err := os.Stat(path); err == nil && info.Size() < 400<<10 {
			return nil
		}
		return &fs.PathError{Op: "truncate", Err: syscall.EFBIG}
	}},
	{name: "read-only", fails: true, fault: func(string) error { return &fs.PathError{Op: "write", Err: syscall.EROFS} }},
	{name: "slow", fault: func(string) error { <-time.After(5 * time.Millisecond); return nil }},
	{
		name:  "moved away",
		begin: func(path string) error { return os.Rename(path, moved(path)) },
		mend:  func(path string) error { return os.Rename(moved(path), path) },
		ends:  moved,
	},
	{
		name: "replaced",
		begin: func(path string) error {
			return errors.Join(os.Rename(path, moved(path)), os.WriteFile(path, []byte("theirs"), 0o600))
		},
		mend: func(path string) error { return os.Rename(moved(path), path) },
		ends: moved,
	},
	{
		name:  "deleted",
		fails: true,
		begin: os.Remove,
		ends:  func(string) string { return "" },
	},
}

// TestNothingIsLostUncounted makes the disk fail in each way, temporarily and permanently. Recorded and lost traffic
// together are the traffic that was sent. Everything reported as recorded is in the file.
func TestNothingIsLostUncounted(t *testing.T) {
	t.Parallel()
	for i, trouble := range troubles {
		for name, policy := range map[string]recording.Policy{"pass": recording.Pass, "wait": recording.Wait, "stop": recording.Stop} {
			if (i+int(policy))%oneIn != 0 {
				continue
			}
			t.Run(trouble.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				troubled(t, trouble, policy, false)
			})
			if trouble.name == "deleted" || policy == recording.Stop {
				continue
			}
			t.Run(trouble.name+"/"+name+"/mended", func(t *testing.T) {
				t.Parallel()
				troubled(t, trouble, policy, true)
			})
		}
	}
}

func troubled(t *testing.T, trouble trouble, policy recording.Policy, mended bool) {
	path := filepath.Join(t.TempDir(), "c.a2atap")
	var failing atomic.Bool
	noticed := make(chan string, 100)
	r := recordFrom(t, Options{
		Output: path, Recorder: recording.Options{IfFull: policy, QueueBytes: 64 << 10},
		Listener: hears{notice: func(text string) { noticed <- text }},
		Hide: redacted.Options{Store: bolt.Options{Budget: 64 << 10, Fault: func() error {
			if trouble.fault == nil || !failing.Load() {
				return nil
			}
			return trouble.fault(path)
		}}},
	})
	s := &cmdtest.Crowd{URL: r.Taps()[0].URL()}
	s.Send(20)
	awaitEnds(t, r.store, 20) // else what comes too late is these, and nothing is lost with them
	failing.Store(true)
	if trouble.begin != nil {
		must.Do(t, trouble.begin(path))
	}
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		s.Send(400)
	}()
	told := false
	select { // delayed traffic takes as long as the disk does
	case text := <-noticed:
		told = true
		if policy == recording.Wait != strings.Contains(text, "traffic waits") {
			t.Errorf("policy %d, and it is said that %q", policy, text)
		}
	case <-sent:
		told = len(noticed) > 0
		if trouble.fails && policy != recording.Pass {
			t.Error("all passes, and nothing is said")
		}
	}
	if mended {
		failing.Store(false)
		if trouble.mend != nil {
			must.Do(t, trouble.mend(path))
		}
		<-sent
		s.Send(20)
	}
	if policy == recording.Pass {
		<-sent
	}
	result, stats, err := r.Stop()
	<-sent
	lost := stats.LostExchanges
	if result != nil {
		expect.Equal(t, "lost exchanges in the verdict", lost, result.Counts.Lost)
	}
	if sum := int64(stats.Exchanges) + lost; sum < s.Answered.Load() || sum > s.Tried.Load() {
		t.Errorf("%d sent, %d answered: %d recorded and %d lost, error %v", s.Tried.Load(), s.Answered.Load(),
			stats.Exchanges, lost, err)
	}
	if mended && policy == recording.Wait && (lost > 0 || err != nil) {
		t.Errorf("traffic waited, and %d exchanges are lost, error %v", lost, err)
	}
	if !mended && trouble.fails && (err == nil || lost == 0) {
		t.Errorf("%d lost, error %v", lost, err)
	}
	if !told && lost > 0 {
		t.Errorf("%d lost, and nobody was told", lost)
	}
	checkFile(t, trouble, path, mended, stats, err)
}

// TestWaitHoldsAtTheSource fails commits under the policy wait, with room in memory for all that is sent. What is not in
// the file waits where it comes from, the file says for how long, and nothing is lost when there is room again.
func TestWaitHoldsAtTheSource(t *testing.T) {
	t.Parallel()
	const sent = 4000 // which there would be room for in memory
	path := filepath.Join(t.TempDir(), "c.a2atap")
	var failing atomic.Bool
	var tries, early atomic.Int64
	again := make(chan struct{})
	noticed := make(chan string, 100)
	s := &cmdtest.Crowd{} // of four clients
	r := recordFrom(t, Options{
		Output: path, Recorder: recording.Options{IfFull: recording.Wait},
		Listener: hears{notice: func(text string) { noticed <- text }},
		Hide: redacted.Options{Store: bolt.Options{Fault: func() error {
			if !failing.Load() {
				return nil
			}
			switch tries.Add(1) {
			case 10:
				early.Store(s.Answered.Load())
			case 20:
				close(again)
			}
			return &fs.PathError{Op: "write", Err: syscall.ENOSPC}
		}}},
	})
	s.URL = r.Taps()[0].URL()
	s.Send(20)
	awaitEnds(t, r.store, 20)
	failing.Store(true)
	all := make(chan struct{})
	go func() {
		defer close(all)
		s.Send(sent)
	}()
	select {
	case <-again:
	case <-time.After(must.Patience):
		t.Fatal("nothing is tried again")
	}
	select {
	case text := <-noticed:
		expect.Contains(t, "it is said", "traffic waits", text)
	default:
		t.Error("nothing is said")
	}
	passed := s.Answered.Load()
	if late := passed - early.Load(); late > 4 {
		t.Errorf("%d more are answered while nothing can be stored", late)
	}
	failing.Store(false)
	<-all
	_, stats, err := r.Stop()
	if err != nil || stats.Exchanges != 20+sent || stats.LostExchanges != 0 {
		t.Errorf("%d exchanges recorded, %d lost, of %d; error %v", stats.Exchanges, stats.LostExchanges, 20+sent, err)
	}
	t.Logf("%d of %d were answered before that", passed-20, sent)
}

// awaitEnds waits until so many exchanges have ended in the capture: an answer is with its client before that.
func awaitEnds(t *testing.T, src capture.Source, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	defer cancel()
	for from := uint64(1); n > 0; {
		if err := src.Wait(ctx, from); err != nil {
			t.Fatalf("%d exchanges have not ended: %v", n, err)
		}
		for step, err := range src.Steps(ctx, from) {
			must.Do(t, err)
			from = step.Arrival + 1
			if _, ended := step.What.(capture.Closed); ended {
				n--
			}
		}
	}
}

// checkFile compares the contents of the file with the reported statistics.
func checkFile(t *testing.T, trouble trouble, path string, mended bool, stats recording.Stats, err error) {
	t.Helper()
	if trouble.ends != nil && !mended {
		if path = trouble.ends(path); path == "" {
			expect.Equal(t, "exchanges that are said to be in a deleted file", 0, stats.Exchanges)
			return
		}
	}
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	n := uint64(0)
	for _, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		n++
	}
	info := must.Get(src.Info(t.Context()))(t)
	if n != stats.Exchanges {
		t.Errorf("%d exchanges in the file, %d are said to be recorded", n, stats.Exchanges)
	}
	if info.LostExchanges != stats.LostExchanges && info.Crashes == 0 {
		t.Errorf("the capture says that %d exchanges are lost, the end says %d; error %v", info.LostExchanges,
			stats.LostExchanges, err)
	}
	if judged := must.Get(analyzer.Judge(t.Context(), src))(t); info.Crashes == 0 {
		expect.Equal(t, "lost exchanges in the verdict on the file", stats.LostExchanges, judged.Counts.Lost)
	}
	if mended && info.Crashes > 0 {
		t.Errorf("the capture was mended, and says %v", info.Crash)
	}
}

// recordFrom starts a recording of a tap in front of an agent that answers everything.
func recordFrom(t *testing.T, o Options) *Recording {
	t.Helper()
	to := must.Get(url.Parse(cmdtest.NoiseAgent(t)))(t)
	o.Proxy.Taps = []proxy.TapSpec{{Name: "a", Agent: to, Listen: "127.0.0.1:0"}}
	o.Proxy.NoCallers = true
	r := must.Get(Start(o))(t)
	t.Cleanup(func() { r.store.Reader.Close() })
	return r
}
