package fleet

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
)

func patient(t testing.TB) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), must.Patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for ctx := patient(t); !ok(); {
		select {
		case <-ctx.Done():
			t.Fatalf("this did not come: %s", what)
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// A recorder is a capture that a test records.
type recorder struct {
	*bolt.Store
	t    testing.TB
	path string
	seq  uint64
	rand *rand.Rand
}

func newRecorderAt(t testing.TB, path string) *recorder {
	t.Helper()
	store := must.Get(bolt.Open(path, bolt.Options{Tool: "test"}))(t)
	r := &recorder{Store: store, t: t, path: path, seq: store.Position().Seq, rand: rand.New(rand.NewPCG(1, 2))}
	t.Cleanup(func() {
		r.Store.Close()
		r.Reader.Close()
	})
	return r
}

func newRecorder(t testing.TB) *recorder {
	t.Helper()
	return newRecorderAt(t, filepath.Join(t.TempDir(), "c.a2atap"))
}

// record records exchanges with bodies of a size that cannot be compressed, and waits until they are committed.
func (r *recorder) record(exchanges, size int) {
	r.t.Helper()
	for range exchanges {
		r.seq++
		body := make([]byte, size)
		for i := range body {
			body[i] = byte(r.rand.Uint32())
		}
		must.Do(r.t, r.Append(
			capture.Step{Seq: r.seq, What: capture.Opened{
				ID: uuid.New(), Conn: 1, Started: time.Unix(1_700_000_000, int64(r.seq)).UTC(),
				Agent: capture.Peer{Name: "booker", URL: "http://127.0.0.1:9000/"},
				Head:  []byte("POST / HTTP/1.1\r\nHost: a\r\n\r\n"),
			}},
			capture.Step{Seq: r.seq, What: capture.RequestBody{Data: body}},
			capture.Step{Seq: r.seq, What: capture.RequestEnd{Size: int64(size)}},
			capture.Step{Seq: r.seq, What: capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\n\r\n")}},
			capture.Step{Seq: r.seq, What: capture.ResponseEnd{}},
			capture.Step{Seq: r.seq, What: capture.Closed{}},
		))
	}
	must.Do(r.t, r.Wait(patient(r.t), 6*r.seq))
}

func (r *recorder) end() {
	r.t.Helper()
	must.Do(r.t, r.Store.Close())
}

// A shipping is a Shipper that runs.
type shipping struct {
	*Shipper
	t       testing.TB
	stop    context.CancelFunc
	done    chan struct{}
	err     error
	mu      sync.Mutex
	trouble []error // as it was told; nil for its end
}

// ship ships a capture until the test ends.
func ship(t testing.TB, url string, spool Spool, change ...func(*ShipOptions)) *shipping {
	t.Helper()
	a := must.Get(ParseAddress(url))(t)
	s := &shipping{t: t, done: make(chan struct{})}
	o := ShipOptions{
		Host: "host.example", Tool: "test", Name: "c.a2atap", Connect: Options{Patience: testPatience},
		OnTrouble: func(err error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.trouble = append(s.trouble, err)
		},
	}
	for _, f := range change {
		f(&o)
	}
	s.Shipper = NewShipper(a, spool, o)
	s.lasting = 300 * time.Millisecond
	ctx, cancel := context.WithCancel(context.Background())
	s.stop = cancel
	go func() {
		s.err = s.Run(ctx)
		close(s.done)
	}()
	t.Cleanup(func() {
		cancel()
		<-s.done
	})
	return s
}

// testPatience is the patience of shippers in tests: stopped servers do not answer for that long.
const testPatience = time.Second

// wait waits until the Shipper has ended by itself.
func (s *shipping) wait() {
	s.t.Helper()
	select {
	case <-s.done:
	case <-patient(s.t).Done():
		s.t.Fatalf("shipping does not end: %+v", s.Status())
	}
	must.Do(s.t, s.err)
}

// endsWith ends the recording, waits until the Shipper has ended, and wants all of the capture in the stream traffic.
func (s *shipping) endsWith(server *fleettest.Server, r *recorder) {
	s.t.Helper()
	r.end()
	s.wait()
	exactly(s.t, server, "traffic", r)
}

// until waits until a step is in the stream.
func (s *shipping) until(arrival uint64) {
	s.t.Helper()
	eventually(s.t, fmt.Sprintf("step %d in the stream", arrival), func() bool { return s.Status().Shipped >= arrival })
}

func (s *shipping) told() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]error(nil), s.trouble...)
}

// messagesIn reads all messages of a stream.
func messagesIn(t testing.TB, server *fleettest.Server, name string) []*Message {
	t.Helper()
	a := must.Get(ParseAddress(server.URL(name)))(t)
	c := must.Get(Connect(patient(t), a, Options{}))(t)
	defer c.Close()
	stream := must.Get(c.js.Stream(patient(t), name))(t)
	var messages []*Message
	for seq := stream.CachedInfo().State.FirstSeq; seq <= stream.CachedInfo().State.LastSeq; seq++ {
		raw, err := stream.GetMsg(patient(t), seq)
		if errors.Is(err, jetstream.ErrMsgNotFound) {
			continue
		}
		must.Do(t, err)
		m, err := decodeMessage(raw.Header, raw.Data)
		if err != nil {
			t.Fatalf("message %d: %v", seq, err)
		}
		messages = append(messages, m)
	}
	return messages
}

// blocksOf puts blocks together, which may have been begun twice where they are in parts. That no block is there twice,
// and none is missing, is for the caller.
func blocksOf(t testing.TB, messages []*Message) (blocks []bolt.Block) {
	t.Helper()
	var run []*Message
	for _, m := range messages {
		if m.Parts == 1 {
			run = nil
		}
		if m.Part == 1 {
			run = nil
		}
		if run = append(run, m); m.Part < m.Parts || len(run) < m.Parts {
			continue
		}
		var data []byte
		for _, part := range run {
			data = append(data, part.Data...)
		}
		found := must.Get(splitBlocks(data))(t)
		if len(found) > 0 && found[0].First != m.First {
			t.Errorf("a message says that it begins with %d, and does with %d", m.First, found[0].First)
		}
		if len(found) == 0 && m.First != m.Last+1 {
			t.Errorf("a message without blocks says that it has %d to %d", m.First, m.Last)
		}
		blocks = append(blocks, found...)
		run = nil
	}
	return blocks
}

// exactly compares what is in the stream with the committed blocks of a capture: each once, in order.
func exactly(t testing.TB, server *fleettest.Server, name string, spool Spool) {
	t.Helper()
	shipped := blocksOf(t, messagesIn(t, server, name))
	i := 0
	for b, err := range spool.Blocks(patient(t), 1) {
		must.Do(t, err)
		if i == len(shipped) {
			t.Fatalf("the stream has %d blocks, and the capture has more", i)
		}
		if s := shipped[i]; s.First != b.First || !bytes.Equal(s.Packed, b.Packed) {
			t.Fatalf("block %d of the stream begins with step %d and has %d bytes; that of the capture with %d and %d",
				i, s.First, len(s.Packed), b.First, len(b.Packed))
		}
		i++
	}
	if i != len(shipped) {
		t.Errorf("the stream has %d blocks, and the capture has %d", len(shipped), i)
	}
	if i == 0 {
		t.Error("there is no block")
	}
}
