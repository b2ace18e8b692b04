package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"runtime/trace"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/fleet"
	"a2atap/proxy/fleet/fleettest"
	"a2atap/proxy/must"
	proxyrecord "a2atap/proxy/record"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

// benchWays are the ways from client to agent that are compared, in the order of the tables. All but the first are
// processes of their own, so that what they take of processor and memory is theirs alone.
var benchWays = []string{"direct", "relay", "store", "redact", "record", "ship", "reverseproxy", "nginx"}

// wayMeaning says what each way is.
var wayMeaning = map[string]string{
	"direct":       "no proxy",
	"relay":        "the relay alone, nothing recorded",
	"store":        "a tap that records, without redaction, keys and rules",
	"redact":       "the same with redaction, and the index of tasks, contexts and operations",
	"record":       "a2atap record: the same with the rules, live",
	"ship":         "a2atap record --ship: the same, published to a server on this machine",
	"reverseproxy": "net/http/httputil.ReverseProxy, nothing recorded",
	"nginx":        "nginx with two workers, unbuffered, nothing recorded",
}

// A wayReport is what a way says of itself: in its first line, when it listens, and in its second, after the end.
type wayReport struct {
	Addr      string
	CPU       time.Duration // used so far
	Exchanges uint64
	Lost      int64 // exchanges
	LostBytes int64
	Findings  int
	Peak      int64 // peak memory in bytes, including mapped files; 0 if unknown
}

// benchWay is the program of a way: benchway NAME AGENT FOLDER. It serves until its input ends.
func benchWay() {
	if err := runWay(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "benchway:", err)
		os.Exit(1)
	}
}

func runWay(name, agent, folder string) error {
	if profile := os.Getenv("BENCHWAY_PROFILE"); profile != "" {
		f, err := os.Create(profile + "." + name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if file := os.Getenv("BENCHWAY_TRACE"); file != "" {
		f, err := os.Create(file + "." + name)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := trace.Start(f); err != nil {
			return err
		}
		defer trace.Stop()
	}
	var addr string
	var stop func() (wayReport, error)
	var err error
	switch capturePath := filepath.Join(folder, "c.a2atap"); name {
	case "relay":
		addr, stop, err = relayWay(agent)
	case "store", "redact":
		addr, stop, err = storeWay(agent, capturePath, name == "redact")
	case "record":
		addr, stop, err = recordWay(agent, capturePath, "")
	case "ship":
		addr, stop, err = recordWay(agent, capturePath, os.Getenv(benchStream))
	case "reverseproxy":
		addr, stop, err = reverseProxyWay(agent)
	default:
		err = fmt.Errorf("no way %q", name)
	}
	if err != nil {
		return err
	}
	out := json.NewEncoder(os.Stdout)
	if err := out.Encode(wayReport{Addr: addr, CPU: cpuUsed()}); err != nil {
		return err
	}
	io.Copy(io.Discard, os.Stdin) //nolint:errcheck // its end, however it comes, is the signal
	report, err := stop()
	report.Peak = peakMemory()
	return errors.Join(err, out.Encode(report))
}

// peakMemory returns the largest resident set that this process had. That of getrusage is no use: it begins with the
// parent's.
func peakMemory() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(status), "VmHWM:")
	var kib int64
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		return 0
	}
	return kib << 10
}

func relayWay(agent string) (string, func() (wayReport, error), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	dial := func(ctx context.Context) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "tcp", agent)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s := relay.New(c, relay.Config{Dial: dial, Authority: agent})
			go s.Serve(context.Background()) //nolint:errcheck // the client sees it
		}
	}()
	return l.Addr().String(), func() (wayReport, error) { return wayReport{}, l.Close() }, nil
}

// storeWay is recorder.Start without the rules, and where described is false without redaction.
func storeWay(agent, path string, described bool) (string, func() (wayReport, error), error) {
	store, err := bolt.Open(path, bolt.Options{})
	if err != nil {
		return "", nil, err
	}
	o := proxyrecord.Options{
		Proxy: proxy.Options{Taps: []proxy.TapSpec{benchTap(agent)}}, Redact: redact.Options{Keep: !described},
	}
	if described {
		o.Redact.Describer = reading.NewDescriber()
	}
	r := proxyrecord.New(store, o)
	if err := r.Start(); err != nil {
		return "", nil, err
	}
	return r.Taps()[0].Addr(), func() (wayReport, error) {
		err := r.Close(context.Background())
		return reportOf(r.Stats(), 0), err
	}, nil
}

