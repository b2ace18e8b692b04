package redacted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
)

// keyHelp is the help of --redaction-key.
const keyHelp = "make placeholders for secrets with the key in `FILE|env:NAME`, which a team can share " +
	"(default redaction.key in the user's configuration directory, created when first needed)"

// Flags configure redaction in a capture that a command writes.
type Flags struct {
	Keep   bool // secrets are not hidden
	places []string
	key    string
}

// Register adds the flags to a command.
func (o *Flags) Register(f *pflag.FlagSet) {
	f.BoolVar(&o.Keep, "keep-secrets", false, "do not redact credentials; the capture is marked as containing secrets")
	f.StringArrayVar(&o.places, "redact", nil, "redact the value at `POINTER|header:NAME` as well; repeatable")
	f.StringVar(&o.key, "redaction-key", "", keyHelp)
}

// Options parses the flags, except for the key.
func (o *Flags) Options() (Options, error) {
	out := Options{Keep: o.Keep}
	for _, text := range o.places {
		place, err := redact.ParsePlace(text)
		if err != nil {
			return out, cli.Usage("--redact: %w", err)
		}
		out.Extra = append(out.Extra, place)
	}
	return out, nil
}

// Key returns the key of the flags. It creates the user's key if necessary.
func (o *Flags) Key(e cli.Env) ([]byte, error) { return readKey(e, o.key) }

// KeyForReading returns the user's key, so that placeholders are the same as in recordings, or else a new random key.
func KeyForReading() []byte {
	if config, err := os.UserConfigDir(); err == nil {
		if key, err := redact.ReadKey(filepath.Join(config, "a2atap", "redaction.key")); err == nil {
			return key
		}
	}
	return redact.NewKey()
}

// Seal returns the seal for the stored results of a capture, made with the user's own key, which is created if it does
// not exist. The capture is identified by its ID, or else by the mark of its steps. It returns nil if the key or both
// identities are missing: stored values cannot be trusted then.
func Seal(info capture.Info, mark []byte) *snapshot.Seal {
	if info.ID != uuid.Nil {
		mark = info.ID[:]
	}
	key, err := userKey()
	if err != nil || mark == nil {
		return nil
	}
	return snapshot.NewSeal(key, mark)
}

// readKey returns the redaction key: that of --redaction-key, or else the user's, which it creates if necessary. If the
// user's key is not available, it prints why, and returns a key for this recording only.
func readKey(e cli.Env, flag string) ([]byte, error) {
	if name, ok := strings.CutPrefix(flag, "env:"); ok {
		key, err := redact.ParseKey([]byte(e.Getenv(name)))
		if err != nil {
			return nil, cli.Usage("--redaction-key %s: the variable's value cannot be used: %w", flag, err)
		}
		return key, nil
	}
	if flag != "" {
		key, err := redact.ReadKey(flag)
		if err != nil {
			err = fmt.Errorf("--redaction-key: %w", err)
		}
		var file *fs.PathError
		if err != nil && !errors.As(err, &file) {
			err = cli.Usage("%w", err)
		}
		return key, err
	}
	key, err := userKey()
	if err != nil {
		fmt.Fprintf(e.Err, "a2atap: %v; secrets are hidden with a key for this recording only, so they cannot be "+
			"compared with those of other recordings; --redaction-key FILE names another\n", err)
		return redact.NewKey(), nil
	}
	return key, nil
}

func userKey() ([]byte, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the directory of the redaction key: %w", err)
	}
	return redact.UserKey(filepath.Join(config, "a2atap", "redaction.key"))
}
