// Package redacted is the captures that commands write: a store, redaction in front of it, and the key with which secrets
// become placeholders.
//
// No other package of commands puts redaction together, so there is one place that decides what is hidden. Open is for
// what is copied, merged or sent by ourselves; package recorder records traffic that passes, with the same Options. The
// key is the user's, made when it is first needed, and never in a capture.
package redacted

import (
	"github.com/spf13/pflag"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/record"
	"a2atap/replay/client/setup"
)

// Options say how a capture is written. The zero value hides secrets with a key that nobody has.
type Options struct {
	Key   []byte         // of placeholders
	Keep  bool           // secrets are not hidden
	Extra []redact.Place // where the user knows of secrets
	Names *redact.Names  // under which agents are sent credentials; nil if that is found out from the cards alone
	Masks []*setup.Mask  // of secrets that flags have brought

	// Store says how the file is kept. That secrets are in it is said here, since a capture may hold none although none
	// were hidden; what wrote it, and the fingerprint of the key, are added.
	Store bolt.Options
}

// Hiding returns the options of redaction.
func (o *Options) Hiding() redact.Options {
	return redact.Options{
		Key: o.Key, Keep: o.Keep, Extra: o.Extra, Names: o.Names, Describer: reading.NewDescriber(),
	}
}

// Sink returns a sink that hides secrets from the next, and finds the keys by which exchanges are found.
func (o *Options) Sink(next capture.Sink) capture.Sink {
	if len(o.Masks) > 0 {
		next = masked{next, o.Masks}
	}
	return record.NewSink(next, o.Hiding())
}

// OpenStore opens the file of a capture, or makes it. What is appended to it is to be redacted by the same options.
func (o *Options) OpenStore(file string) (*bolt.Store, error) {
	if err := cli.NotAStream(file); err != nil {
		return nil, err
	}
	store := o.Store
	store.Tool = cli.ToolName()
	if !store.SecretsKept {
		store.RedactionKey = redact.Fingerprint(o.Key)
	}
	return bolt.Open(file, store)
}

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
	return Open(o.File, Options{Key: key, Names: names})
}
