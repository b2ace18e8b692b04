// Package demo is a demonstration: reference agents, taps, and a client whose request makes the agents call each other,
// a model and a tool. One of the agents is at fault.
package demo

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
	"a2atap/replay/refagent"
	"a2atap/tui/print"
)

// Fault is the rule that the demo's agent for flights breaks.
const Fault = "stream-closed-on-terminal"

// Run records the demonstration into a capture, or a temporary one without a name, and prints its contents.
func Run(ctx context.Context, e cli.Env, output string) error {
	if output == "" {
		dir, err := os.MkdirTemp("", "a2atap-demo-")
		if err != nil {
			return fmt.Errorf("make a directory for the capture: %w", err)
		}
		output = filepath.Join(dir, "demo.a2atap")
	} else if _, err := os.Stat(output); err == nil {
		return fmt.Errorf("demo into %s: the file already exists; remove it or choose another with -o", output)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	var planner Planner
	var taps []proxy.TapSpec
	for _, agent := range []struct {
		name    string
		options refagent.Options
	}{
		{"planner", refagent.Options{Work: planner.Plan}},
		{"flights", refagent.Options{Fault: Fault}},
		{"hotels", refagent.Options{Push: true, Work: BookRoom}},
	} {
		a, err := Start(agent.name, agent.options)
		if err != nil {
			return err
		}
		defer a.Stop()
		taps = append(taps, a.Tap)
	}
	for _, service := range [...]struct{ name, answer string }{{"llm", modelAsks}, {"weather", toolSay}} {
		a, err := StartService(service.name, service.answer)
		if err != nil {
			return err
		}
		defer a.Stop()
		taps = append(taps, a.Tap)
	}
	key := make([]byte, 32)
	rand.Read(key)
	// All of them are in one process: only the User-Agent identifies callers.
	var clients []recording.ClientPattern
	for _, name := range []string{"traveller", "planner"} {
		pattern, err := recording.ParseClient(name + "=" + name)
		if err != nil {
			return err
		}
		clients = append(clients, pattern)
	}
	r, err := recorder.Start(recorder.Options{
		Output: output, Proxy: proxy.Options{Taps: taps, Webhooks: &webhook.Spec{Key: key}},
		Recorder: recording.Options{Clients: clients},
	})
	if err != nil {
		return err
	}
	reached := make(map[string]string)
	for _, t := range r.Taps() {
		fmt.Fprintf(e.Out, "%s is at %s, tapped at %s\n", t.Name(), t.Agent(), t.URL())
		reached[t.Name()] = t.URL()
	}
	planner.Flights, planner.Hotels = reached["flights"], reached["hotels"]
	planner.Model, planner.Tools = reached["llm"], reached["weather"]
	trafficErr := askPlanner(ctx, reached["planner"])
	result, _, err := r.Stop()
	if trafficErr != nil {
		return fmt.Errorf("send through the taps: %w", trafficErr)
	}
	if err != nil {
		return err
	}
	return showDemo(ctx, e, output, result)
}

// showDemo prints the effects of the request, the ladder, the findings, and commands for a closer look.
func showDemo(ctx context.Context, e cli.Env, output string, result *judgment.Result) error {
	src, err := source.Open(e, output)
	if err != nil {
		return err
	}
	defer src.Close()
	j, err := verdict.Open(ctx, e, "demo", output, src, verdict.How{})
	if err != nil {
		return err
	}
	defer j.Close()
	tree := present.NewTreePrinter(e.Out, e.Colours(e.Out), cli.ColumnsOf(e.Out))
	if tree.Links, err = j.AllLinks(ctx); err != nil {
		return err
	}
	ladder := &present.LadderPrinter{P: print.New(e.Out, cli.ColumnsOf(e.Out), present.PrintTheme(e))}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return err
		}
		one := &present.Shown{X: x}
		if one.Row, err = j.Row(ctx, x.Seq); err != nil {
			return err
		}
		if one.Facts, err = j.Facts(ctx, x, one.Row); err != nil {
			return err
		}
		if err := errors.Join(tree.Print(one), ladder.Print(one)); err != nil {
			return err
		}
	}
	fmt.Fprintln(e.Out, "\nWhat traveller's request caused:")
	if err := tree.End(); err != nil {
		return err
	}
	fmt.Fprintln(e.Out)
	if err := ladder.End(); err != nil {
		return err
	}
	fmt.Fprintln(e.Out)
	fmt.Fprint(e.Out, report.Findings(result.Findings, present.PaintReport(e, e.Out)))
	if strings.ContainsAny(output, cli.ShellSigns) {
		output = cli.Quote(output)
	}
	fmt.Fprintln(e.Out, "\nNext steps:")
	for _, next := range [][]string{
		{"rules", Fault},
		{"tui", output},
		{"show", output, "--format", "tree"},
		{"show", output, "--format", "ladder"},
		{"show", output, "--format", "transcript", "--filter", "'rule:" + Fault + "'"},
		{"check", output},
		{"check", output, "--format", "html", "-o", "report.html"},
	} {
		fmt.Fprintln(e.Out, "  "+e.Called()+" "+strings.Join(next, " "))
	}
	present.PrintVerdict(e, "demo", result.Verdict(analysis.Error))
	return nil
}
