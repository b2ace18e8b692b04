package player

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/replay/playback"
	"a2atap/replay/report"
)

// Neighbors are services of a capture that are played while another command sends requests to the agent that calls them.
type Neighbors struct {
	stage *stage
	stop  context.CancelFunc
	err   chan error // the result of serving
}

// PlayNeighbors plays services of a capture until End, which must be called. Each value is NAME=ADDR, or only NAME for a
// service that was recorded at an address of this machine and is played there.
func PlayNeighbors(
	ctx context.Context, e cli.Env, values []string, key redacted.CaptureFlags, name string, src capture.Source,
) (*Neighbors, error) {
	o := &Flags{speed: "max", capture: key}
	o.capture.File = ""
	for _, value := range values {
		at, err := neighborAt(ctx, src, value)
		if err != nil {
			return nil, err
		}
		o.listen = append(o.listen, at)
	}
	places, err := o.places()
	if err != nil {
		return nil, err
	}
	e.Out = e.Err // standard output is for the report
	s := &stage{env: e, flags: o, notes: newPlaybackNotes(), opened: make(chan struct{})}
	if s.options, err = o.playback(e); err != nil {
		return nil, err
	}
	s.options.Match, s.options.OnMiss = playback.ByValue, nil
	if s.dialer, err = e.Dialer(&o.reach); err != nil {
		return nil, err
	}
	if err := s.cast(ctx, name, src, places); err != nil {
		s.close()
		return nil, err
	}
	n := &Neighbors{stage: s, err: make(chan error, 1)}
	ctx, n.stop = context.WithCancel(ctx)
	go func() { n.err <- s.serve(ctx) }()
	select {
	case <-s.opened:
		return n, nil
	case err := <-n.err:
		n.stop()
		s.close()
		return nil, err
	}
}

// neighborAt returns NAME=ADDR for a value of --play.
func neighborAt(ctx context.Context, src capture.Source, value string) (string, error) {
	if strings.Contains(value, "=") {
		return value, nil
	}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return "", err
		}
		if x.Agent.Name != value {
			continue
		}
		if u, err := url.Parse(x.Agent.URL); err == nil && u.Scheme == "http" && u.Port() != "" && hostname.IsLoopback(hostname.Normal(u.Hostname())) {
			return value + "=" + u.Host, nil
		}
		return "", cli.Usage("--play %s: it was at %s, where it cannot be played; write --play %s=ADDR with the address at "+
			"which the agent calls it, such as 127.0.0.1:9002", value, x.Agent.URL, value)
	}
	return "", cli.Usage("--play %s: the capture has no calls to it", value)
}

// Plays reports whether an exchange is a call to one of the services.
func (n *Neighbors) Plays(x *capture.Exchange) bool {
	return slices.ContainsFunc(n.stage.roles, func(r *role) bool { return playback.Is(x.Agent.Name, r.name) })
}

// End stops playing. It adds to the report on the agent the calls that differ from the recorded ones, and a note for each
// service. The report may be nil.
func (n *Neighbors) End(r *report.Report) error {
	n.stop()
	err := <-n.err
	for _, role := range n.stage.roles {
		played := role.player.Report()
		if r == nil {
			continue
		}
		lines, misses, notes := describe(&played, false)
		for _, l := range lines {
			if l.Status == report.Missing {
				r.Missing++
				r.Lines, r.Differences = append(r.Lines, l), append(r.Differences, l.Differences...)
			}
		}
		r.Differences = append(r.Differences, misses...)
		r.Notes = append(append(r.Notes, fmt.Sprintf("played %s: %s", role.name, played.Whole(0))), notes...)
	}
	n.stage.close()
	return err
}
