package prober

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/injection"
	"a2atap/proxy/outbound"
	taprecord "a2atap/proxy/record"
	"a2atap/proxy/safetext"
	"a2atap/replay/clienttest"
	"a2atap/replay/probe"
	"a2atap/replay/refagent"
)

// RunClient plays agents for a client and writes a report about the client. A command starts the client, once for each
// agent, or the user starts it by hand.
func RunClient(ctx context.Context, e cli.Env, o *Options, command []string) error {
	gate, err := o.checkClient(command)
	if err != nil {
		return err
	}
	worlds := o.worlds()
	if len(worlds) == 0 {
		return cli.Usage("no expectation has that name; a2atap probe --client --list names them")
	}
	known, err := o.Baseline.Open(e)
	if err != nil {
		return err
	}
	run := &clientRun{e: e, o: o, command: command, memory: capture.NewMemory(capture.Info{Name: "client", Created: e.Now()})}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	if err := run.open(worlds); err != nil {
		return err
	}
	failed := run.play(ctx, worlds)
	if err := errors.Join(failed, run.close()); err != nil {
		return err
	}
	whole, err := run.report(context.WithoutCancel(ctx), gate, worlds)
	if err != nil {
		return err
	}
	passed := accept(known, whole)
	err = cli.WriteOutput(e, o.Output, func(w io.Writer) error { return report.Write(w, o.Format, whole) })
	err = errors.Join(err, known.Finish(e, whole.Result.Coverage, nil, passed))
	fmt.Fprintf(e.Err, "probe: %s\n", whole.Verdict())
	if err != nil {
		return err
	}
	return exit(whole)
}

// checkClient rejects invalid combinations of flags, and returns the gate.
func (o *Options) checkClient(command []string) (analysis.Severity, error) {
	if err := cli.ChooseFormat("format", &o.Format, o.Output, report.Formats()...); err != nil {
		return 0, err
	}
	if len(command) > 0 {
		if _, err := exec.LookPath(command[0]); err != nil {
			return 0, cli.Usage("start the client %s: %w; give a program in PATH, or its path, behind --", command[0],
				cli.Cause(err))
		}
	}
	return o.gate()
}

// worlds returns the worlds with a wanted expectation, reduced to these. The first world, which shows the client's
// behavior in the normal case, is always included.
func (o *Options) worlds() []*clienttest.World {
	var list []*clienttest.World
	wanted := false
	for i, w := range clienttest.Worlds() {
		var kept []*clienttest.Expectation
		for _, x := range w.Expectations {
			s := &probe.Scenario{ID: x.ID, Tags: []string{w.Name}}
			if o.Choice.keep(s, x.ID) {
				kept = append(kept, x)
			}
		}
		wanted = wanted || kept != nil
		if w.Expectations = kept; kept != nil || i == 0 {
			list = append(list, w)
		}
	}
	if !wanted {
		return nil
	}
	return list
}

// A clientRun is one call of the command.
type clientRun struct {
	e       cli.Env
	o       *Options
	command []string
	memory  *capture.Memory

	recording *taprecord.Recording
	stops     []func()
	seen      map[string]*clienttest.Seen // by world
}

// open opens the agents, each behind a tap.
func (r *clientRun) open(worlds []*clienttest.World) error {
	r.seen = make(map[string]*clienttest.Seen)
	options := taprecord.Options{Proxy: proxy.Options{Grace: time.Second}}
	for _, w := range worlds {
		a, err := refagent.New(w.Agent, w.Options)
		if err != nil {
			return err
		}
		var handler http.Handler = a
		if w.Around != nil {
			handler = w.Around(a)
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("listen for the agent %s: %w", w.Name, outbound.Cause(err))
		}
		server := &http.Server{Handler: handler, ReadHeaderTimeout: 30 * time.Second}
		go server.Serve(l) //nolint:errcheck // it ends when it is closed
		r.stops = append(r.stops, func() { server.Close(); a.Close() })
		options.Proxy.Taps = append(options.Proxy.Taps, proxy.TapSpec{
			Name: w.Name, Agent: &url.URL{Scheme: "http", Host: l.Addr().String(), Path: a.Path()}, Listen: "127.0.0.1:0",
		})
		if w.Fault != "" {
			spec, err := injection.Parse(w.Name + ":" + w.Fault)
			if err != nil {
				return err
			}
			options.Proxy.Faults = append(options.Proxy.Faults, spec)
		}
	}
	hidden := redacted.Options{Notice: r.e.Notice}
	sink, err := r.sink(&hidden)
	if err != nil {
		return err
	}
	options.Redact = hidden.Hiding()
	r.recording = taprecord.New(sink, options)
	return r.recording.Start()
}

