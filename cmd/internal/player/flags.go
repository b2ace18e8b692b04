package player

import (
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/client/setup"
	"a2atap/replay/playback"
	"a2atap/replay/report"
)

// Flags are the flags of playback.
type Flags struct {
	From        source.Flags
	listen      []string
	filter      string
	agent       string
	speed       string
	breakAfter  int
	binding     string
	usedUp      string
	match       []string
	onMiss      []string
	delay       []string
	fail        []string
	drop        []string
	reach       setup.ReachFlags
	capture     redacted.CaptureFlags
	readyFile   string
	allowRemote bool
	allowHosts  []string
	allowEmpty  bool
	serve       []string
	live        []string
	ignore      []string
	allowUnused bool
	noBaseURLs  bool
	answer      []string
	liveFrom    uint64
	isolated    bool
	set         []string
	format      string
	output      string
	NATS        cli.NATSFlags
	ship        shipment.Flags
}

// Register adds the flags to the command.
func (o *Flags) Register(f *pflag.FlagSet) {
	f.StringArrayVar(&o.listen, "listen", nil, "play the agent NAME at `[NAME=]ADDR`, or all remaining agents; port 0 "+
		"is any free port; repeatable (default 127.0.0.1:0)")
	f.StringVar(&o.filter, "filter", "", "play the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "play only the agent `NAME`")
	f.StringVar(&o.speed, "speed", "1",
		"play recorded pauses `FACTOR` times as fast; max leaves them out")
	f.StringArrayVar(&o.match, "match", nil, "what has to match the recording: `WHAT` is operation (the default), shape "+
		"(also names and types) or exact; in addition, /POINTER is a value in the parameters; repeatable")
	f.StringVar(&o.usedUp, "used-up", "", "what to do after the last recorded answer: `WHAT` is repeat (that answer) or "+
		"error (default repeat for agents, with a program only for calls that change no task; error for models, tools and "+
		"other services)")
	f.StringArrayVar(&o.onMiss, "on-miss", nil, "answer to an unmatched request: `[NAME=]WHAT` is error (the default) or "+
		"forward=URL, the live agent's answer; NAME is one of several agents; repeatable")
	f.StringArrayVar(&o.delay, "delay", nil, "delay answers by `[OP=]D[@WHICH]`, such as 2s: to all requests, or those of the "+
		"operation OP, or some of them; repeatable")
	f.StringArrayVar(&o.fail, "error", nil, "answer the operation with an error: `OP=CODE[@WHICH]`, with a code of "+
		"JSON-RPC, the name of an error of the protocol, or a status of HTTP; OP may be *; repeatable")
	f.StringArrayVar(&o.drop, "drop", nil, "close the connection of the operation `OP[@WHICH]` without an answer; "+
		"repeatable")
	f.StringVar(&o.binding, "binding", "", "let 1.0 cards offer only the `BINDING` jsonrpc, http+json or grpc, for "+
		"clients that use another one than recorded (default as recorded)")
	f.IntVar(&o.breakAfter, "break-after", 0, "cut each stream after `N` events")
	o.reach.Register(f, "without it, none is used")
	o.capture.Register(f, "the traffic into `FILE`")
	o.ship.Register(f, &o.NATS, "with --capture: ")
	o.NATS.Register(f)
	f.StringVar(&o.readyFile, "ready-file", "", "write NAME URL for each address to `FILE` once all are listening")
	f.BoolVar(&o.allowRemote, "allow-remote", false,
		"allow addresses that other machines can reach, and webhooks on other machines")
	f.StringArrayVar(&o.allowHosts, "allow-host", nil, cli.AllowHostHelp)
	f.StringSliceVar(&o.serve, "serve", nil, "with a program: play only the services with these `NAMES`, or addresses; the rest is real")
	f.StringSliceVar(&o.live, "live", nil, "with a program: play all but the services with these `NAMES`, or addresses, which are real")
	f.StringArrayVar(&o.ignore, "ignore", nil, "let what matches the regular expression `PATTERN` differ in requests to "+
		"models, tools and other services; repeatable")
	f.StringArrayVar(&o.answer, "answer", nil, "with a program: play the answer in FILE instead of the recorded one of "+
		"exchange N: `N=FILE` has the body, and before it optionally a status line and header fields; repeatable")
	f.Uint64Var(&o.liveFrom, "live-from", 0, "with a program: play what was recorded before exchange `N`, and ask the real "+
		"services once all of that was requested; -o NEW.a2atap records the run")
	f.StringArrayVar(&o.set, "set", nil, "with --live-from: replace a member of JSON requests to real services: `MEMBER=VALUE`, "+
		"such as model=gpt-x or /options/seed=7; repeatable")
	f.BoolVar(&o.isolated, "require-isolated", false, "with a program: exit with 4 if it connected past a2atap, or if the system "+
		"does not show that")
	f.BoolVar(&o.allowUnused, "allow-unused", false, "exit with 0 even if recorded calls were never asked for")
	f.StringVarP(&o.output, "output", "o", "", "with a program: write the report, or the new capture (.a2atap), to `FILE`")
	f.StringVar(&o.format, "format", "", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", ")+
		" (default from the ending of FILE, or text)")
	f.BoolVar(&o.noBaseURLs, "no-base-urls", false, "do not set the variables from which SDKs of models read an address")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 even if no request came")
}

// A playedAt is an address, and the agent played there. Without a name, it is for all agents without a separate
// address.
type playedAt struct{ name, listen string }

