package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/notes"
	"a2atap/tui"
)

// inspect shows the recording until it is to end, or the user quits, which ends it.
func (r *recording) inspect(ctx context.Context, e cli.Env, duration time.Duration, exchanges int64) error {
	ctx, cancel := context.WithCancel(ctx)
	waited := make(chan error, 1)
	go func() {
		waited <- r.wait(ctx, duration, exchanges)
		cancel()
	}()
	src := r.shown()
	err := runInspector(ctx, e, src, r.resender(e, src), r.screen())
	cancel()
	return errors.Join(err, <-waited)
}

// shown is the capture as the inspector shows it.
func (r *recording) shown() capture.Source {
	if r.before.SecretsKept || r.keep {
		return r.store
	}
	return source.HideIn(r.store, r.names, r.key)
}

// screen is what the inspector shows of the recording: its rules, what they find, and where to send traffic.
func (r *recording) screen() tui.Options {
	var hints []string
	for _, t := range r.proxy.Taps() {
		hints = append(hints, fmt.Sprintf("%s is tapped at %s", t.Name(), t.URL()))
	}
	if f := r.proxy.Forward(); f != nil {
		hints = append(hints, "the forward proxy for any agent is "+f.URL())
	}
	if s := r.shipment; s != nil {
		hints = append(hints, fmt.Sprintf("shipped to %s as %s", s.To.Address, s.To.Options.Host))
	}
	return tui.Options{
		Rules: r.rules, Keys: r.keys, Verdicts: r.verdicts, Hints: hints, QuitEnds: "Quitting ends the recording.",
		Notes: notes.Path(r.before.Name),
	}
}
