// Package sender is a client: it sends a message or asks about a task, optionally as a conversation, prints the
// answers, and records them into a capture on request. Package replay/client implements protocol and credentials.
package sender

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/outbound"
	"a2atap/replay/client"
	"a2atap/replay/client/fault"
	"a2atap/replay/client/setup"
	"a2atap/replay/prompt"
)

// Run sends a message to an agent, or asks it about tasks, and prints the answer.
func Run(ctx context.Context, e cli.Env, o Options, args []string) error {
	d, err := e.Dialer(&o.Reach)
	if err != nil {
		return err
	}
	s, err := o.Flags.Setup(e.World(d), args[0])
	if err == nil {
		err = cmp.Or(cli.CheckScheme(s.Mask.Text(s.URL)), o.check(args))
	}
	if err != nil {
		return cli.AsUsage(err)
	}
	s.Options.Stay = !o.FollowCard
	if o.Fault != "" {
		s.Options.Break = fault.Named(o.Fault)
	}
	if o.Fault == "list" {
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
		s.Options.Transport = kept.transport
	}
	if o.Capture.File != "" {
		var cancel context.CancelFunc
		ctx, cancel = cli.UntilInterrupted(ctx, e) // the recording must be stored
		defer cancel()
	}
	err = errors.Join(s.Mask.Error(o.run(ctx, e, s, kept, build, args[1:])), kept.close())
	if o.Capture.File != "" {
		verdict.Keep(context.WithoutCancel(ctx), e, "send", o.Capture.File)
	}
	return err
}

// check rejects invalid combinations of flags.
func (o *Options) check(args []string) error {
	if err := cli.Choose("format", o.Format, "text", "json"); err != nil {
		return err
	}
	if o.Output != "" {
		if err := cli.Choose("word for --output", o.Output, "text", "raw", "metadata", "json"); err != nil {
			return err
		}
	}
	if err := cli.Choose("mode", o.Mode, string(prompt.Auto), string(prompt.Send), string(prompt.Stream)); err != nil {
		return err
	}
	if o.Interval < 0 || o.PollTimeout <= 0 {
		return cli.Usage("--poll-interval must not be below 0, and --poll-timeout must be above it")
	}
	if o.MessageID != "" && o.StableID {
		return cli.Usage("--message-id and --stable-id both set the id; use one")
	}
	instead := o.Tasks.given()
	if o.Profile {
		instead = append(instead, "--profile")
	}
	switch {
	case o.ProfileFrom != "" && !o.Profile:
		return cli.Usage("--profile-from needs --profile")
	case o.Push.on && len(instead) > 0:
		return cli.Usage("%s sends no message, and --push needs one", instead[0])
	case len(instead) > 1:
		return cli.Usage("%s and %s exclude each other; use one", instead[0], instead[1])
	case len(instead) == 1 && len(args) > 1:
		return cli.Usage("%s sends no message; leave out %q", instead[0], args[1])
	case len(instead) == 0 && len(args) == 1 && o.Message == "" && o.Fault != "list":
		return cli.Usage("send needs URL TEXT, or a flag for another action; see a2atap send --help")
	}
	return o.Push.check()
}

// run executes the flags.
func (o *Options) run(
	ctx context.Context, e cli.Env, s *setup.Setup, kept *keptTraffic, build *messages, args []string,
) error {
	if o.Profile {
		return printProfile(ctx, e, s, o.Format, o.ProfileFrom)
	}
	c, noCard, err := s.Connect(ctx)
	switch {
	case errors.Is(err, fault.ErrUnknown):
		return cli.Usage("%w", err)
	case errors.Is(err, client.ErrElsewhere):
		return fmt.Errorf("send to %s: %w, and send uses only the given address; give that URL, "+
			"or --follow-card", s.URL, err)
	case errors.Is(err, client.ErrPrivate):
		return fmt.Errorf("send to %s: %w; give that URL, or name it with --credentials-to", s.URL, err)
	}
	if err != nil {
		if outbound.AdviceIn(err) != "" {
			return fmt.Errorf("send to %s: %w", s.URL, err)
		}
		return fmt.Errorf("send to %s: %w; %s", s.URL, err, nextStep(err))
	}
	sender := &sender{e: e, o: *o, client: c, kept: kept}
	defer func() { sender.client.Close() }()
	if noCard != nil {
		e.Tell("send: %s", analysis.Clean(fmt.Sprintf("%v; using the URL as an interface of %s",
			noCard, c.Endpoint().Protocol)))
	}
	if len(o.Tasks.given()) > 0 {
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

// nextStep returns a suggestion for when an agent's card is unavailable.
func nextStep(err error) string {
	var refused *client.Error
	switch {
	case errors.As(err, &refused) && refused.Unauthorized():
		return "give credentials with --auth, or if only the card needs them, add --no-card"
	case refused != nil, errors.Is(err, client.ErrNotACard):
		return "to use the URL as an interface, add --no-card"
	}
	return "check that the agent, or the tap in front of it, listens there"
}

// compile parses the program of --transform, which needs a compatible output.
func (o *Options) compile() error {
	if o.Program == "" {
		return nil
	}
	program, err := inline("--transform", o.Program)
	if err != nil {
		return err
	}
	if o.transform, err = prompt.NewTransform(program); err != nil {
		return fmt.Errorf("--transform: %w; write %s", err, jqProgram)
	}
	o.Output = cmp.Or(o.Output, "text")
	return nil
}

// converse sends a text, and then lines of standard input while the task waits for input.
func (s *sender) converse(ctx context.Context, build *messages, text string) error {
	lines := bufio.NewScanner(s.e.In)
	s.task, s.context = s.o.Task, s.o.ContextID
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
		if !s.o.Interactive || !lines.Scan() {
			return s.outcome(answer)
		}
		text, s.task, s.context = lines.Text(), answer.TaskID(), answer.ContextID()
	}
}

// outcome returns the exit status for the final state of a task as an error, nil for 0, and prints the problem.
func (s *sender) outcome(a *prompt.Answer) error {
	state := a.State()
	switch {
	case state.Interrupted():
		fmt.Fprintf(s.e.Err, "send: task %s waits for %s; continue with --task %s\n", analysis.Clean(a.TaskID()),
			strings.TrimSuffix(string(state), "-required"), analysis.Clean(a.TaskID()))
	case state.Terminal() && state != client.Completed:
		why := ""
		if m := a.Task.Status.Message; m != nil {
			why = ": " + m.Text()
		}
		verb := "was " + string(state)
		if state == client.Failed {
			verb = string(state)
		}
		s.e.Tell("send: %s", analysis.Clean(fmt.Sprintf("task %s %s%s", a.TaskID(), verb, why)))
	default:
		return nil
	}
	return &cli.Exit{Code: cli.ExitFindings}
}