// sink returns the sink of the traffic: memory, and also a capture if requested, whose key then hides secrets.
func (r *clientRun) sink(hidden *redacted.Options) (capture.Sink, error) {
	if r.o.Capture.File == "" {
		return r.memory, nil
	}
	var err error
	if hidden.Key, err = r.o.Capture.Key(r.e); err != nil {
		return nil, err
	}
	store, err := hidden.OpenStore(r.o.Capture.File)
	if err != nil {
		return nil, err
	}
	if store.Position().Seq > 0 {
		store.Close()
		return nil, cli.Usage("%s already has exchanges; give a new file", r.o.Capture.File)
	}
	return redacted.Tee{r.memory, store}, nil
}

// close ends the agents and the recording.
func (r *clientRun) close() error {
	for _, stop := range r.stops {
		stop()
	}
	if r.recording == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return r.recording.Close(ctx)
}

// play runs the client against each agent.
func (r *clientRun) play(ctx context.Context, worlds []*clienttest.World) error {
	taps := r.recording.Taps()
	if len(r.command) == 0 {
		return r.byHand(ctx, worlds, taps)
	}
	for i, w := range worlds {
		if err := ctx.Err(); err != nil {
			return err
		}
		seen, err := r.start(ctx, w, taps[i].URL())
		if err != nil {
			return err
		}
		r.seen[w.Name] = seen
	}
	return nil
}

// start runs the command for one agent.
func (r *clientRun) start(ctx context.Context, w *clienttest.World, at string) (*clienttest.Seen, error) {
	ctx, cancel := context.WithTimeout(ctx, r.o.ClientTimeout)
	defer cancel()
	mode := "send"
	if w.Stream {
		mode = "stream"
	}
	fill := strings.NewReplacer("{url}", at, "{text}", w.Text, "{mode}", mode)
	args := make([]string, len(r.command))
	for i, arg := range r.command {
		args[i] = fill.Replace(arg)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "A2ATAP_URL="+at, "A2ATAP_TEXT="+w.Text, "A2ATAP_MODE="+mode)
	cmd.WaitDelay = time.Second
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	err := cmd.Run()
	seen := &clienttest.Seen{Started: true}
	var status *exec.ExitError
	switch {
	case ctx.Err() != nil:
		seen.Late, seen.Status = true, -1
	case errors.As(err, &status):
		seen.Status = status.ExitCode()
	case err != nil:
		return nil, fmt.Errorf("start the client %s: %w", args[0], cli.Cause(err))
	}
	if r.o.Verbose {
		fmt.Fprintf(r.e.Err, "%s: exit status %d\n%s", w.Name, seen.Status, analysis.Clean(said.String()))
	}
	return seen, nil
}

// byHand prints the addresses of the agents, and waits until the client has called them and no more traffic passes.
func (r *clientRun) byHand(ctx context.Context, worlds []*clienttest.World, taps []*proxy.Tap) error {
	fmt.Fprintln(r.e.Err, "probe: have the client send each text to its address; an interrupt ends it and writes the report")
	for i, w := range worlds {
		fmt.Fprintf(r.e.Err, "%s\t%s\t%q\t%s\n", w.Name, taps[i].URL(), w.Text, w.Title)
		r.seen[w.Name] = &clienttest.Seen{}
	}
	err := r.recording.Wait(ctx, r.o.ClientTimeout*time.Duration(len(worlds)), 0)
	if ctx.Err() != nil {
		return nil // an interrupt is the usual end
	}
	return err
}

