package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// What BenchmarkRecording measures can be narrowed: -ways and -loads take lists of names, -cell how long one way is
// under one load, -procs how many processors it may use.
var (
	benchWaysFlag  = flag.String("ways", strings.Join(benchWays, ","), "the `WAYS` that BenchmarkRecording compares")
	benchLoadsFlag = flag.String("loads", "", "the `LOADS` that BenchmarkRecording puts on them (default all)")
	benchCell      = flag.Duration("cell", time.Second, "how long a way is under a load, in each round")
	benchProcs     = flag.Int("procs", 0, "on how many processors at once Go code of a way runs; 0 as many as it likes")
)

// A load is what the clients do.
type load struct {
	name string
	unit string // what is counted: exchanges, events, streams
	run  func(b *testing.B, o *origin, addr string, c *cell)
}

var benchLoads = []load{
	{"unary-c1", "exchanges", unary(1, 900)},
	{"unary-c16", "exchanges", unary(16, 900)},
	{"unary-c64", "exchanges", unary(64, 900)},
	{"unary20k-c16", "exchanges", unary(16, 20_000)},
	{"sse-100", "events", streams(100, 100*time.Millisecond)},
	{"sse-1000", "events", streams(1000, 100*time.Millisecond)},
	{"sse-full", "events", streams(1, 0)},
	{"idle-1000", "streams", idle(1000)},
}

// A cell is one way under one load, in one round.
type cell struct {
	length  time.Duration // duration of the load
	mu      sync.Mutex
	count   int
	wrong   int // answers or streams that were cut off, wrong or lost
	delays  []time.Duration
	elapsed time.Duration
	wayCost

	meanwhile func() // called when all streams of a load are open and silent; nil calls nothing
	memory    int64  // bytes that they take together
}

func (c *cell) add(count, wrong int, delays []time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.count += count
	c.wrong += wrong
	c.delays = append(c.delays, delays...)
}

// rate is in units a second.
func (c *cell) rate() float64 { return float64(c.count) / c.elapsed.Seconds() }

// cost is the processor time of the way for each unit.
func (c *cell) cost() float64 {
	return float64(c.cpu) / float64(time.Microsecond) / float64(max(c.count, 1))
}

// memoryEach is in KiB.
func (c *cell) memoryEach() float64 { return float64(c.memory) / kib / float64(max(c.count, 1)) }

func (c *cell) p50() float64 { return c.delay(0.5) }
func (c *cell) p99() float64 { return c.delay(0.99) }

func (c *cell) delay(q float64) float64 {
	if len(c.delays) == 0 {
		return 0
	}
	slices.Sort(c.delays)
	return float64(c.delays[int(q*float64(len(c.delays)-1))]) / float64(time.Microsecond)
}

// BenchmarkRecording compares recording with not recording, and with other proxies: requests a second, time, processor
// and memory. Each iteration is a round of all ways under all loads, each way a fresh process, so that what changes on
// the machine meanwhile falls on all alike; tables of the medians are printed in the end. docs/performance.md has the
// numbers of one run, and says what they mean.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkRecording -benchtime 5x -timeout 1h
func BenchmarkRecording(b *testing.B) {
	o := newOrigin(b)
	ways := strings.Split(*benchWaysFlag, ",")
	results := make(map[string]map[string][]*cell) // by load and way
	for b.Loop() {
		for _, l := range benchLoads {
			if *benchLoadsFlag != "" && !slices.Contains(strings.Split(*benchLoadsFlag, ","), l.name) {
				continue
			}
			if results[l.name] == nil {
				results[l.name] = make(map[string][]*cell)
			}
			for _, name := range ways {
				results[l.name][name] = append(results[l.name][name], runCell(b, o, name, l))
			}
		}
	}
	for _, name := range ways {
		fmt.Printf("\n* %s: %s", name, wayMeaning[name])
	}
	fmt.Println()
	for _, l := range benchLoads {
		if results[l.name] != nil {
			printTable(b, l, ways, results[l.name])
		}
	}
}

func runCell(b *testing.B, o *origin, name string, l load) *cell {
	w := startWay(b, name, o.addr, b.TempDir())
	c := &cell{length: *benchCell}
	begin := time.Now()
	l.run(b, o, w.addr, c)
	c.elapsed = time.Since(begin)
	c.wayCost = w.stop(b)
	if c.Findings > 0 {
		b.Errorf("%s under %s: %d findings in traffic that has no fault", name, l.name, c.Findings)
	}
	return c
}

