package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

func TestServerIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	shipper := ship(t, s.URL("traffic"), r)
	for range 4 {
		r.record(5, 500)
		shipper.until(6)
		s.Restart()
		r.record(5, 500)
	}
	shipper.endsWith(s, r)
}

func TestServerIsAwayAtStart(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	s.Hold()
	r := newRecorder(t)
	shipper := ship(t, "nats://127.0.0.1:"+portOf(s)+"/traffic", r)
	r.record(5, 500)
	eventually(t, "word of the server", func() bool { return len(shipper.told()) > 0 })
	r.record(5, 500)
	s.Resume()
	shipper.endsWith(s, r)
	told := shipper.told()
	if len(told) != 2 || told[1] != nil || !strings.Contains(told[0].Error(), "check that the server is running there") {
		t.Errorf("the user was told %v", told)
	}
}

// What the server has taken, and could not acknowledge, is not sent again.
func TestAcknowledgementsAreLost(t *testing.T) {
	t.Parallel()
	for name, size := range map[string]int{"whole": 500, "parts": 20_000} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := fleettest.Start(t, smallMessages)
			w := newWay(t, s)
			r := newRecorder(t)
			shipper := ship(t, w.url("traffic"), r)
			for i := range 12 {
				r.record(1, size)
				shipper.until(6 * uint64(i+1))
				w.set(cuts)
				r.record(1, size)
				eventually(t, "a cut", func() bool { return w.cutSoFar() == i+1 })
			}
			shipper.endsWith(s, r)
		})
	}
}

// smallMessages makes a server reject long messages, so that blocks come in parts.
func smallMessages(o *server.Options) { o.MaxPayload = 8 << 10 }

func TestParts(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t, smallMessages)
	r := newRecorder(t)
	r.record(3, 100)
	r.record(1, 200_000)
	r.record(3, 100)
	r.end()
	ship(t, s.URL("traffic"), r).wait()
	exactly(t, s, "traffic", r)
	parts := 0
	for _, m := range messagesIn(t, s, "traffic") {
		parts = max(parts, m.Parts)
	}
	if parts < 5 {
		t.Errorf("the longest block came in %d parts", parts)
	}
}

// Whoever is ended in the middle of a block that is in parts leaves some of them; the next one sends the block as a
// whole.
func TestEndInTheMiddleOfParts(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t, smallMessages)
	r := newRecorder(t)
	r.record(1, 100)
	for stopped := range 2 {
		r.record(1, 100_000)
		first := ship(t, s.URL("traffic"), r)
		eventually(t, "some parts", func() bool { return first.Status().Messages > uint64(2+stopped) })
		first.stop()
		<-first.done
	}
	r.end()
	ship(t, s.URL("traffic"), r).wait()
	exactly(t, s, "traffic", r)
}

func TestTwoShippersOfOneCapture(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t, smallMessages)
	r := newRecorder(t)
	r.record(1, 100)
	file := must.Get(bolt.Read(r.path))(t)
	defer file.Close()
	a, b := ship(t, s.URL("traffic"), r), ship(t, s.URL("traffic"), file)
	for i := range 30 {
		r.record(1, 100+i%5*5000)
	}
	r.end()
	a.wait()
	b.wait()
	exactly(t, s, "traffic", r)
	if told := append(a.told(), b.told()...); len(told) > 0 {
		t.Errorf("the user was told %v", told)
	}
}

func TestRecorderIsStartedAgain(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	path := r.path
	for i := range 3 {
		shipper := ship(t, s.URL("traffic"), r)
		r.record(10, 300)
		if i == 1 { // ended before all was shipped
			shipper.stop()
			<-shipper.done
		}
		r.end()
		if i != 1 {
			shipper.wait()
		}
		r = newRecorderAt(t, path)
	}
	r.end()
	exactly(t, s, "traffic", r)
}

// TestNoPlace fills a stream that has a size limit.
func TestNoPlace(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	c := connected(t, s)
	config := jetstream.StreamConfig{
		Name: "traffic", Subjects: []string{allSubjects("traffic")}, MaxBytes: 20_000, Discard: jetstream.DiscardNew,
	}
	must.Get(c.js.CreateStream(patient(t), config))(t)
	r := newRecorder(t)
	shipper := ship(t, s.URL("traffic"), r)
	for range 10 {
		r.record(1, 5000)
	}
	eventually(t, "word of the place", func() bool { return len(shipper.told()) > 0 })
	if told := shipper.told(); !errors.Is(told[0], errFull) {
		t.Errorf("the user was told %v", told)
	}
	config.MaxBytes = 1 << 20
	must.Get(c.js.UpdateStream(patient(t), config))(t)
	shipper.endsWith(s, r)
	if told := shipper.told(); len(told) != 2 || told[1] != nil {
		t.Errorf("the user was told %v", told)
	}
}

