package main

import (
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/player"
)

func newPlayback(e cli.Env) *cobra.Command {
	o := player.Flags{}
	cmd := &cobra.Command{
		Use:   "playback CAPTURE --listen ADDR | playback CAPTURE -- CMD...",
		Short: "Play the recorded agents, models and tools for a live client",
		Long: `Playback answers a client as the recorded agent did. Requests are matched by operation, task, context and
kinds of parts, in any binding, then by the requests before them: texts may differ, and ignored differences are counted.
Requests to models, tools and other services must match as a whole (help matching). A request without a match gets an
error, and its differences from the nearest recorded request are printed on standard error.

With -- CMD, playback starts a program as run does, and answers all its calls from the capture: of models, MCP servers,
agents and other services. Nothing is forwarded. It succeeds if a call was answered, none was missed, and every call
that can be played was requested (help offline).

gRPC clients use the same port, starting with HTTP/2. In A2A 1.0 a recording in one binding can be played in any; with
--binding the cards offer only that binding.

If the recording has several agents, --listen NAME=ADDR plays each at its own address, which the cards then name.
Recorded notifications are sent to the client's webhook, in order and at the recorded pace, and to another machine only
with --allow-remote.

--delay, --error, --drop and --break-after inject faults, to test how the client handles them (help faults).

Without a program, it runs until it is interrupted. Exit status: the program's, if it is not 0; 0 all requests were
matched or forwarded; 1 some were not, or a program has not made a recorded call; 2 wrong usage; 3 failed to listen or
read; 4 inconclusive: no request came, or one of several agents got none.`,
		Example: `  a2atap playback c.a2atap -- python planner.py
  a2atap playback c.a2atap --live booker -- ./planner
  a2atap playback c.a2atap --listen 127.0.0.1:9001
  a2atap playback c.a2atap --listen 127.0.0.1:0 --agent booker --speed max --ready-file ready
  a2atap playback c.a2atap --listen 127.0.0.1:9001 --match exact --on-miss forward=http://127.0.0.1:9002/spec
  a2atap playback c.a2atap --listen 127.0.0.1:9001 --delay GetTask=2s --error SendMessage=503@1 --break-after 3
  a2atap playback c.a2atap --listen hotels=127.0.0.1:9001 --listen flights=127.0.0.1:9002`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if cmd.ArgsLenAtDash() == 1 && len(args) > 1 {
				return player.RunProgram(cmd.Context(), e, o, args[0], args[1:])
			}
			return player.Run(cmd.Context(), e, o, args[0])
		},
	}
	o.Register(cmd.Flags())
	o.From.Register(cmd.Flags(), &o.NATS)
	o.From.Interrupts = true
	withArgs(cmd, 1, 1)
	one := cmd.Args
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.ArgsLenAtDash() == 1 && len(args) > 1 {
			return nil
		}
		return one(cmd, args)
	}
	return cmd
}
