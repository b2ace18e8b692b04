package shipment

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet"
)

// Flags are the flags of commands that ship their recordings.
type Flags struct {
	url      string
	host     string
	maxAge   time.Duration
	maxBytes string
	replicas int
	NATS     *cli.NATSFlags // of the command
}

// Help is the part of the help about shipping.
const Help = `With --ship nats://HOST:4222/NAME the recording is also published to the NATS JetStream stream NAME, with
secrets hidden as in the capture, after it was stored. An unreachable, slow or full server delays nothing: the capture
has everything, and the missing part is sent when the server is back, by the next recording into the same capture, or by
a2atap ship.`

// Register adds the flags. The command itself registers the server's flags, --nats-user and so on.
func (o *Flags) Register(f *pflag.FlagSet, nats *cli.NATSFlags, needs string) {
	o.NATS = nats
	f.StringVar(&o.url, "ship", "",
		needs+"also publish the recording to the NATS JetStream stream NAME, at `nats://HOST:PORT/NAME`")
	o.Limits(f, "with --ship: ")
}

// Limits adds the flags that accompany the address.
func (o *Flags) Limits(f *pflag.FlagSet, needs string) {
	f.StringVar(&o.host, "ship-host", "", needs+"name this machine `NAME` in the stream (default its host name, or its name in an existing capture)")
	f.DurationVar(&o.maxAge, "ship-max-age", 7*24*time.Hour,
		needs+"if the stream does not exist, create it and keep messages for `D`; 0 means no limit")
	f.StringVar(&o.maxBytes, "ship-max-bytes", "1GiB",
		needs+"let the new stream keep `SIZE`, then remove the oldest messages; empty for no limit")
	f.IntVar(&o.replicas, "ship-replicas", 1, needs+"let the new stream be stored on `N` servers of a cluster")
}

// A To is the destination of a shipped recording, and its name there.
type To struct {
	Address fleet.Address
	Options fleet.ShipOptions
	End     time.Duration // how long the end of a recording waits for pending shipping; 0 is 5 s
	named   bool          // the host, by a flag
}

// called returns the flag with which a2atap ship continues the same recorder.
func (t *To) called() string {
	if !t.named {
		return ""
	}
	return " --ship-host " + cli.Quote(t.Options.Host)
}

// To parses the flags; nil if nothing is to be shipped.
func (o *Flags) To(e cli.Env, keepSecrets bool) (*To, error) {
	switch {
	case o.url == "" && o.host != "":
		return nil, cli.Usage("--ship-host needs --ship nats://HOST:PORT/NAME")
	case o.url == "":
		return nil, nil
	case keepSecrets:
		return nil, cli.Usage("--ship with --keep-secrets would send credentials to the NATS server and to all its readers; " +
			"leave one out")
	}
	return o.Address(e, "--ship", o.url)
}

// Beside is To for commands that record only if a file is given.
func (o *Flags) Beside(e cli.Env, file string) (*To, error) {
	if o.url != "" && file == "" {
		return nil, cli.Usage("--ship needs --capture FILE, which keeps what the server cannot accept")
	}
	return o.To(e, false)
}

// Address parses an address and its flags; what names the place of the address in messages.
func (o *Flags) Address(e cli.Env, what, text string) (*To, error) {
	address, err := fleet.ParseAddress(text)
	if err != nil {
		return nil, cli.Usage("%s: %w", what, err)
	}
	t := &To{Address: address, named: o.host != "", Options: fleet.ShipOptions{Host: o.host, Tool: cli.ToolName()}}
	switch {
	case o.maxAge < 0:
		return nil, cli.Usage("--ship-max-age %v: write a time such as 24h, or 0 for no limit", o.maxAge)
	case o.replicas < 1 || o.replicas > 5:
		return nil, cli.Usage("--ship-replicas %d: JetStream keeps 1 to 5", o.replicas)
	}
	t.Options.Limits = fleet.Limits{MaxAge: o.maxAge, Replicas: o.replicas}
	if t.Options.Limits.MaxBytes, err = cli.ParseSize("--ship-max-bytes", o.maxBytes); err != nil {
		return nil, err
	}
	if t.Options.Host == "" {
		t.Options.HostGuessed = true
		if t.Options.Host, err = os.Hostname(); err != nil || t.Options.Host == "" {
			return nil, cli.Usage("this machine has no host name; set its name in the stream with --ship-host NAME")
		}
	}
	t.Options.Connect, err = o.NATS.Options(e, address)
	return t, err
}

// Of returns the shipper of the capture in a file.
func (t *To) Of(file string, spool fleet.Spool) *fleet.Shipper {
	o := t.Options
	o.Name = filepath.Base(file)
	return fleet.NewShipper(t.Address, spool, o)
}
