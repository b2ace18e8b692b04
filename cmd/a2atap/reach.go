package main

import (
	"errors"
	"io/fs"

	"a2atap/proxy/outbound"
	"a2atap/replay/client/setup"
)

// world is what flags of clients are read in.
func (e env) world(d *outbound.Dialer) setup.World {
	return setup.World{Getenv: e.Getenv, Secret: e.secret, Version: tool().Version, Dialer: d}
}

// dialer returns what the flags say about connecting to agents, and warns of what is dangerous.
func (e env) dialer(f *setup.ReachFlags) (*outbound.Dialer, error) {
	d, err := f.Dialer(e.world(nil), e.Now)
	var path *fs.PathError
	var known *exit
	switch {
	case errors.As(err, &path), errors.As(err, &known):
		return nil, err
	case err != nil:
		return nil, usage("%w", err)
	}
	if f.Insecure {
		e.notice("INSECURE: agents on TLS are not verified: anybody on the way can answer in their place")
	}
	return d, nil
}