func TestNoPlaceForAStream(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t, func(o *server.Options) { o.JetStreamMaxStore = 1 << 20 })
	r := newRecorder(t)
	r.record(1, 100)
	r.end()
	shipper := ship(t, s.URL("traffic"), r, func(o *ShipOptions) {
		o.Limits.MaxBytes, o.Once, o.GiveUp = 2<<20, true, time.Minute
	})
	<-shipper.done
	expect.ErrorIs(t, "a stream that is too large for its server", errFull, shipper.err)
}

// A server that accepts connections and sends nothing, and one that falls silent, delay no one, and release the shipper
// at once.
func TestSilentServer(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	for name, w := range map[string]*way{"from the start": newWay(t, nil), "later": newWay(t, s)} {
		t.Run(name, func(t *testing.T) {
			r := newRecorder(t)
			shipper := ship(t, w.url("traffic"), r)
			if w.server != "" {
				r.record(1, 100)
				shipper.until(6)
			}
			w.set(hangs)
			r.record(100, 10_000)
			eventually(t, "that it is stuck", func() bool { return shipper.Status().Err != nil })
			shipper.stop()
			select {
			case <-shipper.done:
			case <-patient(t).Done():
				t.Fatal("it does not let go")
			}
			expect.ErrorIs(t, "it ends with", context.Canceled, shipper.err)
		})
	}
}

func TestShipperFallsBehind(t *testing.T) {
	told := []error(nil)
	news := trouble{tell: func(err error) { told = append(told, err) }}
	news.went(0, 10)
	news.marked = news.marked.Add(-lagPatience - time.Second)
	news.went(5, 20)
	news.went(6, 30)
	if len(told) != 1 || !errors.Is(told[0], errSlow) || !strings.Contains(told[0].Error(), "15 steps wait") {
		t.Fatalf("the user was told %v", told)
	}
	news.went(20, 40) // of what was committed a second ago and more, all is shipped
	if len(told) != 1 {
		t.Fatalf("the user was told %v", told)
	}
	news.went(41, 50) // of what was committed a moment ago
	if len(told) != 2 || told[1] != nil {
		t.Fatalf("the user was told %v", told)
	}
	news.report(errSlow, false)
	news.went(60, 60)
	if len(told) != 4 || told[3] != nil {
		t.Errorf("the user was told %v", told)
	}
}

// What was shipped before the trouble does not say that it is over.
func TestTroubleIsOverWhenSomethingGoes(t *testing.T) {
	told := []error(nil)
	news := trouble{tell: func(err error) { told = append(told, err) }}
	news.went(0, 10)
	news.report(errFull, true) // at step 15
	news.went(15, 30)
	news.report(errFull, true)
	news.went(15, 40)
	if len(told) != 1 || !errors.Is(told[0], errFull) {
		t.Fatalf("the user was told %v", told)
	}
	news.went(35, 50) // of what was committed after it
	news.went(55, 60)
	if len(told) != 2 || told[1] != nil {
		t.Errorf("the user was told %v", told)
	}
}

func TestAShipperThatPanics(t *testing.T) {
	t.Parallel()
	s := fleettest.Start(t)
	r := newRecorder(t)
	shipper := ship(t, s.URL("traffic"), brokenSpool{r})
	<-shipper.done
	if !errors.Is(shipper.err, ErrBroken) || shipper.Status().Err == nil {
		t.Errorf("it ends with %v", shipper.err)
	}
	if told := shipper.told(); len(told) != 1 || !errors.Is(told[0], ErrBroken) {
		t.Errorf("the user was told %v", told)
	}
}

type brokenSpool struct{ Spool }

func (brokenSpool) Wait(context.Context, uint64) error { panic("a mistake") }

// connected connects to a server until the test ends.
func connected(t testing.TB, s *fleettest.Server) *Conn {
	t.Helper()
	a := must.Get(ParseAddress(s.URL("traffic")))(t)
	c := must.Get(Connect(patient(t), a, Options{}))(t)
	t.Cleanup(c.Close)
	return c
}

func portOf(s *fleettest.Server) string {
	_, port, _ := strings.Cut(strings.TrimPrefix(s.ClientURL(), "nats://"), ":")
	return port
}
