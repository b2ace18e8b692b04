package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/redacted"
	"a2atap/replay/client"
	"a2atap/replay/client/setup"
	"a2atap/replay/prompt"
)

type sendOptions struct {
	flags       setup.Flags
	reach       setup.ReachFlags
	mode        string
	stream      bool
	noPoll      bool
	interval    time.Duration
	pollTimeout time.Duration

	task, contextID string
	message         string
	configuration   string
	messageID       string
	stableID        bool
	interactive     bool

	tasks   taskOptions
	push    pushOptions
	profile bool

	format    string
	output    string
	capture   string
	redactKey string
	program   string
	transform *prompt.Transform // of program; nil if there is none
	fault     string
}

func newSend(e cli.Env) *cobra.Command {
	o := sendOptions{}
	cmd := &cobra.Command{
		Use:   "send URL [TEXT]",
		Short: "Send one message as a client and print the answer",
		Long: `Send reads the agent card at URL (an agent's, a tap's, or the card's own; a2a:URL too), sends one message,
and prints the answer. Where there is no card, URL is taken for that of an HTTP+JSON interface. If TEXT is -, it is read
from standard input.

A task that is not complete at once is polled until it has ended or waits for its client; a stream that is cut before
that is polled too. --stream prints each event as it arrives. --output text prints one final text and nothing else: that
of the message, else of the artifacts, else of the status, else of the history, else the raw JSON.

With --push the agent reports on the task to a receiver of our own; send prints what comes, and waits for the
notification that the task has ended or waits.

With --capture what passes is recorded into a capture, as a tap would.

With --get, --list, --cancel or --subscribe it asks about tasks instead, and with --profile it prints what the card
says.

--message and --configuration are merged into what is sent (as a JSON merge patch), in the words of the protocol that is
spoken. In their strings {{prompt}} is TEXT; --var gives other variables.

With --fault the client breaks the rule of that name on purpose, for testing agents and this tool. If the rule
concerns an operation other than sending, that operation follows for the task of the answer.

No secret that a flag brings is printed: in what is printed, also of the agent's, … stands in its place.

Exit status: 0 an answer; 1 the task failed, was canceled or rejected, or waits for input and --interactive was not
given; 2 wrong usage; 3 the agent refused, could not be reached, or its answer could not be read or did not come in
time.`,
		Example: `  a2atap send http://127.0.0.1:7001/spec 'task-lifecycle book two seats'
  a2atap send http://127.0.0.1:7001/spec 'streaming tell me more' --stream
  a2atap send http://127.0.0.1:7001/spec 'multi-turn hello' --interactive
  a2atap send https://booker.example/a2a 'two seats' --auth bearer:env:TOKEN --mode auto --output text
  a2atap send https://booker.example/a2a 'two seats' --oauth-client-id cli --oauth-client-secret @secret
  a2atap send http://127.0.0.1:7001/spec 'two seats' --message '{"metadata":{"run":"{{run}}"}}' --var run=7
  a2atap send http://127.0.0.1:9001/spec 'two seats' --capture c.a2atap && a2atap check c.a2atap
  a2atap send http://127.0.0.1:7001/spec --get 0b5e7e6e-7c1c-4b0e-9f3f-2f6f0a4b9c1d
  a2atap send http://127.0.0.1:7001/spec --profile`,
		RunE: func(cmd *cobra.Command, args []string) error { return send(cmd.Context(), e, o, args) },
	}
	f := cmd.Flags()
	o.flags.Register(f)
	o.reach.Register(f, "without it, the latter alone, and with --capture none")
	f.StringVar(&o.mode, "mode", "send",
		"ask in this `MODE`: send, stream, or auto, which streams if the card says that the agent does")
	f.BoolVar(&o.stream, "stream", false, "ask for a stream and print its events")
	f.BoolVar(&o.noPoll, "no-poll", false, "take the first answer as it is, and do not poll its task")
	f.DurationVar(&o.interval, "poll-interval", time.Second, "wait `D` between two polls")
	f.DurationVar(&o.pollTimeout, "poll-timeout", 5*time.Minute, "poll a task for `D` at most")
	f.StringVar(&o.task, "task", "", "send to the existing task `ID`")
	f.StringVar(&o.contextID, "context", "", "send in the context `ID`; with --list, list its tasks")
	f.StringVar(&o.message, "message", "", "merge the `JSON` object into the message, or @FILE; one with a member "+
		"message is merged into all that is sent")
	f.StringVar(&o.configuration, "configuration", "", "merge the `JSON` object into the configuration, or @FILE")
	f.StringVar(&o.messageID, "message-id", "", "give the message the `ID` (default a random one)")
	f.BoolVar(&o.stableID, "stable-id", false, "give the message an id that is the same for the same message")
	f.BoolVar(&o.interactive, "interactive", false, "while the task waits for input, send a line of standard input")
	o.tasks.register(f)
	o.push.register(f)
	f.BoolVar(&o.profile, "profile", false, "print name, capabilities and skills of the agent, and send nothing")
	f.StringVar(&o.format, "format", "text", "print as `FORMAT`: text or json (the answer, or each event, as it came)")
	f.StringVar(&o.output, "output", "", "print only the final answer, as `WHAT`: text, raw, metadata, or json, which "+
		"holds all three")
	f.StringVar(&o.capture, "capture", "",
		"record the traffic into `FILE`, without a tap; an existing capture is appended to")
	f.StringVar(&o.redactKey, "redaction-key", "", "with --capture: "+redacted.KeyHelp)
	f.StringVar(&o.program, "transform", "", "with --output: let the jq `PROGRAM`, or @FILE, make the output of "+
		"{message, task, events, raw}; $text is the text")
	f.StringVar(&o.fault, "fault", "",
		"break the rule `SLUG` on purpose; list prints those that can be broken with the protocol")
	return withArgs(cmd, 1, 2)
}

