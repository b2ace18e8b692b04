package fleet

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/must"
)

// live are the messages of a recorder that is still recording.
func (s *stage) live(host string) []*Message {
	all := messages(s.t, host, record(s.t, capturetest.Exchanges()), 1<<20)
	for _, m := range all {
		m.Recorder.Live, m.Recorder.Committed = true, m.Last
	}
	return all
}

// ended is the message that says that the recording has ended after another.
func ended(m *Message) *Message {
	end := *m
	end.First, end.Last, end.Data = m.Last+1, m.Last, nil
	end.Recorder.Live = false
	return &end
}

// begun is a reader that has read the capture of a recorder, south, and may follow.
func (s *stage) begun() *reading {
	s.t.Helper()
	s.publish(messages(s.t, "south", record(s.t, capturetest.Exchanges()), 1<<20)...)
	r := s.reader(ReadOptions{})
	must.Do(s.t, r.Read(s.t.Context()))
	return r
}

// A recorder that is idle and answers is there; where it does not for a moment, as after an outage of the server,
// nothing is missing.
func TestIdleRecorderIsThere(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	all := s.live("north")
	s.publish(all[:3]...)
	r := s.reader(ReadOptions{})
	must.Do(t, r.Read(t.Context()))
	m := r.found()[0]
	m.presence.came = time.Now().Add(-5 * time.Minute)
	leave := s.answers(Answer{Recorder: all[2].Recorder, Shipped: all[2].Last})
	pulse := func() bool {
		live := r.Lives(t.Context())
		r.Abandon()
		return live
	}
	if !pulse() {
		t.Error("one that answers is not there")
	}
	leave()
	m.presence.came = time.Now().Add(-quiet - time.Second)
	for range unanswered {
		if !pulse() {
			t.Error("one that has answered a moment ago is not there")
		}
	}
	s.publish(all[3:]...)
	must.Do(t, r.Read(t.Context()))
	if m.presence.silent > 0 {
		t.Error("it has been heard of, and is still waited for")
	}
	if h := r.holes(t, "north"); len(h) > 0 {
		t.Errorf("all is there, and %q", h)
	}
}

// Which message is the last is not told by clocks: they can be set back.
func TestClockSetBack(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	north := s.live("north")
	last := ended(north[len(north)-1])
	last.Recorder.Sent = last.Recorder.Sent.Add(-time.Second)
	s.publish(append(north, last)...)
	south := s.live("south") // ends, continues with a clock that was set back, and is killed
	for _, m := range south[4:] {
		m.Recorder.Sent = m.Recorder.Sent.Add(-time.Hour)
	}
	s.publish(slices.Insert(south, 4, ended(south[3]))...)
	r := s.read(ReadOptions{})
	if h := r.holes(t, "north"); len(h) > 0 {
		t.Errorf("it has ended, and %q", h)
	}
	if h := r.holes(t, "south"); len(h) != 1 || !strings.Contains(h[0], "has not reported its end") {
		t.Errorf("it was killed, and %q", h)
	}
}

// A recorder that begins while the stream is read lacks nothing.
func TestBeginsWhileRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.begun()
	all := s.live("north")
	s.publish(all...)
	last := all[len(all)-1]
	s.answers(Answer{Recorder: last.Recorder, Shipped: last.Last})
	must.Do(t, r.End(t.Context()))
	if len(r.Recorded()) != 1 || len(r.notices) > 0 {
		t.Errorf("there are %d captures; said %q", len(r.Recorded()), r.notices)
	}
}

// What cannot be read and is followed by all of a capture, while it is followed, is not a gap.
func TestForeignMessageFirst(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.begun()
	all := s.live("north")
	must.Get(s.conn.js.Publish(t.Context(), all[0].Recorder.Subject("traffic"), []byte("hello")))(t)
	for range 2 {
		must.Do(t, r.consume(t.Context(), s.info().State.LastSeq, nil))
		r.Lives(t.Context())
		s.publish(all...)
		all = nil
	}
	if h := r.holes(t, "north"); len(h) > 0 {
		t.Errorf("all is there, and %q", h)
	}
}

// A follower learns of a recorder from which nothing arrived that it is still recording. When the recorder stops, its
// recording is a gap.
func TestFollowedRecorderThatCannotShip(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.begun()
	all := s.live("north")
	leave := s.answers(Answer{Recorder: all[len(all)-1].Recorder, Error: "permissions violation"})
	var found []Recorded
	ask := func() bool { return r.Ask(t.Context(), func(one Recorded) { found = append(found, one) }) }
	for range 2 {
		if !ask() {
			t.Error("it goes on, and nobody knows")
		}
	}
	if len(found) != 1 || found[0].Host != "north" {
		t.Fatalf("found are %+v", found)
	}
	if len(r.notices) != 1 || !strings.Contains(r.notices[0], "cannot ship what it records: permissions violation") {
		t.Errorf("said %q", r.notices)
	}
	leave()
	r.caught.Store(true)
	if ask() {
		t.Error("nobody is there, and something goes on")
	}
	m := r.mirrors[all[0].Recorder.Capture]
	m.presence.came, m.presence.asked, m.presence.silent = time.Now().Add(-quiet-time.Second), time.Now().Add(-comesBack), unanswered
	if r.Lives(t.Context()) {
		t.Error("it has gone, and lives")
	}
	r.awaited = maxAwaited
	other := all[0].Recorder
	other.Capture = uuid.New()
	s.answers(Answer{Recorder: other})
	if ask(); len(found) != 1 {
		t.Errorf("there is no end of what is found: %d", len(found))
	}
	r.Release()
	if h := r.holes(t, "north"); len(h) != 2 || !strings.Contains(h[0], "were not shipped") {
		t.Errorf("it is gone, and %q", h)
	}
}

// Messages removed before they were read are a gap of some recorder.
func TestRemovedBeforeRead(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	r := s.begun()
	seqs := s.publish(messages(t, "north", record(t, capturetest.Exchanges()), 1<<20)...)
	s.purge(seqs[len(seqs)-1] + 1)
	s.publish(messages(t, "west", record(t, capturetest.Exchanges()), 1<<20)...)
	must.Do(t, r.consume(t.Context(), s.info().State.LastSeq, nil))
	const want = "were removed before they were read"
	if got := reasons(t, r.of(t, "south")); len(got) != 1 || !strings.Contains(got[0], want) {
		t.Errorf("it says %q", got)
	}
	if h := r.holes(t, "west"); len(h) > 0 {
		t.Errorf("of what came later it says %q", h)
	}
}
