package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/outbound"
	"a2atap/replay/playback"
)

func newPlayback(e cli.Env) *cobra.Command {
	o := playbackFlags{}
	cmd := &cobra.Command{
		Use:   "playback CAPTURE --listen ADDR",
		Short: "Play the agent's side of a capture for a live client",
		Long: `Playback answers a client as the recorded agent did. Requests are matched by operation, task, context and
kinds of parts, in any binding, then by what was requested before: a client may use other words, and what was ignored is
counted. --match shape also asks for the same names and types of parameters, exact for the same values, and
--match /message/parts/0/text for the value there. Repeated requests get the recorded answers in order, then the last
one again (with --used-up error, an error).

A request without a match gets a protocol error, and the differences to the nearest recorded request are printed on
standard error. With --on-miss forward=URL a live agent answers it, and with --capture that is recorded.

With several agents in the recording, --listen NAME=ADDR plays each at an address of its own, and cards lead there.
Recorded notifications go to the webhook that the client gives, in order and at the recorded pace; to another machine
only with --allow-remote.

--delay, --error, --drop and --break-after make faults, to see how the client bears them. OP is an operation by its name
in any version, such as SendMessage or message/send, or * for all; @WHICH of its requests is @2, @2..4, @2.. or @..3.
They are told at the start, counted in the verdict, and noted in what --capture records. They change no exit status: a
request that got an error or no answer because a flag says so counts as one that came, and not as unmatched.

With --capture, --ship publishes what is recorded, as that of record does.

It runs until it is interrupted. Exit status: 0 all requests were matched or forwarded, 1 some were not, 2 wrong usage,
3 failed to listen or read, 4 inconclusive: no request came, or none to one of several agents.`,
		Example: `  a2atap playback c.a2atap --listen 127.0.0.1:9001
  a2atap playback c.a2atap --listen 127.0.0.1:0 --agent booker --speed max --ready-file ready
  a2atap playback c.a2atap --listen 127.0.0.1:9001 --match exact --on-miss forward=http://127.0.0.1:9002/spec
  a2atap playback c.a2atap --listen 127.0.0.1:9001 --delay GetTask=2s --error SendMessage=503@1 --break-after 3
  a2atap playback c.a2atap --listen hotels=127.0.0.1:9001 --listen flights=127.0.0.1:9002`,
		RunE: func(cmd *cobra.Command, args []string) error { return playBack(cmd.Context(), e, o, args[0]) },
	}
	o.register(cmd.Flags())
	o.from.Register(cmd.Flags(), &o.nats)
	o.from.Interrupts = true
	return withArgs(cmd, 1, 1)
}

func playBack(ctx context.Context, e cli.Env, o playbackFlags, name string) error {
	options, err := o.playback(e)
	if err != nil {
		return err
	}
	places, err := o.places()
	if err != nil {
		return err
	}
	s := &stage{env: e, flags: &o, options: options, notes: newPlaybackNotes()}
	if s.allowed, err = cli.ParseAllowedHosts(o.allowHosts); err != nil {
		return err
	}
	if s.dialer, err = e.Dialer(&o.reach); err != nil {
		return err
	}
	if s.ship, err = o.ship.Beside(e, o.capture); err != nil {
		return err
	}
	src, err := o.from.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := source.TellGaps(ctx, e, "playback", src); err != nil {
		return err
	}
	defer s.close()
	if err := s.cast(ctx, name, src, places); err != nil {
		var code *cli.Exit
		if errors.As(err, &code) {
			return err
		}
		return fmt.Errorf("playback %s: %w", name, err)
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	if err := s.serve(ctx); err != nil {
		return err
	}
	return s.verdict()
}

// verdict prints what was played, and returns the exit status.
func (s *stage) verdict() error {
	missed, silent := false, false
	for _, r := range s.roles {
		who := "playback"
		if r.name != "" {
			who += ": " + r.name
		}
		report := r.player.Report()
		for _, u := range report.Unused {
			s.env.Tell("not requested: exchange %d %s", u.Exchange, u.Operation)
		}
		fmt.Fprintf(s.env.Err, "%s: %s\n", who, report.Verdict())
		missed = missed || report.Missed > 0
		silent = silent || report.Came() == 0
	}
	switch {
	case missed:
		return &cli.Exit{Code: cli.ExitFindings}
	case silent && !s.flags.allowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}

// A stage is where the agents of a capture are played.
type stage struct {
	env     cli.Env
	flags   *playbackFlags
	options playback.Options
	dialer  *outbound.Dialer
	ship    *shipment.To // nil if what is recorded is not shipped
	allowed []proxy.HostPattern
	notes   *playbackNotes
	roles   []*role
}

// A role is an agent that is played, or all that have no address of their own.
type role struct {
	playedAt
	player  *playback.Player
	url     string   // of the player
	forward *url.URL // of the live agent that takes what is unmatched; nil if none does
}

// called is what the ready file and the record call it.
func (r *role) called() string {
	if r.name == "" {
		return "playback"
	}
	return r.name
}

// cast makes a player for each address.
func (s *stage) cast(ctx context.Context, name string, src capture.Source, places []playedAt) error {
	keep, err := judged.ParseSelection(s.flags.filter, s.flags.agent)
	if err != nil {
		return err
	}
	chosen, err := keep.Chooser(ctx, s.env, "playback", name, src)
	if err != nil {
		return err
	}
	agents, err := playback.Agents(ctx, src)
	if err != nil {
		return err
	}
	forwards, err := s.flags.forwards(places)
	if err != nil {
		return err
	}
	var named []string
	for _, at := range places {
		if at.name != "" && !slices.Contains(agents, at.name) {
			return cli.Usage("--listen %s=%s: the capture has no calls to an agent of that name; it has calls to %s",
				at.name, at.listen, orNone(agents))
		}
		named = append(named, at.name)
	}
	for _, at := range places {
		o := s.options
		o.Agent, o.Roots = at.name, s.dialer.Roots
		if o.Keep = chosen; at.name == "" {
			o.Keep = func(x *capture.Exchange) bool { return !isOneOf(x.Agent.Name, named) && chosen(x) }
			s.crowd(agents, named)
		}
		if u := forwards[at.name]; u != nil {
			o.Forward = forwardTo(u, s.dialer)
		}
		if s.flags.capture != "" {
			o.OnRequest = s.notes.request
		}
		player, err := playback.New(ctx, src, o)
		if errors.Is(err, playback.ErrNoValue) {
			return cli.Usage("--match: %w", err)
		}
		if err != nil {
			return err
		}
		s.roles = append(s.roles, &role{playedAt: at, player: player, forward: forwards[at.name]})
	}
	return nil
}

func isOneOf(name string, agents []string) bool {
	return slices.ContainsFunc(agents, func(a string) bool { return a != "" && playback.Is(name, a) })
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// crowd warns where agents that were several answer at one address.
func (s *stage) crowd(agents, named []string) {
	rest := slices.DeleteFunc(slices.Clone(agents), func(a string) bool {
		return isOneOf(a, named) || s.flags.agent != "" && a != s.flags.agent
	})
	if len(rest) > 1 {
		s.env.Notice(fmt.Sprintf("playback: %s answer at one address, where a client finds one card only; give each an "+
			"address of its own with --listen NAME=ADDR, or choose one with --agent NAME", strings.Join(rest, ", ")))
	}
}

func (s *stage) close() {
	for _, r := range s.roles {
		r.player.Close()
	}
}
