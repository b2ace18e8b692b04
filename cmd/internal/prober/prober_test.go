package prober

import (
	"os"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
)

// probeFlags returns a set of flags that fill o.
func probeFlags(o *target) *pflag.FlagSet {
	f := pflag.NewFlagSet("probe", pflag.ContinueOnError)
	o.Register(f)
	return f
}

func TestProtocolsToProbe(t *testing.T) {
	for flags, want := range map[string][]client.Protocol{
		"":                                    nil,
		"--dialect 1.0":                       {client.JSONRPC10, client.REST10, client.GRPC10},
		"--binding http+json":                 {client.REST10, client.REST03},
		"--binding grpc":                      {client.GRPC10, client.GRPC03},
		"--dialect 0.2":                       {client.JSONRPC03, client.REST03, client.GRPC03},
		"--dialect legacy":                    {client.Early},
		"--dialect 0.3 --binding jsonrpc":     {client.JSONRPC03},
		"--protocol 0.3-rest":                 {client.REST03},
		"--protocol 1.0-grpc":                 {client.GRPC10},
		"--protocol-version 1.0":              {client.JSONRPC10, client.REST10, client.GRPC10},
		"--protocol 1.0-rest --dialect 1.0":   {client.REST10},
		"--no-card":                           nil,
		"--no-card --dialect 0.1":             {client.JSONRPC01},
		"--no-card --protocol-version 0.3":    {client.JSONRPC03, client.REST03, client.GRPC03},
		"--no-card --dialect 1.0 --skill abc": {client.JSONRPC10, client.REST10, client.GRPC10},
	} {
		var o target
		must.Do(t, probeFlags(&o).Parse(strings.Fields(flags)))
		agents, err := o.agents(cli.Env{Getenv: os.Getenv}, []string{"http://127.0.0.1:1"})
		if err != nil {
			t.Errorf("%s: %v", flags, err)
			continue
		}
		about := agents[0].about
		if len(about.Protocols) != len(want) {
			t.Errorf("%s: got %v, want %v", flags, about.Protocols, want)
			continue
		}
		for i := range want {
			if about.Protocols[i] != want[i] {
				t.Errorf("%s: got %v, want %v", flags, about.Protocols, want)
			}
		}
		if about.NoCard && about.Fallback == (client.Protocol{}) {
			t.Errorf("%s: no card, and nothing to speak", flags)
		}
	}
}

func TestNamesOfProbedAgents(t *testing.T) {
	for args, want := range map[string]string{
		"http://a:1 http://b:1":               "a:1 b:1",
		"http://a:1/x http://a:1/y/z":         "a:1-x a:1-y-z",
		"p=http://a:1/x http://a:1/x":         "p a:1-x",
		"planner=http://a:1?b=http://c":       "planner",
		"a2a:http://a:1 booker=a2a:http://a1": "a:1 booker",
	} {
		var o target
		must.Do(t, probeFlags(&o).Parse(nil))
		agents, err := o.agents(cli.Env{Getenv: os.Getenv}, strings.Fields(args))
		if err != nil {
			t.Errorf("%s: %v", args, err)
			continue
		}
		var names []string
		for _, a := range agents {
			names = append(names, a.name)
		}
		expect.Equal(t, args, want, strings.Join(names, " "))
	}
}