// benchStream is the variable of the environment that says where the way ship publishes to.
const benchStream = "BENCHWAY_STREAM"

func recordWay(agent, path, stream string) (string, func() (wayReport, error), error) {
	o := recorder.Options{Output: path, Proxy: proxy.Options{Taps: []proxy.TapSpec{benchTap(agent)}}}
	if stream != "" {
		address, err := fleet.ParseAddress(stream)
		if err != nil {
			return "", nil, err
		}
		o.Ship = &shipment.To{Address: address, Options: fleet.ShipOptions{Host: "bench", Tool: "bench"}}
	}
	r, err := recorder.Start(o)
	if err != nil {
		return "", nil, err
	}
	return r.Taps()[0].Addr(), func() (wayReport, error) {
		result, stats, err := r.Stop()
		if err != nil {
			return wayReport{}, err
		}
		return reportOf(stats, len(result.Findings)), nil
	}, nil
}

func benchTap(agent string) proxy.TapSpec {
	return proxy.TapSpec{Name: "booker", Agent: &url.URL{Scheme: "http", Host: agent, Path: "/rpc"}, Listen: "127.0.0.1:0"}
}

func reportOf(s recording.Stats, findings int) wayReport {
	return wayReport{Exchanges: s.Exchanges, Lost: s.LostExchanges, LostBytes: s.LostBytes, Findings: findings}
}

func reverseProxyWay(agent string) (string, func() (wayReport, error), error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	p := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: agent})
	p.Transport = &http.Transport{MaxIdleConnsPerHost: 4096, DisableCompression: true}
	p.FlushInterval = -1
	server := &http.Server{Handler: p}
	go server.Serve(l) //nolint:errcheck // it ends with the process
	return l.Addr().String(), func() (wayReport, error) { return wayReport{}, server.Close() }, nil
}

// A way is one way under way.
type way struct {
	addr    string
	command *exec.Cmd
	input   io.Closer
	output  *bufio.Reader
	started wayReport
}

// A wayCost is what a way took and said.
type wayCost struct {
	wayReport
	cpu time.Duration // since it listens
}

// startWay starts a way to the agent.
func startWay(b *testing.B, name, agent, folder string) *way {
	switch name {
	case "direct":
		return &way{addr: agent}
	case "nginx":
		return startNginx(b, agent, folder)
	}
	w := &way{command: exec.Command("benchway", name, agent, folder)}
	w.command.Stderr = os.Stderr
	w.command.Env = os.Environ()
	if *benchProcs > 0 {
		w.command.Env = append(w.command.Env, "GOMAXPROCS="+strconv.Itoa(*benchProcs))
	}
	if name == "ship" {
		w.command.Env = append(w.command.Env, benchStream+"="+fleettest.StartProcess(b, fleettest.ProcessOptions{}).URL("traffic"))
	}
	in := must.Get(w.command.StdinPipe())(b)
	out := must.Get(w.command.StdoutPipe())(b)
	must.Do(b, w.command.Start())
	w.input, w.output = in, bufio.NewReader(out)
	if err := json.NewDecoder(strings.NewReader(w.line(b))).Decode(&w.started); err != nil {
		b.Fatalf("start %s: %v", name, err)
	}
	w.addr = w.started.Addr
	return w
}

func (w *way) line(b *testing.B) string {
	line, err := w.output.ReadString('\n')
	if err != nil {
		b.Fatalf("read what a way reports: %v", err)
	}
	return line
}

// stop ends a way and returns what it took, all that it still had to store included.
func (w *way) stop(b *testing.B) (c wayCost) {
	if w.command == nil {
		return c
	}
	if w.input != nil {
		w.input.Close()
		must.Do(b, json.Unmarshal([]byte(w.line(b)), &c.wayReport))
	} else if err := w.command.Process.Signal(syscall.SIGTERM); err != nil {
		b.Fatal(err)
	}
	must.Do(b, w.command.Wait())
	state := w.command.ProcessState
	c.cpu = state.UserTime() + state.SystemTime() - w.started.CPU
	return c
}
