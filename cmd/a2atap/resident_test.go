package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/cmd/internal/cli"
)

// A script runs most commands in one process, its resident: starting a process takes five times as long as most
// commands. Commands that record or answer run in parallel with the others.

// An errand is a command line for a resident, and its folder. An errand with the name of a job runs in parallel with
// later ones, until an errand with only that name asks for its outcome.
type errand struct {
	Dir  string
	Args []string
	Env  map[string]string // variables of the script that the arguments name
	Job  string
	End  bool // the job is interrupted
}

// named finds variables in arguments, as in env:KEY and {{env.KEY}}.
var named = regexp.MustCompile(`\benv[:.](\w+)`)

// An outcome is the result of an errand.
type outcome struct {
	Out, Err []byte
	Status   int
}

// What is ongoing is an errand with the name of a job.
type ongoing struct {
	interrupt context.CancelFunc
	outcome   chan outcome
}

// resident runs the errands from standard input, and reports the outcome of each.
func resident() {
	surviveFileLimit()
	errands, outcomes := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		panic(err)
	}
	os.Stdin = nothing
	jobs := make(map[string]ongoing)
	for {
		var e errand
		if err := errands.Decode(&e); err == io.EOF {
			return
		} else if err != nil {
			panic(err)
		}
		if err := os.Chdir(e.Dir); err != nil {
			panic(err)
		}
		var o outcome
		switch j, goesOn := jobs[e.Job]; {
		case goesOn:
			if e.End {
				j.interrupt()
			}
			o = <-j.outcome
			delete(jobs, e.Job)
		case e.Job != "":
			ctx, interrupt := context.WithCancel(context.Background())
			j := ongoing{interrupt, make(chan outcome, 1)}
			jobs[e.Job] = j
			go func() { j.outcome <- e.run(ctx, nothing) }()
		default:
			o = e.run(context.Background(), nothing)
		}
		if err := outcomes.Encode(o); err != nil {
			panic(err)
		}
	}
}

func (e errand) run(ctx context.Context, in io.Reader) outcome {
	var out, errs bytes.Buffer
	getenv := func(name string) string {
		if value, named := e.Env[name]; named {
			return value
		}
		return os.Getenv(name)
	}
	status := run(ctx, cli.Env{
		In: in, Out: &out, Err: &errs, Now: time.Now, Getenv: getenv, Program: "a2atap",
	}, e.Args)
	return outcome{out.Bytes(), errs.Bytes(), status}
}

// lives is the key of a script's residence.
type lives struct{}

// A residence sends a script's resident on errands.
type residence struct {
	send func(*testscript.TestScript, errand) outcome
	fail map[string]bool // the jobs that are to fail
}

// host gives a script a resident, which begins with its first errand and ends with the script. Its environment is the one
// that the script begins with.
func host(env *testscript.Env) {
	var errands *json.Encoder
	var outcomes *json.Decoder
	var said bytes.Buffer // why it ended early
	begin := sync.OnceValue(func() error {
		cmd := exec.Command("resident")
		cmd.Env, cmd.Stderr = env.Vars, &said
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		out, err := cmd.StdoutPipe()
		if err != nil {
			return err
		}
		env.Defer(func() {
			in.Close()
			cmd.Wait()
		})
		errands, outcomes = json.NewEncoder(in), json.NewDecoder(out)
		return cmd.Start()
	})
	send := func(ts *testscript.TestScript, e errand) (o outcome) {
		ts.Check(begin())
		e.Dir, e.Env = ts.MkAbs("."), make(map[string]string)
		e.Env["A2ATAP_CA_DIR"] = ts.Getenv("A2ATAP_CA_DIR")
		for _, name := range named.FindAllStringSubmatch(strings.Join(e.Args, " "), -1) {
			e.Env[name[1]] = ts.Getenv(name[1])
		}
		ts.Check(errands.Encode(e))
		if err := outcomes.Decode(&o); err != nil {
			ts.Fatalf("a2atap %s: %v: %s", strings.Join(e.Args, " "), err, &said)
		}
		return o
	}
	env.Values[lives{}] = &residence{send, make(map[string]bool)}
}

// run sends the resident on an errand, and hands the script what was written.
func (r *residence) run(ts *testscript.TestScript, neg bool, e errand) {
	o := r.send(ts, e)
	ts.Stdout().Write(o.Out)
	ts.Stderr().Write(o.Err)
	if (o.Status == 0) == neg {
		ts.Fatalf("exit status %d", o.Status)
	}
}

// a2atap ARGS... is like exec a2atap ARGS..., but without standard input. It gets variables set with env only if the
// arguments name them, or A2ATAP_CA_DIR. With &NAME& as the last argument, it runs in parallel with the following
// commands, until end or await.
func scriptA2atap(ts *testscript.TestScript, neg bool, args []string) {
	r := ts.Value(lives{}).(*residence)
	name, goesOn := jobName(args)
	if !goesOn {
		r.run(ts, neg, errand{Args: args})
		return
	}
	if _, known := r.fail[name]; known {
		ts.Fatalf("%s goes on already", name)
	}
	r.fail[name] = neg
	r.run(ts, false, errand{Args: args[:len(args)-1], Job: name})
}

// statuses LINE... runs a2atap with each line, in which $NAME is replaced by a variable, and prints the exit status
// after the output.
func scriptStatuses(ts *testscript.TestScript, neg bool, lines []string) {
	if neg || len(lines) == 0 {
		ts.Fatalf("usage: statuses LINE...")
	}
	for _, line := range lines {
		o := ts.Value(lives{}).(*residence).send(ts, errand{Args: arguments("a2atap " + os.Expand(line, ts.Getenv))})
		fmt.Fprintf(ts.Stdout(), "%sstatus %d\n", o.Out, o.Status)
		ts.Stderr().Write(o.Err)
	}
}

// jobName returns the NAME of a last argument &NAME&.
func jobName(args []string) (string, bool) {
	if len(args) == 0 {
		return "", false
	}
	name, begins := strings.CutPrefix(args[len(args)-1], "&")
	name, ends := strings.CutSuffix(name, "&")
	return name, begins && ends && name != ""
}

// end NAME interrupts the job with this name, and then acts as await.
func scriptEnd(ts *testscript.TestScript, neg bool, args []string) { endJob(ts, neg, args, true) }

// await NAME waits for the end of the job with this name; as after wait, scripts can check the output.
func scriptAwait(ts *testscript.TestScript, neg bool, args []string) { endJob(ts, neg, args, false) }

func endJob(ts *testscript.TestScript, neg bool, args []string, interrupt bool) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: end NAME, or await NAME")
	}
	r := ts.Value(lives{}).(*residence)
	fails, known := r.fail[args[0]]
	if !known {
		ts.Fatalf("nothing goes on as %s", args[0])
	}
	delete(r.fail, args[0])
	r.run(ts, fails, errand{Job: args[0], End: interrupt})
}
