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
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
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
		Long: `Minimize takes away exchanges, then events, header fields and members, and shortens long texts, as long as
the same rule is broken by the same side, at the same kind of place and in the same way. What stays is read as before,
and nothing is broken that was not broken in the capture. The result is a transcript, HTTP as text; a comment at its
head says what it shows. Secrets are placeholders, as they were recorded. Ids, names and texts are those of the capture;
--anonymize puts neutral words in place of them, and of hosts, and says what has to stay.

Exit status: 0 written, 2 wrong usage, 3 the capture cannot be read, 4 it shows no such finding.`,
		Example: `  a2atap minimize c.a2atap --rule stream-closed-on-terminal -o bug.txtar
  a2atap minimize c.a2atap --rule rpc-id-echo --agent booker --anonymize -o bug.txtar
  a2atap minimize c.a2atap --rule rpc-id-echo --place 12.response.body#/id`,
		RunE: func(cmd *cobra.Command, args []string) error { return minimizeCapture(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.rule, "rule", "", "show a finding of the rule `ID`: the first one, unless --agent or --place choose")
	f.StringVar(&o.agent, "agent", "", "show a finding about the agent `NAME`, or its client")
	f.StringVar(&o.place, "place", "", "show the finding at `PLACE`, as check prints it")
	f.StringVarP(&o.output, "output", "o", "-", "write the transcript to `FILE`")
	f.BoolVar(&o.anonymize, "anonymize", false, "put neutral words in place of texts, names, ids and hosts")
	f.DurationVar(&o.timeout, "timeout", 2*time.Minute, "stop after `D`, and write what there is then")
	o.from.Register(f, nil)
	return withArgs(cmd, 1, 1)
}

func minimizeCapture(ctx context.Context, e cli.Env, o minimizeOptions, name string) error {
	switch {
	case o.rule == "":
		return cli.Usage("minimize needs --rule ID, the rule whose finding is to be shown; a2atap check %s prints them", name)
	case rules.ByID(o.rule) == nil:
		return cli.Usage("unknown rule %q; a2atap rules lists them%s", o.rule, cli.Nearest(o.rule, judged.RuleIDs()))
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
		return &cli.Exit{Code: cli.ExitInconclusive, Err: fmt.Errorf("minimize %s: %w; a2atap check %[1]s prints what it shows", name, err)}
	case errors.Is(err, context.DeadlineExceeded):
		return fmt.Errorf("minimize %s: it was not judged within %s; give it more with --timeout", name, o.timeout)
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
		return judged.FindingsIn(ctx, e, "minimize", name, src)
	}
	if e.ShowsProgress() {
		p := &cli.Progress{W: e.Err, What: "minimize", Began: time.Now()}
		defer p.Clear()
		options.OnStep = func(s minimize.Progress) {
			p.Show(fmt.Sprintf("%s, %d bytes ", analysis.Plural(int64(s.Exchanges), "exchange"), s.Bytes))
		}
	}
	return minimize.Run(ctx, rules.All, src, options)
}

// say tells what came of it.
func (o *minimizeOptions) say(e cli.Env, r *minimize.Result) {
	e.Tell("recorded: %s", report.Line(&r.Recorded))
	for _, what := range r.Kept {
		e.Tell("not neutral: %s has to stay as it is", analysis.Clean(what))
	}
	how := "the smallest that shows it"
	if r.Stopped {
		how = fmt.Sprintf("stopped after %s, smaller may be possible (--timeout)", o.timeout)
	}
	fmt.Fprintf(e.Err, "minimize: %s of %d, %s; %s\n",
		analysis.Plural(int64(r.Progress.Exchanges), "exchange"), r.Of,
		analysis.Plural(int64(r.Bytes), "byte"), how)
}
