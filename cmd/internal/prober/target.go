package prober

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/replay/client"
	"a2atap/replay/client/setup"
	"a2atap/replay/limits"
	"a2atap/replay/probe"
)

// A target holds the flags that select the agents to probe, and how to connect to them.
type target struct {
	flags   setup.Flags
	dialect string
	binding string
	patch   string
	drive   string
	skills  []string
	prompts []string
	learn   string   // a capture
	ca      []string // --ca
	reach   setup.ReachFlags
	second  string
	auth2   string
}

// dialects are the values of --dialect, with their protocols and versions.
var dialects = []struct {
	word, protocol string
}{
	{"1.0", "1.0"},
	{"0.3", "0.3"},
	{"0.2", "0.3"}, // the same on the wire
	{"0.1", "0.1"},
	{"legacy", "legacy"},
}

func (o *target) Register(f *pflag.FlagSet) {
	o.flags.Register(f)
	o.flags.Limits = limits.Limits{Answer: 8 << 20, Events: 10_000} // several scenarios run at the same time
	cli.RegisterLimits(f, &o.flags.Limits, false)
	timeout := f.Lookup("timeout")
	timeout.DefValue, timeout.Usage = "1m0s", "wait up to `D` for an answer, and for a task to end"
	o.flags.Timeout = time.Minute
	var words []string
	for _, d := range dialects {
		words = append(words, d.word)
	}
	f.StringVar(&o.dialect, "dialect", "", "use only this `VERSION` of A2A: "+strings.Join(words, ", ")+
		" (default all versions in the card)")
	f.StringVar(&o.binding, "binding", "", "use only this `BINDING`: jsonrpc, http+json or grpc (default all bindings in "+
		"the card)")
	f.StringVar(&o.patch, "spec-patch", "", "insist on the HTTP statuses of A2A `VERSION` 1.0.0 or 1.0.1 (default either)")
	f.StringVar(&o.drive, "drive", "", "get the agent to create tasks by `HOW`: scripted, the keywords of the reference "+
		"agents, or natural, the examples of its card (default depends on its skills)")
	f.StringArrayVar(&o.skills, "skill", nil, "send only the examples of the skill `ID`; repeatable")
	f.StringArrayVar(&o.prompts, "prompt", nil, promptHelp)
	f.StringVar(&o.learn, "profile-from", "", "learn from `CAPTURE` which texts make the agent behave as scenarios need, "+
		"and send them instead of the examples of its card")
	f.StringVar(&o.second, "second-auth", "", "the `CREDENTIALS` of another user of the same agent, written as for "+
		"--auth: also tests what users see of each other; with --auth2, a user of the first agent")
	f.StringVar(&o.auth2, "auth2", "", "send these `CREDENTIALS` to the agent at URL2, written as for --auth, and those "+
		"of --auth or --oauth-… only to the one at URL (default the same to both)")
	o.reach.Register(f, "without it, none is used")
	f.StringArrayVar(&o.ca, "ca", nil, "same as --agent-ca: also trust the authorities in `FILE` (PEM); repeatable")
}

// An agent is an agent to probe.
type agent struct {
	name  string // in links and reports
	setup *setup.Setup
	// second is the setup of a second user; nil without one.
	second *setup.Setup
	about  probe.Options // options specific to it
}

type agents []*agent

// masks returns the strings to hide for all agents.
func (list agents) masks() setup.Masks {
	var masks setup.Masks
	for _, a := range list {
		masks = append(masks, a.setup.Mask)
		if a.second != nil {
			masks = append(masks, a.second.Mask)
		}
	}
	return masks
}

// withName matches an agent argument with a name.
var withName = regexp.MustCompile(`^([A-Za-z0-9._-]+)=(.*)$`)

// agents parses the flags for each agent.
func (o *target) agents(e cli.Env, args []string) (agents, error) {
	about, err := o.about(e)
	if err != nil {
		return nil, err
	}
	if o.auth2 != "" && len(args) < 2 {
		return nil, errors.New("--auth2 is for a second agent, and only one is given; --second-auth is for another user of the same agent")
	}
	var list agents
	for i, arg := range args {
		a := &agent{about: about}
		if m := withName.FindStringSubmatch(arg); m != nil {
			a.name, arg = m[1], m[2]
		}
		world := e.World(about.Dialer)
		flags := o.flags
		second := i > 0 && o.auth2 != ""
		if second { // credentials for the first agent are not for the second
			flags.Auth, flags.OAuth = o.auth2, setup.OAuthFlags{}
		}
		if a.setup, err = flags.Setup(world, arg); err != nil {
			if second {
				err = fmt.Errorf("--auth2: %w", err)
			}
			return nil, err
		}
		u, err := url.Parse(a.setup.URL)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			if err := cli.CheckScheme(a.setup.Mask.Text(arg)); err != nil {
				return nil, err
			}
			return nil, fmt.Errorf("invalid URL of an agent %q; write http://HOST:PORT/PATH", a.setup.Mask.Text(arg))
		}
		if err := o.speak(a); err != nil {
			return nil, err
		}
		if !second {
			if err := o.another(a, world, arg); err != nil {
				return nil, err
			}
		}
		list = append(list, a)
	}
	return list, list.call()
}

// another parses the credentials of a second user.
func (o *target) another(a *agent, world setup.World, url string) error {
	if o.second == "" {
		return nil
	}
	flags := o.flags
	flags.Auth, flags.OAuth = o.second, setup.OAuthFlags{}
	second, err := flags.Setup(world, url)
	if err != nil {
		return fmt.Errorf("--second-auth: %w", err)
	}
	a.second, a.about.Second = second, &second.Options
	return nil
}

