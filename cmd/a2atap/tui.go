package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/inspector"
	"a2atap/cmd/internal/verdict"
)

func newTUI(e cli.Env) *cobra.Command {
	var o inspector.Options
	cmd := &cobra.Command{
		Use:   "tui [CAPTURE]",
		Short: "Inspect a finished or growing capture in the terminal",
		Long: `Tui shows a capture in full screen: the list of exchanges, the details of each, the ladder of a task, and
the findings with their rules. It follows a capture that is being recorded by any process, or to which a later recording
appends. Without CAPTURE it opens the newest .a2atap file in the current directory.

The last line of the screen lists keys; ? shows all of them, ctrl-p searches actions by word, and : accepts commands.
The recording is never changed. An unchecked capture is checked in the background while you browse; the result is stored
in the capture, or in CAPTURE.reading. Marks and comments are stored in CAPTURE.notes, and requests that you resend
(after a confirmation) in NAME-resent.a2atap.`,
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
	f.StringVar(&o.Theme, "theme", "auto", "use the colors of `THEME`: auto, dark, light, contrast or plain")
	f.BoolVar(&o.Mouse, "mouse", false, "start with the mouse on; the key m toggles it")
	f.StringVar(&o.Filter, "filter", "", "start with the exchanges that match `EXPR`")
	f.StringVar(&o.Agent, "agent", "", "start with the exchanges of the agent `NAME`")
	f.StringArrayVar(&o.JWKS, "jwks", nil, verdict.KeysHelp)
	o.From.Register(f, nil)
	return withArgs(cmd, 0, 1)
}
