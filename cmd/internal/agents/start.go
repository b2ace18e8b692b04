package agents

import (
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/replay/refagent"
	"a2atap/replay/refagent/filestore"
)

// Options are the flags of agent.
type Options struct {
	Listen    string
	Fault     string
	Card      string
	Skills    []string
	Bindings  []string
	Push      bool
	WebhookCA string
	Step      time.Duration
	Auth      []string
	Store     string
	Tenants   []string
	MaxTasks  int
	Delay     time.Duration
	ReadyFile string
	Remote    bool
	Hosts     []string
}

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
		return nil, cli.Usage("--card %s: the file has more than %d bytes, so it is not a card", name, maxCardFile)
	case len(text) == 0:
		return nil, cli.Usage("--card %s: the file is empty", name)
	}
	return text, nil
}

// start creates the agents, and returns a function that ends them and closes their store. On an error, it leaves none
// running.
func (o *Options) start(e cli.Env, names []string) (agents []*refagent.Agent, end func(), err error) {
	options := refagent.Options{
		Fault: o.Fault, Push: o.Push, StepTime: o.Step, Tenants: o.Tenants, MaxTasks: o.MaxTasks, Delay: o.Delay,
		Bindings: o.Bindings, Log: e.Notice,
	}
	if options.Auth, err = agentAuth(e, o.Auth); err != nil {
		return nil, nil, err
	}
	if options.Card, err = readCardFile(o.Card); err != nil {
		return nil, nil, err
	}
	if options.Skills, err = skills(o.Skills); err != nil {
		return nil, nil, err
	}
	if options.WebhookRoots, err = webhookRoots(o.WebhookCA); err != nil {
		return nil, nil, err
	}
	var store *filestore.File
	if o.Store != "" {
		if store, err = filestore.Open(o.Store); err != nil {
			return nil, nil, fmt.Errorf("--store %s: %w", o.Store, err)
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

// because adds to an error the flag that prevents an agent from starting.
func (o *Options) because(err error) error {
	var card *refagent.CardError
	var stored *refagent.StoreError
	switch {
	case errors.As(err, &card):
		return cli.Usage("--card %s: %w", o.Card, err)
	case errors.As(err, &stored):
		return fmt.Errorf("--store %s: %w", o.Store, err)
	}
	return cli.Usage("%w", err)
}
