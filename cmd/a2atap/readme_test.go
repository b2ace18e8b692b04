package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

var update = flag.Bool("update", false, "rewrite golden files")

const (
	sessionBegin = "-update rewrites -->\n```\n"
	sessionEnd   = "```\n<!-- end of session -->"
)

// The session that the README prints is what the program prints, but for ports, ids and times.
func TestReadmeSession(t *testing.T) {
	t.Parallel()
	readme := filepath.Join("..", "..", "README.md")
	text := must.Get(os.ReadFile(readme))(t)
	before, rest, ok := strings.Cut(string(text), sessionBegin)
	printed, after, ok2 := strings.Cut(rest, sessionEnd)
	if !ok || !ok2 {
		t.Fatal("the README has no session between its markers")
	}
	got := playSession(t)
	if *update {
		must.Do(t, os.WriteFile(readme, []byte(before+sessionBegin+got+sessionEnd+after), 0o644))
		return
	}
	if diff := cmp.Diff(printed, got); diff != "" {
		t.Errorf("the README's session (-printed +now; go test ./cmd/a2atap -run Readme -update):\n%s", diff)
	}
}

// A shell runs the program as its user would, each process in its own.
type shell struct {
	t   *testing.T
	dir string
	env []string // variables of its commands in addition to those of the test
	own bool     // execute runs commands in this process, whose folder is dir
	log bytes.Buffer
	// what to print for what really was
	names []string
}

// newShell returns a shell that executes commands in this process, and makes its folder that of the test.
func newShell(t *testing.T) *shell {
	t.Helper()
	s := &shell{t: t, dir: t.TempDir(), own: true}
	t.Chdir(s.dir)
	t.Setenv("HOME", s.dir)
	t.Setenv("XDG_CONFIG_HOME", s.dir)
	return s
}

func playSession(t *testing.T) string {
	s := &shell{t: t, dir: t.TempDir()}
	agent := s.start("a2atap agent spec --fault stream-closed-on-terminal --listen 127.0.0.1:9001", "agent.ready",
		"--listen", "127.0.0.1:0")
	s.name(agent.url, "http://127.0.0.1:9001/spec")
	tap := s.start("a2atap record --agent booker=http://127.0.0.1:9001/spec@7001 -o c.a2atap", "record.ready",
		"--agent", "booker="+agent.url, "--exchanges", "2")
	s.name(tap.url, "http://127.0.0.1:7001/spec")
	s.run("a2atap send http://127.0.0.1:7001/spec 'streaming two tickets to Kyoto' --stream | tail -n 2", tap.url)
	s.say(tap.wait(), "recording into", "record:")
	s.run("a2atap check c.a2atap", "")
	agent.stop()
	return s.text()
}

// started is a command running in the background.
type started struct {
	s      *shell
	cmd    *exec.Cmd
	out    bytes.Buffer
	url    string
	waited bool
}

// start runs a command line in the background, with the replacements of its flags that a test needs, and waits until it
// is ready.
func (s *shell) start(line, ready string, flags ...string) *started {
	s.t.Helper()
	s.log.WriteString("$ " + line + " &\n")
	args := strings.Fields(line)[1:]
	for i := 0; i < len(flags); i += 2 {
		args = replaceFlag(args, flags[i], flags[i+1])
	}
	p := &started{s: s, cmd: s.command(append(args, "--ready-file", ready))}
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.out
	must.Do(s.t, p.cmd.Start())
	s.t.Cleanup(func() {
		if !p.waited {
			p.cmd.Process.Kill()
			p.cmd.Wait()
		}
	})
	for deadline := time.Now().Add(must.Patience); ; {
		if text, err := os.ReadFile(filepath.Join(s.dir, ready)); err == nil {
			_, url, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
			p.url = url
			return p
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("%s is not ready: %s", line, p.out.String())
		}
		<-time.After(2 * time.Millisecond) // another process writes it; there is nothing to wait on
	}
}

func replaceFlag(args []string, flag, value string) []string {
	for i, a := range args {
		if a == flag {
			args[i+1] = value
			return args
		}
	}
	return append(args, flag, value)
}

