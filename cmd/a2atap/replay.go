package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/analyzer/reading"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/receiver"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay"
	"a2atap/replay/client/setup"
	"a2atap/replay/compare"
	"a2atap/replay/report"
)

type replayOptions struct {
	from       source.Flags
	to         []string
	named      map[string]string // of to, by name
	other      string            // of to, without a name; empty if there is none
	filter     string
	agent      string
	profile    string
	speed      string
	wait       time.Duration
	timeout    time.Duration
	noise      noiseFlags
	flags      setup.SeveralFlags
	webhook    receiver.Flags
	elsewhere  elsewhereFlags
	reach      setup.ReachFlags
	capture    string
	redactKey  string
	format     string
	colours    bool
	output     string
	allowEmpty bool
}

func newReplay(e cli.Env) *cobra.Command {
	o := replayOptions{}
	cmd := &cobra.Command{
		Use:   "replay CAPTURE --to URL",
		Short: "Play the client's side of a capture against a live agent, and compare",
		Long: `Replay sends the recorded requests again, in the recorded order and with the recorded concurrency, and
compares the answers by meaning: outcomes, states, kinds and order of events, errors, kinds of parts, types and names in
JSON, media types. Ids that the agent creates are replaced by those of the live agent; texts and the size of chunks may
differ. --profile shape also compares the whole structure and the names of artifacts, exact everything but ids and
times. A rule that only the live agent breaks is a difference, too. --ignore, --match and --noise say what may differ;
none of them hides an outcome, nor a state or an error that it does not name itself.

With several agents in the recording, --to NAME=URL sends what went to the agent NAME; --to URL is for the one that is
not named. What an agent of the recording sent to another is sent again, too, beside the calls that it makes itself when
it is live; --filter client:NAME plays only what NAME sent.

The report names each cause once, and what follows from it below it: an agent that fails a task cannot but answer
otherwise about it. The markdown is for a comment of a pull request, html is one page to keep or to send.

A recording holds no secrets. --auth and --oauth-… are those of send: what they bring goes where the recording has
placeholders, and with NAME= before it to the agent NAME alone. It is not printed.

--binding and --dialect translate the requests, and play a recording of JSON-RPC over HTTP+JSON, or one of 0.3 in 1.0.
What cannot be said there is left out and named. Answers are then compared by what they mean: of another dialect neither
the names in JSON, nor media types, nor the status of HTTP.

Where the recording has webhooks, replay receives in their place and compares the notifications. Agents on other
machines need --webhook-url.

Exit status: 0 no difference, 1 differences, 2 wrong usage, 3 the capture or the agent failed, 4 inconclusive: nothing
was sent, or the capture lost traffic.`,
		Example: `  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --agent booker --capture again.a2atap
  a2atap replay c.a2atap --to booker=http://127.0.0.1:9001 --to planner=http://127.0.0.1:9002
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --ignore GetTask:/metadata/took --noise noise.txt
  a2atap replay c.a2atap --to https://booker.example/a2a --auth bearer:env:TOKEN --format junit -o replay.xml
  a2atap replay c.a2atap --to http://127.0.0.1:9001 --format html -o replay.html
  a2atap replay c.a2atap --to https://booker.example/a2a --oauth-client-id cli --oauth-client-secret @secret
  a2atap replay c.a2atap --to booker=https://b.example --to hotel=https://h.example --auth booker=bearer:env:B
  a2atap replay c.a2atap --to https://booker.example/a2a --webhook-url https://hooks.example
  a2atap replay c.a2atap --to http://127.0.0.1:9001/spec --binding http+json
  a2atap replay old.a2atap --to http://127.0.0.1:9001/spec --dialect 1.0 --capture new.a2atap`,
		RunE: func(cmd *cobra.Command, args []string) error { return replayCapture(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringArrayVar(&o.to, "to", nil, "send to the agent at `[NAME=]URL`: what went to the agent NAME, or to any; repeatable")
	f.StringVar(&o.filter, "filter", "", "replay the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "replay what went to the agent `NAME`")
	f.StringVar(&o.profile, "profile", "protocol", "compare by `PROFILE`: protocol, shape or exact")
	f.StringVar(&o.speed, "speed", "max",
		"play recorded pauses at the speed `FACTOR`: 1 as recorded, 2 twice as fast, max (or 0) without pauses")
	f.DurationVar(&o.wait, "wait", 0, "wait up to `D` for the agent to listen")
	f.DurationVar(&o.timeout, "timeout", replay.DefaultTimeout,
		"wait up to `D` longer than recorded for an answer, an event or a polled state")
	o.noise.register(f)
	o.noise.registerLearning(f)
	o.flags.Register(f, "where the recording has placeholders for secrets")
	o.elsewhere.register(f)
	o.reach.Register(f, "without it, none is used")
	o.webhook.Register(f, "in the place of recorded webhooks: ", "")
	f.StringVar(&o.capture, "capture", "", "record the replayed traffic into `FILE`; an existing capture is appended to")
	f.StringVar(&o.redactKey, "redaction-key", "", "with --capture: "+redacted.KeyHelp)
	f.StringVar(&o.format, "format", "text", "write the report as `FORMAT`: "+strings.Join(report.Formats(), ", "))
	f.StringVarP(&o.output, "output", "o", "-", "write the report to `FILE`")
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 also if nothing was sent or traffic was lost")
	o.from.Register(f, nil)
	o.from.Interrupts = true
	return withArgs(cmd, 1, 1)
}

func replayCapture(ctx context.Context, e cli.Env, o replayOptions, name string) error {
	if err := cli.NotOver(o.output, name); err != nil {
		return err
	}
	options, err := o.replay()
	if err != nil {
		return err
	}
	if options.Dialer, err = e.Dialer(&o.reach); err != nil {
		return err
	}
	if options.Webhook, err = o.webhook.Options(e, "replay"); err != nil {
		return err
	}
	creds, err := o.credentials(e, &options)
	if err != nil {
		return cli.AsUsage(err)
	}
	options.OnMissing = func(m *replay.Missing) { o.tellMissing(e, m) }
	o.colours = o.output == "-" && e.Colours(e.Out)
	e.Out, e.Err = creds.masked(e.Out), creds.masked(e.Err)
	return creds.hide(o.play(ctx, e, creds, options, name))
}

// play replays, and writes the report.
func (o *replayOptions) play(
	ctx context.Context, e cli.Env, creds credentials, options replay.Options, name string,
) error {
	keep, err := judged.ParseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	src, err := o.from.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if options.Keep, err = keep.Chooser(ctx, e, "replay", name, src); err != nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	options.Found = func(ctx context.Context) ([]analyzer.Finding, error) {
		return judged.FindingsIn(ctx, e, "replay", name, src)
	}
	r, err := o.run(ctx, e, creds, src, options)
	if errors.Is(err, replay.ErrSeveralAgents) {
		return cli.Usage("replay %s: %w; add --to NAME=URL for each of them, or choose one with --agent NAME", name, err)
	}
	if r == nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	r.Tool = report.Tool(cli.Tool())
	writeErr := cli.WriteOutput(e, o.output, func(w io.Writer) error {
		return present.WriteDifferences(creds.masked(w), o.format, r, o.colours)
	})
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	verdict := r.Verdict()
	if r.Sent == 0 && r.LeftOut == 0 {
		if why := keep.Nothing(ctx, src); why != "" {
			verdict += "; " + why
		}
	}
	fmt.Fprintf(e.Err, "replay: %s\n", verdict)
	switch {
	case err != nil:
		return fmt.Errorf("replay %s: %w", name, err)
	case len(r.Differences) > 0:
		return &cli.Exit{Code: cli.ExitFindings}
	case !r.Same() && !o.allowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}

// replay turns flags into what the package takes, but for credentials and the choice of exchanges.
func (o *replayOptions) replay() (replay.Options, error) {
	out := replay.Options{Rules: rules.All, Wait: o.wait, Timeout: o.timeout, Late: o.noise.tolerance}
	if len(o.to) == 0 {
		return out, cli.Usage("replay needs --to URL, the agent to send to; see a2atap replay --help")
	}
	if err := o.aim(); err != nil {
		return out, err
	}
	out.Agents = o.named
	if err := cli.Choose("format", o.format, report.Formats()...); err != nil {
		return out, err
	}
	if err := o.webhook.Check(); err != nil {
		return out, err
	}
	if err := o.elsewhere.set(&out); err != nil {
		return out, err
	}
	var err error
	if o.speed != "max" {
		if out.Speed, err = strconv.ParseFloat(o.speed, 64); err != nil || !(out.Speed >= 0) || math.IsInf(out.Speed, 1) {
			return out, cli.Usage("--speed %q: write a factor, such as 1 for the recorded pauses, or max for none", o.speed)
		}
	}
	if out.Profile, err = compare.ParseProfile(o.profile); err != nil {
		return out, cli.Usage("--profile: %w", err)
	}
	out.Noise, err = o.noise.rules()
	return out, err
}

// aim reads the values of --to.
func (o *replayOptions) aim() error {
	o.named = map[string]string{}
	for _, text := range o.to {
		name, at := splitTo(text)
		switch {
		case at == "":
			return cli.Usage("--to %s: the URL is missing; write NAME=URL", text)
		case name == "" && o.other != "":
			return cli.Usage("--to is given twice without a name; write --to NAME=URL for each agent")
		case o.named[name] != "":
			return cli.Usage("--to %s is given twice", name)
		case name == "":
			o.other = at
		default:
			o.named[name] = at
		}
	}
	return nil
}

// splitTo splits [NAME=]URL; a sign in the URL itself begins no name.
func splitTo(text string) (name, at string) {
	before, after, found := strings.Cut(text, "=")
	if !found || strings.Contains(before, "://") {
		return "", text
	}
	return before, after
}

// run replays, and keeps the traffic if that is asked for.
func (o *replayOptions) run(
	ctx context.Context, e cli.Env, creds credentials, src capture.Source, options replay.Options,
) (*report.Report, error) {
	if o.capture == "" {
		return o.send(ctx, creds, src, options)
	}
	store, key, err := redacted.Open(e, o.capture, o.redactKey)
	if err != nil {
		return nil, err
	}
	names := &redact.Names{}
	for _, s := range creds {
		names.LearnForAll(s.SecretHeaders, s.SecretQuery)
	}
	sink := redact.New(store, redact.Options{Key: key, Describer: reading.NewDescriber(), Names: names})
	options.Sink, options.Seq = sink, store.Position().Seq
	r, err := o.send(ctx, creds, src, options)
	err = errors.Join(err, sink.Close())
	judged.KeepReading(context.WithoutCancel(ctx), e, "replay", o.capture)
	return r, err
}

// send replays once, or twice to learn from it.
func (o *replayOptions) send(
	ctx context.Context, creds credentials, src capture.Source, options replay.Options,
) (*report.Report, error) {
	if o.noise.learn != "" {
		return o.learnNoise(ctx, creds.masked, src, options)
	}
	return replay.Run(ctx, src, o.other, options)
}
