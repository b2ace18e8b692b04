package replayer

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"a2atap/cmd/internal/cli"
	"a2atap/replay"
	"a2atap/replay/client/setup"
)

// credentials are what the flags give each agent of a replay.
type credentials []*setup.Setup

// credentials reads the flags for each agent of --to, and puts into the options what becomes of them.
func (o *Options) credentials(e cli.Env, options *replay.Options) (credentials, error) {
	var agents []setup.Agent
	if o.other != "" {
		agents = append(agents, setup.Agent{URL: o.other})
	}
	for _, name := range slices.Sorted(maps.Keys(o.named)) {
		agents = append(agents, setup.Agent{Name: name, URL: o.named[name]})
	}
	list, err := o.Flags.Setup(e.World(options.Dialer), agents)
	if err != nil {
		return nil, err
	}
	options.AuthorizeAgent = map[string]replay.Authorizer{}
	for i, a := range agents {
		if a.Name == "" {
			options.Authorize = list[i].Options.Authorize
		} else {
			options.AuthorizeAgent[a.Name] = list[i].Options.Authorize
		}
	}
	return list, nil
}

// tellMissing names a secret that requests are sent without, and the flag that gives it.
func (o *Options) tellMissing(e cli.Env, m *replay.Missing) {
	credentials := m.Credentials()
	if len(o.named) > 0 {
		credentials = m.Agent + "=" + credentials
	}
	if !e.Quiet() {
		e.Notice(fmt.Sprintf("%s, and it is sent without; give it with --auth %s", m, credentials))
	}
}

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
