package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet"
)

// shipFlags are the flags of commands that record and ship what they record.
type shipFlags struct {
	url      string
	host     string
	maxAge   time.Duration
	maxBytes string
	replicas int
	nats     *natsFlags // of the command
}

const shipHelp = `With --ship nats://HOST:4222/NAME what is recorded is also published to the stream NAME of NATS
JetStream, secrets hidden as in the capture, after it was stored. A server that is away, slow or full holds up nothing:
the capture has it all; what is missing in the stream is sent when the server is back, by the next recording into the
same capture, or by a2atap ship.`

// register adds the flags. What they need of the server's, --nats-user and so on, is registered by the command.
func (o *shipFlags) register(f *pflag.FlagSet, nats *natsFlags, needs string) {
	o.nats = nats
	f.StringVar(&o.url, "ship", "",
		needs+"publish what is recorded to the stream NAME of NATS JetStream, too, at `nats://HOST:PORT/NAME`")
	o.limits(f, "with --ship: ")
}

// limits adds the flags beside the address.
func (o *shipFlags) limits(f *pflag.FlagSet, needs string) {
	f.StringVar(&o.host, "ship-host", "", needs+"call this machine `NAME` in the stream (default its host name, or what a capture that is there is called)")
	f.DurationVar(&o.maxAge, "ship-max-age", 7*24*time.Hour,
		needs+"if the stream is not there, make it one that keeps messages for `D`; 0 is for ever")
	f.StringVar(&o.maxBytes, "ship-max-bytes", "1GiB",
		needs+"make it one that keeps `SIZE`, then removes the oldest messages; empty for no limit")
	f.IntVar(&o.replicas, "ship-replicas", 1, needs+"make it one that is kept on `N` servers of a cluster")
}

// A shipTo says where a recording is shipped, and as what.
type shipTo struct {
	address fleet.Address
	options fleet.ShipOptions
	named   bool // the host, by a flag
}

// called is the flag with which a2atap ship goes on with the same recorder.
func (t *shipTo) called() string {
	if !t.named {
		return ""
	}
	return " --ship-host " + cli.ShellQuote(t.options.Host)
}

// to reads the flags; nil if nothing is to be shipped.
func (o *shipFlags) to(e cli.Env, keepSecrets bool) (*shipTo, error) {
	switch {
	case o.url == "" && o.host != "":
		return nil, cli.Usage("--ship-host needs --ship nats://HOST:PORT/NAME")
	case o.url == "":
		return nil, nil
	case keepSecrets:
		return nil, cli.Usage("--ship with --keep-secrets would send credentials to the NATS server, and to all who read " +
			"there; leave one out")
	}
	return o.address(e, "--ship", o.url)
}

// beside is to for commands that record only where they are told a file.
func (o *shipFlags) beside(e cli.Env, file string) (*shipTo, error) {
	if o.url != "" && file == "" {
		return nil, cli.Usage("--ship needs --capture FILE, which keeps what the server cannot take")
	}
	return o.to(e, false)
}

// address reads an address, and the flags beside it; what says where the address stands.
func (o *shipFlags) address(e cli.Env, what, text string) (*shipTo, error) {
	address, err := fleet.ParseAddress(text)
	if err != nil {
		return nil, cli.Usage("%s: %w", what, err)
	}
	t := &shipTo{address: address, named: o.host != "", options: fleet.ShipOptions{Host: o.host, Tool: cli.ToolName()}}
	switch {
	case o.maxAge < 0:
		return nil, cli.Usage("--ship-max-age %v: write a time such as 24h, or 0 for no limit", o.maxAge)
	case o.replicas < 1 || o.replicas > 5:
		return nil, cli.Usage("--ship-replicas %d: JetStream keeps 1 to 5", o.replicas)
	}
	t.options.Limits = fleet.Limits{MaxAge: o.maxAge, Replicas: o.replicas}
	if t.options.Limits.MaxBytes, err = cli.ParseSize("--ship-max-bytes", o.maxBytes); err != nil {
		return nil, err
	}
	if t.options.Host == "" {
		t.options.HostGuessed = true
		if t.options.Host, err = os.Hostname(); err != nil || t.options.Host == "" {
			return nil, cli.Usage("this machine has no name; give it one in the stream with --ship-host NAME")
		}
	}
	t.options.Connect, err = o.nats.options(e, address)
	return t, err
}

// of is what ships the capture in a file.
func (t *shipTo) of(file string, spool fleet.Spool) *fleet.Shipper {
	o := t.options
	o.Name = filepath.Base(file)
	return fleet.NewShipper(t.address, spool, o)
}
