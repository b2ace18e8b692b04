package fleet

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

// A stage is a server with a stream, and who publishes to it.
type stage struct {
	t      *testing.T
	server *fleettest.Server
	conn   *Conn
}

func newStage(t *testing.T, change ...func(*server.Options)) *stage {
	t.Helper()
	s := &stage{t: t, server: fleettest.Start(t, change...)}
	s.conn = s.connect()
	_, err := s.conn.js.CreateStream(t.Context(), jetstream.StreamConfig{
		Name: "traffic", Subjects: []string{allSubjects("traffic")},
	})
	must.Do(t, err)
	return s
}

func (s *stage) connect() *Conn {
	s.t.Helper()
	a := must.Get(ParseAddress(s.server.URL("traffic")))(s.t)
	c := must.Get(Connect(s.t.Context(), a, Options{}))(s.t)
	s.t.Cleanup(c.Close)
	return c
}

// record makes a capture in which each exchange is in blocks of its own, and returns its path.
func record(t testing.TB, xs []*capture.Exchange) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	store := must.Get(bolt.Open(path, bolt.Options{Tool: "a2atap test"}))(t)
	var last uint64
	for step, err := range capture.Interleave(capture.Each(xs...)) {
		if err == nil && step.Seq != last {
			store.Flush()
			last = step.Seq
		}
		if err == nil {
			err = store.Append(step)
		}
		must.Do(t, err)
	}
	must.Do(t, store.Close())
	return path
}

func allSteps(t *testing.T, s capture.Source) []capture.Step {
	t.Helper()
	var all []capture.Step
	for step, err := range s.Steps(t.Context(), 1) {
		must.Do(t, err)
		all = append(all, step)
	}
	return all
}

// messages are those of a capture: one for each block, cut into parts if that is long.
func messages(t testing.TB, host, path string, longest int) []*Message {
	t.Helper()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	recorder := NewRecorder(host, "a2atap test", filepath.Base(path), new(must.Get(src.Info(t.Context()))(t)))
	recorder.Sent = time.Now()
	var all []*Message
	for b, err := range src.Blocks(t.Context(), 1) {
		must.Do(t, err)
		parts := slices.Collect(slices.Chunk(appendBlock(nil, &b), longest))
		for i, part := range parts {
			all = append(all, &Message{
				Recorder: recorder, First: b.First, Last: b.Last, Part: i + 1, Parts: len(parts), Data: part,
			})
		}
	}
	if len(all) == 0 {
		all = append(all, &Message{Recorder: recorder, First: 1, Part: 1, Parts: 1})
	}
	return all
}

func (s *stage) publish(all ...*Message) (seqs []uint64) {
	s.t.Helper()
	for _, m := range all {
		msg := must.Get(m.encode("traffic"))(s.t)
		ack := must.Get(s.conn.js.PublishMsg(s.t.Context(), msg))(s.t)
		seqs = append(seqs, ack.Sequence)
	}
	return seqs
}

// A reading is the result of reading a stream.
type reading struct {
	*Reader
	notices []string
}

func (s *stage) reader(o ReadOptions) *reading {
	s.t.Helper()
	r := &reading{}
	o.Folder = s.t.TempDir()
	o.OnNotice = func(text string) { r.notices = append(r.notices, text) }
	var err error
	if r.Reader, err = NewReader(s.conn, o); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		expect.OK(s.t, r.Close())
	})
	return r
}

// read reads all that is there.
func (s *stage) read(o ReadOptions) *reading {
	s.t.Helper()
	r := s.reader(o)
	must.Do(s.t, errors.Join(r.Read(s.t.Context()), r.End(s.t.Context())))
	return r
}

func (r *reading) of(t *testing.T, host string) capture.Source {
	t.Helper()
	for _, one := range r.Recorded() {
		if one.Host == host {
			return one.Source
		}
	}
	t.Fatalf("there is nothing of %s", host)
	return nil
}

func checkSame(t *testing.T, want, got []capture.Step) {
	t.Helper()
	expect.Same(t, "", want, got)
}

func stepsOfFile(t *testing.T, path string) []capture.Step {
	t.Helper()
	src := must.Get(bolt.Read(path))(t)
	defer src.Close()
	return allSteps(t, src)
}
