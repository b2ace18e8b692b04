package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"a2atap/proxy/must"
)

var (
	growthSizes = flag.String("growth", "1000,10000,100000", "how many exchanges the captures of BenchmarkGrowth have")
	growthPeers = flag.Int("growth-peers", 100_000,
		"up to how many exchanges mitmdump and tshark read them too, which takes a minute for each hundred thousand")
	growthMixed = flag.Bool("growth-mixed", false, "let two in five exchanges be calls of models and tools, half of them streams")
)

// growthRuns is how often each short look is made; the median is printed.
const growthRuns = 5

// BenchmarkGrowth makes captures of several sizes (see growCapture), and prints what each look at them takes, as whole
// processes: wall time, processor time, memory. In the same run, where they are installed, SQLite looks the same
// exchanges up in a table with an index, and mitmdump and tshark read them in their own formats.
//
//	go test ./cmd/a2atap -run '^$' -bench Growth -benchtime 1x -growth 1000,1000000 -timeout 2h
func BenchmarkGrowth(b *testing.B) {
	g := &growth{b: b, path: buildProgram(b), folder: b.TempDir()}
	demo := filepath.Join(g.folder, "demo.a2atap")
	g.run(g.path, "demo", "-o", demo)
	g.table = tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(g.table, "\nexchanges\tlook\twall\tprocessor\tmemory\t")
	for size := range strings.SplitSeq(*growthSizes, ",") {
		n := must.Get(strconv.Atoi(size))(b)
		g.looks(demo, n)
	}
	must.Do(b, g.table.Flush())
}

// A growth is one run of BenchmarkGrowth.
type growth struct {
	b      *testing.B
	path   string // of a2atap
	folder string
	table  *tabwriter.Writer
}

// A cost is what a process took.
type growthCost struct {
	wall, cpu time.Duration
	mib       int64 // the most memory that it had
}

// looks makes a capture of n exchanges and prints what all looks at it take.
func (g *growth) looks(demo string, n int) {
	file := filepath.Join(g.folder, fmt.Sprintf("%d.a2atap", n))
	kind := "capture"
	if *growthMixed {
		kind = "mixed"
	}
	var task string
	var streams int
	must.Get(fmt.Sscan(g.say("growth", kind, demo, file, strconv.Itoa(n)), &task, &streams))(g.b)
	before := g.size(file)
	if n > 5000 { // a smaller one is judged before the first screen
		g.screen(n, streams, file, task, false)
	}
	g.print(n, "check --again", 1, g.path, "check", "--again", file)
	for _, look := range []struct {
		name string
		args []string
	}{
		{"check", []string{"check", file}},
		{"show N", []string{"show", file, strconv.Itoa(n / 2)}},
		{"show --filter task:ID", []string{"show", file, "--filter", "task:" + task}},
		{"show --tail 50", []string{"show", file, "--tail", "50"}},
	} {
		g.print(n, look.name, growthRuns, append([]string{g.path}, look.args...)...)
	}
	g.print(n, "show", 1, g.path, "show", file)
	g.screen(n, streams, file, task, true)
	each := int64(n)
	fmt.Fprintf(g.table, "%d\tfile: %d bytes an exchange, %d of them what judging came to\t\t\t\t\n", n,
		g.size(file)/each, (g.size(file)-before)/each)
	g.sqlite(n, file, task)
	if n <= *growthPeers {
		g.mitmdump(n, file, task)
		g.tshark(n, file, task)
	}
	if err := os.Remove(file); err != nil {
		g.b.Fatal(err)
	}
}

// print runs a command so often, and prints the medians of what it took.
func (g *growth) print(n int, name string, runs int, command ...string) {
	costs := make([]growthCost, runs)
	for i := range costs {
		costs[i] = g.run(command...)
	}
	g.row(n, name, costs)
}

// row prints the medians of what looks of a kind took.
func (g *growth) row(n int, name string, costs []growthCost) {
	middle := func(of func(growthCost) float64) float64 {
		values := make([]float64, len(costs))
		for i, c := range costs {
			values[i] = of(c)
		}
		return median(values)
	}
	most := slices.MaxFunc(costs, func(a, b growthCost) int { return int(a.mib - b.mib) }).mib
	fmt.Fprintf(g.table, "%d\t%s\t%.3f s\t%.3f s\t%d MiB\t\n", n, name,
		middle(func(c growthCost) float64 { return c.wall.Seconds() }),
		middle(func(c growthCost) float64 { return c.cpu.Seconds() }), most)
}

// screen prints what looks of the inspector take. Of these only the wall time shows.
func (g *growth) screen(n, streams int, file, task string, judged bool) {
	took := make(map[string][]time.Duration)
	var names []string
	for range growthRuns {
		for _, look := range screenLooks(g.b, g.command(g.path, "tui", file), n, streams, task, judged) {
			if took[look.name] == nil {
				names = append(names, look.name)
			}
			took[look.name] = append(took[look.name], look.took)
		}
	}
	for _, name := range names {
		slices.Sort(took[name])
		words := name
		if !judged {
			words += ", never judged"
		}
		fmt.Fprintf(g.table, "%d\ttui: %s\t%.3f s\t\t\t\n", n, words, took[name][len(took[name])/2].Seconds())
	}
}

// A screenLook is what the inspector was asked for, and how long it took until the screen showed it.
type screenLook struct {
	name string
	took time.Duration
}

// command returns a command in the folder of the run, which knows no other home.
func (g *growth) command(name string, args ...string) *exec.Cmd {
	command := exec.Command(name, args...)
	command.Dir = g.folder
	command.Env = append(os.Environ(), "HOME="+g.folder, "XDG_CONFIG_HOME="+g.folder)
	return command
}

// run runs a command; that it has findings is not an error.
func (g *growth) run(words ...string) growthCost {
	command := g.command(words[0], words[1:]...)
	begin := time.Now()
	err := command.Run()
	took := time.Since(begin)
	var code *exec.ExitError
	if err != nil && (!errors.As(err, &code) || code.ExitCode() > 1) {
		g.b.Fatalf("%s: %v", strings.Join(words, " "), err)
	}
	state := command.ProcessState
	return growthCost{took, state.UserTime() + state.SystemTime(), residentMiB(state)}
}

// say runs a command and returns what it says.
func (g *growth) say(words ...string) string {
	command := g.command(words[0], words[1:]...)
	command.Stderr = os.Stderr
	out, err := command.Output()
	if err != nil {
		g.b.Fatalf("%s: %v", strings.Join(words, " "), err)
	}
	return string(out)
}

func (g *growth) size(name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		g.b.Fatal(err)
	}
	return info.Size()
}
