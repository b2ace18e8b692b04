package replayer

import (
	"io"

	"a2atap/replay/client/setup"
)

// credentials are what the flags give each agent of a replay.
type credentials []*setup.Setup

// masked returns a writer that hides the secrets of all agents.
func (c credentials) masked(w io.Writer) io.Writer {
	for _, s := range c {
		w = s.Mask.Writer(w)
	}
	return w
}

// hide returns an error with the same causes whose text holds no secret.
func (c credentials) hide(err error) error {
	for _, s := range c {
		err = s.Mask.Error(err)
	}
	return err
}
