package bolt

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt/internal/layout"
	"a2atap/proxy/capture/bolt/internal/segments"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestSink(t *testing.T) {
	t.Parallel()
	for name, segment := range map[string]int64{"one file": 0, "many segments": 1} {
		t.Run(name, func(t *testing.T) {
			o := Options{Flush: time.Millisecond, SegmentSize: segment}
			t.Run("same process", func(t *testing.T) {
				capturetest.TestSink(t, func(t *testing.T) capturetest.Recording {
					s := mustOpen(t, newPath(t), o)
					return capturetest.Recording{Sink: s, Source: s}
				})
			})
			t.Run("through the socket", func(t *testing.T) {
				capturetest.TestSink(t, func(t *testing.T) capturetest.Recording {
					path := newPath(t)
					s := mustOpen(t, path, o)
					return capturetest.Recording{Sink: s, Source: mustRead(t, path)}
				})
			})
		})
	}
}

func TestSource(t *testing.T) {
	t.Parallel()
	record := func(t *testing.T, path string, segment int64, xs []*capture.Exchange) *Store {
		s := mustOpen(t, path, Options{SegmentSize: segment})
		for step, err := range capture.Interleave(capture.Each(xs...)) {
			must.Do(t, err)
			mustAppend(t, s, step)
			if segment > 0 {
				s.Flush()
			}
		}
		return s
	}
	for name, segment := range map[string]int64{"one file": 0, "many segments": 1} {
		t.Run(name, func(t *testing.T) {
			whole, recorded := t, make(map[int]string) // captures by the number of their exchanges
			capturetest.TestSource(t, func(t *testing.T, xs []*capture.Exchange) capture.Source {
				if recorded[len(xs)] == "" {
					path := newPath(whole)
					mustClose(t, record(t, path, segment, xs))
					recorded[len(xs)] = path
				}
				return mustRead(t, recorded[len(xs)])
			})
		})
	}
}

func TestCreate(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{Tool: "a2atap 1.2"})
	info, err := s.Info(patient(t))
	must.Do(t, err)
	if info.ID == uuid.Nil || info.Created.IsZero() || info.Created.Location() != time.UTC {
		t.Errorf("id %v, created %v", info.ID, info.Created)
	}
	want := capture.Info{ID: info.ID, Created: info.Created, Name: path, Tool: "a2atap 1.2", Format: layout.Format, Live: true}
	expect.Same(t, "info", want, info)
	expect.Equal(t, "mode", 0o600, fileMode(t, path))
	mustClose(t, s)
	mustClose(t, mustOpen(t, path, Options{Tool: "another", SecretsKept: true}))
	want.Live, want.SecretsKept = false, true
	if info, err = mustRead(t, path).Info(patient(t)); err != nil {
		t.Fatal(err)
	}
	expect.Same(t, "info of the second run", want, info)
}

func fileMode(t *testing.T, path string) os.FileMode {
	t.Helper()
	return must.Get(os.Stat(path))(t).Mode().Perm()
}

// An existing empty file becomes one that only the user may open. A file with contents keeps its mode, and the recorder
// reports who may open it.
func TestOthersCannotOpen(t *testing.T) {
	path := newPath(t)
	must.Do(t, os.WriteFile(path, nil, 0o600))
	for _, step := range []struct {
		mode, want os.FileMode
		said       string
	}{
		{0o666, 0o600, ""},
		{0o600, 0o600, ""},
		{0o644, 0o644, "already existed with mode 0644; chmod 600"},
	} {
		must.Do(t, os.Chmod(path, step.mode))
		s := mustOpen(t, path, Options{OnError: func(err error) { t.Error(err) }})
		said := s.Exposed()
		must.Do(t, s.Close())
		s.Reader.Close()
		expect.Equal(t, fmt.Sprintf("mode %o became", step.mode), step.want, fileMode(t, path))
		if (said != nil) != (step.said != "") || said != nil && !strings.Contains(said.Error(), step.said) {
			t.Errorf("mode %o: said is %v, want %q", step.mode, said, step.said)
		}
	}
}

func TestNumbersGoOn(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	expect.Same(t, "", Position{}, s.Position())
	mustAppend(t, s, exchangeSteps(1, 100)...)
	mustAppend(t, s, exchangeSteps(2, 100)[:2]...)
	mustClose(t, s)

	// The second exchange was left open, so its end is written now.
	s = mustOpen(t, path, Options{})
	expect.Same(t, "", Position{Seq: 2, Arrival: 10, Conn: 2}, s.Position())
	mustAppend(t, s, exchangeSteps(3, 100)...)
	mustClose(t, s)
	x, err := s.Exchange(patient(t), 2)
	if err != nil || x.State != capture.StateInterrupted || x.Ended != capture.NotKnown {
		t.Errorf("exchange 2: %+v, error %v", x, err)
	}
	if steps := collect(t, s, 1); len(steps) != 17 || steps[16].Arrival != 17 {
		t.Errorf("%d steps", len(steps))
	}
}

