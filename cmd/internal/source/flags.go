package source

import (
	"slices"
	"time"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
)

// Flags are the flags of reading commands for captures that are a fleet's stream. nil means no flags.
type Flags struct {
	hosts []string
	since string
	nats  *cli.NATSFlags

	Interrupts bool // the command handles interrupts itself, once it has its capture
}

// Register adds the flags to a command that reads captures. Those for the server are added too, unless the command
// has them already.
func (o *Flags) Register(f *pflag.FlagSet, nats *cli.NATSFlags) {
	if o.nats = nats; o.nats == nil {
		o.nats = &cli.NATSFlags{}
		o.nats.Register(f)
	}
	f.StringArrayVar(&o.hosts, "host", nil,
		"for a stream, nats://…: read only the recorders of the host `NAME`; repeatable")
	f.StringVar(&o.since, "since", "",
		"for a stream: read only exchanges that began since `D|TIME`, such as 90m (ago) or 2026-03-01T10:00:00Z")
}

// onlyStreams returns an error if a flag is given that has no meaning for a capture.
func (o *Flags) onlyStreams(name string) error {
	switch {
	case o == nil:
	case len(o.hosts) > 0:
		return cli.Usage("--host selects recorders of a stream, nats://HOST:PORT/NAME, and %s is not a stream", name)
	case o.since != "":
		return cli.Usage("--since is for a stream, nats://HOST:PORT/NAME, and %s is not a stream; --filter 'time:>=12:30:00' "+
			"selects in a file", name)
	}
	return nil
}

// check returns an error if a flag's value is invalid.
func (o *Flags) check() error {
	if slices.Contains(o.hosts, "") {
		return cli.Usage("--host is empty; write the name of a host from a2atap hosts, or leave --host out for all hosts")
	}
	return nil
}

// begin returns the time of --since; zero if it is not given.
func (o *Flags) begin(now time.Time) (time.Time, error) {
	if o.since == "" {
		return time.Time{}, nil
	}
	if d, err := time.ParseDuration(o.since); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02"} {
		if t, err := time.ParseInLocation(layout, o.since, time.UTC); err == nil {
			return t, nil
		}
	}
	return time.Time{}, cli.Usage("--since %q: write how long ago, such as 90m, or a time, such as 2026-03-01T10:00:00Z (UTC "+
		"without a zone)", o.since)
}
