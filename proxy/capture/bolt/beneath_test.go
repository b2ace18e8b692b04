package bolt

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/must"
)

// endsWithin is how long a recorder may take to end where others use the machine and its disk.
const endsWithin = 30 * time.Second

// A damagedEnd is what a recorder says at its end whose file was damaged beneath it.
type damagedEnd struct {
	Appended int64
	Account  Account
	Took     time.Duration // with some looks at what was recorded
	Held     bool          // the file is still locked after that
	Err      string
}

// TestDamagedBeneathTheRecorder overwrites files while they are recorded and read, in this process and in the
// recorder's. Whatever happens to the database, no one waits for it: the recorder ends when it is stopped. The steps
// that it stored and the steps that it lost add up to the steps that it got.
func TestDamagedBeneathTheRecorder(t *testing.T) {
	t.Parallel()
	const parts = 4
	var longest, broken atomic.Int64
	t.Run("all", func(t *testing.T) {
		for part := range parts {
			t.Run(strconv.Itoa(part), func(t *testing.T) {
				t.Parallel()
				for seed := part; seed < damages/10; seed += parts {
					end, how := damagedBeneath(t, uint64(seed))
					if longest.Store(max(longest.Load(), int64(end.Took))); end.Took > endsWithin {
						t.Errorf("seed %d, %v: it takes %v to end", seed, how, end.Took)
					}
					if end.Held {
						t.Errorf("seed %d, %v: the file is locked although it was closed", seed, how)
					}
					if sum := end.Account.Exchanges + end.Account.LostExchanges; sum != end.Appended {
						t.Errorf("seed %d, %v: %d exchanges stored and %d lost of %d; %s", seed, how, end.Account.Exchanges,
							end.Account.LostExchanges, end.Appended, end.Err)
					}
					if strings.Contains(end.Err, segments.ErrPanicked.Error()) {
						broken.Add(1)
					}
					if end.Account.LostExchanges > 0 && !strings.Contains(end.Err, "steps were not stored (") {
						t.Errorf("seed %d, %v: %d exchanges are lost, and it says %q", seed, how, end.Account.LostExchanges, end.Err)
					}
				}
			})
		}
	})
	t.Logf("the longest end took %v, %d databases faulted", time.Duration(longest.Load()), broken.Load())
	if broken.Load() == 0 {
		t.Error("no database faulted")
	}
}

// damagedBeneath damages the file of a recorder three times, and returns how, and what that says at its end.
func damagedBeneath(t *testing.T, seed uint64) (end damagedEnd, how []string) {
	t.Helper()
	path := t.TempDir() + "/c.a2atap"
	random := rand.New(rand.NewPCG(seed, 2))
	h := startHelper(t, "beneath", path, int64(seed%2)<<20)
	stuck := time.AfterFunc(must.Patience, func() { h.cmd.Process.Signal(syscall.SIGQUIT) }) // which shows where
	defer stuck.Stop()
	ticks := func(n int) {
		for range n {
			if line, ok := h.line(); !ok {
				t.Fatalf("seed %d, %v: the recorder ended early: %s", seed, how, line)
			}
		}
	}
	ticks(1)
	ctx, stop := context.WithCancel(t.Context())
	var reading sync.WaitGroup
	if r, err := Read(path); err == nil {
		reading.Go(func() {
			defer r.Close()
			readAll(ctx, r)
		})
	}
	for range 3 {
		ticks(1 + random.IntN(5))
		how = append(how, scribble(t, random, path))
	}
	ticks(5)
	h.in.Close()
	for line, ok := h.line(); ok; line, ok = h.line() {
		if said, last := strings.CutPrefix(line, "end "); last {
			must.Do(t, json.Unmarshal([]byte(said), &end))
		}
	}
	if err := h.cmd.Wait(); err != nil {
		t.Fatalf("seed %d, %v: the recorder ended with %v", seed, how, err)
	}
	stop()
	reading.Wait()
	return end, how
}

// scribble damages a file where it is, and says how.
func scribble(t *testing.T, random *rand.Rand, path string) string {
	t.Helper()
	page := os.Getpagesize()
	before := readFile(t, path)
	before = append(before, make([]byte, max(page-len(before), (page-len(before)%page)%page))...)
	how, after := damage(random, bytes.Clone(before))
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	must.Do(t, err)
	defer f.Close()
	whole := true
	switch random.IntN(8) {
	case 0:
		how, after = "another file over it", bytes.Repeat([]byte("not a capture\n"), 1000)
	case 1:
		how, after = "an earlier state over it", before
	default:
		whole = false
	}
	if whole || len(after) < len(before) {
		err = f.Truncate(int64(len(after)))
	}
	for at := 0; at < len(after) && err == nil; at += page {
		end := min(at+page, len(after))
		if whole || !bytes.Equal(after[at:end], before[at:end]) {
			_, err = f.WriteAt(after[at:end], int64(at))
		}
	}
	must.Do(t, err)
	return how
}

// readAll reads a capture in each way until the context ends. Errors are what damage may come to.
func readAll(ctx context.Context, r *Reader) {
	for ctx.Err() == nil {
		info, _ := r.Info(ctx)
		for range r.Exchanges(ctx, max(1, info.Exchanges-min(info.Exchanges, 50))) {
		}
		for range r.Find(ctx, capture.Key{Kind: "agent", Value: "booker"}, info.Exchanges) {
		}
		r.Kept(ctx, []byte("last"))
		r.Mark(ctx)
	}
}

// held reports whether a file stays locked, for longer than readers have it.
func held(path string) bool {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	for end := time.Now().Add(endsWithin); time.Now().Before(end); {
		segments.AwaitExclusive(f)
		if segments.LockExclusive(f) == nil {
			return false
		}
	}
	return true
}

// helpBeneath records, follows and reads in one process until its input ends. It prints a line now and then, and at the
// end what became of what was appended.
func helpBeneath(path string) error {
	segment, _ := strconv.ParseInt(os.Getenv(helperSegment), 10, 64)
	s, err := Open(path, Options{Flush: time.Millisecond, SegmentSize: segment, Budget: 256 << 10})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	var load, readers sync.WaitGroup
	var appended atomic.Int64
	for range 4 {
		load.Go(func() {
			for ctx.Err() == nil {
				n := appended.Add(1)
				s.Append(exchangeSteps(uint64(n), 1200)...)
				s.Keep(capture.Entry{Key: []byte("last"), Value: fmt.Append(nil, n)})
				if n%50 == 0 {
					fmt.Println(n)
				}
			}
		})
	}
	for range 3 {
		readers.Go(func() { readAll(ctx, &s.Reader) })
	}
	readers.Go(func() {
		for next := uint64(1); s.Wait(ctx, next) == nil; {
			for step, err := range s.Steps(ctx, next) {
				if err != nil {
					return
				}
				next = step.Arrival + 1
			}
		}
	})
	load.Wait()
	begun := time.Now()
	end := damagedEnd{Appended: appended.Load()}
	if err := s.Close(); err != nil {
		end.Err = err.Error()
	}
	end.Account = s.Account()
	for seq := range uint64(20) { // as one does who comes after
		for range s.StepsOf(context.Background(), seq+1, 0) {
		}
	}
	end.Took = time.Since(begun)
	end.Held = held(path)
	readers.Wait()
	said, err := json.Marshal(end)
	if err != nil {
		return err
	}
	fmt.Printf("end %s\n", said)
	return s.Reader.Close()
}
