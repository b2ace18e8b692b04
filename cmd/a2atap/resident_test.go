package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/cmd/internal/cli"
)

// A script runs most commands one after another in one process, its resident: to begin a process takes five times as
// long as most commands do.

// An errand is a command line for a resident, and where it is run.
type errand struct {
	Dir  string
	Args []string
}

// An outcome is what came of it.
type outcome struct {
	Out, Err []byte
	Status   int
}

// resident runs the errands that come on standard input, and tells what came of each.
func resident() {
	surviveFileLimit()
	errands, outcomes := json.NewDecoder(os.Stdin), json.NewEncoder(os.Stdout)
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		panic(err)
	}
	os.Stdin = nothing
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
		var out, errs bytes.Buffer
		status := run(context.Background(), cli.Env{
			In: nothing, Out: &out, Err: &errs, Now: time.Now, Getenv: os.Getenv, Program: "a2atap",
		}, e.Args)
		if err := outcomes.Encode(outcome{out.Bytes(), errs.Bytes(), status}); err != nil {
			panic(err)
		}
	}
}

// residence is the key of the function that sends a script's resident on an errand.
type residence struct{}

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
	env.Values[residence{}] = func(ts *testscript.TestScript, e errand) (o outcome) {
		ts.Check(begin())
		ts.Check(errands.Encode(e))
		if err := outcomes.Decode(&o); err != nil {
			ts.Fatalf("a2atap %s: %v: %s", strings.Join(e.Args, " "), err, &said)
		}
		return o
	}
}

// a2atap ARGS... does what exec a2atap ARGS... does, with no standard input, and without what env has set.
func scriptA2atap(ts *testscript.TestScript, neg bool, args []string) {
	o := ts.Value(residence{}).(func(*testscript.TestScript, errand) outcome)(ts, errand{ts.MkAbs("."), args})
	ts.Stdout().Write(o.Out)
	ts.Stderr().Write(o.Err)
	if (o.Status == 0) == neg {
		ts.Fatalf("exit status %d", o.Status)
	}
}
