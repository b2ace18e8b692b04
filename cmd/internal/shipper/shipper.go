// Package shipper ships captures in files, once or as they grow. Package shipment ships the recordings of this process.
package shipper

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
)

// Options are the flags of ship.
type Options struct {
	Flags  shipment.Flags
	NATS   cli.NATSFlags
	Follow bool
	Format string

	Patience time.Duration // with a server that accepts nothing
}

// Run ships captures to the stream in the last argument.
func Run(ctx context.Context, e cli.Env, o *Options, args []string) error {
	files, url := args[:len(args)-1], args[len(args)-1]
	if !fleet.IsAddress(url) {
		return cli.Usage("ship: write the destination, nats://HOST:PORT/NAME, as the last argument")
	}
	if err := cli.Choose("format", o.Format, "text", "json"); err != nil {
		return err
	}
	if o.Patience <= 0 {
		return cli.Usage("--ship-patience %v: write a time above 0, such as 30s", o.Patience)
	}
	to, err := o.Flags.Address(e, "ship", url)
	if err != nil {
		return err
	}
	var readers []*bolt.Reader
	defer func() {
		for _, r := range readers {
			r.Close()
		}
	}()
	for _, file := range files {
		r, err := openForShipping(ctx, file)
		if err != nil {
			return err
		}
		readers = append(readers, r)
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	out := &present.Recorded{Env: e, JSON: o.Format == "json"}
	errs := make([]error, len(files))
	var all sync.WaitGroup
	for i, file := range files {
		one := func() { errs[i] = o.ship(ctx, out, to, file, readers[i]) }
		if o.Follow {
			all.Go(one)
		} else {
			one()
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// openForShipping opens a capture if it may leave this machine.
func openForShipping(ctx context.Context, file string) (*bolt.Reader, error) {
	if file == "-" || fleet.IsAddress(file) {
		return nil, cli.Usage("ship reads files: write CAPTURE... nats://HOST:PORT/NAME")
	}
	r, err := bolt.Read(file)
	if errors.Is(err, capture.ErrFormat) || source.IsText(file) {
		if err == nil {
			r.Close()
		}
		return nil, fmt.Errorf("ship %s: it is not an .a2atap capture; a2atap import %s converts it", file, file)
	}
	if err != nil {
		return nil, err
	}
	info, err := r.Info(ctx)
	if err == nil && info.SecretsKept {
		err = cli.Usage("ship %s: %s", file, shipment.SecretsInside(file))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// ship ships one capture.
func (o *Options) ship(ctx context.Context, out *present.Recorded, to *shipment.To, file string, r fleet.Spool) error {
	own := *to
	if own.Options.Once = !o.Follow; own.Options.Once {
		own.Options.GiveUp = o.Patience
	}
	own.Options.OnTrouble = func(err error) {
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, fleet.ErrBroken): // other captures may still be shipped for long
			out.Notice(fmt.Sprintf("ship %s: %v", file, err))
		default:
			out.Notice(fmt.Sprintf("ship %s: %v; trying again", file, err))
		}
	}
	s := own.Of(file, r)
	watched := make(chan struct{})
	running, cancel := context.WithCancel(ctx)
	go func() {
		defer close(watched)
		watchShipping(running, out, file, s)
	}()
	err := s.Run(ctx)
	cancel()
	<-watched
	status := s.Status()
	v := shipment.Event{
		State: "shipped", URL: to.Address.String(), Host: status.Host, File: file, Shipped: status.Shipped,
		Sent: status.Steps,
	}
	switch {
	case err != nil && ctx.Err() != nil:
		err = errors.New("interrupted")
		fallthrough
	case err != nil:
		v.State, v.Error = "left", err.Error()
		v.Left = status.Committed - min(status.Committed, status.Shipped)
		err = fmt.Errorf("ship %s: %w", file, err)
		if status.Asked {
			err = fmt.Errorf("%w; %s not there", err, shipment.IsOrAre(v.Left, "step"))
		}
	case status.Steps == 0:
		v.Text = fmt.Sprintf("%s: already complete on the server, %s", file, analysis.Plural(status.Shipped, "step"))
	default:
		v.Text = fmt.Sprintf("%s: %s sent, now complete on the server", file, analysis.Plural(status.Steps, "step"))
	}
	out.Shipped(v)
	return err
}

// watchShipping shows the progress of shipping until the context ends.
func watchShipping(ctx context.Context, out *present.Recorded, file string, s *fleet.Shipper) {
	if !out.Env.ShowsProgress() {
		return
	}
	show := cli.Progress{W: out.Env.Err, What: "ship " + strings.TrimSpace(file), Began: time.Now()}
	tick := time.NewTicker(cli.ProgressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			out.Apart(show.Clear)
			return
		case <-tick.C:
			status := s.Status()
			out.Apart(func() { show.Count("step", status.Shipped, status.Committed) })
		}
	}
}
