package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
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

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	proxyrecord "a2atap/proxy/record"
	"a2atap/proxy/recording"
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
			captures[what][n] = fleetRecording(b, filepath.Join(dir, what+strconv.Itoa(n)), what, n)
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

// fleetRecording records a capture of one of n recorders, and returns its path.
func fleetRecording(b *testing.B, path, what string, n int) string {
	b.Helper()
	store := must.Get(bolt.Open(path, bolt.Options{}))(b)
	r := proxyrecord.New(store, proxyrecord.Options{
		Recorder: recording.Options{IfFull: recording.Wait},
		Redact:   redact.Options{Key: make([]byte, 32), Describer: reading.NewDescriber()},
	})
	for i := range fleetExchanges / n {
		if what == "calls" {
			passExchange(r.Recorder(), i)
		} else if i%(fleetExchanges*eventsEach/fleetEvents) == 0 {
			passEvents(r.Recorder(), eventsEach)
		}
	}
	must.Do(b, r.Close(context.Background()))
	return path
}

// passEvents tells a recorder of an exchange whose answer is a stream of events.
func passEvents(r *recording.Recorder, events int) {
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
	own, of := cpuUsed(), used()
	c.steps, c.blocks, c.took = shipAs(b, url, path, n)
	c.recorders, c.server = cpuUsed()-own, used()-of
	c.stored = fleetBytes(b, url)
	return c
}

// shipAs ships a capture as n recorders, at the same time.
func shipAs(b *testing.B, url, path string, n int) (steps, blocks uint64, took time.Duration) {
	b.Helper()
	address := must.Get(fleet.ParseAddress(url))(b)
	var sources []guise
	for range n {
		r := must.Get(bolt.Read(path))(b)
		defer r.Close()
		sources = append(sources, guise{r, uuid.New()})
		info := must.Get(r.Info(b.Context()))(b)
		steps += info.Arrivals
	}
	for range sources[0].Blocks(b.Context(), 1) {
		blocks += uint64(n)
	}
	var shipping sync.WaitGroup
	begun := time.Now()
	for i, s := range sources {
		shipping.Go(func() {
			o := fleet.ShipOptions{Host: fmt.Sprint("host", i), Tool: "benchmark", Name: "c.a2atap", Once: true}
			if err := fleet.NewShipper(address, s, o).Run(b.Context()); err != nil {
				b.Error(err)
			}
		})
	}
	shipping.Wait()
	return steps, blocks, time.Since(begun)
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
	c := must.Get(nats.Connect("nats://" + at))(b)
	defer c.Close()
	js := must.Get(jetstream.New(c))(b)
	s := must.Get(js.Stream(b.Context(), name))(b)
	return s.CachedInfo().State.Bytes
}

// BenchmarkFleetRead measures how many exchanges a second are read of a stream: mirrored, merged and indexed.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkFleetRead -benchtime 3x
func BenchmarkFleetRead(b *testing.B) {
	for _, n := range fleetRecorders {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			server, dir := fleettest.StartProcess(b, fleettest.ProcessOptions{}), b.TempDir()
			for i := range n { // exchanges of captures under another id would be known as the same
				path := fleetRecording(b, filepath.Join(dir, fmt.Sprint(i, ".a2atap")), "calls", 8*n)
				shipAs(b, server.URL("traffic"), path, 1)
			}
			for b.Loop() {
				if code := run(b.Context(), silent(), []string{"show", server.URL("traffic"), "--tail", "1"}); code != cli.ExitOK {
					b.Fatalf("show ends with %d", code)
				}
			}
			b.ReportMetric(fleetExchanges/8*float64(b.N)/b.Elapsed().Seconds(), "exchanges/s")
		})
	}
}

// BenchmarkFleetDelay measures how long after its commit a step is seen in a stream that is followed.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkFleetDelay -benchtime 200x
func BenchmarkFleetDelay(b *testing.B) {
	server := fleettest.StartProcess(b, fleettest.ProcessOptions{})
	address := must.Get(fleet.ParseAddress(server.URL("traffic")))(b)
	store := must.Get(bolt.Open(filepath.Join(b.TempDir(), "c.a2atap"), bolt.Options{}))(b)
	defer store.Close()
	r := recording.New(recording.Options{Sink: store})
	ctx, cancel := context.WithCancel(b.Context())
	var shipping sync.WaitGroup
	shipping.Go(func() {
		o := fleet.ShipOptions{Host: "one", Tool: "benchmark", Name: "c.a2atap"}
		fleet.NewShipper(address, store, o).Run(ctx) //nolint:errcheck // it ends with the context
	})
	defer shipping.Wait()
	defer cancel()
	passExchange(r, 0)
	must.Do(b, store.Wait(b.Context(), stepsEach))
	var followed capture.Source
	for followed == nil {
		followed, _ = (*source.Flags)(nil).OpenStream(b.Context(), silent(), server.URL("traffic"), source.Forever) // until the stream is there
	}
	defer followed.Close()
	var delays cell
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for n := 1; b.Loop(); n++ {
		<-tick.C
		passExchange(r, n)
		last := uint64(stepsEach * (n + 1))
		must.Do(b, store.Wait(b.Context(), last))
		begun := time.Now()
		must.Do(b, followed.Wait(b.Context(), last))
		delays.delays = append(delays.delays, time.Since(begun))
	}
	b.ReportMetric(delays.p50()/1000, "p50-ms")
	b.ReportMetric(delays.p99()/1000, "p99-ms")
}

// stepsEach is how many steps passExchange makes.
const stepsEach = 7

// silent returns an environment without output.
func silent() cli.Env {
	return cli.Env{
		In: strings.NewReader(""), Out: io.Discard, Err: io.Discard, Now: time.Now, Getenv: func(string) string { return "" },
	}
}
