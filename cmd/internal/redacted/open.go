package redacted

import (
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
)

// Help of flags that import shares with record and run.
const (
	KeepSecretsHelp = "do not redact credentials; the capture is marked as holding secrets"
	RedactHelp      = "redact the value at `POINTER|header:NAME` as well; repeatable"
)

func ParsePlaces(list []string) ([]redact.Place, error) {
	var out []redact.Place
	for _, s := range list {
		r, err := redact.ParsePlace(s)
		if err != nil {
			return nil, cli.Usage("--redact: %w", err)
		}
		out = append(out, r)
	}
	return out, nil
}

// Open opens a capture for traffic of our own, with the key that secrets in it are hidden with.
func Open(e cli.Env, file, redactKey string) (*bolt.Store, []byte, error) {
	if err := cli.NotAStream(file); err != nil {
		return nil, nil, err
	}
	key, err := Key(e, redactKey)
	if err != nil {
		return nil, nil, err
	}
	store, err := bolt.Open(file, Named(bolt.Options{Tool: cli.ToolName()}, key))
	return store, key, err
}
