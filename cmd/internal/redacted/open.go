// Package redacted makes the captures that commands write: a store, redaction in front of it, and the key with which
// secrets become placeholders.
//
// This is the only package of commands that sets up redaction, so one place decides which values to hide. Open is for
// traffic that commands copy, merge or send themselves; package recorder records passing traffic, with the same
// Options. The key belongs to the user. It is created when first needed, and never stored in a capture.
package redacted

import (
	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// A File is a capture that is being written, with secrets hidden. Close also closes the store.
type File struct {
	capture.Sink
	Store *bolt.Store
}

// Open opens or creates the file of a capture, with redaction in front of it.
func Open(file string, o Options) (*File, error) {
	store, err := o.OpenStore(file)
	if err != nil {
		return nil, err
	}
	return &File{o.Sink(store), store}, nil
}

// CaptureFlags configure where a command records its own traffic, and with which key secrets are hidden.
type CaptureFlags struct {
	File string // empty for nowhere
	key  string
}

// Register adds the flags to a command; the text describes what is recorded, as in "the traffic into `FILE`".
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

// KeyForComparing returns the key of the flags, or else the user's. It creates none.
func (o *CaptureFlags) KeyForComparing(e cli.Env) ([]byte, error) {
	if o.key == "" {
		return KeyForReading(), nil
	}
	return o.Key(e)
}
