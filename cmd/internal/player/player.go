// Package player plays the agents, models and tools of a capture for live clients. Run gives each an address; on
// request, it injects faults, forwards unmatched requests to live agents, and records the new traffic. RunProgram starts
// a program and answers all its calls. Package replay/playback decides the answers.
package player

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay/playback"
)

// Run plays the agents of a capture until it is interrupted.
func Run(ctx context.Context, e cli.Env, o Flags, name string) error {
	if o.output != "" || o.format != "" {
		return cli.Usage("-o and --format are for the report on a program; add -- CMD, or record with --capture FILE")
	}
	if len(o.answer) > 0 || o.liveFrom > 0 || len(o.set) > 0 || o.isolated {
		return cli.Usage("--answer, --live-from, --require-isolated and --set are for playback with a program; add -- CMD")
	}
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
	if s.ship, err = o.ship.Beside(e, o.capture.File); err != nil {
		return err
	}
	src, err := o.From.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := source.TellGaps(ctx, e, "playback", src); err != nil {
		return err
	}
	defer s.close()
	if err := s.cast(ctx, name, src, places); err != nil {
		if _, ok := errors.AsType[*cli.Exit](err); ok {
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

// verdict prints a summary of the playback, and returns the exit status.
func (s *stage) verdict() error {
	missed, silent := false, false
	for _, r := range s.roles {
		who := "playback"
		if r.name != "" {
			who += ": " + r.name
		}
		report := r.player.Report()
		for _, line := range report.NotRequested() {
			s.env.Tell("%s", line)
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
	flags   *Flags
	options playback.Options
	dialer  *outbound.Dialer
	ship    *shipment.To // nil if the recording is not shipped
	allowed []hostname.Pattern
	notes   *notes
	roles   []*role
	opened  chan struct{} // if not nil, closed when all addresses are listening
}

// A role is a played agent, or all agents without a separate address.
type role struct {
	playedAt
	player  *playback.Player
	url     string   // of the player
	forward *url.URL // of the live agent for unmatched requests; nil for none
}

// called returns the role's name in the ready file and the recording.
func (r *role) called() string {
	if r.name == "" {
		return "playback"
	}
	return r.name
}

// cast creates a player for each address.
func (s *stage) cast(ctx context.Context, name string, src capture.Source, places []playedAt) error {
	keep, err := verdict.ParseSelection(s.flags.filter, s.flags.agent)
	if err != nil {
		return err
	}
	chosen, err := keep.Chooser(ctx, s.env, "playback", name, src)
	if err != nil {
		return err
	}
	agents, others, err := playback.Agents(ctx, src)
	if err != nil {
		return err
	}
	forwards, err := s.flags.forwards(places)
	if err != nil {
		return err
	}
	if err := s.flags.hiding(ctx, s.env, src, &s.options); err != nil {
		return err
	}
	var named []string
	for _, at := range places {
		if at.name != "" && !slices.Contains(agents, at.name) && !slices.Contains(others, at.name) {
			return cli.Usage("--listen %s=%s: the capture has no calls to that agent; it has calls to %s",
				at.name, at.listen, orNone(append(agents, others...)))
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
			o.Forward = playback.NewForward(u, s.dialer)
		}
		if s.flags.capture.File != "" {
			o.OnRequest = s.notes.request
		}
		player, err := playback.New(ctx, src, o)
		if errors.Is(err, playback.ErrNoValue) {
			return cli.Usage("--match: %w", err)
		}
		if errors.Is(err, playback.ErrOtherBinding) {
			return cli.Usage("--binding %s: %w", s.flags.binding, err)
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

// crowd warns if several agents share one address.
func (s *stage) crowd(agents, named []string) {
	rest := slices.DeleteFunc(slices.Clone(agents), func(a string) bool {
		return isOneOf(a, named) || s.flags.agent != "" && a != s.flags.agent
	})
	if len(rest) > 1 {
		s.env.Notice(fmt.Sprintf("playback: %s share one address, where a client finds only one card; give each "+
			"its own address with --listen NAME=ADDR, or choose one with --agent NAME", strings.Join(rest, ", ")))
	}
}

func (s *stage) close() {
	for _, r := range s.roles {
		r.player.Close()
	}
}
