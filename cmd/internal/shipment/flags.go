package shipment

import (
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/fleet"
)

// Flags are the flags of commands that record and ship what they record.
type Flags struct {
	url      string
	host     string
	maxAge   time.Duration
	maxBytes string
	replicas int
	NATS     *cli.NATSFlags // of the command
}

// Help is the part of the help that says what shipping is.
const Help = `With --ship nats://HOST:4222/NAME what is recorded is also published to the stream NAME of NATS JetStream,
secrets hidden as in the capture, after it was stored. A server that is away, slow or full delays nothing: the capture
has everything, and what the stream lacks is sent when the server is back, by the next recording into the same capture,
or by a2atap ship.`

// Register adds the flags. What they need of the server's, --nats-user and so on, is registered by the command.
func (o *Flags) Register(f *pflag.FlagSet, nats *cli.NATSFlags, needs string) {
	o.NATS = nats
	f.StringVar(&o.url, "ship", "",
		needs+"publish what is recorded to the stream NAME of NATS JetStream, too, at `nats://HOST:PORT/NAME`")
	o.Limits(f, "with --ship: ")
}

// Limits adds the flags beside the address.
func (o *Flags) Limits(f *pflag.FlagSet, needs string) {
	f.StringVar(&o.host, "ship-host", "", needs+"call this machine `NAME` in the stream (default its host name, or what a capture that is there is called)")
	f.DurationVar(&o.maxAge, "ship-max-age", 7*24*time.Hour,
		needs+"if the stream does not exist, create it, to keep messages for `D`; 0 means no limit")
	f.StringVar(&o.maxBytes, "ship-max-bytes", "1GiB",
		needs+"make it one that keeps `SIZE`, then removes the oldest messages; empty for no limit")
	f.IntVar(&o.replicas, "ship-replicas", 1, needs+"make it one that is kept on `N` servers of a cluster")
}

// A To says where a recording is shipped, and as what.
type To struct {
	Address fleet.Address
	Options fleet.ShipOptions
	End     time.Duration // that the end of a recording waits for what is left to be shipped; 0 is 5 s
	named   bool          // the host, by a flag
}

// called is the flag with which a2atap ship goes on with the same recorder.
func (t *To) called() string {
	if !t.named {
		return ""
	}
	return " --ship-host " + cli.Quote(t.Options.Host)
}

// To reads the flags; nil if nothing is to be shipped.
func (o *Flags) To(e cli.Env, keepSecrets bool) (*To, error) {
	switch {
	case o.url == "" && o.host != "":
		return nil, cli.Usage("--ship-host needs --ship nats://HOST:PORT/NAME")
	case o.url == "":
		return nil, nil
	case keepSecrets:
		return nil, cli.Usage("--ship with --keep-secrets would send credentials to the NATS server, and to all who read " +
			"there; leave one out")
	}
	return o.Address(e, "--ship", o.url)
}

// Beside is to for commands that record only where they are told a file.
func (o *Flags) Beside(e cli.Env, file string) (*To, error) {
	if o.url != "" && file == "" {
		return nil, cli.Usage("--ship needs --capture FILE, which keeps what the server cannot take")
	}
	return o.To(e, false)
}

// Address reads an address, and the flags beside it; what says where the address stands.
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
			return nil, cli.Usage("this machine has no name; give it one in the stream with --ship-host NAME")
		}
	}
	t.Options.Connect, err = o.NATS.Options(e, address)
	return t, err
}

// Of is what ships the capture in a file.
func (t *To) Of(file string, spool fleet.Spool) *fleet.Shipper {
	o := t.Options
	o.Name = filepath.Base(file)
	return fleet.NewShipper(t.Address, spool, o)
}
