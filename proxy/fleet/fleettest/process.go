package fleettest

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"a2atap/proxy/unreachable"
)

// Program returns the path of nats-server, the server's own command, built from the version in go.mod.
var Program = sync.OnceValues(func() (string, error) {
	var said bytes.Buffer
	cmd := exec.Command("go", "tool", "-n", "nats-server")
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("build nats-server: %w\n%s", err, said.String())
	}
	return strings.TrimSpace(string(out)), nil
})

// A Process is a nats-server in a process of its own, with JetStream. It keeps its address and its store when it is
// killed and started again.
type Process struct {
	Name  string
	Store string // the folder of its streams

	t       testing.TB
	address string   // HOST:PORT for clients
	under   []string // the command that it is run by
	config  string
	log     *os.File
	cmd     *exec.Cmd
	ended   chan struct{}
}

// ProcessOptions are what can be different about a Process.
type ProcessOptions struct {
	Host   string   // to listen on; 127.0.0.1 if empty
	Store  string   // the folder for its streams; a temporary one if empty
	Under  []string // a command that runs another one, such as nsenter with its flags
	Config string   // lines for its configuration
}

// StartProcess runs a server until the test ends.
func StartProcess(t testing.TB, o ProcessOptions) *Process {
	t.Helper()
	p := newProcess(t, "solo", o)
	p.configure(o.Config)
	p.Start()
	p.Ready()
	return p
}

func newProcess(t testing.TB, name string, o ProcessOptions) *Process {
	t.Helper()
	dir := t.TempDir()
	p := &Process{Name: name, Store: o.Store, t: t, under: o.Under, config: filepath.Join(dir, "nats.conf")}
	if p.Store == "" {
		p.Store = filepath.Join(dir, "store")
	}
	host := o.Host
	if host == "" {
		host = "127.0.0.1"
	}
	p.address = freeAddress(t, host)
	var err error
	if p.log, err = os.Create(filepath.Join(dir, "log")); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		p.Kill()
		p.log.Close()
		if t.Failed() {
			text := p.Said()
			t.Logf("%s said:\n%s", name, text[max(0, len(text)-2<<10):])
		}
	})
	return p
}

// freeAddress returns an address without a listener. A server that is to restart needs an address known in advance.
func freeAddress(t testing.TB, host string) string {
	t.Helper()
	if net.ParseIP(host).IsLoopback() {
		return unreachable.Address(t)
	}
	return net.JoinHostPort(host, "4222") // in a namespace of its own
}

func (p *Process) configure(more string) {
	p.t.Helper()
	text := fmt.Sprintf("server_name: %s\nlisten: %q\njetstream { store_dir: %q }\n%s\n", p.Name, p.address, p.Store, more)
	if err := os.WriteFile(p.config, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

// Start runs the server, without waiting until it can be used.
func (p *Process) Start() {
	p.t.Helper()
	program, err := Program()
	if err != nil {
		p.t.Fatal(err)
	}
	argv := append(append([]string(nil), p.under...), program, "-c", p.config)
	p.cmd = exec.Command(argv[0], argv[1:]...)
	p.cmd.Stdout, p.cmd.Stderr = p.log, p.log
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	ended := make(chan struct{})
	p.ended = ended
	go func(cmd *exec.Cmd) {
		cmd.Wait()
		close(ended)
	}(p.cmd)
}

// Kill ends the server as a crash does, and returns when it has ended. It may be called again.
func (p *Process) Kill() {
	if p.cmd == nil {
		return
	}
	p.cmd.Process.Kill()
	<-p.ended
	p.cmd = nil
}

// Restart kills the server and starts it again with what it has stored.
func (p *Process) Restart() {
	p.t.Helper()
	p.Kill()
	p.Start()
	p.Ready()
}

// CPU returns the processor time that the server has used, in steps of 10 ms; 0 if the system does not report it.
func (p *Process) CPU() time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // the name before it may hold blanks
	fields := strings.Fields(rest)
	var used time.Duration
	for _, field := range fields[11:13] { // user and system time: fields 14 and 15 of proc(5)
		ticks, _ := strconv.Atoi(field)
		used += time.Duration(ticks) * 10 * time.Millisecond
	}
	return used
}

// Said returns what the server has logged so far.
func (p *Process) Said() string {
	p.t.Helper()
	text, err := os.ReadFile(p.log.Name())
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// URL returns the address of a stream on the server, as a2atap takes it.
func (p *Process) URL(stream string) string { return "nats://" + p.address + "/" + stream }

// Ready waits until JetStream answers.
func (p *Process) Ready() {
	p.t.Helper()
	p.await("JetStream does not answer", func(ctx context.Context, js jetstream.JetStream) bool {
		_, err := js.AccountInfo(ctx)
		return err == nil
	})
}

// await asks the server again and again; there is nothing to wait on in a process that only begins.
func (p *Process) await(failure string, asked func(context.Context, jetstream.JetStream) bool) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), startPatience)
	defer cancel()
	for {
		if c, err := nats.Connect("nats://"+p.address, nats.NoReconnect()); err == nil {
			js, err := jetstream.New(c)
			once, stop := context.WithTimeout(ctx, time.Second) // what comes before there is a leader is not answered
			done := err == nil && asked(once, js)
			stop()
			c.Close()
			if done {
				return
			}
		}
		select {
		case <-ctx.Done():
			p.t.Fatalf("%s: %s after %v", p.Name, failure, startPatience)
		case <-p.ended:
			p.t.Fatalf("%s has ended", p.Name)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