func send(ctx context.Context, e cli.Env, o sendOptions, args []string) error {
	if err := cli.CheckScheme(args[0]); err != nil {
		return err
	}
	d, err := e.Dialer(&o.reach)
	if err != nil {
		return err
	}
	s, err := o.flags.Setup(e.World(d), args[0])
	if err == nil {
		err = o.check(args)
	}
	if err != nil {
		return cli.AsUsage(err)
	}
	s.Options.Fault = o.fault
	if o.fault == "list" {
		return listClientFaults(e, s.Options.Prefer)
	}
	e.Out, e.Err = s.Mask.Writer(e.Out), s.Mask.Writer(e.Err)
	build, err := newMessages(o, s)
	if err == nil {
		err = o.compile()
	}
	if err != nil {
		return s.Mask.Error(cli.AsUsage(err))
	}
	kept, err := o.keep(e, s)
	if err != nil {
		return err
	}
	if kept != nil {
		var cancel context.CancelFunc
		ctx, cancel = cli.UntilInterrupted(ctx, e) // what was recorded is to be stored
		defer cancel()
		s.Options.Transport = kept.transport
	}
	err = errors.Join(s.Mask.Error(o.run(ctx, e, s, kept, build, args[1:])), kept.close())
	if kept != nil {
		judged.KeepReading(context.WithoutCancel(ctx), e, "send", o.capture)
	}
	return err
}

// check refuses flags that do not go together.
func (o *sendOptions) check(args []string) error {
	if err := cli.Choose("format", o.format, "text", "json"); err != nil {
		return err
	}
	if o.output != "" {
		if err := cli.Choose("word for --output", o.output, "text", "raw", "metadata", "json"); err != nil {
			return err
		}
	}
	if err := cli.Choose("mode", o.mode, string(prompt.Auto), string(prompt.Send), string(prompt.Stream)); err != nil {
		return err
	}
	if o.interval < 0 || o.pollTimeout <= 0 {
		return cli.Usage("--poll-interval must not be below 0, and --poll-timeout must be above it")
	}
	if o.messageID != "" && o.stableID {
		return cli.Usage("--message-id and --stable-id are two ways to give an id; use one")
	}
	instead := o.tasks.given()
	if o.profile {
		instead = append(instead, "--profile")
	}
	switch {
	case o.push.on && len(instead) > 0:
		return cli.Usage("%s sends no message, and --push is about one", instead[0])
	case len(instead) > 1:
		return cli.Usage("%s and %s are two things to do; use one", instead[0], instead[1])
	case len(instead) == 1 && len(args) > 1:
		return cli.Usage("%s sends no message; leave out %q", instead[0], args[1])
	case len(instead) == 0 && len(args) == 1 && o.message == "" && o.fault != "list":
		return cli.Usage("send needs URL TEXT, or a flag that says what to do instead; see a2atap send --help")
	}
	return o.push.check()
}

