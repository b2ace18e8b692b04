package fleet

import (
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	s := newStage(t)
	path := record(t, capturetest.Exchanges())
	all := messages(t, "north", path, 1<<20)
	seqs := s.publish(all[:len(all)-2]...)
	purge := jetstream.WithPurgeSequence(seqs[2])
	stream, err := s.conn.js.Stream(t.Context(), "traffic")
	if err == nil {
		err = stream.Purge(t.Context(), purge) // as retention does
	}
	must.Do(t, err)
	other := messages(t, "a.example", record(t, capturetest.Exchanges()), 50)
	for other[0].Parts < 2 {
		other = other[1:]
	}
	s.publish(other[0])
	late := messages(t, "west", record(t, capturetest.Exchanges()), 1<<20)[0]
	late.Recorder.Format, late.Recorder.Live = bolt.Format+1, true
	s.publish(late)
	found := must.Get(s.conn.Hosts(t.Context()))(t)
	if len(found.Hosts) != 3 || found.Stream.Messages != uint64(len(all)-2) || found.Stream.First.IsZero() {
		t.Fatalf("it is %+v", found)
	}
	cut, north, west := found.Hosts[0], found.Hosts[1], found.Hosts[2]
	if cut.Host != "a.example" || cut.Shipped != other[0].First-1 {
		t.Errorf("of a block that is not complete: %+v", cut)
	}
	last := all[len(all)-3].Last
	if north.Host != "north" || north.State != StateEnded || north.Shipped != last || north.Missing != all[2].First-1 ||
		north.Committed != all[0].Recorder.Committed || north.Behind <= 0 || time.Since(north.Heard) > time.Hour ||
		north.ClockOffset != nil {
		t.Errorf("of one that has lost its beginning: %+v", north)
	}
	if west.State != StateSilent || !strings.Contains(west.Future, "west") {
		t.Errorf("of a later form: %+v", west)
	}
	s.conn.subjects = 3
	if _, err := s.conn.Hosts(t.Context()); err != nil {
		t.Errorf("as many as are listed: %v", err)
	}
	s.conn.subjects = 2
	expect.ErrorHas(t, "more than are listed", "more than 2 subjects", expect.Err(s.conn.Hosts(t.Context())))
}
