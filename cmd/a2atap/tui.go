package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/inspector"
	"a2atap/cmd/internal/judged"
)

func newTUI(e cli.Env) *cobra.Command {
	var o inspector.Options
	cmd := &cobra.Command{
		Use:   "tui [CAPTURE]",
		Short: "Inspect a capture, finished or growing, in the terminal",
		Long: `Tui shows a capture on the whole screen: the list of exchanges, the details of each, the ladder of a task,
and the findings with their rules. A capture that is being recorded, by this or by another process, is followed as it
grows, and so is one to which a later recording appends. Without CAPTURE it opens the newest .a2atap file in the
current directory.

The last line of the screen lists keys; ? shows all of them, ctrl-p finds what can be done by a word, and : takes
commands. What was recorded is never changed. A capture that nobody has judged yet is judged while you look at it,
and the result is kept in it, or in CAPTURE.reading. Marks and comments are kept beside it in CAPTURE.notes, and what is
sent again from the inspector, after a question, in NAME-resent.a2atap.`,
		Example: `  a2atap tui c.a2atap
  a2atap tui c.a2atap --filter 'state:failed agent:booker'
  a2atap tui --theme light`,
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx, cancel := cli.UntilInterrupted(cmd.Context(), e)
			defer cancel()
			return inspector.Run(ctx, e, o, args)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Theme, "theme", "auto", "use the colours of `THEME`: auto, dark, light, contrast or plain")
	f.BoolVar(&o.Mouse, "mouse", false, "begin with the mouse on; the key m turns it on and off")
	f.StringVar(&o.Filter, "filter", "", "begin with the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "begin with the exchanges of the agent `NAME`")
	f.StringArrayVar(&o.JWKS, "jwks", nil, judged.KeysHelp)
	o.From.Register(f, nil)
	return withArgs(cmd, 0, 1)
}
