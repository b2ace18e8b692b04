package fleet

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestWhatWasPublishedIsReadBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	paths := map[string]string{}
	var waiting [][]*Message
	for i, host := range []string{"north", "south", "west"} {
		paths[host] = record(t, capturetest.Exchanges()[i:])
		waiting = append(waiting, messages(t, host, paths[host], []int{1 << 20, 100, 37}[i]))
	}
	for more := true; more; { // those of several recorders mix
		more = false
		for i := range waiting {
			if len(waiting[i]) > 0 {
				s.publish(waiting[i][0])
				waiting[i], more = waiting[i][1:], true
			}
		}
	}
	r := s.read(ReadOptions{})
	for host, path := range paths {
		checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, host)))
	}
	if len(r.notices) > 0 {
		t.Errorf("said %q", r.notices)
	}
	if r = s.read(ReadOptions{Hosts: []string{"south"}}); len(r.Recorded()) != 1 {
		t.Errorf("of one host it reads %d recorders", len(r.Recorded()))
	}
	checkSame(t, stepsOfFile(t, paths["south"]), allSteps(t, r.of(t, "south")))
}

func TestMirrorIsASource(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	capturetest.TestSource(t, func(t *testing.T, xs []*capture.Exchange) capture.Source {
		one := &stage{t: t, server: s.server, conn: s.conn}
		path := record(t, xs)
		host := strings.ReplaceAll(t.Name(), "/", "-")
		one.publish(messages(t, host, path, 300)...)
		return one.read(ReadOptions{Hosts: []string{host}}).of(t, host)
	})
}

func TestRepeatedAndBrokenRuns(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 60)
	half := len(all) / 2
	for all[half].Part != 2 || all[half].Parts < 3 {
		half++
	}
	run := all[half-1 : half-1+all[half].Parts]
	s.publish(all[:half+1]...) // it ends in the middle of the parts of a block
	s.publish(run...)
	s.publish(run...) // the block again
	s.publish(all[half-1+len(run):]...)
	s.publish(all[:10]...)
	r := s.read(ReadOptions{})
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "north")))
	if len(r.notices) > 0 {
		t.Errorf("said %q", r.notices)
	}
}

func TestHoles(t *testing.T) {
	t.Parallel()
	xs := capturetest.Exchanges()
	for name, test := range map[string]struct {
		remove func(n int) []int // which messages
		notice string
	}{
		"head":    {func(int) []int { return []int{0, 1, 2} }, "steps 1 to "},
		"middle":  {func(n int) []int { return []int{n / 2, n/2 + 1} }, " are not in the stream"},
		"several": {func(n int) []int { return []int{1, 4, n - 3} }, " are not in the stream"},
		"tail":    {func(n int) []int { return []int{n - 1} }, " were not shipped; a2atap ship sends them"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStage(t)
			path := record(t, xs)
			all := messages(t, "north", path, 1<<20)
			gone := test.remove(len(all))
			seqs := s.publish(all...)
			stream := must.Get(s.conn.js.Stream(t.Context(), "traffic"))(t)
			missing := make(map[uint64]bool)
			for _, i := range gone {
				must.Do(t, stream.DeleteMsg(t.Context(), seqs[i]))
				for n := all[i].First; n <= all[i].Last; n++ {
					missing[n] = true
				}
			}
			r := s.read(ReadOptions{})
			expect.Contains(t, r.notices, test.notice, strings.Join(r.notices, "\n"))
			checkHoles(t, stepsOfFile(t, path), missing, r.of(t, "north"))
		})
	}
}

// checkHoles checks that a source has all steps of a capture but the missing ones, in order, and reports the rest as
// gaps.
func checkHoles(t *testing.T, all []capture.Step, missing map[uint64]bool, src capture.Source) {
	t.Helper()
	begun, open := make(map[uint64]bool), make(map[uint64]bool)
	var want []capture.Step
	gap := false
	for _, s := range all {
		if missing[s.Arrival] {
			if !gap {
				clear(begun)
				for seq := range open {
					open[seq] = false
				}
			}
			gap = true
			continue
		}
		gap = false
		if _, is := s.What.(capture.Opened); is {
			open[s.Seq] = true
		}
		if s.Seq == 0 || open[s.Seq] {
			s.Arrival = 0
			want = append(want, s)
		}
		if _, is := s.What.(capture.Closed); is {
			begun[s.Seq] = true
		}
	}
	var got []capture.Step
	holes := 0
	interrupted := make(map[uint64]bool)
	for i, s := range allSteps(t, src) {
		expect.Equal(t, fmt.Sprintf("step %d has number", i+1), uint64(i)+1, s.Arrival)
		switch what := s.What.(type) {
		case capture.Lost:
			if strings.Contains(what.Reason, "north (c.a2atap)") {
				if s.Seq == 0 {
					holes++
				}
				continue
			}
		case capture.Closed:
			if what.Interrupted && !interrupted[s.Seq] {
				interrupted[s.Seq] = true
				continue
			}
		}
		s.Arrival = 0
		got = append(got, s)
	}
	want = slices.DeleteFunc(want, func(s capture.Step) bool {
		what, is := s.What.(capture.Closed)
		return is && what.Interrupted
	})
	checkSame(t, want, got)
	if holes == 0 {
		t.Error("no gap is said")
	}
	info := must.Get(src.Info(t.Context()))(t)
	if info.Live {
		t.Error("it is still live")
	}
	for x, err := range src.Exchanges(t.Context(), 1) {
		must.Do(t, err)
		if len(x.Request.Head) == 0 {
			t.Errorf("exchange %d has no beginning", x.Seq)
		}
	}
}

