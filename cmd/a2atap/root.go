package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/completer"
	"a2atap/cmd/internal/manual"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/spelling"
)

// run runs one command line and returns the exit code.
func run(ctx context.Context, e cli.Env, args []string) int {
	e.Common = &cli.CommonFlags{}
	root := newRoot(e)
	if len(args) > 0 && strings.HasPrefix(args[0], cobra.ShellCompRequestCmd) {
		completer.Add(root, e)
	}
	root.SetArgs(withPort(args))
	before := root.PersistentPreRunE
	reading, cancel, command := ctx, func() {}, ""
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if readsOn(cmd) {
			command = cmd.Name()
			reading, cancel = untilInterrupted(ctx, e, command)
			cmd.SetContext(reading)
		}
		return before(cmd, args)
	}
	err := root.ExecuteContext(ctx)
	interrupted := reading.Err() != nil && errors.Is(err, context.Canceled)
	cancel()
	switch {
	case err == nil:
		return cli.ExitOK
	case interrupted:
		sayInterrupted(e, command)
		return cli.ExitInterrupted
	}
	code := cli.ExitFailed
	if x, ok := errors.AsType[*cli.Exit](err); ok {
		code = x.Code
		err = x.Err
	}
	if err != nil {
		text := err.Error()
		if code != cli.ExitUsage { // usage errors quote the arguments, in which @ has other meanings, too
			text = credential.WithoutUserinfo(text)
		}
		lines := strings.Split(text, "\n")
		for i := range lines {
			lines[i] = saidOnce(analysis.Clean(lines[i]))
		}
		fmt.Fprintf(e.Err, "a2atap: %s\n", strings.Join(lines, "\n"))
	}
	return code
}

// readsOn reports whether a command reads existing data and then ends.
func readsOn(cmd *cobra.Command) bool {
	follow := cmd.Flags().Lookup("follow")
	return slices.Contains(readers, cmd.Name()) && (follow == nil || follow.Value.String() == "false")
}

// untilInterrupted returns a context that ends with an interrupt. If the command is then still waiting, for example for
// its standard input, a process that runs only this command ends after interruptedWithin. The function cancel prevents
// that.
func untilInterrupted(ctx context.Context, e cli.Env, command string) (_ context.Context, cancel func()) {
	e.Common.Interruptible = true
	ctx, end := cli.UntilInterrupted(ctx, e)
	if !e.Alone {
		return ctx, end
	}
	stop := context.AfterFunc(ctx, func() {
		time.AfterFunc(interruptedWithin, func() {
			sayInterrupted(e, command)
			e.Exit(cli.ExitInterrupted)
		})
	})
	return ctx, func() {
		stop()
		end()
	}
}

func sayInterrupted(e cli.Env, command string) {
	fmt.Fprintf(e.Err, "a2atap: %s: interrupted%s\n", command, e.Common.SoFar())
}

// interruptedWithin is how long a command may continue after an interrupt.
const interruptedWithin = 2 * time.Second

// readers are the commands that read a capture and then end: an interrupt stops them, and they print their progress.
// For other commands an interrupt ends the recording or the following.
var readers = []string{"check", "show", "export", "import", "merge", "doctor", "diff", "minimize"}

// saidOnce removes repeated names from an error. Both a command and its reader name the file, as in "check c.jsonl:
// c.jsonl: exchange 1: ...".
func saidOnce(text string) string {
	parts := strings.Split(text, ": ")
	kept := parts[:1]
	for _, part := range parts[1:] {
		last := kept[len(kept)-1]
		if part != "" && (last == part || strings.HasSuffix(last, " "+part)) {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(kept, ": ")
}

func newRoot(e cli.Env) *cobra.Command {
	if e.Common == nil {
		e.Common = &cli.CommonFlags{}
	}
	root := &cobra.Command{
		Use:   "a2atap",
		Short: "Record the traffic between A2A clients and agents, and check it against the specification",
		Long: `a2atap sits between A2A clients and agents (JSON-RPC, HTTP+JSON or gRPC, including streams), records
their traffic without changing or delaying it, and reports violations of the protocol and the side at fault.`,
		Example: `  a2atap demo                                                      try it, nothing to install
  a2atap record --agent booker=http://127.0.0.1:9001@7001 -o c.a2atap
  a2atap check c.a2atap
  a2atap show c.a2atap --format ladder`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				if _, err := os.Stat(args[0]); err == nil {
					return cli.Usage("%q is a file, not a command; write a2atap check, show or tui before it", args[0])
				}
				return cli.Usage("unknown command %q; see a2atap --help%s", args[0], spelling.Hint(args[0], commandNames(cmd)))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	shared := root.PersistentFlags()
	shared.BoolVarP(&e.Common.Quiet, "quiet", "q", false, "print only errors and verdicts on standard error")
	shared.BoolVar(&e.Common.NoColor, "no-color", false, "use no color, even on a terminal; NO_COLOR does the same")
	shared.StringVar(&e.Common.Progress, "progress", "auto",
		"show progress: `WHEN` is auto (on a terminal), always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		return cli.Choose("word for --progress", e.Common.Progress, "auto", "always", "never")
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return cli.Usage("%w; see %s --help%s", err, cmd.CommandPath(), nearFlag(cmd, err))
	})
	root.Version = cli.Tool().Version
	root.SetVersionTemplate(cli.Tool().Name + " {{.Version}}\n")
	root.SetHelpCommand(newHelp())
	root.AddCommand(
		newRecord(e), newRun(e), newStdio(e), newCA(e), newShow(e), newCheck(e), newRules(e), newExport(e), newImport(e),
		newReplay(e), newDiff(e), newPlayback(e), newProbe(e), newSend(e), newAgent(e), newDemo(e), newTUI(e), newWeb(e),
		newMCP(e), newDoctor(e), newVersion(e), newMinimize(e), newShip(e), newMerge(e), newHosts(e), newMan(e),
	)
	manual.Add(root, topics())
	root.InitDefaultCompletionCmd()
	if shells, _, err := root.Find([]string{"completion"}); err == nil && shells != root {
		shells.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return cli.Choose("shell", args[0], commandNames(cmd)...)
		}
		shells.RunE = func(cmd *cobra.Command, _ []string) error { return cmd.Help() }
	}
	return root
}

// nearFlag names the flag that the user probably meant by an unknown one, as nearest does.
func nearFlag(cmd *cobra.Command, err error) string {
	_, word, found := strings.Cut(err.Error(), "unknown flag: ")
	if !found {
		return ""
	}
	var flags []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { flags = append(flags, "--"+f.Name) })
	return spelling.Hint(word, flags)
}

func argumentNames(cmd *cobra.Command) string {
	_, names, _ := strings.Cut(cmd.Use, " ")
	if names = strings.TrimSuffix(names, " [flags]"); names == "" {
		return "no arguments"
	}
	return names
}