// report checks the traffic.
func (r *clientRun) report(ctx context.Context, gate analysis.Severity, worlds []*clienttest.World) (*report.Report, error) {
	for x, err := range r.memory.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if s := r.seen[x.Agent.Name]; s != nil {
			s.Exchanges = append(s.Exchanges, x)
		}
	}
	suite := report.Suite{Client: true, Agent: "client", URL: "started by hand", Unasked: true}
	if len(r.command) > 0 {
		suite.Agent, suite.URL = filepath.Base(r.command[0]), "started by a command"
	}
	suite.Name = suite.Agent
	for _, w := range worlds {
		seen := r.seen[w.Name]
		if seen == nil {
			continue
		}
		if first := r.seen[worlds[0].Name]; first != seen {
			seen.Before = first
		}
		for _, o := range w.Judge(seen) {
			suite.Unasked = suite.Unasked && len(o.Numbers) == 0
			suite.Tests = append(suite.Tests, clientTest(o))
		}
	}
	if suite.Level, suite.Reason = clientLevel(suite.Tests); suite.Level == probe.NotDetermined {
		suite.Shut = suite.Reason
	}
	result, err := engine.Run(ctx, rules.All, r.memory, nil)
	if err != nil {
		return nil, err
	}
	result.Keep(func(f *analysis.Finding) bool {
		keep := f.Side == a2a.Client && !slices.ContainsFunc(worlds, func(w *clienttest.World) bool {
			return w.Name == f.Link.Agent && slices.Contains(w.Excused, f.Rule.ID)
		})
		if !keep {
			suite.Dropped++
		}
		return keep
	})
	result.Agents = nil // they are a2atap's
	result.Coverage = slices.DeleteFunc(result.Coverage, func(c judgment.Coverage) bool { return c.Rule.Side != a2a.Client })
	for i := range result.Coverage { // the counts are about the client, whichever agent it called
		result.Coverage[i].Link.Agent, result.Coverage[i].Notifications = suite.Agent, false
	}
	return &report.Report{
		Gate: gate, Tool: cli.Tool(), Tests: []report.Suite{suite}, Result: result, Rules: ofClients, Now: r.e.Now(),
	}, nil
}

// ofClients are the rules about clients.
var ofClients = slices.DeleteFunc(slices.Clone(rules.All), func(r *analysis.Rule) bool { return r.Side != a2a.Client })

func clientTest(o clienttest.Outcome) report.Test {
	t := report.Test{
		Name: o.ID, Title: o.Title, Category: o.Category, Status: o.Status, Severity: o.Level.Severity(),
		Message: o.Message, Sections: o.Sections, Tags: []string{o.World.Name}, Fix: o.Fix, Exchanges: o.Numbers,
	}
	if o.Failure != nil {
		t.Expected, t.Seen = o.Failure.Expected, o.Failure.Seen
		t.Message = "where " + o.World.Title + ": " + t.Message
	}
	return t
}

// sentNothing is the reason why a client cannot be assessed.
const sentNothing = "no agent received a message from the client"

// clientLevel returns how far a client conforms.
func clientLevel(tests []report.Test) (level, reason string) {
	failed := map[analysis.Severity][]string{}
	passed := map[string]bool{}
	for i := range tests {
		switch t := &tests[i]; {
		case t.Bad():
			failed[t.Severity] = append(failed[t.Severity], t.Name)
		case t.Status == report.TestPassed:
			passed[t.Name] = true
		}
	}
	switch {
	case len(failed[analysis.Error]) > 0:
		return probe.NonConformant, "requirements not met: " + strings.Join(failed[analysis.Error], ", ")
	case len(failed) > 0:
		return probe.Partial, "recommendations not met: " +
			strings.Join(append(failed[analysis.Warning], failed[analysis.Note]...), ", ")
	}
	switch {
	case passed["client-sends"]:
		return probe.Full, "no violation found"
	case passed["client-offered-version"]:
		return probe.Minimal, "the client works only with an agent of 0.3, and most checks use agents of 1.0"
	}
	return probe.NotDetermined, sentNothing
}

// A listedExpectation is an expectation in the JSON of --list.
type listedExpectation struct {
	ID       string   `json:"id"`
	Category string   `json:"category"`
	Agent    string   `json:"agent"`
	Sections []string `json:"sections"`
	Title    string   `json:"title"`
	Level    string   `json:"level"`
}

// ListClient prints the expectations of clients.
func ListClient(e cli.Env, o *Options) error {
	if err := cli.ChooseFormat("format of a list", &o.Format, o.Output, "text", "json"); err != nil {
		return err
	}
	var list []listedExpectation
	for _, w := range o.worlds() {
		for _, x := range w.Expectations {
			list = append(list, listedExpectation{
				ID: x.ID, Category: report.Kebab(x.Category), Agent: w.Name, Sections: x.Sections, Title: x.Title,
				Level: x.Level.String(),
			})
		}
	}
	return cli.WriteOutput(e, o.Output, func(w io.Writer) error {
		if o.Format == "json" {
			return safetext.NewEncoder(w, "  ").Encode(list)
		}
		for _, x := range list {
			if _, err := fmt.Fprintf(w, "%-22s %-18s %-6s %-26s %s\n", x.ID, x.Agent, x.Level, strings.Join(x.Sections, ", "),
				x.Title); err != nil {
				return err
			}
		}
		return nil
	})
}