func TestFindReadsTheIndex(t *testing.T) {
	long := string(bytes.Repeat([]byte("x"), 5000))
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: 1 << 16})
	for seq := uint64(1); seq <= 500; seq++ {
		steps := exchangeSteps(seq, 600)
		if seq%100 == 0 {
			steps[2].Keys = append(steps[2].Keys, capture.Key{Kind: "task", Value: long},
				capture.Key{Kind: "", Value: "\x00"})
			steps[6].Keys = steps[2].Keys
		}
		mustAppend(t, s, steps...)
		if seq%100 == 0 {
			s.Flush()
		}
	}
	// An exchange may learn something long after it has ended.
	mustAppend(t, s,
		capture.Step{Seq: 5, What: capture.Fact{Note: "late"}, Keys: []capture.Key{{Kind: "late", Value: "v"}}})
	s.Flush()
	sources := map[string]capture.Index{"same process": s, "socket": mustRead(t, path)}
	check := func() {
		for name, index := range sources {
			for _, c := range []struct {
				key  capture.Key
				from uint64
				want []uint64
			}{
				{capture.Key{Kind: "task", Value: "task-3"}, 0, []uint64{3, 100, 197, 294, 391, 488}},
				{capture.Key{Kind: "task", Value: "task-3"}, 101, []uint64{197, 294, 391, 488}},
				{capture.Key{Kind: "task", Value: "task-"}, 0, nil},
				{capture.Key{Kind: "agent", Value: "booker"}, 499, []uint64{499, 500}},
				{capture.Key{Kind: "task", Value: long}, 0, []uint64{100, 200, 300, 400, 500}},
				{capture.Key{Kind: "", Value: "\x00"}, 300, []uint64{300, 400, 500}},
				{capture.Key{Kind: "late", Value: "v"}, 0, []uint64{5}},
				{capture.Key{}, 0, nil},
			} {
				var got []uint64
				for seq, err := range index.Find(patient(t), c.key, c.from) {
					must.Do(t, err)
					got = append(got, seq)
				}
				expect.Same(t, fmt.Sprintf("%s: %.20q from %d", name, c.key, c.from), c.want, got)
				r, ok := index.(*Reader)
				if !ok {
					continue
				}
				for x, err := range r.ExchangesWith(patient(t), c.key, c.from) {
					must.Do(t, err)
					one, err := r.Exchange(patient(t), got[0])
					if diff := cmp.Diff(one, x); diff != "" || err != nil {
						t.Errorf("%s: %.20q from %d: exchange %d: %v %s", name, c.key, c.from, got[0], err, diff)
					}
					got = got[1:]
				}
				if len(got) > 0 {
					t.Errorf("%s: %.20q from %d: exchanges %v do not come", name, c.key, c.from, got)
				}
			}
		}
	}
	check()
	mustClose(t, s)
	sources["file"] = mustRead(t, path)
	check()
	if _, err := os.Stat(path + ".0002"); err != nil {
		t.Error("the test wants more than one segment:", err)
	}
}

func TestLongStreamAcrossBlocksAndSegments(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path, Options{SegmentSize: 100 << 10})
	mustAppend(t, s, exchangeSteps(1, 100)[0])
	const events = 1500
	for k := 1; k <= events; k++ {
		mustAppend(t, s, event(1, k))
		mustAppend(t, s, exchangeSteps(uint64(k)+1, 400)...)
		if k%100 == 0 {
			s.Flush()
		}
	}
	mustClose(t, s)
	for name, r := range map[string]*Reader{"store": &s.Reader, "file": mustRead(t, path)} {
		x := must.Get(r.Exchange(patient(t), 1))(t)
		if len(x.Response.Events) != events {
			t.Fatalf("%s: %d events, want %d", name, len(x.Response.Events), events)
		}
		for i, e := range x.Response.Events {
			if e.K != i+1 {
				t.Fatalf("%s: event %d at place %d", name, e.K, i+1)
			}
		}
		seq := uint64(0)
		for x, err := range r.Exchanges(patient(t), 1) {
			must.Do(t, err)
			if seq++; x.Seq != seq || seq > 1 && x.State != capture.StateClosed {
				t.Fatalf("%s: exchange %d is %v at place %d", name, x.Seq, x.State, seq)
			}
		}
		expect.Equal(t, name, events+1, seq)
	}
	if paths, err := segments.Paths(path); err != nil || len(paths) < 3 {
		t.Errorf("segments %v, error %v; want several", paths, err)
	}
}