// printTable prints what one load showed, in Markdown. Ratios are medians of the rounds' ratios.
func printTable(b *testing.B, l load, ways []string, cells map[string][]*cell) {
	var t strings.Builder
	fmt.Fprintf(&t, "\n%s\n\n", l.name)
	fmt.Fprintf(&t,
		"| way | %s/s | ÷ direct | ÷ relay | ÷ nginx | p50 µs | p99 µs | CPU µs each | peak MiB | wrong | not recorded |\n",
		l.unit)
	t.WriteString("|---|---|---|---|---|---|---|---|---|---|---|\n")
	for _, name := range ways {
		all := cells[name]
		if len(all) == 0 {
			continue
		}
		of := func(value func(*cell) float64) float64 {
			values := make([]float64, len(all))
			for i, c := range all {
				values[i] = value(c)
			}
			return median(values)
		}
		ratio := func(to string) string {
			if len(cells[to]) != len(all) {
				return "–"
			}
			values := make([]float64, len(all))
			for i, c := range all {
				values[i] = c.rate() / cells[to][i].rate()
			}
			return strconv.FormatFloat(median(values), 'f', 2, 64)
		}
		wrong, lost := 0, int64(0)
		for _, c := range all {
			wrong, lost = wrong+c.wrong, lost+c.Lost
		}
		fmt.Fprintf(&t, "| %s | %.0f | %s | %s | %s | %.0f | %.0f | %.1f | %.0f | %d | %d |\n", name, of((*cell).rate),
			ratio("direct"), ratio("relay"), ratio("nginx"), of(func(c *cell) float64 { return c.delay(0.5) }),
			of(func(c *cell) float64 { return c.delay(0.99) }), of((*cell).cost),
			of(func(c *cell) float64 { return float64(c.Peak) / (1 << 20) }), wrong, lost)
	}
	fmt.Print(t.String())
}

func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}

// unary returns a load of connections that each send one request after the other, each waiting for its answer.
func unary(connections, size int) func(*testing.B, *origin, string, *cell) {
	return func(b *testing.B, o *origin, addr string, c *cell) {
		o.answer.Store(int64(size))
		all := texts(1, size)
		texts(2, size)
		deadline := time.Now().Add(c.length)
		eachConnection(b, connections, addr, func(n int, conn net.Conn) {
			in := bufio.NewReaderSize(conn, 64<<10)
			var out, answer []byte
			var delays []time.Duration
			wrong := 0
			for k := n; time.Now().Before(deadline); k++ {
				id := newID()
				out = appendRequest(out[:0], addr, methodUnary, id, all[k%len(all)])
				begin := time.Now()
				if !ask(conn, in, out, &answer, id) {
					wrong++
					break
				}
				delays = append(delays, time.Since(begin))
			}
			c.add(len(delays), wrong, delays)
		})
	}
}

// ask makes one exchange and reports whether the answer is the right one.
func ask(conn net.Conn, in *bufio.Reader, request []byte, answer *[]byte, id string) bool {
	if _, err := conn.Write(request); err != nil {
		return false
	}
	h, err := readHead(in)
	if err != nil || !h.ok || h.length < len(bodyStart)+len(id) {
		return false
	}
	*answer = slices.Grow((*answer)[:0], h.length)[:h.length]
	if _, err := io.ReadFull(in, *answer); err != nil {
		return false
	}
	return string((*answer)[len(bodyStart):len(bodyStart)+len(id)]) == id
}

// eachConnection calls fn for connections to addr, all at once, and returns when all calls have.
func eachConnection(b *testing.B, connections int, addr string, fn func(n int, conn net.Conn)) {
	var clients sync.WaitGroup
	for n := range connections {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			b.Fatal(err)
		}
		clients.Go(func() {
			defer conn.Close()
			fn(n, conn)
		})
	}
	clients.Wait()
}

// streams returns a load of event streams, one on each connection. The first events come when all streams begin at
// once, so that they tell of dialling: their delays do not count.
func streams(connections int, every time.Duration) func(*testing.B, *origin, string, *cell) {
	return func(b *testing.B, o *origin, addr string, c *cell) {
		events := 200_000
		if every > 0 {
			events = max(3, int(c.length/every))
		}
		o.pace.Store(&pace{events: events, every: every})
		eachConnection(b, connections, addr, func(_ int, conn net.Conn) {
			var delays []time.Duration
			conn.Write(appendRequest(nil, addr, methodStream, newID(), benchText(1, 400))) //nolint:errcheck // reading tells
			err := readStream(bufio.NewReader(conn), func(id string) {
				if sent, err := strconv.ParseInt(id, 10, 64); err == nil {
					delays = append(delays, time.Since(processStart)-time.Duration(sent))
				}
			})
			wrong := 0
			if err != nil || len(delays) != events {
				wrong = 1
			}
			c.add(len(delays), wrong, delays[min(1, len(delays)):])
		})
	}
}

// idle returns a load of streams that send nothing after their first event, for the duration of a cell.
func idle(connections int) func(*testing.B, *origin, string, *cell) {
	return func(b *testing.B, o *origin, addr string, c *cell) {
		hold := make(chan struct{})
		time.AfterFunc(c.length, func() {
			if c.meanwhile != nil {
				c.meanwhile()
			}
			close(hold)
		})
		o.pace.Store(&pace{events: 2, hold: hold})
		eachConnection(b, connections, addr, func(_ int, conn net.Conn) {
			conn.Write(appendRequest(nil, addr, methodStream, newID(), benchText(1, 400))) //nolint:errcheck // reading tells
			events, wrong := 0, 0
			if err := readStream(bufio.NewReader(conn), func(string) { events++ }); err != nil || events != 2 {
				wrong = 1
			}
			c.add(1, wrong, nil)
		})
	}
}
