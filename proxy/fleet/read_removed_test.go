package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// purge removes the first messages of the stream, before one of a number, as retention does.
func (s *stage) purge(before uint64) {
	s.t.Helper()
	stream, err := s.conn.js.Stream(s.t.Context(), "traffic")
	if err == nil {
		err = stream.Purge(s.t.Context(), jetstream.WithPurgeSequence(before))
	}
	must.Do(s.t, err)
}

// reasons are what the steps of a capture say that is missing, beyond exchanges.
func reasons(t *testing.T, src capture.Source) []string {
	t.Helper()
	var all []string
	for _, s := range allSteps(t, src) {
		if lost, is := s.What.(capture.Lost); is && s.Seq == 0 {
			all = append(all, lost.Reason)
		}
	}
	return all
}

// What retention has removed of the time that is asked for is a gap; what is older is not asked for.
func TestSinceAndWhatWasRemoved(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	xs := capturetest.Exchanges()
	path := record(t, xs)
	all := messages(t, "north", path, 1<<20)
	all[len(all)-1].Recorder.Committed = all[len(all)-1].Last
	seqs := s.publish(all...)
	s.purge(seqs[3])
	r := s.read(ReadOptions{Since: xs[0].Started})
	want := fmt.Sprintf("steps 1 to %d of north (c.a2atap) are not in the stream", all[3].First-1)
	if got := reasons(t, r.of(t, "north")); !slices.Contains(got, want) {
		t.Errorf("of what was removed it says %q, not %q", got, want)
	}
	lately := time.Now().Add(sinceRoom + time.Minute) // all that is there is older than what is read
	expect.Equal(t, "messages were removed that were asked for",
		0, s.reader(ReadOptions{Since: lately}).removedOf(s.info()))
}

func (s *stage) info() *jetstream.StreamInfo {
	s.t.Helper()
	return must.Get(s.conn.js.Stream(s.t.Context(), "traffic"))(s.t).CachedInfo()
}

// Where only the end of a recording is of the time that is asked for, nothing of it is missing.
func TestSinceOfARecorderThatOnlyEnded(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 1<<20)
	end := *all[0]
	end.First, end.Last, end.Data = end.Recorder.Committed+1, end.Recorder.Committed, nil
	s.publish(&end)
	r := s.read(ReadOptions{Since: time.Now()})
	if got := reasons(t, r.of(t, "north")); len(got)+len(r.notices) > 0 {
		t.Errorf("it says %q and %q", got, r.notices)
	}

	// Without a time, what came before was shipped and is not there.
	r = s.read(ReadOptions{})
	want := fmt.Sprintf("steps 1 to %d of north (c.a2atap) are not in the stream", end.Last)
	if got := reasons(t, r.of(t, "north")); len(got) != 1 || got[0] != want {
		t.Errorf("it says %q, not %q", got, want)
	}
}

// Recorders of which nothing is left are a gap of the stream.
func TestRecordersThatWereRemovedAltogether(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	gone := s.publish(messages(t, "south", record(t, capturetest.Exchanges()), 1<<20)...)
	s.purge(gone[len(gone)-1] + 1)
	want := fmt.Sprintf("the first %d messages of the stream traffic were removed; recorders without remaining "+
		"messages are unknown", len(gone))
	early := s.reader(ReadOptions{})
	must.Do(t, early.Read(t.Context()))
	if len(early.notices) != 1 || early.notices[0] != want {
		t.Errorf("of an empty stream it says %q", early.notices)
	}
	s.publish(messages(t, "north", path, 1<<20)...)
	if err := early.consume(t.Context(), s.info().State.LastSeq, nil); err != nil { // as Follow does, to an end
		t.Fatal(err)
	}
	for name, r := range map[string]*reading{"new": s.read(ReadOptions{}), "early": early} {
		steps := allSteps(t, r.of(t, "north"))
		lost, is := steps[0].What.(capture.Lost)
		if !is || lost.Reason != want {
			t.Fatalf("%s: the first step is %+v", name, steps[0])
		}
		rest := slices.Clone(steps[1:])
		for i := range rest {
			rest[i].Arrival--
		}
		if name == "new" {
			checkSame(t, stepsOfFile(t, path), rest)
		}
		for x, err := range r.of(t, "north").Exchanges(t.Context(), 1) {
			must.Do(t, err)
			if len(x.Request.Head) == 0 {
				t.Errorf("%s: exchange %d has no beginning", name, x.Seq)
			}
		}
	}
}

// A stream that is removed and made again is read from its beginning, however long it is.
func TestStreamsThatAreMadeAnew(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.publish(messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)...)
	r := s.reader(ReadOptions{})
	must.Do(t, r.Read(t.Context()))
	s.remake(allSubjects("traffic"))
	path := record(t, capturetest.Exchanges())
	s.publish(messages(t, "south", path, 100)...)
	must.Do(t, r.Read(t.Context()))
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "south")))
	expect.Contains(t, "", "the stream was recreated", strings.Join(r.notices, "\n"))
}

func (s *stage) remake(subject string) {
	s.t.Helper()
	err := s.conn.js.DeleteStream(s.t.Context(), "traffic")
	if err == nil {
		// In memory: the files of the stream that was deleted may still be there for a moment.
		_, err = s.conn.js.CreateStream(s.t.Context(), jetstream.StreamConfig{
			Name: "traffic", Subjects: []string{subject}, Storage: jetstream.MemoryStorage,
		})
	}
	must.Do(s.t, err)
}

// A stream that takes more than what recorders publish is read, and what is not for it left alone.
func TestStreamsWithWiderSubjects(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.remake("a2atap.>")
	must.Get(s.conn.ensureStream(t.Context(), Limits{}))(t)
	path := record(t, capturetest.Exchanges())
	s.publish(messages(t, "north", path, 1<<20)...)
	must.Get(s.conn.js.Publish(t.Context(), "a2atap.orders.south.1", []byte("hello")))(t)
	r := s.read(ReadOptions{})
	checkSame(t, stepsOfFile(t, path), allSteps(t, r.of(t, "north")))
	if len(r.notices) > 0 {
		t.Errorf("it says %q", r.notices)
	}
}

// Messages that wait can be removed before they are delivered: then reading ends with what is there.
func TestMessagesThatAreRemovedWhileTheyAreRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	s.conn.idle = 20 * time.Millisecond
	const long, many = 900 << 10, 12 // more than what may be under way
	for i := range many {
		_, err := s.conn.js.PublishMsg(t.Context(), &nats.Msg{
			Subject: fmt.Sprintf("a2atap.traffic.north.%d", i), Data: make([]byte, long),
		})
		must.Do(t, err)
	}
	read := uint64(0)
	r := s.reader(ReadOptions{OnProgress: func(n, _ uint64) {
		if read = n; n == 1 {
			s.purge(many + 1)
		}
	}})
	must.Do(t, r.Read(t.Context()))
	if read == many {
		t.Error("nothing was removed before it was read")
	}
}