func TestLargeBodiesAndEvents(t *testing.T) {
	t.Parallel()
	path := newPath(t)
	s := mustOpen(t, path, Options{Budget: 1 << 20})
	body := bytes.Repeat([]byte("0123456789abcdef"), 3<<20/16)
	steps := exchangeSteps(1, 100)
	mustAppend(t, s, steps[0])
	mustAppend(t, s, capture.Step{
		Seq: 1, What: capture.RequestBody{Data: bytes.Clone(body), Dropped: 7, Decoded: true},
		Keys: []capture.Key{{Kind: "k", Value: "v"}},
	})
	large := append(append([]byte("data: "), body...), "\n\n"...)
	mustAppend(t, s,
		capture.Step{Seq: 1, What: capture.ResponseEvent{Event: capture.Event{K: 1, Raw: bytes.Clone(large)}}})
	mustClose(t, s)
	x := must.Get(mustRead(t, path).Exchange(patient(t), 1))(t)
	if !bytes.Equal(x.Request.Body.Data, body) || x.Request.Body.Dropped != 7 || !x.Request.Body.Decoded {
		t.Errorf("body of %d bytes, %d dropped, decoded %v", len(x.Request.Body.Data), x.Request.Body.Dropped,
			x.Request.Body.Decoded)
	}
	if !bytes.Equal(x.Response.Events[0].Raw, large) {
		t.Errorf("event of %d bytes, want %d", len(x.Response.Events[0].Raw), len(large))
	}
	for step, err := range s.Steps(patient(t), 1) {
		if piece, ok := step.What.(capture.RequestBody); ok && len(piece.Data) > layout.PieceSize || err != nil {
			t.Errorf("piece of %d bytes, error %v", len(piece.Data), err)
		}
	}
}

func TestAppendAfterClose(t *testing.T) {
	s := mustOpen(t, newPath(t), Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	mustClose(t, s)
	mustClose(t, s)
	expect.ErrorIs(t, "append after close", errClosed, s.Append(exchangeSteps(2, 100)...))
	expect.Equal(t, "steps after close", 7, len(collect(t, s, 1)))
}

// TestStepsIsASnapshot reads while the capture grows: an iteration ends where the capture ended when it began.
func TestStepsIsASnapshot(t *testing.T) {
	path := newPath(t)
	s := mustOpen(t, path, Options{})
	mustAppend(t, s, exchangeSteps(1, 100)...)
	s.Flush()
	for name, r := range map[string]*Reader{"store": &s.Reader, "socket": mustRead(t, path)} {
		info := must.Get(r.Info(patient(t)))(t)
		n := uint64(0)
		for _, err := range r.Steps(patient(t), 1) {
			must.Do(t, err)
			n++
			mustAppend(t, s, event(1, int(n)))
			s.Flush()
		}
		if n != info.Arrivals {
			t.Errorf("%s: %d steps, want the %d that were there", name, n, info.Arrivals)
		}
	}
}

// TestRowsAreWrittenWhenTheyChange counts the bytes of rows that commits write: a row stays as it is while events of its
// exchange are stored, and when something is learned after its end.
func TestRowsAreWrittenWhenTheyChange(t *testing.T) {
	t.Parallel()
	s := mustOpen(t, newPath(t), Options{})
	whole := exchangeSteps(1, 100)
	for _, tt := range []struct {
		what  string
		steps []capture.Step
		wants bool
	}{
		{"the beginning", whole[:4], true},
		{"an event", []capture.Step{event(1, 1)}, false},
		{"the end", whole[5:], true},
		{"a fact", []capture.Step{{Seq: 1, What: capture.Fact{Note: "late"}}}, false},
		{"an exchange without an end", exchangeSteps(2, 100)[:6], true},
	} {
		mustAppend(t, s, tt.steps...)
		s.Flush()
		if n := len(s.writer.scratch.values); (n > 0) != tt.wants {
			t.Errorf("%s: %d bytes of rows were written", tt.what, n)
		}
	}
	mustClose(t, s)
	expect.Equal(t, "steps", 14, len(collect(t, s, 1)))
	x, err := s.Exchange(patient(t), 1)
	if err != nil || x.State != capture.StateClosed || len(x.Response.Events) != 1 || len(x.Notes) != 1 {
		t.Errorf("exchange 1: %+v, error %v", x, err)
	}
}