// wait waits for the command's end and returns what it printed.
func (p *started) wait() string {
	p.s.t.Helper()
	p.waited = true
	if err := p.cmd.Wait(); err != nil {
		p.s.t.Fatalf("%v: %s", err, p.out.String())
	}
	return p.out.String()
}

func (p *started) stop() {
	p.waited = true
	p.cmd.Process.Signal(os.Interrupt)
	p.cmd.Wait()
}

// run runs a command line to its end and prints what it says. A URL takes the place of the one in the line.
func (s *shell) run(line, url string) {
	s.t.Helper()
	s.log.WriteString("$ " + line + "\n")
	command, tail := strings.CutSuffix(line, " | tail -n 2")
	fields := arguments(command)
	for i, f := range fields {
		if url != "" && strings.HasPrefix(f, "http://") {
			fields[i] = url
		}
	}
	out, err := s.command(fields).CombinedOutput()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		s.t.Fatalf("%s: %v", line, err)
	}
	lines := strings.SplitAfter(strings.TrimRight(string(out), "\n"), "\n")
	if tail && len(lines) > 2 {
		lines = lines[len(lines)-2:]
	}
	for _, l := range lines {
		s.log.WriteString(strings.TrimRight(l, "\n") + "\n")
	}
}

// say prints what another command printed meanwhile, but for lines that begin with one of the prefixes.
func (s *shell) say(out string, without ...string) {
	for line := range strings.Lines(out) {
		skip := false
		for _, prefix := range without {
			skip = skip || strings.HasPrefix(line, prefix)
		}
		if !skip {
			s.log.WriteString(line)
		}
	}
}

// arguments splits a command line after the name of the program; single quotes hold blanks.
func arguments(line string) []string {
	fields := regexp.MustCompile(`'[^']*'|\S+`).FindAllString(line, -1)[1:]
	for i, f := range fields {
		fields[i] = strings.Trim(f, "'")
	}
	return fields
}

// execute runs a command line and returns what it wrote, and its exit status.
func (s *shell) execute(line string) (out, errs string, code int) {
	s.t.Helper()
	var stdout, stderr bytes.Buffer
	if s.own {
		code = run(s.t.Context(), cli.Env{
			In: strings.NewReader(""), Out: &stdout, Err: &stderr, Now: time.Now, Getenv: os.Getenv, Program: "a2atap",
		}, arguments(line))
		return stdout.String(), stderr.String(), code
	}
	cmd := s.command(arguments(line))
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	if _, exited := err.(*exec.ExitError); err != nil && !exited {
		s.t.Fatalf("%s: %v", line, err)
	}
	return stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
}

func (s *shell) command(args []string) *exec.Cmd {
	cmd := exec.CommandContext(context.Background(), "a2atap", args...) // testscript put it on the path
	cmd.Dir = s.dir
	cmd.Env = append(os.Environ(), "HOME="+s.dir, "XDG_CONFIG_HOME="+s.dir)
	cmd.Env = append(cmd.Env, s.env...)
	return cmd
}

func (s *shell) name(was, now string) { s.names = append(s.names, was, now) }

// uuids matches UUIDs, and the first digits of them by which people tell them apart.
var uuids = regexp.MustCompile(`\b[0-9a-f]{8}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?\b`)

// passing matches what differs from run to run in the line of an exchange: its time, and how long it took.
var passing = regexp.MustCompile(`(?m)^( +\d+  )\d\d:\d\d:\d\d\.\d{3}(  .*? \d{3}) +[\d.]+m?s`)

func (s *shell) text() string {
	text := strings.NewReplacer(s.names...).Replace(s.log.String())
	text = passing.ReplaceAllString(text, "${1}09:41:00.000${2}   12.0ms")
	seen := make(map[string]string)
	return uuids.ReplaceAllStringFunc(text, func(id string) string {
		if id = id[:8]; seen[id] == "" {
			seen[id] = "task-" + string(rune('1'+len(seen)))
		}
		return seen[id]
	})
}
