package peers

import (
	"bytes"
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// sources are the programs in other languages, with the files that pin their dependencies.
//
//go:embed testdata/js testdata/js02 testdata/js03 testdata/js10 testdata/js1
//go:embed testdata/py testdata/py02 testdata/py03 testdata/py1
//go:embed testdata/java testdata/java03
//go:embed testdata/pymcp testdata/jsmcp
//go:embed testdata/pyflow testdata/jsflow
//go:embed testdata/promptfoo
var sources embed.FS

// A Program is an SDK in another language: an agent and a client program that are in one directory under testdata. The
// agent of Java03 speaks only gRPC. testdata/install puts their dependencies into the directory that $A2ATAP_PEERS
// names, or a2atap-peers in the user's cache directory ($XDG_CACHE_HOME, else ~/.cache). A test that needs missing
// dependencies fails with a message about them.
type Program struct {
	Name   string // the directory
	lock   string // the file that pins the dependencies
	shared string // the directory of the program whose dependencies it uses; empty for its own
	built  string // pattern for the sources that testdata/install compiles
	binary string // path of a program that does not need these; its first argument is its role
	env    []string
	before []string // a command in front of the program's

	// command returns the command line and the environment of one of the programs, "agent" or "client". The sources
	// are in dir, the dependencies in installed.
	command func(dir, installed, role string) (argv, env []string)
}

// The SDKs in other languages, by the line of their versions.
var (
	JS02 = Program{Name: "js02", lock: "package-lock.json", command: node}
	JS03 = Program{Name: "js03", lock: "package-lock.json", command: node}
	JS10 = Program{Name: "js10", lock: "package-lock.json", command: node}
	JS1  = Program{Name: "js1", lock: "package-lock.json", command: node}
	Py02 = Program{Name: "py02", lock: "requirements.txt", command: python}
	Py03 = Program{Name: "py03", lock: "requirements.txt", command: python}
	Py1  = Program{Name: "py1", lock: "requirements.txt", command: python}

	// The SDKs of MCP have a server, and a client that starts the server of its arguments.
	PyMCP = Program{Name: "pymcp", lock: "requirements.txt", shared: "pyflow", command: python}
	JSMCP = Program{Name: "jsmcp", lock: "package-lock.json", command: node}

	// The SDKs of models have a client of all of them, models. In Python they have a planner, too.
	PyFlow = Program{Name: "pyflow", lock: "requirements.txt", command: python}
	JSFlow = Program{Name: "jsflow", lock: "package-lock.json", command: node}

	Java03 = Program{Name: "java03", lock: "pom.xml", built: "*.java", command: java}
)

func node(dir, _, role string) (argv, env []string) {
	return []string{"node", filepath.Join(dir, role+".mjs")}, nil
}

func python(dir, installed, role string) (argv, env []string) {
	shared := filepath.Join(filepath.Dir(dir), "py")
	return []string{filepath.Join(installed, "bin", "python"), filepath.Join(dir, role+".py")},
		[]string{"PYTHONPATH=" + shared, "PYTHONDONTWRITEBYTECODE=1"}
}

// java runs what testdata/install compiled: Client for the role client, Agent for the agent.
func java(_, installed, role string) (argv, env []string) {
	class := strings.ToUpper(role[:1]) + role[1:]
	target := filepath.Join(installed, "target")
	classes := filepath.Join(target, "classes") + string(filepath.ListSeparator) + filepath.Join(target, "lib", "*")
	return []string{"java", "-Xmx256m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", classes, class}, nil
}

// Agent returns the SDK in the role of the agent.
func (p Program) Agent() Agent { return p.agent() }

// GRPCAgent returns the program's agent with only gRPC, on another port than its card's.
func (p Program) GRPCAgent() Agent {
	agent := p.agent("grpc")
	agent.Apart = true
	return agent
}

// ToolServer starts the MCP server of an SDK of MCP over Streamable HTTP, and returns its endpoint.
func (p Program) ToolServer(t testing.TB) string {
	t.Helper()
	url, _, _ := p.start(t, "server", func([]byte) {}, "http")
	return url + "/mcp"
}

// In returns the program with more in its environment.
func (p Program) In(env ...string) Program {
	p.env = env
	return p
}

// Behind returns the program as it starts behind a command, such as a2atap run.
func (p Program) Behind(command ...string) Program {
	p.before = command
	return p
}

// Client returns the SDK in the role of the client.
func (p Program) Client() Client { return Client{Name: p.Name, Run: p.runClient} }

// Once returns the command, and its environment, of the client that sends one text: URL, TEXT and send or stream follow.
func (p Program) Once(t testing.TB) (argv, env []string) {
	t.Helper()
	return p.Command(t, "once")
}

// Command returns the command, and its environment, of one of the programs.
func (p Program) Command(t testing.TB, role string) (argv, env []string) {
	t.Helper()
	cmd := p.prepare(context.Background(), t, role)
	last := len(cmd.Args) - 1
	if !filepath.IsAbs(cmd.Args[last]) {
		cmd.Args[last] = filepath.Join(cmd.Dir, cmd.Args[last])
	}
	return cmd.Args, cmd.Env
}

// agent returns the agent program with its arguments. It runs until its standard input is closed.
func (p Program) agent(args ...string) Agent {
	return Agent{Name: p.Name, Start: func(t testing.TB) Running {
		t.Helper()
		out := &agentOutput{}
		url, _, stop := p.start(t, "agent", out.line, args...)
		return Running{URL: url, Stop: func() []Arrival {
			stop()
			return out.arrivals
		}}
	}}
}

// start starts one of the server programs and returns its address. Each line of its output goes to line. It runs until
// its standard input is closed, by stop or by the end of the test.
func (p Program) start(
	t testing.TB, role string, line func([]byte), args ...string,
) (url string, stdin io.Writer, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	cmd := p.prepare(ctx, t, role)
	cmd.Args = append(cmd.Args, args...)
	pipe, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Cancel = pipe.Close

	ready := make(chan string, 1)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	cmd.Stdout = &lineWriter{line: func(l []byte) {
		var said struct {
			Ready string `json:"ready"`
		}
		if err := json.Unmarshal(l, &said); err == nil && said.Ready != "" {
			ready <- said.Ready
			return
		}
		line(l)
	}}
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the %s %s: %v", role, p.Name, err)
	}
	ended := make(chan struct{})
	go func() {
		_ = cmd.Wait() // it was asked to end, so its exit status means nothing
		close(ended)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)

	select {
	case url := <-ready:
		return url, pipe, stop
	case <-ended:
		t.Fatalf("the %s %s ended before it answered:\n%s", role, p.Name, stderr.String())
	case <-time.After(playTimeout):
		stop()
		t.Fatalf("the %s %s did not answer within %v:\n%s", role, p.Name, playTimeout, stderr.String())
	}
	return "", nil, nil
}