// run does what the flags ask for.
func (o *sendOptions) run(
	ctx context.Context, e cli.Env, s *setup.Setup, kept *keptTraffic, build *messages, args []string,
) error {
	if o.profile {
		return printProfile(ctx, e, s, o.format)
	}
	c, noCard, err := s.Connect(ctx)
	if errors.Is(err, client.ErrNoFault) {
		return cli.Usage("%w", err)
	}
	if err != nil {
		return fmt.Errorf("send to %s: %w; check that the agent, or the tap in front of it, listens there", s.URL, err)
	}
	defer c.Close()
	if noCard != nil {
		e.Tell("send: %s", analyzer.Clean(fmt.Sprintf("%v; taking the URL for that of an interface of %s",
			noCard, c.Endpoint().Protocol)))
	}
	sender := &sender{e: e, o: *o, client: c, kept: kept}
	if len(o.tasks.given()) > 0 {
		return sender.askAboutTasks(ctx)
	}
	text := ""
	if len(args) > 0 {
		text = args[0]
	}
	if text == "-" {
		all, err := io.ReadAll(e.In)
		if err != nil {
			return fmt.Errorf("read standard input: %w", err)
		}
		text = string(all)
	}
	if err := sender.receive(); err != nil {
		return err
	}
	if sender.receiver != nil {
		defer sender.receiver.Close()
	}
	return sender.converse(ctx, build, text)
}

// compile reads the program of --transform, which needs an output that it can make.
func (o *sendOptions) compile() error {
	if o.program == "" {
		return nil
	}
	program, err := inline("--transform", o.program)
	if err != nil {
		return err
	}
	if o.transform, err = prompt.NewTransform(program); err != nil {
		return fmt.Errorf("--transform: %w", err)
	}
	if o.output == "" {
		o.output = "text"
	}
	return nil
}

// converse sends a text, and then the lines of standard input for as long as the task waits for them.
func (s *sender) converse(ctx context.Context, build *messages, text string) error {
	lines := bufio.NewScanner(s.e.In)
	s.task, s.context = s.o.task, s.o.contextID
	for {
		m, options, err := build.next(text, s.task, s.context)
		if err != nil {
			return cli.AsUsage(err)
		}
		answer, err := s.send(ctx, m, options)
		if err != nil {
			return err
		}
		if !answer.State().Interrupted() {
			return errors.Join(s.performFault(ctx), s.outcome(answer))
		}
		if !s.o.interactive || !lines.Scan() {
			return s.outcome(answer)
		}
		text, s.task, s.context = lines.Text(), answer.TaskID(), answer.ContextID()
	}
}

// outcome returns the exit status for the final state of a task as an error, nil for 0, and says what is wrong.
func (s *sender) outcome(a *prompt.Answer) error {
	state := a.State()
	switch {
	case state.Interrupted():
		fmt.Fprintf(s.e.Err, "send: task %s waits for %s; go on with --task %s\n", analyzer.Clean(a.TaskID()),
			strings.TrimSuffix(string(state), "-required"), analyzer.Clean(a.TaskID()))
	case state.Terminal() && state != client.Completed:
		why := ""
		if m := a.Task.Status.Message; m != nil {
			why = ": " + m.Text()
		}
		verb := "was " + string(state)
		if state == client.Failed {
			verb = string(state)
		}
		s.e.Tell("send: %s", analyzer.Clean(fmt.Sprintf("task %s %s%s", a.TaskID(), verb, why)))
	default:
		return nil
	}
	return &cli.Exit{Code: cli.ExitFindings}
}
