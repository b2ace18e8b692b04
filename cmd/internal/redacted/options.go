package redacted

import (
	"context"

	"a2atap/analyzer/reading"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/record"
	"a2atap/replay/client/setup"
)

// Options configure how a capture is written. The zero value hides secrets with a random key.
type Options struct {
	Key   []byte         // of placeholders
	Keep  bool           // secrets are not hidden
	Extra []redact.Place // where the user knows of secrets
	Names *redact.Names  // under which agents are sent credentials; nil if that is found out from the cards alone
	Masks []*setup.Mask  // of secrets that flags have brought

	Notice func(string) // receives notices for the user; may be nil

	// Store configures the file. It states that secrets were kept, since a capture may contain none although none were
	// hidden; the program and the fingerprint of the key are added.
	Store bolt.Options
}

// Hiding returns the options of redaction.
func (o *Options) Hiding() redact.Options {
	return redact.Options{
		Key: o.Key, Keep: o.Keep, Extra: o.Extra, Names: o.Names, Describer: reading.NewDescriber(),
	}
}

// Sink returns a sink that hides secrets from the next sink, and computes the keys by which exchanges are found.
func (o *Options) Sink(next capture.Sink) capture.Sink {
	if len(o.Masks) > 0 {
		next = masked{next, o.Masks}
	}
	return record.NewSink(next, o.Hiding())
}

// OpenStore opens or creates the file of a capture. Callers must redact everything they append, by the same options.
func (o *Options) OpenStore(file string) (*bolt.Store, error) {
	if err := cli.NotAStream(file); err != nil {
		return nil, err
	}
	store := o.Store
	store.Tool = cli.ToolName()
	if !store.SecretsKept {
		store.RedactionKey = redact.Fingerprint(o.Key)
	}
	opened, err := bolt.Open(file, store)
	if err == nil && opened.Exposed() != nil && o.Notice != nil {
		o.Notice(opened.Exposed().Error())
	}
	return opened, err
}

// Hidden returns an exchange as a capture would store it: without its secrets, unless secrets are kept.
func (o *Options) Hidden(x *capture.Exchange) (*capture.Exchange, error) {
	whole := x.Copy()
	whole.Seq, whole.State, whole.Ended = 1, capture.StateClosed, 0
	memory := capture.NewMemory(capture.Info{})
	defer memory.Close()
	if err := o.Sink(memory).Append(capture.Steps(whole)...); err != nil {
		return nil, err
	}
	return memory.Exchange(context.Background(), 1)
}
