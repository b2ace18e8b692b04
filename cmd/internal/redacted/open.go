// Package redacted makes the captures that commands write: a store, redaction in front of it, and the key with which
// secrets become placeholders.
//
// No other package of commands puts redaction together, so there is one place that decides what is hidden. Open is for
// what is copied, merged or sent by ourselves; package recorder records traffic that passes, with the same Options. The
// key is the user's, made when it is first needed, and never in a capture.
package redacted

import (
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// A File is a capture that is being written, secrets hidden. Closing it closes the store.
type File struct {
	capture.Sink
	Store *bolt.Store
}

// Open opens the file of a capture, or makes it, with redaction in front of it.
func Open(file string, o Options) (*File, error) {
	store, err := o.OpenStore(file)
	if err != nil {
		return nil, err
	}
	return &File{o.Sink(store), store}, nil
}

// CaptureFlags say where a command records the traffic that it makes itself, and with which key secrets are hidden there.
type CaptureFlags struct {
	File string // empty for nowhere
	key  string
}

// Register adds the flags to a command; what it records is said by the words "the traffic into `FILE`", or more of them.
func (o *CaptureFlags) Register(f *pflag.FlagSet, what string) {
	f.StringVar(&o.File, "capture", "", "record "+what+"; an existing capture is appended to")
	f.StringVar(&o.key, "redaction-key", "", "with --capture: "+keyHelp)
}

// HasKeyAlone reports whether a key is named for a capture that is not.
func (o *CaptureFlags) HasKeyAlone() bool { return o.File == "" && o.key != "" }

// Key returns the key of the flags.
func (o *CaptureFlags) Key(e cli.Env) ([]byte, error) { return readKey(e, o.key) }

// Open opens the capture. Names are those under which the flags have brought credentials.
func (o *CaptureFlags) Open(e cli.Env, names *redact.Names) (*File, error) {
	if err := cli.NotAStream(o.File); err != nil {
		return nil, err
	}
	key, err := o.Key(e)
	if err != nil {
		return nil, err
	}
	return Open(o.File, Options{Key: key, Names: names, Notice: e.Notice})
}
