package main

import (
	"flag"
	"fmt"
	"strings"
	"testing"
	"time"
)

// A costLoad is a load of BenchmarkCost, and how long it lasts.
type costLoad struct {
	name   string
	run    func(b *testing.B, o *origin, addr string, c *cell)
	length time.Duration
}

// The idle streams come before what takes memory: later their memory would not show, since what earlier loads gave back would be used
// again.
var costLoads = []costLoad{
	{"first", unary(1, 900), 50 * time.Millisecond},
	{"idle", idle(1000), 2 * time.Second},
	{"c1", unary(1, 900), time.Second},
	{"c16", unary(16, 900), 2 * time.Second},
	{"20k", unary(16, 20_000), 2 * time.Second},
	{"streams", streams(1000, 100*time.Millisecond), 3 * time.Second},
}

// costBefore is a build of another state of the project, which BenchmarkCost then compares as well.
var costBefore = flag.String("before", "", "an `a2atap` of another commit that BenchmarkCost compares with")

// A costRound is what a program did in one round: its cells by load, and what was true at the end.
type costRound struct {
	cells map[string]*cell
	end   int64 // bytes of memory after all loads
	lost  int   // exchanges that were not recorded
}

// costRounds are the rounds of each program: nginx, the relay alone, a tap that only records (the ways of
// BenchmarkRecording), and a2atap.
type costRounds map[string][]*costRound

// A costRow is a row of the table. Its bounds are of a2atap's value, or of its ratio to another program's value in the
// same round.
type costRow struct {
	what      string
	unit      string
	to        string // the program that the bounds compare with; "" for none
	more      bool   // more is better
	gate, aim float64
	value     func(r *costRound) float64
}

const kib, mib = 1 << 10, 1 << 20

var costRows = []costRow{
	{"the first exchanges after the start: processor time, all", "ms", "", false, 330, 100, of("first", (*cell).whole)},
	{"1 connection: p99", "µs", "nginx", false, 2.0, 1.2, of("c1", (*cell).p99)},
	{"16 connections, 1.2 KB: processor time each", "µs", "relay", false, 4.0, 3.0, of("c16", (*cell).cost)},
	{"… rate", "/s", "nginx", true, 0.65, 0.8, of("c16", (*cell).rate)},
	{"… p99", "µs", "nginx", false, 2.5, 2.0, of("c16", (*cell).p99)},
	{"20 KB both ways, 16 connections: processor time each", "µs", "relay", false, 5, 3.5, of("20k", (*cell).cost)},
	{"… rate", "/s", "nginx", true, 0.5, 0.55, of("20k", (*cell).rate)},
	{"1,000 streams: processor time an event", "µs", "relay", false, 2.5, 1.9, of("streams", (*cell).cost)},
	{"… delay p50", "µs", "nginx", false, 1.4, 1.15, of("streams", (*cell).p50)},
	{"… delay p99", "µs", "nginx", false, 4, 3, of("streams", (*cell).p99)},
	{"memory of an idle stream", "KiB", "", false, 24, 18, of("idle", (*cell).memoryEach)},
	{"memory at the end of all loads", "MiB", "", false, 110, 80, func(r *costRound) float64 { return float64(r.end) / mib }},
	{"not recorded", "exchanges", "", false, 0, 0, func(r *costRound) float64 { return float64(r.lost) }},
}

// of returns what a value of a load's cell is in a round.
func of(load string, value func(*cell) float64) func(*costRound) float64 {
	return func(r *costRound) float64 { return value(r.cells[load]) }
}

// whole is the processor time of all that the cell counted, in milliseconds.
func (c *cell) whole() float64 { return float64(c.cpu) / float64(time.Millisecond) }

