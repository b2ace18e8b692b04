package main

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
)

// While a NATS server takes connections and says nothing, traffic passes and is stored and judged as ever, and the end
// takes no longer than it may.
func TestTrafficPassesASilentNATSServer(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	taken := make(chan struct{}, 100)
	conns.Go(func() {
		for {
			c, err := silent.Accept()
			if err != nil {
				return
			}
			taken <- struct{}{}
			conns.Go(func() {
				defer c.Close()
				io.Copy(io.Discard, c) //nolint:errcheck // it ends when the shipper goes
			})
		}
	})
	defer conns.Wait()
	defer silent.Close()
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "{}") //nolint:errcheck // the client would say so
	}))
	defer agent.Close()
	at, err := url.Parse(agent.URL)
	if err != nil {
		t.Fatal(err)
	}
	address, err := fleet.ParseAddress("nats://" + silent.Addr().String() + "/traffic")
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	var events []shipment.Event
	r, err := recorder.Start(recorder.Options{
		Output: filepath.Join(t.TempDir(), "c.a2atap"),
		Taps:   []proxy.TapSpec{{Name: "a", Agent: at, Listen: "127.0.0.1:0"}},
		Ship: &shipment.To{Address: address, Options: fleet.ShipOptions{
			Host: "here", Connect: fleet.Options{Patience: tooLong}, // it is stuck in its first attempt
		}},
		Listener: told{ship: func(v shipment.Event) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, v)
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	<-taken
	const requests = 200
	client := &http.Client{Transport: &http.Transport{}, Timeout: tooLong}
	for range requests {
		answer, err := client.Get(r.Proxy.Taps()[0].URL() + "/tasks/t1")
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, answer.Body) //nolint:errcheck // the record has it
		answer.Body.Close()
	}
	client.CloseIdleConnections()
	if err := r.Store.Wait(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	if s := r.Shipment.Shipper.Status(); s.Asked {
		t.Errorf("the shipper is not stuck: %+v", s)
	}
	began := time.Now()
	result := stopped(t, r)
	if took := time.Since(began); took > tooLong/2 {
		t.Errorf("the recording ends after %v", took)
	}
	if result.Counts.Exchanges != requests || result.Counts.Lost != 0 {
		t.Errorf("%d exchanges were judged, %d were lost", result.Counts.Exchanges, result.Counts.Lost)
	}
	mu.Lock()
	defer mu.Unlock()
	if last := events[len(events)-1]; last.State != "left" || !strings.Contains(last.Text, "sends the rest") {
		t.Errorf("at the end it says %+v", last)
	}
}

// A brokenSpool is a capture whose reading is our mistake.
type brokenSpool struct{ fleet.Spool }

func (brokenSpool) Blocks(context.Context, uint64) iter.Seq2[bolt.Block, error] { panic("a mistake") }

// Shipping that a mistake of ours has ended says so at once, and not with the end of the recording.
func TestShippingThatBrokeIsSaidAtOnce(t *testing.T) {
	server := fleettest.Start(t)
	address, err := fleet.ParseAddress(server.URL("traffic"))
	if err != nil {
		t.Fatal(err)
	}
	file := oneExchange(t, filepath.Join(t.TempDir(), "c.a2atap"), 1)
	src, err := bolt.Read(file)
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	to := &shipment.To{Address: address, Options: fleet.ShipOptions{Host: "here"}}
	events := make(chan shipment.Event, 10)
	s := shipment.Start(to, file, brokenSpool{src}, nil, func(v shipment.Event) { events <- v })
	defer s.Stop()
	for _, want := range []string{"shipping to", "is not shipped any more, and nothing is lost: shipping has ended"} {
		select {
		case v := <-events:
			if !strings.Contains(v.Text, want) {
				t.Errorf("it says %q", v.Text)
			}
		case <-time.After(30 * time.Second):
			t.Fatalf("nobody is told: %s", want)
		}
	}
	var out bytes.Buffer
	printer := &present.Recorded{Env: cli.Env{Err: &out, Out: io.Discard}}
	if err := (&shipOptions{follow: true}).ship(t.Context(), printer, to, file, brokenSpool{src}); err == nil {
		t.Error("shipping broke, and it is no error")
	}
	if said := out.String(); !strings.Contains(said, "please report it") || strings.Contains(said, "trying on") {
		t.Errorf("ship says %q", said)
	}
}

// oneExchange records one more exchange into a file, with a number.
func oneExchange(t *testing.T, file string, seq uint64) string {
	t.Helper()
	store, err := bolt.Open(file, bolt.Options{Tool: cli.ToolName()})
	if err != nil {
		t.Fatal(err)
	}
	err = store.Append(
		capture.Step{Seq: seq, What: capture.Opened{
			ID: uuid.New(), Started: time.Unix(1_700_000_000, 0), Head: []byte("GET / HTTP/1.1\r\nHost: a\r\n\r\n"),
		}},
		capture.Step{Seq: seq, What: capture.RequestEnd{}},
		capture.Step{Seq: seq, What: capture.Closed{}},
	)
	if err := errors.Join(err, store.Close(), store.Reader.Close()); err != nil {
		t.Fatal(err)
	}
	return file
}
