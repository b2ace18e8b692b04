package cli

import (
	"errors"
	"io/fs"

	"a2atap/proxy/outbound"
	"a2atap/replay/client/setup"
)

// World is what flags of clients are read in.
func (e Env) World(d *outbound.Dialer) setup.World {
	return setup.World{Getenv: e.Getenv, Secret: e.Secret, Version: Tool().Version, Dialer: d}
}

// Dialer returns what the flags say about connecting to agents, and warns of what is dangerous.
func (e Env) Dialer(f *setup.ReachFlags) (*outbound.Dialer, error) {
	d, err := f.Dialer(e.World(nil), e.Now)
	var path *fs.PathError
	var known *Exit
	switch {
	case errors.As(err, &path), errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, Usage("%w", err)
	}
	if f.Insecure {
		e.Notice("INSECURE: agents on TLS are not verified: whoever is on the way can answer in their place")
	}
	return d, nil
}
