package redacted

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// KeyForReading is the user's key, if there is one, so that placeholders are those of recordings.
func KeyForReading() []byte {
	if config, err := os.UserConfigDir(); err == nil {
		if key, err := redact.ReadKey(filepath.Join(config, "a2atap", "redaction.key")); err == nil {
			return key
		}
	}
	return redact.NewKey()
}

const KeyHelp = "make placeholders for secrets with the key in `FILE|env:NAME`, which a team can share " +
	"(default redaction.key in the user's configuration folder, made when it is first needed)"

// Key returns the key with which secrets are hidden: the one that --redaction-key names, or else the user's,
// made if there is none. Where the user's own cannot be had it says why, and returns one for this recording only.
func Key(e cli.Env, flag string) ([]byte, error) {
	if name, ok := strings.CutPrefix(flag, "env:"); ok {
		key, err := redact.ParseKey([]byte(e.Getenv(name)))
		if err != nil {
			return nil, cli.Usage("--redaction-key %s: the variable cannot be used: %w", flag, err)
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
		fmt.Fprintf(e.Err, "a2atap: %v; secrets are hidden with a key for this recording only, so that they cannot be "+
			"compared with those of other recordings; --redaction-key FILE names another\n", err)
		return redact.NewKey(), nil
	}
	return key, nil
}

func userKey() ([]byte, error) {
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, fmt.Errorf("find the folder of the redaction key: %w", err)
	}
	return redact.UserKey(filepath.Join(config, "a2atap", "redaction.key"))
}

// Named adds to the options of a store which key secrets are hidden with.
func Named(o bolt.Options, key []byte) bolt.Options {
	if !o.SecretsKept {
		o.RedactionKey = redact.Fingerprint(key)
	}
	return o
}
