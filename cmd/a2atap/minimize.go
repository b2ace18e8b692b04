package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/minimize"
	"a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/spelling"
)

type minimizeOptions struct {
	from      source.Flags
	rule      string
	agent     string
	place     string
	output    string
	anonymize bool
	timeout   time.Duration
}

func newMinimize(e cli.Env) *cobra.Command {
	o := minimizeOptions{}
	cmd := &cobra.Command{
		Use:   "minimize CAPTURE --rule ID",
		Short: "Find the smallest transcript that still shows a finding, for a bug report",
		Long: `Minimize removes exchanges, then events, header fields and members, and shortens long texts, while the
same side still breaks the same rule at the same kind of place and in the same way. The rest keeps its meaning, and no
rule is broken that was not broken in the capture. The result is a transcript, HTTP as text; a comment at the top says
what it shows. Secrets stay the placeholders of the recording. Ids, names and texts are taken from the capture;
--anonymize replaces them and hosts by neutral words, and lists what cannot be replaced.

Exit status: 0 written; 2 wrong usage; 3 the capture could not be read; 4 it has no such finding.`,
		Example: `  a2atap minimize c.a2atap --rule stream-closed-on-terminal -o bug.txtar
  a2atap minimize c.a2atap --rule rpc-id-echo --agent booker --anonymize -o bug.txtar
  a2atap minimize c.a2atap --rule rpc-id-echo --place 12.response.body#/id`,
		RunE: func(cmd *cobra.Command, args []string) error { return minimizeCapture(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rule, "rule", "", "show a finding of the rule `ID`: the first, or the one selected by --agent or --place")
	f.StringVar(&o.agent, "agent", "", "show a finding about the agent `NAME`, or its client")
	f.StringVar(&o.place, "place", "", "show the finding at `PLACE`, as check prints it")
	f.StringVarP(&o.output, "output", "o", "-", "write the transcript to `FILE`")
	f.BoolVar(&o.anonymize, "anonymize", false, "replace texts, names, ids and hosts by neutral words")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "stop after `D`, and write the smallest transcript so far")
	o.from.Register(f, nil)
	return withArgs(cmd, 1, 1)
}

func minimizeCapture(ctx context.Context, e cli.Env, o minimizeOptions, name string) error {
	switch {
	case o.rule == "":
		return cli.Usage("minimize needs --rule ID, the rule of the finding; a2atap check %s prints the findings", name)
	case rules.ByID(o.rule) == nil:
		return cli.Usage("unknown rule %q; a2atap rules lists the rules%s", o.rule, spelling.Hint(o.rule, verdict.RuleIDs()))
	case o.timeout <= 0:
		return cli.Usage("--timeout %s: write a time, such as 30s", o.timeout)
	}
	if err := cli.NotOver(o.output, name); err != nil {
		return err
	}
	src, err := o.from.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	result, err := o.run(ctx, e, name, src)
	switch {
	case errors.Is(err, minimize.ErrNotShown):
		return &cli.Exit{Code: cli.ExitInconclusive, Err: fmt.Errorf("minimize %s: %w; a2atap check %[1]s prints its findings", name, err)}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("minimize %s: checking it took longer than %s; allow more time with --timeout", name, o.timeout)
	case err != nil:
		return fmt.Errorf("minimize %s: %w", name, err)
	}
	file := "FILE"
	if o.output != "-" && o.output != "" {
		file = filepath.Base(o.output)
	}
	err = cli.WriteOutput(e, o.output, func(w io.Writer) error {
		_, err := w.Write(transcript.Format(result.Transcript(file)))
		return err
	})
	if err != nil {
		return err
	}
	o.say(e, result)
	return nil
}

// run finds the smallest transcript, and shows its progress from the first second on.
func (o *minimizeOptions) run(ctx context.Context, e cli.Env, name string, src capture.Source) (*minimize.Result, error) {
	options := minimize.Options{Rule: o.rule, Agent: o.agent, Place: o.place, Anonymous: o.anonymize}
	options.Found = func(ctx context.Context) ([]analysis.Finding, error) {
		return verdict.FindingsIn(ctx, e, "minimize", name, src)
	}
	if e.ShowsProgress() {
		p := &cli.Progress{W: e.Err, What: "minimize", Began: time.Now()}
		defer p.Clear()
		options.OnStep = func(s minimize.Progress) {
			p.Until(o.timeout, fmt.Sprintf("%s, %d bytes", analysis.Plural(int64(s.Exchanges), "exchange"), s.Bytes))
		}
	}
	return minimize.Run(ctx, rules.All, e.WithProgress(ctx, "minimize", src), options)
}

// say prints the result.
func (o *minimizeOptions) say(e cli.Env, r *minimize.Result) {
	e.Tell("recorded: %s", report.Line(&r.Recorded))
	for _, what := range r.Kept {
		e.Tell("not neutral: %s cannot be replaced", analysis.Clean(what))
	}
	how := "the smallest that shows it"
	if r.Stopped {
		how = fmt.Sprintf("stopped after %s; a smaller one may be possible (--timeout)", o.timeout)
	}
	fmt.Fprintf(e.Err, "minimize: %s of %d, %s; %s\n",
		analysis.Plural(int64(r.Progress.Exchanges), "exchange"), r.Of,
		analysis.Plural(int64(r.Bytes), "byte"), how)
}