// runClient runs the client program to its end and reads its observations.
func (p Program) runClient(
	ctx context.Context, t testing.TB, agentURL, binding, webhook string,
) ([]Observation, error) {
	t.Helper()
	cmd := p.prepare(ctx, t, "client")
	cmd.Args = append(cmd.Args, agentURL, binding, webhook)
	var (
		seen   []Observation
		broken error
		stderr bytes.Buffer
	)
	cmd.Stderr = &stderr
	cmd.Stdout = &lineWriter{line: func(line []byte) {
		var s Observation
		if err := json.Unmarshal(line, &s); err != nil && broken == nil {
			broken = fmt.Errorf("read what the client %s saw: %w: %s", p.Name, err, line)
		}
		seen = append(seen, s)
	}}
	if err := cmd.Run(); err != nil {
		return seen, fmt.Errorf("run the client %s: %w\n%s", p.Name, err, stderr.String())
	}
	return seen, broken
}

// prepare returns the command for one of the programs. It runs a copy of the sources in a directory of the test, since
// Node.js looks for modules next to the file that imports them.
func (p Program) prepare(ctx context.Context, t testing.TB, role string) *exec.Cmd {
	t.Helper()
	if p.binary != "" {
		cmd := exec.CommandContext(ctx, p.binary, role)
		cmd.Env = withoutProxies(os.Environ())
		cmd.WaitDelay = 5 * time.Second
		return cmd
	}
	installed := p.installed(t)
	root := t.TempDir()
	if err := os.CopyFS(root, sources); err != nil {
		t.Fatalf("copy the programs: %v", err)
	}
	dir := filepath.Join(root, "testdata", p.Name)
	modules := filepath.Join(installed, "node_modules")
	if _, err := os.Stat(modules); err == nil {
		if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
			t.Fatal(err)
		}
	}
	argv, env := p.command(dir, installed, role)
	argv = slices.Concat(p.before, argv)
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = append(append(withoutProxies(os.Environ()), env...), p.env...)
	cmd.WaitDelay = 5 * time.Second
	if p.before != nil {
		cmd.WaitDelay = playTimeout // the command ends after the program
	}
	return cmd
}

