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
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/fleet"
)

type shipOptions struct {
	flags  shipFlags
	nats   natsFlags
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

` + natsHelp + `

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
	o.flags.nats = &o.nats
	o.flags.limits(f, "")
	o.nats.register(f)
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
	to, err := o.flags.address(e, "ship", url)
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
	out := &recordPrinter{e: e, json: o.format == "json"}
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
	if errors.Is(err, capture.ErrFormat) || isText(file) {
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
		err = cli.Usage("ship %s: %s", file, secretsInside(file))
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// secretsInside is why a capture is not shipped, and what to do.
func secretsInside(file string) string {
	return fmt.Sprintf("secrets are kept in it (--keep-secrets), and would leave this machine; a2atap import %s -o "+
		"hidden.a2atap makes a copy without them", file)
}

// ship ships one capture.
func (o *shipOptions) ship(ctx context.Context, out *recordPrinter, to *shipTo, file string, r fleet.Spool) error {
	own := *to
	if own.options.Once = !o.follow; own.options.Once {
		own.options.GiveUp = o.patience
	}
	own.options.OnTrouble = func(err error) {
		switch {
		case err == nil || ctx.Err() != nil:
		case errors.Is(err, fleet.ErrBroken): // others may be shipped for long
			out.notice(fmt.Sprintf("ship %s: %v", file, err))
		default:
			out.notice(fmt.Sprintf("ship %s: %v; trying on", file, err))
		}
	}
	s := own.of(file, r)
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
	v := shipEvent{
		State: "shipped", URL: to.address.String(), Host: status.Host, File: file, Shipped: status.Shipped,
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
			err = fmt.Errorf("%w; %s not there", err, isOrAre(v.Left, "step"))
		}
	case status.Steps == 0:
		v.text = fmt.Sprintf("%s: all of it is there already, %s", file, analyzer.Plural(status.Shipped, "step"))
	default:
		v.text = fmt.Sprintf("%s: %s sent, and all of it is there", file, analyzer.Plural(status.Steps, "step"))
	}
	out.shipped(v)
	return err
}

// shipped prints what became of one capture.
func (p *recordPrinter) shipped(v shipEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.json:
		p.object("ship", v)
	case v.text != "":
		fmt.Fprintln(p.e.Out, analyzer.Clean(v.text))
	}
}

// watchShipping shows how far shipping is, until the context ends.
func watchShipping(ctx context.Context, out *recordPrinter, file string, s *fleet.Shipper) {
	if !out.e.ShowsProgress() {
		return
	}
	show := cli.Progress{W: out.e.Err, What: "ship " + strings.TrimSpace(file), Began: time.Now()}
	tick := time.NewTicker(cli.ProgressEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			out.mu.Lock()
			show.Clear()
			out.mu.Unlock()
			return
		case <-tick.C:
			status := s.Status()
			out.mu.Lock()
			show.Count("step", status.Shipped, status.Committed)
			out.mu.Unlock()
		}
	}
}
