package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// A costLoad is a load of BenchmarkCost, and how long it goes on.
type costLoad struct {
	name   string
	run    func(b *testing.B, o *origin, addr string, c *cell)
	length time.Duration
}

// The idle streams come first: later their memory would not show, since what earlier loads gave back would be used
// again.
var costLoads = []costLoad{
	{"idle", idle(1000), 2 * time.Second},
	{"c1", unary(1, 900), time.Second},
	{"c16", unary(16, 900), 2 * time.Second},
	{"20k", unary(16, 20_000), 2 * time.Second},
	{"streams", streams(1000, 100*time.Millisecond), 3 * time.Second},
}

// A costRound is what a program did in one round: its cells by load, and what was true at the end.
type costRound struct {
	cells map[string]*cell
	end   int64 // bytes of memory after all loads
	lost  int   // exchanges that were not recorded
}

// A costRow is a row of the table. A ratio is that of a2atap to nginx, in the same round.
type costRow struct {
	what      string
	unit      string
	ratio     bool // the bounds are of the ratio, not of the value
	more      bool // more is better
	gate, aim float64
	value     func(r *costRound) float64
}

const kib, mib = 1 << 10, 1 << 20

var costRows = []costRow{
	{"16 connections, 1.2 KB: rate", "/s", true, true, 0.50, 0.75, of("c16", (*cell).rate)},
	{"… processor time each", "µs", true, false, 3.0, 2.0, of("c16", (*cell).cost)},
	{"… p99", "µs", true, false, 3.0, 2.0, of("c16", (*cell).p99)},
	{"1 connection: p99", "µs", true, false, 2.0, 1.2, of("c1", (*cell).p99)},
	{"20 KB both ways, 16 connections: rate", "/s", true, true, 0.40, 0.55, of("20k", (*cell).rate)},
	{"1,000 streams: delay p50", "µs", true, false, 1.4, 1.15, of("streams", (*cell).p50)},
	{"… delay p99", "µs", true, false, 6, 3, of("streams", (*cell).p99)},
	{"… processor time an event", "µs", true, false, 2.5, 1.9, of("streams", (*cell).cost)},
	{"memory of an idle stream", "KiB", false, false, 24, 18, of("idle", (*cell).memoryEach)},
	{"memory at the end of all loads", "MiB", false, false, 160, 96, func(r *costRound) float64 {
		return float64(r.end) / mib
	}},
}

// of returns what a value of a load's cell is in a round.
func of(load string, value func(*cell) float64) func(*costRound) float64 {
	return func(r *costRound) float64 { return value(r.cells[load]) }
}

// BenchmarkCost puts the same loads on nginx and on "a2atap record", which does all that it does by default: index,
// redaction, all rules, live. Both are processes of their own, started afresh in each round; they take turns, load by
// load, and each load is over for a program when it has nothing more to do. One iteration is a round. The table has
// medians of the rounds, and medians of the ratios within a round, beside the project's gates and aims.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkCost -benchtime 7x -timeout 1h
func BenchmarkCost(b *testing.B) {
	o := newOrigin(b)
	path := buildProgram(b)
	var nginx, record []*costRound
	var programs time.Duration
	began, busy, self := time.Now(), machineBusy(b), cpuUsed()
	for b.Loop() {
		folder := b.TempDir()
		both := []*process{startNginx(b, o.addr, folder).program(), startRecord(b, path, o.addr, folder)}
		rounds := []*costRound{newCostRound(), newCostRound()}
		for k, l := range costLoads {
			for i := range both {
				i = (i + k + len(nginx)) % 2 // who is first changes
				rounds[i].cells[l.name] = runCost(b, o, both[i], l)
			}
		}
		for i, p := range both {
			rounds[i].end = memory(b, p)
			programs += p.cpu(b)
			rounds[i].lost = p.stop(b)
		}
		nginx, record = append(nginx, rounds[0]), append(record, rounds[1])
	}
	others := machineBusy(b) - busy - (cpuUsed() - self) - programs
	printCost(nginx, record)
	fmt.Printf("%d rounds. Meanwhile other processes took %.0f %% of one processor.\n",
		len(nginx), 100*others.Seconds()/time.Since(began).Seconds())
}

func newCostRound() *costRound { return &costRound{cells: make(map[string]*cell)} }

// runCost puts a load on a program, and waits until that has done all that it brought.
func runCost(b *testing.B, o *origin, p *process, l costLoad) *cell {
	c := &cell{length: l.length}
	c.cpu = -p.settle(b)
	before := memory(b, p)
	c.meanwhile = func() { c.memory = memory(b, p) - before }
	begin := time.Now()
	l.run(b, o, p.addr, c)
	c.elapsed = time.Since(begin)
	c.cpu += p.settle(b)
	return c
}

func memory(b *testing.B, p *process) int64 {
	size, err := p.memory()
	if err != nil {
		b.Error(err) // another goroutine than the benchmark's may ask
	}
	return size
}

func printCost(nginx, record []*costRound) {
	var t strings.Builder
	t.WriteString("\n| everything on: index, redaction, all rules live | nginx | a2atap | ÷ nginx | gate | aim | met |\n")
	t.WriteString("|---|---|---|---|---|---|---|\n")
	for _, row := range costRows {
		ours, theirs, ratios := values(record, row.value), values(nginx, row.value), make([]float64, len(nginx))
		for i := range ratios {
			ratios[i] = ours[i] / theirs[i]
		}
		judged := median(ours)
		if row.ratio {
			judged = median(ratios)
		}
		fmt.Fprintf(&t, "| %s | %s %s | %s %s | %.2f | %g | %g | %s |\n", row.what, short(median(theirs)), row.unit,
			short(median(ours)), row.unit, median(ratios), row.gate, row.aim, row.met(judged))
	}
	wrong, lost := 0, 0
	for i := range record {
		for name, c := range record[i].cells {
			wrong += c.wrong + nginx[i].cells[name].wrong
		}
		lost += record[i].lost
	}
	fmt.Fprintf(&t, "\nWrong answers and streams: %d. Exchanges that were not recorded: %d.\n", wrong, lost)
	fmt.Print(t.String())
}

func values(rounds []*costRound, of func(*costRound) float64) []float64 {
	all := make([]float64, len(rounds))
	for i, r := range rounds {
		all[i] = of(r)
	}
	return all
}

// short writes a number with three digits at least.
func short(v float64) string {
	if v < 100 {
		return fmt.Sprintf("%.3g", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// met says which of its two bounds a row keeps.
func (r costRow) met(v float64) string {
	within := func(bound float64) bool { return v <= bound && !r.more || v >= bound && r.more }
	switch {
	case within(r.aim):
		return "aim"
	case within(r.gate):
		return "gate"
	}
	return "no"
}