// installed returns where the dependencies are, or fails the test if they are not there in the pinned versions.
func (p Program) installed(t testing.TB) string {
	t.Helper()
	cache := cmp.Or(os.Getenv("XDG_CACHE_HOME"), filepath.Join(os.Getenv("HOME"), ".cache")) // as testdata/install has it
	root := cmp.Or(os.Getenv("A2ATAP_PEERS"), filepath.Join(cache, "a2atap-peers"))
	want, err := p.pinned()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(root, cmp.Or(p.shared, p.Name))
	got, err := os.ReadFile(filepath.Join(dir, "installed"))
	if err != nil || !bytes.Equal(got, want) {
		t.Fatalf("%s does not hold the pinned dependencies of %s; run replay/peers/testdata/install", dir, p.Name)
	}
	return dir
}

// pinned returns the files that are installed together: the lock file, then the sources that are compiled with the
// dependencies, those shared by its language first.
func (p Program) pinned() ([]byte, error) {
	files := []string{"testdata/" + cmp.Or(p.shared, p.Name) + "/" + p.lock}
	if p.built != "" {
		for _, dir := range []string{strings.TrimRight(p.Name, "0123456789"), p.Name} {
			found, err := fs.Glob(sources, "testdata/"+dir+"/"+p.built)
			if err != nil {
				return nil, err
			}
			files = append(files, found...)
		}
	}
	var all []byte
	for _, file := range files {
		data, err := sources.ReadFile(file)
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	return all, nil
}

// withoutProxies leaves out what would lead a program's requests to a proxy instead of to loopback.
func withoutProxies(environ []string) (kept []string) {
	for _, e := range environ {
		if name, _, _ := strings.Cut(e, "="); !strings.HasSuffix(strings.ToLower(name), "_proxy") {
			kept = append(kept, e)
		}
	}
	return kept
}

// An agentOutput reads the standard output of an agent program.
type agentOutput struct {
	arrivals []Arrival // complete when the program has ended
}

// line reads one line. SDKs print other lines, which it skips.
func (o *agentOutput) line(line []byte) {
	var said struct {
		Arrival *Arrival `json:"arrival"`
		Sent    *struct {
			Arrival int    `json:"arrival"` // counted from 0
			Bytes   []byte `json:"bytes"`   // in base64
		} `json:"sent"`
	}
	if err := json.Unmarshal(line, &said); err != nil {
		return
	}
	if said.Arrival != nil {
		o.arrivals = append(o.arrivals, *said.Arrival)
	}
	if said.Sent != nil && said.Sent.Arrival < len(o.arrivals) {
		o.arrivals[said.Sent.Arrival].Sent += string(said.Sent.Bytes)
	}
}

// A lineWriter calls line for each whole line that is written to it. The slice is valid until line returns.
type lineWriter struct {
	mu      sync.Mutex
	pending []byte
	line    func([]byte)
}

// Write implements io.Writer.
func (w *lineWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pending = append(w.pending, p...)
	for {
		line, rest, found := bytes.Cut(w.pending, []byte("\n"))
		if !found {
			return len(p), nil
		}
		w.line(line)
		w.pending = rest
	}
}
