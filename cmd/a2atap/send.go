package main

import (
	"time"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/sender"
)

func newSend(e cli.Env) *cobra.Command {
	o := sender.Options{}
	cmd := &cobra.Command{
		Use:   "send URL [TEXT]",
		Short: "Send one message as a client and print the answer",
		Long: `Send reads the agent card at URL (the URL of an agent, of a tap or of the card; also a2a:URL), sends one
message, and prints the answer. If there is no card at that address, URL is used as an HTTP+JSON interface; a card
elsewhere on the host is used only if it names URL. If TEXT is -, it is read from standard input.

A task that is not complete at once is polled until it has ended or waits for its client, even if its stream is cut.
--stream prints each event as it arrives. --output text prints only one final text: from the message, else the
artifacts, else the status, else the history, else the raw JSON. With --push the agent sends notifications about the
task to a receiver that send opens. With --get, --list, --cancel or --subscribe, send asks about tasks instead (help
tasks); with --profile it prints the contents of the card. You can change any part of the request (help requests).

With --fault the client breaks the named rule on purpose, for testing agents and a2atap itself. If the rule concerns
another operation than sending, that operation follows with the task of the answer.

Exit status: 0 an answer arrived; 1 the task failed, was canceled or rejected, or waits for input and --interactive was
not given; 2 wrong usage; 3 the agent refused or could not be reached, or its answer could not be read or did not arrive
in time.`,
		Example: `  a2atap send http://127.0.0.1:7001/spec 'task-lifecycle book two seats'
  a2atap send http://127.0.0.1:7001/spec 'streaming tell me more' --stream
  a2atap send http://127.0.0.1:7001/spec 'multi-turn hello' --interactive
  a2atap send https://booker.example/a2a 'two seats' --auth bearer:env:TOKEN --output text
  a2atap send http://127.0.0.1:9001/spec 'two seats' --capture c.a2atap && a2atap check c.a2atap
  a2atap send http://127.0.0.1:7001/spec --get 0b5e7e6e-7c1c-4b0e-9f3f-2f6f0a4b9c1d
  a2atap send http://127.0.0.1:7001/spec --profile`,
		RunE: func(cmd *cobra.Command, args []string) error {
			defer e.LimitMemory()()
			return sender.Run(cmd.Context(), e, o, args)
		},
	}
	f := cmd.Flags()
	o.Flags.Register(f)
	cli.RegisterLimits(f, &o.Flags.Limits, true)
	o.Reach.Register(f, "without it, only the latter, and with --capture none")
	f.BoolVar(&o.FollowCard, "follow-card", false, "follow the card even to another address than URL's, with "+
		"credentials if --credentials-to names it (default: only the address of URL)")
	f.StringVar(&o.Mode, "mode", "auto", "send in this `MODE`: send, stream, or auto, which streams if the card says that "+
		"the agent does, unless --no-poll, --push or --fault is given")
	f.BoolVar(&o.Stream, "stream", false, "request a stream and print its events")
	f.BoolVar(&o.NoPoll, "no-poll", false, "use the first answer, and do not poll its task")
	f.DurationVar(&o.Interval, "poll-interval", time.Second, "wait `D` between two polls")
	f.DurationVar(&o.PollTimeout, "poll-timeout", 5*time.Minute, "poll a task for `D` at most")
	f.StringVar(&o.Task, "task", "", "send to the existing task `ID`")
	f.StringVar(&o.ContextID, "context", "", "send in the context `ID`; with --list, list its tasks")
	f.StringVar(&o.Message, "message", "", "merge the `JSON` object into the message, or @FILE; one with a member "+
		"message is merged into the whole request")
	f.StringVar(&o.Configuration, "configuration", "", "merge the `JSON` object into the configuration, or @FILE")
	f.StringVar(&o.MessageID, "message-id", "", "give the message the `ID` (default a random one)")
	f.BoolVar(&o.StableID, "stable-id", false, "give the message an id that is the same for the same message")
	f.BoolVar(&o.Interactive, "interactive", false, "while the task waits for input, send a line of standard input")
	o.Tasks.Register(f)
	o.Push.Register(f)
	f.BoolVar(&o.Profile, "profile", false, "print name, capabilities and skills of the agent, and send nothing")
	f.StringVar(&o.ProfileFrom, "profile-from", "", "with --profile: also print which texts in `CAPTURE` made the agent "+
		"do what")
	f.StringVar(&o.Format, "format", "text", "print as `FORMAT`: text or json (the unmodified answer, or each event)")
	f.StringVar(&o.Output, "output", "", "print only the final answer, as `WHAT`: text, raw, metadata, or json, which "+
		"has all three")
	o.Capture.Register(f, "the traffic into `FILE`, without a tap")
	f.StringVar(&o.Program, "transform", "", "with --output: let the jq `PROGRAM`, or @FILE, create the output from "+
		"{message, task, events, raw}; $text is the text")
	f.StringVar(&o.Fault, "fault", "",
		"break the rule `SLUG` on purpose; list prints the rules that can be broken with this protocol")
	return withArgs(cmd, 1, 2)
}
