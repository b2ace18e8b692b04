package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
)

type shipOptions struct {
	flags  shipment.Flags
	nats   cli.NATSFlags
	follow bool
	format string

	patience time.Duration // with a server that takes nothing
}

func newShip(e cli.Env) *cobra.Command {
	o := shipOptions{}
	cmd := &cobra.Command{
		Use:   "ship CAPTURE... nats://HOST:PORT/NAME",
		Short: "Send captures to a stream of NATS JetStream",
		Long: `Ship publishes what the stream NAME does not have of captures: all of a finished one, or what a recording with
--ship could not send, since the server was away. The stream is made if it is not there. It may run beside the
recording, or beside another ship: each block of a capture arrives once.

With --follow it goes on until the recordings have ended, for captures of recorders that were started without --ship,
and waits for a server that is away for as long as that takes.

Only captures of a2atap are shipped; a2atap import makes one of other files. A capture with secrets in it, which
--keep-secrets makes, is refused.

` + cli.NATSHelp + `

Exit status: 0 all of it is there; 2 wrong usage; 3 a capture cannot be read, or not all of it could be sent: nothing
was taken for the time of --ship-patience, or what is wrong will not heal by itself.`,
		Example: `  a2atap ship c.a2atap nats://127.0.0.1:4222/traffic
  a2atap ship monday.a2atap tuesday.a2atap nats://127.0.0.1:4222/traffic --ship-host booker-1
  a2atap ship c.a2atap tls://nats.example/traffic --nats-creds recorder.creds --follow`,
		RunE: func(cmd *cobra.Command, args []string) error { return shipCaptures(cmd.Context(), e, &o, args) },
	}
	f := cmd.Flags()
	f.BoolVar(&o.follow, "follow", false, "go on until the recordings have ended")
	f.StringVar(&o.format, "format", "text", "say what was sent as `FORMAT`: text, or json (a JSON object a capture)")
	f.DurationVar(&o.patience, "ship-patience", 30*time.Second,
		"without --follow: give up when nothing was taken for `D`")
	o.flags.NATS = &o.nats
	o.flags.Limits(f, "")
	o.nats.Register(f)
	return withArgs(cmd, 2, -1)
}

func shipCaptures(ctx context.Context, e cli.Env, o *shipOptions, args []string) error {
	files, url := args[:len(args)-1], args[len(args)-1]
	if !fleet.IsAddress(url) {
		return cli.Usage("ship: write where to, nats://HOST:PORT/NAME, as the last argument")
	}
	if err := cli.Choose("format", o.format, "text", "json"); err != nil {
		return err
	}
	if o.patience <= 0 {
		return cli.Usage("--ship-patience %v: write a time above 0, such as 30s", o.patience)
	}
	to, err := o.flags.Address(e, "ship", url)
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
	out := &present.Recorded{Env: e, JSON: o.format == "json"}
	errs := make([]error, len(files))
	var all sync.WaitGroup
	for i, file := range files {
		one := func() { errs[i] = o.ship(ctx, out, to, file, readers[i]) }
		if o.follow {
			all.Go(one)
		} else {
			one()
		}
	}
	all.Wait()
	return errors.Join(errs...)
}

// openForShipping opens a capture of ours that may leave this machine.
func openForShipping(ctx context.Context, file string) (*bolt.Reader, error) {
	if file == "-" || fleet.IsAddress(file) {
		return nil, cli.Usage("ship reads files: write CAPTURE... nats://HOST:PORT/NAME")
	}
	r, err := bolt.Read(file)
	if errors.Is(err, capture.ErrFormat) || source.IsText(file) {
		if err == nil {
			r.Close()
		}
		return nil, fmt.Errorf("ship %s: it is no capture of a2atap; a2atap import %s makes one of it", file, file)
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
func (o *shipOptions) ship(ctx context.Context, out *present.Recorded, to *shipment.To, file string, r fleet.Spool) error {
	own := *to
	if own.Options.Once = !o.follow; own.Options.Once {
		own.Options.GiveUp = o.patience
	}
	own.Options.OnTrouble = func(err error) {
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, fleet.ErrBroken): // others may be shipped for long
			out.Notice(fmt.Sprintf("ship %s: %v", file, err))
		default:
			out.Notice(fmt.Sprintf("ship %s: %v; trying on", file, err))
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
		v.Text = fmt.Sprintf("%s: all of it is there already, %s", file, analyzer.Plural(status.Shipped, "step"))
	default:
		v.Text = fmt.Sprintf("%s: %s sent, and all of it is there", file, analyzer.Plural(status.Steps, "step"))
	}
	out.Shipped(v)
	return err
}

// watchShipping shows how far shipping is, until the context ends.
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
