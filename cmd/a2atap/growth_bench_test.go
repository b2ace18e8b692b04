package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/reading"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

var growthSizes = flag.String("growth", "1000,10000,100000", "how many exchanges the captures of BenchmarkGrowth have")

// growthRuns is how often each command runs; the median is printed.
const growthRuns = 5

// BenchmarkGrowth makes captures of several sizes, of the traffic of a2atap demo with fresh ids in each repetition, and
// prints what each look at them takes, as whole processes: wall time, processor time, memory. In the same run SQLite, if
// its program is there, looks the same exchanges up in a table with an index.
//
//	go test ./cmd/a2atap -run '^$' -bench Growth -benchtime 1x -growth 1000,1000000 -timeout 2h
func BenchmarkGrowth(b *testing.B) {
	path, folder := buildProgram(b), b.TempDir()
	run := func(args ...string) (took, cpu time.Duration, mib int64) {
		command := exec.CommandContext(context.Background(), path, args...)
		command.Dir, command.Env = folder, append(os.Environ(), "HOME="+folder, "XDG_CONFIG_HOME="+folder)
		begin := time.Now()
		err := command.Run()
		took = time.Since(begin)
		var code *exec.ExitError
		if err != nil && (!errors.As(err, &code) || code.ExitCode() > 1) {
			b.Fatalf("a2atap %s: %v", strings.Join(args, " "), err)
		}
		state := command.ProcessState
		return took, state.UserTime() + state.SystemTime(), residentMiB(state)
	}
	run("demo", "-o", "demo.a2atap")
	table := tabwriter.NewWriter(os.Stdout, 0, 8, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "\nexchanges\tlook\twall\tprocessor\tmemory\t")
	for size := range strings.SplitSeq(*growthSizes, ",") {
		n, err := strconv.Atoi(size)
		if err != nil {
			b.Fatal(err)
		}
		file := filepath.Join(folder, size+".a2atap")
		task := repeatDemo(b, filepath.Join(folder, "demo.a2atap"), file, n)
		before := sizeOfFile(b, file)
		for _, look := range []struct {
			name string
			runs int
			args []string
		}{
			{"check --again", 1, []string{"check", "--again", file}},
			{"check", growthRuns, []string{"check", file}},
			{"show N", growthRuns, []string{"show", file, strconv.Itoa(n / 2)}},
			{"show --filter task:ID", growthRuns, []string{"show", file, "--filter", "task:" + task}},
			{"show --tail 50", growthRuns, []string{"show", file, "--tail", "50"}},
			{"show", 1, []string{"show", file}},
		} {
			var wall, cpu []time.Duration
			var most int64
			for range look.runs {
				t, c, m := run(look.args...)
				wall, cpu, most = append(wall, t), append(cpu, c), max(most, m)
			}
			slices.Sort(wall)
			slices.Sort(cpu)
			fmt.Fprintf(table, "%d\t%s\t%.3f s\t%.3f s\t%d MiB\t\n", n, look.name, wall[len(wall)/2].Seconds(),
				cpu[len(cpu)/2].Seconds(), most)
		}
		after := sizeOfFile(b, file)
		fmt.Fprintf(table, "%d\tfile, of it what judging came to\t%d\t%d\tbytes an exchange\t\n", n, after/int64(n),
			(after-before)/int64(n))
		sqliteLooks(b, table, folder, file, n, task)
		if err := os.Remove(file); err != nil {
			b.Fatal(err)
		}
	}
	if err := table.Flush(); err != nil {
		b.Fatal(err)
	}
}

