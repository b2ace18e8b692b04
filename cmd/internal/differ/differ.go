// Package differ compares two captures and reports the differences. Package replayer also uses its flags for noise and
// its output of differences.
package differ

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

// Options are the flags of diff.
type Options struct {
	From       source.Flags
	Agents     []string
	Filter     string
	Profile    string
	Noise      Noise
	Format     string
	Texts      bool
	Output     string
	AllowEmpty bool
}

// Run compares two captures, and writes a report on the differences.
func Run(ctx context.Context, e cli.Env, o Options, names []string) error {
	options, err := o.diff()
	if err != nil {
		return err
	}
	if err := cli.NotOver(o.Output, names...); err != nil {
		return err
	}
	if names[0] == "-" && names[1] == "-" {
		return cli.Usage("diff: only one of two captures can be standard input")
	}
	var sources [2]capture.Source
	for i, name := range names {
		src, err := o.From.Open(e, name)
		if err != nil {
			return err
		}
		defer src.Close()
		sources[i] = e.WithProgress(ctx, "diff "+name, src)
	}
	if options.KeepWas, err = o.chooser(ctx, e, names[0], sources[0], func(name string) string { return name }); err != nil {
		return fmt.Errorf("diff %s: %w", names[0], err)
	}
	options.KeepNow, err = o.chooser(ctx, e, names[1], sources[1], func(name string) string { return options.Agents[name] })
	if err != nil {
		return fmt.Errorf("diff %s: %w", names[1], err)
	}
	options.Sides = sidesOf(names)
	options.Rules = nil // their findings are loaded
	if options.FoundWas, err = verdict.FindingsIn(ctx, e, "diff", names[0], sources[0]); err != nil {
		return fmt.Errorf("diff %s: %w", names[0], err)
	}
	if options.FoundNow, err = verdict.FindingsIn(ctx, e, "diff", names[1], sources[1]); err != nil {
		return fmt.Errorf("diff %s: %w", names[1], err)
	}
	r, err := diff.Run(ctx, sources[0], sources[1], options)
	if err != nil {
		return fmt.Errorf("diff %s %s: %w", names[0], names[1], err)
	}
	r.Tool = cli.Tool()
	err = cli.WriteOutput(e, o.Output, func(w io.Writer) error { return report.Write(w, o.Format, r) })
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "diff: %s\n", r.Verdict())
	switch {
	case len(r.Differences) > 0:
		return &cli.Exit{Code: cli.ExitFindings}
	case !r.Same() && !o.AllowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}

// diff turns flags into options of package diff, except for the choice of exchanges.
func (o *Options) diff() (diff.Options, error) {
	out := diff.Options{Rules: rules.All, Agents: map[string]string{}, Late: o.Noise.Tolerance, Texts: o.Texts}
	if err := cli.ChooseFormat("format", &o.Format, o.Output, report.Formats()...); err != nil {
		return out, err
	}
	for _, text := range o.Agents {
		was, now, found := strings.Cut(text, "=")
		if !found {
			now = was
		}
		for _, name := range []string{was, now} {
			if !cli.AgentName.MatchString(name) {
				return out, cli.Usage("--agent %q: write NAME, or NAME=OTHER for an agent that is named OTHER in B", text)
			}
		}
		if out.Agents[was] != "" {
			return out, cli.Usage("--agent %s is given twice", was)
		}
		out.Agents[was] = now
	}
	var err error
	if out.Profile, err = compare.ParseProfile(o.Profile); err != nil {
		return out, cli.Usage("--profile: %w", err)
	}
	out.Noise, err = o.Noise.Rules()
	return out, err
}

// chooser returns a function that selects the exchanges of a capture to compare. name maps an agent of --agent to its
// name in the capture.
func (o *Options) chooser(
	ctx context.Context, e cli.Env, file string, src capture.Source, name func(string) string,
) (func(*capture.Exchange) bool, error) {
	keep, err := verdict.ParseSelection(o.Filter, "")
	if err != nil {
		return nil, err
	}
	matches, err := keep.Chooser(ctx, e, "diff", file, src)
	if err != nil || len(o.Agents) == 0 {
		return matches, err
	}
	chosen := map[string]bool{}
	for _, text := range o.Agents {
		was, _, _ := strings.Cut(text, "=")
		chosen[name(was)] = true
	}
	return func(x *capture.Exchange) bool { return chosen[x.Agent.Name] && matches(x) }, nil
}

// sidesOf returns the names of the captures in a report: their file names without the extension, if these differ.
func sidesOf(names []string) report.Sides {
	short := func(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }
	if a, b := short(names[0]), short(names[1]); a != b && a != "-" && b != "-" && a != "" && b != "" {
		return report.Sides{Was: a, Now: b}
	}
	return report.Sides{Was: "A", Now: "B"}
}
