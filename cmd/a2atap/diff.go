package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/diff"
	"a2atap/replay/report"
)

type diffOptions struct {
	from       source.Flags
	agents     []string
	filter     string
	profile    string
	noise      noiseFlags
	format     string
	output     string
	allowEmpty bool
}

func newDiff(e cli.Env) *cobra.Command {
	o := diffOptions{}
	cmd := &cobra.Command{
		Use:   "diff A B",
		Short: "Compare two captures of the same workflow",
		Long: `Diff compares two captures (.a2atap, .har, .jsonl, .txtar; one may be - for standard input) of the same
workflow: an old version of an agent with a new one, one SDK with another. Nothing is sent. The exchanges of B
are paired with those of A: of the same agent and client, about the same task, in sequence; neither ids nor
the order of what went on at the same time matter, nor how often a client polled. What has no counterpart is a
difference by itself. Of the others, requests and answers are compared by meaning, as replay does; what the
client does otherwise is said to be the client's. Between different bindings or dialects only what is meant is
compared, not how JSON names it. A rule that is broken in B and not in A is a difference, too.

Exit status: 0 no difference, 1 differences, 2 wrong usage, 3 a capture could not be read, 4 inconclusive: nothing was
compared, or a capture lost traffic.`,
		Example: `  a2atap diff before.a2atap after.a2atap
  a2atap diff js.txtar python.txtar --agent booker --format markdown -o differences.md
  a2atap diff before.a2atap after.a2atap --agent booker=booker2 --profile shape
  a2atap diff before.a2atap after.a2atap --ignore GetTask:/metadata/took --noise noise.txt
  a2atap diff before.a2atap after.a2atap --filter op:SendMessage --format json | jq .verdict`,
		RunE: func(cmd *cobra.Command, args []string) error { return diffCaptures(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.agents, "agent", nil,
		"compare what went to the agent `NAME[=OTHER]`, which is called OTHER in B; repeatable")
	f.StringVar(&o.filter, "filter", "", "compare the exchanges that match `EXPR`")
	f.StringVar(&o.profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	o.noise.register(f)
	f.StringVar(&o.format, "format", "text", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 also if nothing was compared or traffic was lost")
	o.from.Register(f, nil)
	return withArgs(cmd, 2, 2)
}

func diffCaptures(ctx context.Context, e cli.Env, o diffOptions, names []string) error {
	options, err := o.diff()
	if err != nil {
		return err
	}
	if err := cli.NotOver(o.output, names...); err != nil {
		return err
	}
	if names[0] == "-" && names[1] == "-" {
		return cli.Usage("diff: only one of two captures can be standard input")
	}
	var sources [2]capture.Source
	for i, name := range names {
		src, err := o.from.Open(e, name)
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
	options.Rules = nil // what they find is known
	if options.FoundWas, err = judged.FindingsIn(ctx, e, "diff", names[0], sources[0]); err != nil {
		return fmt.Errorf("diff %s: %w", names[0], err)
	}
	if options.FoundNow, err = judged.FindingsIn(ctx, e, "diff", names[1], sources[1]); err != nil {
		return fmt.Errorf("diff %s: %w", names[1], err)
	}
	r, err := diff.Run(ctx, sources[0], sources[1], options)
	if err != nil {
		return fmt.Errorf("diff %s %s: %w", names[0], names[1], err)
	}
	r.Tool = report.Tool(cli.Tool())
	err = cli.WriteOutput(e, o.output, func(w io.Writer) error { return report.Write(w, o.format, r) })
	if err != nil {
		return err
	}
	fmt.Fprintf(e.Err, "diff: %s\n", r.Verdict())
	switch {
	case len(r.Differences) > 0:
		return &cli.Exit{Code: cli.ExitFindings}
	case !r.Same() && !o.allowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}

// diff turns flags into what the package takes, but for the choice of exchanges.
func (o *diffOptions) diff() (diff.Options, error) {
	out := diff.Options{Rules: rules.All, Agents: map[string]string{}, Late: o.noise.tolerance}
	if err := cli.Choose("format", o.format, report.Formats()...); err != nil {
		return out, err
	}
	for _, text := range o.agents {
		was, now, found := strings.Cut(text, "=")
		if !found {
			now = was
		}
		for _, name := range []string{was, now} {
			if !cli.AgentName.MatchString(name) {
				return out, cli.Usage("--agent %q: write NAME, or NAME=OTHER for an agent that is called OTHER in B", text)
			}
		}
		if out.Agents[was] != "" {
			return out, cli.Usage("--agent %s is given twice", was)
		}
		out.Agents[was] = now
	}
	var err error
	if out.Profile, err = compare.ParseProfile(o.profile); err != nil {
		return out, cli.Usage("--profile: %w", err)
	}
	out.Noise, err = o.noise.rules()
	return out, err
}

// chooser returns which exchanges of a capture are compared. Name says what an agent of --agent is called in it.
func (o *diffOptions) chooser(
	ctx context.Context, e cli.Env, file string, src capture.Source, name func(string) string,
) (func(*capture.Exchange) bool, error) {
	keep, err := judged.ParseSelection(o.filter, "")
	if err != nil {
		return nil, err
	}
	matches, err := keep.Chooser(ctx, e, "diff", file, src)
	if err != nil || len(o.agents) == 0 {
		return matches, err
	}
	chosen := map[string]bool{}
	for _, text := range o.agents {
		was, _, _ := strings.Cut(text, "=")
		chosen[name(was)] = true
	}
	return func(x *capture.Exchange) bool { return chosen[x.Agent.Name] && matches(x) }, nil
}

// sidesOf returns what the captures are called in a report: their files without the ending, where that tells them
// apart.
func sidesOf(names []string) report.Sides {
	short := func(name string) string { return strings.TrimSuffix(filepath.Base(name), filepath.Ext(name)) }
	if a, b := short(names[0]), short(names[1]); a != b && a != "-" && b != "-" && a != "" && b != "" {
		return report.Sides{Was: a, Now: b}
	}
	return report.Sides{Was: "A", Now: "B"}
}
