package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/analyzer"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
)

// What the recorders of BenchmarkFleetShip have together.
const (
	fleetExchanges = 64 << 10 // of 1.2 KB each way
	fleetEvents    = 128 << 10
	eventsEach     = 128 // of a stream
)

// fleetRecorders are how many recorders ship at the same time.
var fleetRecorders = []int{1, 8, 64}

// BenchmarkFleetShip measures how fast one server takes what recorders have committed: the server in this process and
// as one of its own, in turn, and captures of calls and of streams. It prints a table of the medians.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkFleetShip -benchtime 3x
func BenchmarkFleetShip(b *testing.B) {
	type key struct {
		server, what string
		recorders    int
	}
	costs := make(map[key][]fleetCost)
	var order []key
	dir := b.TempDir()
	captures := make(map[string]map[int]string)
	for _, what := range []string{"calls", "streams"} {
		captures[what] = make(map[int]string)
		for _, n := range fleetRecorders {
			captures[what][n] = fleetCapture(b, filepath.Join(dir, what+strconv.Itoa(n)), what, n)
		}
	}
	for b.Loop() {
		for _, what := range []string{"calls", "streams"} {
			for _, n := range fleetRecorders {
				for _, server := range []string{"embedded", "process"} {
					k := key{server, what, n}
					if costs[k] == nil {
						order = append(order, k)
					}
					costs[k] = append(costs[k], shipAll(b, server, captures[what][n], n))
				}
			}
		}
	}
	fmt.Print("\n| server | recorders | what | exchanges/s | steps/s | MB/s | bytes an exchange | recorder µs an exchange | " +
		"… a block | server µs an exchange |\n|---|---|---|---|---|---|---|---|---|---|\n")
	for _, k := range order {
		of := func(value func(c fleetCost) float64) float64 {
			var values []float64
			for _, c := range costs[k] {
				values = append(values, value(c))
			}
			return median(values)
		}
		exchanges := float64(fleetExchanges)
		if k.what == "streams" {
			exchanges = fleetEvents / eventsEach
		}
		fmt.Printf("| %s | %d | %s | %.0f | %.0f | %.1f | %.0f | %.1f | %.1f | %.1f |\n", k.server, k.recorders, k.what,
			of(func(c fleetCost) float64 { return exchanges / c.took.Seconds() }),
			of(func(c fleetCost) float64 { return float64(c.steps) / c.took.Seconds() }),
			of(func(c fleetCost) float64 { return float64(c.stored) / 1e6 / c.took.Seconds() }),
			of(func(c fleetCost) float64 { return float64(c.stored) / exchanges }),
			of(func(c fleetCost) float64 { return micros(c.recorders) / exchanges }),
			of(func(c fleetCost) float64 { return micros(c.recorders) / float64(c.blocks) }),
			of(func(c fleetCost) float64 { return micros(c.server) / exchanges }))
	}
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// A fleetCost is what it took to ship some captures.
type fleetCost struct {
	took              time.Duration
	recorders, server time.Duration // processor time; of a server in this process, that of recorders has both
	stored            uint64        // bytes that the stream took
	steps, blocks     uint64
}

// fleetCapture records a capture of one of n recorders, and returns its path.
func fleetCapture(b *testing.B, path, what string, n int) string {
	b.Helper()
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		b.Fatal(err)
	}
	sink := redact.New(store, redact.Options{Key: make([]byte, 32), Describer: analyzer.NewDescriber()})
	r := proxy.NewRecorder(proxy.RecorderOptions{Sink: sink, IfFull: proxy.Wait})
	for i := range fleetExchanges / n {
		if what == "calls" {
			passExchange(r, i)
		} else if i%(fleetExchanges*eventsEach/fleetEvents) == 0 {
			passEvents(r, eventsEach)
		}
	}
	if err := r.Close(context.Background()); err != nil {
		b.Fatal(err)
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
	return path
}

// passEvents tells a recorder of an exchange whose answer is a stream of events.
func passEvents(r *proxy.Recorder, events int) {
	c := r.Conn(capture.Peer{Name: "booker", URL: "http://127.0.0.1:9001/rpc"}, "127.0.0.1:40000")
	id, all := newID(), texts(3, 400)
	head, body, _ := bytes.Cut(appendRequest(nil, "127.0.0.1:9001", methodStream, id, all[0]), []byte("\r\n\r\n"))
	c.Request(0, append(head, "\r\n\r\n"...))
	c.RequestBody(0, body)
	c.RequestEnd(0, nil)
	c.Answer(0, []byte(streamHead))
	for k := range events {
		c.AnswerBody(0, fmt.Appendf(nil, "data: %s\n\n", streamResult(id, k, k == events-1, all[k%len(all)])))
	}
	c.AnswerEnd(0, nil)
	c.Ended(0)
}

// A guise is a capture under another id, so that one file can be what several recorders have.
type guise struct {
	*bolt.Reader
	id uuid.UUID
}

func (g guise) Info(ctx context.Context) (capture.Info, error) {
	info, err := g.Reader.Info(ctx)
	info.ID = g.id
	return info, err
}

// shipAll ships a capture as n recorders at the same time to a server that has nothing.
func shipAll(b *testing.B, server, path string, n int) (c fleetCost) {
	b.Helper()
	url, used, stop := fleetServer(b, server)
	defer stop()
	address, err := fleet.ParseAddress(url)
	if err != nil {
		b.Fatal(err)
	}
	var sources []guise
	for range n {
		r, err := bolt.Read(path)
		if err != nil {
			b.Fatal(err)
		}
		defer r.Close()
		sources = append(sources, guise{r, uuid.New()})
		info, err := r.Info(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		c.steps += info.Arrivals
	}
	for range sources[0].Blocks(b.Context(), 1) {
		c.blocks += uint64(n)
	}
	var shipping sync.WaitGroup
	begun, own, of := time.Now(), cpuUsed(), used()
	for i, s := range sources {
		shipping.Go(func() {
			o := fleet.ShipOptions{Host: fmt.Sprint("host", i), Tool: "benchmark", Name: "c.a2atap", Once: true}
			if err := fleet.NewShipper(address, s, o).Run(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	shipping.Wait()
	c.took, c.recorders, c.server = time.Since(begun), cpuUsed()-own, used()-of
	c.stored = fleetBytes(b, url)
	return c
}

// fleetServer starts a server and returns the address of a stream, what tells its processor time, and what ends it.
func fleetServer(b *testing.B, kind string) (url string, used func() time.Duration, stop func()) {
	b.Helper()
	if kind == "embedded" {
		s := fleettest.Start(b)
		return s.URL("traffic"), func() time.Duration { return 0 }, func() {
			s.Stop()
			os.RemoveAll(s.StoreDir())
		}
	}
	s := fleettest.StartProcess(b, fleettest.ProcessOptions{})
	return s.URL("traffic"), func() time.Duration { return s.CPU() }, func() {
		s.Kill()
		os.RemoveAll(s.Store)
	}
}

// fleetBytes returns how many bytes a stream has.
func fleetBytes(b *testing.B, url string) uint64 {
	b.Helper()
	at, name, _ := strings.Cut(strings.TrimPrefix(url, "nats://"), "/")
	c, err := nats.Connect("nats://" + at)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close()
	js, err := jetstream.New(c)
	if err != nil {
		b.Fatal(err)
	}
	s, err := js.Stream(b.Context(), name)
	if err != nil {
		b.Fatal(err)
	}
	return s.CachedInfo().State.Bytes
}