func TestForeignAndDamagedMessages(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 1<<20)
	s.publish(all[0])
	for _, msg := range []*nats.Msg{
		{Subject: "a2atap.traffic.north.other", Data: []byte("hello")},
		{Subject: all[0].Recorder.Subject("traffic"), Data: []byte("hello")},
		{Subject: all[0].Recorder.Subject("traffic"), Header: nats.Header{headerVersion: {"1"}, headerRecorder: {"{"}}},
	} {
		must.Get(s.conn.js.PublishMsg(t.Context(), msg))(t)
	}
	torn := *all[1]
	torn.Data = torn.Data[:len(torn.Data)/2]
	bent := *all[1]
	bent.Data = slices.Clone(bent.Data)
	bent.Data[len(bent.Data)-9] ^= 0xff
	s.publish(&torn, &bent)
	s.publish(all[1:]...)
	r := s.read(ReadOptions{})
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "north")))
	if len(r.notices) < 2 {
		t.Errorf("said %q", r.notices)
	}
}

func TestLaterFormsAreRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	s.publish(messages(t, "north", path, 1<<20)...)
	late := messages(t, "south", record(t, capturetest.Exchanges()), 1<<20)[0]
	late.Recorder.Format = bolt.Format + 1
	s.publish(late)
	err := s.reader(ReadOptions{}).Read(t.Context())
	if !errors.Is(err, capture.ErrFuture) || !strings.Contains(err.Error(), "south") {
		t.Errorf("it is %v", err)
	}
	r := s.read(ReadOptions{Hosts: []string{"north"}})
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "north")))
}

func TestSinceLeavesOutWhatIsOlder(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	xs := capturetest.Exchanges()
	path := record(t, xs)
	s.publish(messages(t, "north", path, 1<<20)...)
	r := s.read(ReadOptions{Since: xs[5].Started})
	var seqs []uint64
	for x, err := range r.of(t, "north").Exchanges(t.Context(), 1) {
		must.Do(t, err)
		seqs = append(seqs, x.Seq)
	}
	if fmt.Sprint(seqs) != "[6 7 8 9 10 11 12]" || len(r.notices) > 0 {
		t.Errorf("exchanges %v, said %q", seqs, r.notices)
	}
}

func TestAbsentAndEmptyStreams(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	if r := s.read(ReadOptions{}); len(r.Recorded()) > 0 {
		t.Errorf("an empty stream has %d recorders", len(r.Recorded()))
	}
	a := must.Get(ParseAddress(s.server.URL("trafic")))(t)
	other := *s.conn
	other.address = a
	r, err := NewReader(&other, ReadOptions{Folder: t.TempDir()})
	must.Do(t, err)
	defer r.Close()
	expect.ErrorHas(t, "", "those with captures are: traffic", r.Read(t.Context()))
	_, err = s.conn.js.CreateStream(t.Context(), jetstream.StreamConfig{Name: "trafic", Subjects: []string{"orders"}})
	must.Do(t, err)
	expect.ErrorHas(t, "", `its subjects are ["orders"]`, r.Read(t.Context()))
}

// Reading continues where it was when the server is reachable again, and nothing is missing or duplicated.
func TestFollowOverRestarts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 200)
	s.publish(all[:len(all)/3]...)
	r := s.reader(ReadOptions{})
	must.Do(t, r.Read(t.Context()))
	src := r.of(t, "north")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- r.Follow(ctx, func(Recorded) {}) }()
	s.publish(all[len(all)/3 : len(all)/2]...)
	s.server.Restart()
	s.publishAgain(all[len(all)/2])
	s.publish(all[len(all)/2+1:]...)
	want := stepsOfFile(t, path)
	must.Do(t, src.Wait(t.Context(), uint64(len(want))))
	cancel()
	expect.ErrorIs(t, "following ended with", context.Canceled, <-done)
	checkSame(t, want, allSteps(t, src))
}

// publishAgain publishes until the server is there.
func (s *stage) publishAgain(m *Message) {
	s.t.Helper()
	msg := must.Get(m.encode("traffic"))(s.t)
	for {
		_, err := s.conn.js.PublishMsg(s.t.Context(), msg)
		if err == nil {
			return
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal(err)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