func sizeOfFile(b *testing.B, name string) int64 {
	info, err := os.Stat(name)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

// ids matches the ids that are fresh in each repetition.
var freshIDs = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

// repeatDemo writes n exchanges that are those of a capture again and again, and returns a task in the middle of them.
func repeatDemo(b *testing.B, from, to string, n int) (task string) {
	ctx := context.Background()
	src, err := bolt.Read(from)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	info, err := src.Info(ctx)
	if err != nil {
		b.Fatal(err)
	}
	var steps []capture.Step
	for s, err := range src.Steps(ctx, 1) {
		if err != nil {
			b.Fatal(err)
		}
		steps = append(steps, s.Clone())
	}
	store, err := bolt.Open(to, bolt.Options{Tool: "benchmark", Flush: 100 * time.Millisecond})
	if err != nil {
		b.Fatal(err)
	}
	sink := redact.New(store, redact.Options{Key: redact.NewKey(), Describer: reading.NewDescriber()})
	for copied := uint64(0); copied < uint64(n); copied += info.Exchanges {
		fresh := make(map[string]string)
		renew := func(text []byte) []byte {
			if text == nil {
				return nil
			}
			return freshIDs.ReplaceAllFunc(text, func(id []byte) []byte {
				if fresh[string(id)] == "" {
					fresh[string(id)] = uuid.NewString()
				}
				return []byte(fresh[string(id)])
			})
		}
		for _, s := range steps {
			s = s.Clone()
			s.Arrival, s.Parsed, s.Keys = 0, nil, nil
			if s.Seq > 0 {
				s.Seq += copied
			}
			switch what := s.What.(type) {
			case capture.Opened:
				what.ID, what.Conn = uuid.New(), what.Conn+copied
				what.Started = what.Started.Add(time.Duration(copied) * 50 * time.Millisecond)
				what.Head = renew(what.Head)
				s.What = what
			case capture.RequestBody:
				what.Data = renew(what.Data)
				s.What = what
			case capture.ResponseHead:
				what.Head = renew(what.Head)
				s.What = what
			case capture.ResponseBody:
				what.Data = renew(what.Data)
				if found := taskID.FindSubmatch(what.Data); found != nil && copied <= uint64(n)/2 {
					task = string(found[1])
				}
				s.What = what
			case capture.ResponseEvent:
				what.Event.Raw = renew(what.Event.Raw)
				s.What = what
			}
			if err := sink.Append(s); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := sink.Close(); err != nil {
		b.Fatal(err)
	}
	return task
}

var taskID = regexp.MustCompile(`"taskId":"(` + freshIDs.String() + `)"`)

// sqliteLooks prints what the same looks take in SQLite: a row for each exchange, with an index of tasks.
func sqliteLooks(b *testing.B, w io.Writer, folder, file string, n int, task string) {
	program, err := exec.LookPath("sqlite3")
	if err != nil {
		fmt.Fprintf(w, "%d\tsqlite3 is not installed\t\t\t\t\n", n)
		return
	}
	rows := filepath.Join(folder, "rows.csv")
	out, err := os.Create(rows)
	if err != nil {
		b.Fatal(err)
	}
	src, err := bolt.Read(file)
	if err != nil {
		b.Fatal(err)
	}
	defer src.Close()
	for x, err := range src.Exchanges(context.Background(), 1) {
		if err != nil {
			b.Fatal(err)
		}
		r, body := reading.Read(x), ""
		if x.Response != nil {
			body = string(x.Response.Body.Data)
		}
		fmt.Fprintf(out, "%d,%q,%x,%x\n", x.Seq, strings.Join(r.Tasks, " "), x.Request.Body.Data, body)
	}
	if err := out.Close(); err != nil {
		b.Fatal(err)
	}
	db := filepath.Join(folder, "rows.db")
	ask := func(sql string) time.Duration {
		command := exec.CommandContext(context.Background(), program, db)
		command.Stdin = strings.NewReader(sql)
		begin := time.Now()
		if said, err := command.CombinedOutput(); err != nil {
			b.Fatalf("sqlite3: %v\n%s", err, said)
		}
		return time.Since(begin)
	}
	ask("create table x(n integer primary key, task text, request text, answer text);\n.mode csv\n.import " + rows +
		" x\ncreate index tasks on x(task);")
	for _, look := range []struct{ name, sql string }{
		{"SQLite: one", fmt.Sprintf("select * from x where n = %d;", n/2)},
		{"SQLite: of a task", fmt.Sprintf("select * from x where task = '%s';", task)},
		{"SQLite: the last 50", "select * from x order by n desc limit 50;"},
	} {
		var wall []time.Duration
		for range growthRuns {
			wall = append(wall, ask(look.sql))
		}
		slices.Sort(wall)
		fmt.Fprintf(w, "%d\t%s\t%.3f s\t\t\t\n", n, look.name, wall[len(wall)/2].Seconds())
	}
	for _, name := range []string{rows, db} {
		if err := os.Remove(name); err != nil {
			b.Fatal(err)
		}
	}
}
