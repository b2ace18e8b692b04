package bolt

import (
	"bufio"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/must"
)

// The test binary plays other processes: with helperJob in its environment it does that job on the capture helperPath
// instead of testing.
const (
	helperJob     = "A2ATAP_BOLT_TEST_JOB"
	helperPath    = "A2ATAP_BOLT_TEST_PATH"
	helperSegment = "A2ATAP_BOLT_TEST_SEGMENT"
)

func runHelper(job string) int {
	jobs := map[string]func(path string) error{
		"record": helpRecord, "follow": helpFollow, "hold": helpHold,
		"beneath": helpBeneath, "full": helpFull, "keep": helpKeep, "replace": helpReplace, "unwritable": helpUnwritable,
	}
	if err := jobs[job](os.Getenv(helperPath)); err != nil {
		fmt.Fprintln(os.Stderr, job, err)
		return 1
	}
	return 0
}

// A helper is another process that does a job.
type helper struct {
	cmd   *exec.Cmd
	in    io.WriteCloser
	lines *bufio.Scanner
}

func startHelper(t *testing.T, job, path string, segment int64) *helper {
	t.Helper()
	exe := must.Get(os.Executable())(t)
	cmd := exec.Command(exe)
	// By default, the race detector waits a second at the end of a process.
	cmd.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0", helperJob+"="+job, helperPath+"="+path,
		helperSegment+"="+strconv.FormatInt(segment, 10))
	cmd.Stderr = os.Stderr
	in := must.Get(cmd.StdinPipe())(t)
	out := must.Get(cmd.StdoutPipe())(t)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	return &helper{cmd: cmd, in: in, lines: bufio.NewScanner(out)}
}

// line returns the next line that the helper prints; false at its end.
func (h *helper) line() (string, bool) {
	ok := h.lines.Scan()
	return h.lines.Text(), ok
}

// helpRecord records with sixteen goroutines until it is killed, or until its input ends, and then closes in good
// order. It prints how far it knows to have committed.
func helpRecord(path string) error {
	segment, _ := strconv.ParseInt(os.Getenv(helperSegment), 10, 64)
	s, err := Open(path, Options{Flush: 2 * time.Millisecond, SegmentSize: segment, Budget: 256 << 10, Tool: "helper"})
	if err != nil {
		return err
	}
	var seq atomic.Uint64
	seq.Store(s.Position().Seq)
	ctx, stop := context.WithCancel(context.Background())
	go func() {
		io.Copy(io.Discard, os.Stdin)
		stop()
	}()
	stream := seq.Add(1) // it never ends
	s.Append(exchangeSteps(stream, 100)[0])
	var load sync.WaitGroup
	for range 14 {
		load.Go(func() {
			for ctx.Err() == nil {
				for _, step := range exchangeSteps(seq.Add(1), 1200) {
					s.Append(step)
				}
			}
		})
	}
	load.Go(func() {
		for k := 1; ctx.Err() == nil; k++ {
			s.Append(event(stream, k))
		}
	})
	load.Go(func() {
		for ctx.Err() == nil {
			s.Flush()
			info, err := s.Info(ctx)
			if err == nil {
				fmt.Println(info.Arrivals)
			}
		}
	})
	load.Wait()
	return s.Close()
}

// helpFollow follows a capture until the recording has ended, and prints the number and a hash of each step.
func helpFollow(path string) error {
	r, err := Read(path)
	if err != nil {
		return err
	}
	defer r.Close()
	out := bufio.NewWriter(os.Stdout)
	defer out.Flush()
	ctx := context.Background()
	for next := uint64(1); ; {
		if err := r.Wait(ctx, next); errors.Is(err, capture.ErrEnded) {
			return nil
		} else if err != nil {
			return err
		}
		for step, err := range r.Steps(ctx, next) {
			if err != nil {
				return err
			}
			if step.Arrival != next {
				return fmt.Errorf("step %d comes at place %d", step.Arrival, next)
			}
			next++
			fmt.Fprintln(out, hashOf(step))
		}
		out.Flush()
	}
}

// hashOf is a hash of all that a step says.
func hashOf(s capture.Step) uint64 {
	b, err := layout.AppendStep(nil, &s)
	if err != nil {
		panic(err)
	}
	h := fnv.New64a()
	h.Write(b)
	return h.Sum64()
}

// helpHold locks the file as a recorder does, and does not answer.
func helpHold(path string) error {
	s := &segments.Segment{Path: path}
	err := s.TryExclusive(0)
	if err != nil {
		return err
	}
	fmt.Println("held")
	io.Copy(io.Discard, os.Stdin)
	return s.DB.Close()
}

// helpFull records while the system lets no file grow, as on a full disk, and continues when files can grow again.
func helpFull(path string) error {
	var failures []error
	s, err := Open(path,
		Options{Flush: time.Millisecond, OnError: func(err error) { failures = append(failures, err) }})
	if err != nil {
		return err
	}
	s.Append(exchangeSteps(1, 1000)...)
	s.Append(exchangeSteps(2, 1000)[0])
	s.Flush()
	restore, err := limitFileSize(s.local.last().Path)
	if err != nil {
		return err
	}
	// More than the file has room for: exchange 2 continues, 3 passes as a whole, 4 begins.
	s.Append(slices.Concat(noise(2, 4<<20), exchangeSteps(3, 1000), exchangeSteps(4, 1000)[:3])...)
	s.Flush()
	if err := restore(); err != nil {
		return err
	}
	s.Append(exchangeSteps(4, 1000)[3:]...)
	s.Append(exchangeSteps(5, 1000)...)
	s.Flush()
	if len(failures) != 1 {
		return fmt.Errorf("failures were reported %d times: %w", len(failures), errors.Join(failures...))
	}
	fmt.Println(s.Close())
	return nil
}

// noise is the rest of an exchange, with n bytes that cannot be compressed, and its end.
func noise(seq uint64, n int) []capture.Step {
	data := make([]byte, n)
	rand.Read(data)
	return []capture.Step{
		{Seq: seq, What: capture.RequestBody{Data: data}},
		{Seq: seq, Offset: 9, What: capture.Closed{}},
	}
}