// BenchmarkCost puts the same loads on "a2atap record" with all its defaults (index, redaction, all rules, live), on
// the relay alone, on a tap that only records, and on nginx. Each is a separate process, started again in each round.
// They alternate, load by load, and a load ends once its program has nothing more to do. One iteration is a round. The
// table has medians of the rounds, and medians of the ratios within a round, next to the project's gates and aims.
// Below it is how much of the recorder's processor time each part takes.
//
//	go test ./cmd/a2atap -run '^$' -bench BenchmarkCost -benchtime 7x -timeout 1h
func BenchmarkCost(b *testing.B) {
	o := newOrigin(b)
	built := buildProgram(b)
	names := []string{"nginx", "relay", "store", "a2atap"}
	if *costBefore != "" {
		names = append(names, "before")
	}
	rounds := make(costRounds)
	var programs time.Duration
	began, busy, self := time.Now(), machineBusy(b), cpuUsed()
	for b.Loop() {
		count := len(rounds["a2atap"])
		all := make(map[string]*process)
		for _, name := range names {
			all[name] = startCost(b, name, built, o.addr)
			rounds[name] = append(rounds[name], &costRound{cells: make(map[string]*cell)})
		}
		for k, l := range costLoads {
			for i := range names {
				name := names[(i+k+count)%len(names)] // who is first changes
				rounds[name][count].cells[l.name] = runCost(b, o, all[name], l)
			}
		}
		for name, p := range all {
			rounds[name][count].end = memory(b, p)
			programs += p.cpu(b)
			rounds[name][count].lost = p.stop(b)
		}
	}
	others := machineBusy(b) - busy - (cpuUsed() - self) - programs
	rounds.print(names)
	fmt.Printf("%d rounds. Meanwhile other processes took %.0f %% of one processor.\n",
		len(rounds["a2atap"]), 100*others.Seconds()/time.Since(began).Seconds())
	printParts(b, o)
}

// startCost starts a program of BenchmarkCost in front of an agent.
func startCost(b *testing.B, name, built, agent string) *process {
	switch name {
	case "a2atap":
		return startRecord(b, built, agent, b.TempDir())
	case "before":
		return startRecord(b, *costBefore, agent, b.TempDir())
	}
	return startWay(b, name, agent, b.TempDir()).program()
}

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

// print prints the table. The last column says which of its bounds a2atap keeps.
func (all costRounds) print(names []string) {
	var t strings.Builder
	fmt.Fprintf(&t, "\n| | %s | ÷ nginx | ÷ relay | ÷ store | gate | aim | met |\n", strings.Join(names, " | "))
	fmt.Fprintf(&t, "|---|%s---|---|---|---|---|---|\n", strings.Repeat("---|", len(names)))
	for _, row := range costRows {
		fmt.Fprintf(&t, "| %s |", row.what)
		for _, name := range names {
			fmt.Fprintf(&t, " %s %s |", short(median(values(all[name], row.value))), row.unit)
		}
		for _, name := range []string{"nginx", "relay", "store"} {
			fmt.Fprintf(&t, " %s |", strings.ReplaceAll(short(all.ratio(row, name)), "+Inf", "–"))
		}
		judged, of := median(values(all["a2atap"], row.value)), ""
		if row.to != "" {
			judged, of = all.ratio(row, row.to), "÷ "+row.to+" "
		}
		fmt.Fprintf(&t, " %s%g | %g | %s |\n", of, row.gate, row.aim, row.met(judged))
	}
	wrong := 0
	for _, rounds := range all {
		for _, r := range rounds {
			for _, c := range r.cells {
				wrong += c.wrong
			}
		}
	}
	fmt.Fprintf(&t, "\nWrong answers and streams: %d.\n", wrong)
	fmt.Print(t.String())
}

// ratio returns the median of a2atap's ratios to another program in the same rounds.
func (all costRounds) ratio(row costRow, to string) float64 {
	ours, theirs := values(all["a2atap"], row.value), values(all[to], row.value)
	for i := range ours {
		ours[i] /= theirs[i]
	}
	return median(ours)
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
