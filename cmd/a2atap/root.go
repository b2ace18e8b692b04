package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes. When several hold, the order is usage, failed, findings, nothing, ok.
const (
	exitOK          = 0
	exitFindings    = 1 // findings at or above the gate, or differences
	exitUsage       = 2
	exitFailed      = 3   // could not do it
	exitNothing     = 4   // proved nothing
	exitInterrupted = 130 // a second interrupt
)

// An exit is an error that says with which code to leave. Its error may be nil: then everything has been said.
type exit struct {
	code int
	err  error
}

func (e *exit) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.code)
	}
	return e.err.Error()
}

func (e *exit) Unwrap() error { return e.err }

// usage returns an error about how the program was called.
func usage(format string, args ...any) error {
	return &exit{exitUsage, fmt.Errorf(format, args...)}
}

// run runs one command line and returns the exit code.
func run(ctx context.Context, e env, args []string) int {
	root := newRoot(e)
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	code := exitFailed
	var x *exit
	if errors.As(err, &x) {
		code = x.code
		err = x.err
	}
	if err != nil {
		fmt.Fprintf(e.Err, "a2atap: %v\n", err)
	}
	return code
}

// Help opens with an example that works, then says what the verb does.
const helpTemplate = `{{if .HasExample}}{{.Example}}

{{end}}{{with or .Long .Short}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`

const usageTemplate = `Usage:{{if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasAvailableSubCommands}}
  {{.CommandPath}} VERB

Verbs:{{range .Commands}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Flags of all verbs:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableSubCommands}}

{{.CommandPath}} VERB --help says more about a verb.{{end}}
`

func newRoot(e env) *cobra.Command {
	e.manners = &manners{}
	root := &cobra.Command{
		Use:   "a2atap",
		Short: "Record what two A2A agents say to each other, and check it against the protocol",
		Long: `a2atap sits between two agents that speak A2A (JSON-RPC or HTTP+JSON, with server-sent events), records what
they say without disturbing it, and tells where, and on whose side, the protocol is broken.`,
		Example: `  a2atap demo                                                      see it work, nothing to install
  a2atap record --agent booker=http://127.0.0.1:9001@7001 -o c.a2atap
  a2atap check c.a2atap
  a2atap show c.a2atap --format ladder`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("no verb %q; see a2atap --help", args[0])
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetIn(e.In)
	root.SetOut(e.Out)
	root.SetErr(e.Err)
	shared := root.PersistentFlags()
	shared.BoolVarP(&e.manners.quiet, "quiet", "q", false, "say nothing on standard error but errors and verdicts")
	shared.BoolVar(&e.manners.noColor, "no-color", false, "use no colour, even on a terminal; so does NO_COLOR")
	shared.StringVar(&e.manners.progress, "progress", "auto", "show how far long work is: `WHEN` is auto (on a terminal), always or never")
	root.PersistentPreRunE = func(*cobra.Command, []string) error {
		return choose("word for --progress", e.manners.progress, "auto", "always", "never")
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return usage("%w; see %s --help", err, cmd.CommandPath())
	})
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.AddCommand(
		newRecord(e), newRun(e), newCA(e), newShow(e), newCheck(e), newRules(e), newExport(e), newImport(e), newReplay(e), newPlayback(e), newSend(e), newAgent(e), newDemo(e), newTUI(e), newDoctor(e), newVersion(e),
	)
	return root
}

// verb completes a command: what its arguments are called, and how many it takes.
func verb(cmd *cobra.Command, atLeast, atMost int) *cobra.Command {
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		switch {
		case len(args) < atLeast:
			return usage("%s needs %s; see %s --help", cmd.Name(), argumentNames(cmd), cmd.CommandPath())
		case atMost >= 0 && len(args) > atMost:
			return usage("%s does not take %q; see %s --help", cmd.Name(), args[atMost], cmd.CommandPath())
		}
		return nil
	}
	return cmd
}

func argumentNames(cmd *cobra.Command) string {
	_, names, _ := strings.Cut(cmd.Use, " ")
	if names = strings.TrimSuffix(names, " [flags]"); names == "" {
		return "no arguments"
	}
	return names
}

// choose returns an error that names the known words unless word is one of them.
func choose(what, word string, known ...string) error {
	for _, k := range known {
		if word == k {
			return nil
		}
	}
	return usage("no %s %q; there are %s", what, word, strings.Join(known, ", "))
}
