package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/taskfile"
)

// maxCardFile bounds the file of a card, in bytes.
const maxCardFile = 1 << 20

// readCardFile returns the text of a card; nil if the name is empty.
func readCardFile(name string) ([]byte, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--card %s: %w", name, cli.Cause(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxCardFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("--card %s: %w", name, cli.Cause(err))
	case len(text) > maxCardFile:
		return nil, cli.Usage("--card %s: the file has more than %d bytes, so it is no card", name, maxCardFile)
	case len(text) == 0:
		return nil, cli.Usage("--card %s: the file is empty", name)
	}
	return text, nil
}

// start makes the agents, and returns what ends them and closes their store. On an error none is left.
func (o *agentOptions) start(e cli.Env, names []string) (agents []*refagent.Agent, end func(), err error) {
	options := refagent.Options{
		Fault: o.fault, Push: o.push, StepTime: o.step, Tenants: o.tenants, MaxTasks: o.maxTasks, Delay: o.delay,
		Log: e.Notice,
	}
	if options.Auth, err = agentAuth(e, o.auth); err != nil {
		return nil, nil, err
	}
	if options.Card, err = readCardFile(o.card); err != nil {
		return nil, nil, err
	}
	if options.WebhookRoots, err = webhookRoots(o.webhookCA); err != nil {
		return nil, nil, err
	}
	var store *taskfile.File
	if o.store != "" {
		if store, err = taskfile.Open(o.store); err != nil {
			return nil, nil, fmt.Errorf("--store %s: %w", o.store, err)
		}
		options.Store = store
	}
	end = func() {
		for _, a := range agents {
			a.Close()
		}
		if store != nil {
			store.Close() //nolint:errcheck // all that was kept is on the disk
		}
	}
	for _, name := range names {
		a, err := refagent.New(name, options)
		if err != nil {
			end()
			return nil, nil, o.because(err)
		}
		agents = append(agents, a)
	}
	return agents, end, nil
}

// because says which flag an agent could not be made with.
func (o *agentOptions) because(err error) error {
	var card *refagent.CardError
	var stored *refagent.StoreError
	switch {
	case errors.As(err, &card):
		return cli.Usage("--card %s: %w", o.card, err)
	case errors.As(err, &stored):
		return fmt.Errorf("--store %s: %w", o.store, err)
	}
	return cli.Usage("%w", err)
}