// call names agents without a name: host and port, and also the path if those are equal.
func (list agents) call() error {
	hosts := make(map[string]int)
	for _, a := range list {
		u, _ := url.Parse(a.setup.URL) // agents has already parsed it
		hosts[u.Host]++
	}
	seen := make(map[string]bool)
	for _, a := range list {
		u, _ := url.Parse(a.setup.URL)
		if a.name == "" {
			a.name = u.Host
			if path := strings.Trim(u.Path, "/"); hosts[u.Host] > 1 && path != "" {
				a.name += "-" + strings.ReplaceAll(path, "/", "-")
			}
		}
		if seen[a.name] {
			return fmt.Errorf("both agents are named %q; write NAME=URL", a.name)
		}
		seen[a.name] = true
	}
	return nil
}

// learns learns about the agents from a recording.
func (o *target) learns(ctx context.Context, e cli.Env, list agents) error {
	if o.learn == "" {
		return nil
	}
	src, err := source.Open(e, o.learn)
	if err != nil {
		return fmt.Errorf("--profile-from: %w", err)
	}
	defer src.Close()
	for _, a := range list {
		learned, err := probe.Learn(ctx, src, a.name, a.setup.URL)
		if err != nil {
			return fmt.Errorf("--profile-from %s: %w", cli.ShownName(o.learn), err)
		}
		a.about.Learned = learned.Prompts
		e.Tell("probe: learned of %s from %s: %s", a.name, analysis.Plural(learned.Exchanges, "exchange"),
			cmp.Or(strings.Join(learned.Behaviors(), ", "), "nothing useful"))
	}
	return nil
}

// about returns the options that all agents share.
func (o *target) about(e cli.Env) (probe.Options, error) {
	about := probe.Options{Skills: o.skills, Drive: probe.Drive(o.drive), Patch: o.patch, Timeout: o.flags.Timeout}
	for _, word := range []struct {
		what, word string
		known      []string
	}{
		{"dialect", o.dialect, []string{"1.0", "0.3", "0.2", "0.1", "legacy"}},
		{"binding", o.binding, []string{"jsonrpc", "http+json", "grpc"}},
		{"word for --spec-patch", o.patch, []string{"1.0.0", "1.0.1"}},
		{"drive", o.drive, []string{string(probe.Scripted), string(probe.Natural)}},
	} {
		if word.word == "" {
			continue
		}
		if err := cli.Choose(word.what, word.word, word.known...); err != nil {
			return about, err
		}
	}
	var err error
	if about.Prompts, err = parsePrompts(o.prompts); err != nil {
		return about, err
	}
	reach := o.reach
	reach.Authorities = append(slices.Clip(reach.Authorities), o.ca...)
	about.Dialer, err = e.Dialer(&reach)
	return about, err
}

// speak selects the protocols for an agent.
func (o *target) speak(a *agent) error {
	chosen := a.setup.Options.Prefer
	if chosen == nil {
		chosen = client.Protocols()
	}
	version := ""
	for _, d := range dialects {
		if d.word == o.dialect {
			version = d.protocol
			a.about.Versions = []string{d.word}
		}
	}
	var left []client.Protocol
	for _, p := range chosen {
		if (version == "" || p.Version == version) && (o.binding == "" || strings.EqualFold(p.Binding, o.binding)) {
			left = append(left, p)
		}
	}
	if len(left) == 0 {
		return cli.Usage("--protocol, --protocol-version, --dialect and --binding leave no protocol to use")
	}
	narrowed := o.flags.Protocol+o.flags.A2AVersion+o.dialect+o.binding != ""
	if narrowed {
		a.about.Protocols = left
	}
	switch {
	case narrowed:
		a.about.Fallback = left[0]
	case o.flags.NoCard:
		a.about.Fallback = client.REST10
	}
	if o.flags.NoCard && slices.Contains(left, client.REST10) && o.flags.Protocol == "" && o.binding == "" {
		a.about.Fallback = client.REST10
	}
	a.about.NoCard = o.flags.NoCard
	return nil
}

// options returns the options of probing an agent.
func (r *run) options(a *agent) probe.Options {
	options := a.about
	options.Client, options.Name = a.setup.Options, a.name
	options.Scenarios, options.Keep = r.scenarios, r.o.Choice.keep
	options.Webhook = r.webhook
	options.Wait, options.Parallel, options.Keys = r.o.Wait, r.o.Parallel, r.keys
	return options
}

const promptHelp = "send TEXT to get the named behavior, `BEHAVIOR=TEXT`: message-only, task-lifecycle, " +
	"task-failure, task-cancel (work for a while), multi-turn (ask back), streaming, long-running or data-types; repeatable"

// parsePrompts parses the flags --prompt.
func parsePrompts(flags []string) (map[probe.Behavior]string, error) {
	prompts := make(map[probe.Behavior]string, len(flags))
	for _, flag := range flags {
		name, text, ok := strings.Cut(flag, "=")
		behavior := probe.Behavior(name)
		switch {
		case !ok || strings.TrimSpace(text) == "":
			return nil, cli.Usage("--prompt %q: write BEHAVIOR=TEXT, such as task-cancel='count to a million'", flag)
		case !slices.Contains(probe.Behaviors(), behavior):
			var known []string
			for _, b := range probe.Behaviors() {
				known = append(known, string(b))
			}
			return nil, cli.Choose("behavior for --prompt", name, known...)
		case prompts[behavior] != "":
			return nil, cli.Usage("--prompt %s is given twice", name)
		}
		prompts[behavior] = text
	}
	return prompts, nil
}