// places parses the values of --listen.
func (o *Flags) places() (list []playedAt, err error) {
	flags := o.listen
	if len(flags) == 0 {
		flags = []string{"127.0.0.1:0"}
	}
	for _, text := range flags {
		var at playedAt
		if name, addr, found := strings.Cut(text, "="); found {
			if !cli.AgentName.MatchString(name) {
				return nil, cli.Usage("--listen %s: %q is not a valid agent name; write NAME=ADDR", text, name)
			}
			at = playedAt{name, addr}
		} else {
			at.listen = text
		}
		if slices.ContainsFunc(list, func(other playedAt) bool { return other.name == at.name }) {
			if at.name == "" {
				return nil, cli.Usage("--listen is given twice without a name; write --listen NAME=ADDR for each agent")
			}
			return nil, cli.Usage("--listen %s: the agent already has an address", text)
		}
		if at.name != "" && o.agent != "" {
			return nil, cli.Usage("--agent %s and --listen %s both choose the agent; use one", o.agent, text)
		}
		if err := cli.LocalOnly(at.listen, o.allowRemote); err != nil {
			return nil, err
		}
		list = append(list, at)
	}
	return list, nil
}

// playback turns flags into options of package playback, except for those of single agents.
func (o *Flags) playback(e cli.Env) (out playback.Options, err error) {
	out = playback.Options{
		BreakAfter: o.breakAfter, UsedUp: playback.UsedUp(o.usedUp), Remote: o.allowRemote,
		OnMiss: func(m playback.Miss) {
			fmt.Fprintf(e.Err, "playback: not matched: %s\n", analysis.Clean(credential.WithoutUserinfo(m.String())))
		},
		OnNotice: e.Notice,
	}
	for _, text := range o.match {
		switch {
		case strings.HasPrefix(text, "/"):
			out.Pointers = append(out.Pointers, text)
		case out.Match != "":
			return out, cli.Usage("--match is both %s and %s; use one, in addition to pointers such as /message/parts/0/text",
				out.Match, text)
		default:
			out.Match = playback.Match(text)
			if err := cli.Choose("word for --match", text,
				string(playback.ByOperation), string(playback.ByShape), string(playback.ByValue)); err != nil {
				return out, err
			}
		}
	}
	if o.binding != "" {
		if err := cli.Choose("binding", o.binding, a2a.JSONRPC.String(), a2a.HTTPJSON.String(), a2a.GRPC.String()); err != nil {
			return out, err
		}
		out.Binding, _ = a2a.ParseBinding(o.binding)
	}
	for _, text := range o.ignore {
		pattern, err := regexp.Compile(text)
		if err != nil {
			return out, cli.Usage("--ignore: %w", err)
		}
		out.Ignore = append(out.Ignore, pattern)
	}
	if o.usedUp != "" {
		if err := cli.Choose("word for --used-up", o.usedUp, string(playback.RepeatLast), string(playback.Refuse)); err != nil {
			return out, err
		}
	}
	if o.breakAfter < 0 {
		return out, cli.Usage("--break-after %d: write a number of events, or 0 to cut no stream", o.breakAfter)
	}
	if o.speed != "max" {
		if out.Speed, err = strconv.ParseFloat(o.speed, 64); err != nil || !(out.Speed > 0) {
			return out, cli.Usage("--speed %q: write a factor above 0, or max", o.speed)
		}
	}
	out.Faults, err = o.faults()
	return out, err
}

// faults parses --delay, --error and --drop.
func (o *Flags) faults() (list []playback.Disruption, err error) {
	for _, kind := range []struct {
		flag   string
		values []string
		parse  func(string) (playback.Disruption, error)
	}{
		{"--delay", o.delay, playback.ParseDelay},
		{"--error", o.fail, playback.ParseError},
		{"--drop", o.drop, playback.ParseDrop},
	} {
		for _, text := range kind.values {
			f, err := kind.parse(text)
			if err != nil {
				return nil, cli.Usage("%s: %w", kind.flag, err)
			}
			list = append(list, f)
		}
	}
	return list, nil
}

// forwards parses the values of --on-miss: the URLs of live agents, by the names of the played agents.
func (o *Flags) forwards(at []playedAt) (map[string]*url.URL, error) {
	said, out := map[string]bool{}, map[string]*url.URL{}
	for _, text := range o.onMiss {
		name, what := "", text
		if before, after, found := strings.Cut(text, "="); found && before != "forward" {
			name, what = before, after
		}
		switch {
		case !slices.ContainsFunc(at, func(p playedAt) bool { return p.name == name }) && name != "":
			return nil, cli.Usage("--on-miss %s: add --listen %s=ADDR for that agent", text, name)
		case name == "" && len(at) > 1:
			return nil, cli.Usage("--on-miss %s: several agents are played; write --on-miss NAME=%s", text, text)
		case name == "":
			name = at[0].name
		}
		if said[name] {
			return nil, cli.Usage("--on-miss %s: given twice for the same requests; use one", text)
		}
		said[name] = true
		to, forward := strings.CutPrefix(what, "forward=")
		if !forward {
			if what != "error" {
				return nil, cli.Usage("--on-miss %s: write error, or forward=URL", text)
			}
			continue
		}
		u, err := url.Parse(to)
		if err != nil || u.Host == "" || u.User != nil || u.Scheme != "http" && u.Scheme != "https" {
			return nil, cli.Usage("--on-miss: forward= needs the URL of an agent, such as forward=http://127.0.0.1:9001/spec, " +
				"without a password")
		}
		out[name] = u
	}
	return out, nil
}
