// Package replayer replays the client's side of a capture against live agents and reports the differences. It handles
// the flags, credentials of each agent, and learned rules for noise. Package replay sends and compares.
package replayer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	analyzed "a2atap/analyzer/report"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/differ"
	"a2atap/cmd/internal/player"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/receiver"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay"
	"a2atap/replay/client/setup"
	"a2atap/replay/compare"
	"a2atap/replay/limits"
	"a2atap/replay/report"
)

// Options are the flags of replay.
type Options struct {
	From        source.Flags
	To          []string
	named       map[string]string // of to, by name
	other       string            // of to, without a name; may be empty
	Filter      string
	Agent       string
	Profile     string
	Speed       string
	Wait        time.Duration
	Timeout     time.Duration
	Limits      limits.Limits
	Noise       differ.Noise
	Baseline    verdict.BaselineFlags
	Flags       setup.SeveralFlags
	Webhook     receiver.Flags
	Translation translation
	Reach       setup.ReachFlags
	Capture     redacted.CaptureFlags
	Format      string
	Texts       bool
	paint       func(analyzed.Ink, string) string
	Stay        bool
	Play        []string
	Output      string
	AllowEmpty  bool
}

// Run replays a capture, and writes a report on the differences.
func Run(ctx context.Context, e cli.Env, o Options, name string) error {
	if err := cli.NotOver(o.Output, name); err != nil {
		return err
	}
	options, err := o.replay()
	if err != nil {
		return err
	}
	if options.Dialer, err = e.Dialer(&o.Reach); err != nil {
		return err
	}
	if options.Webhook, err = o.Webhook.Options(e, "replay"); err != nil {
		return err
	}
	creds, err := o.credentials(e, &options)
	if err != nil {
		return cli.AsUsage(err)
	}
	options.OnMissing = func(m *replay.Missing) { o.tellMissing(e, m) }
	if o.Output == "-" {
		o.paint = present.PaintReport(e, e.Out)
	}
	masks := creds.masks()
	e.Out, e.Err = masks.Writer(e.Out), masks.Writer(e.Err)
	return masks.Error(o.play(ctx, e, creds, options, name))
}

// play replays the capture, and writes the report.
func (o *Options) play(
	ctx context.Context, e cli.Env, creds credentials, options replay.Options, name string,
) error {
	keep, err := verdict.ParseSelection(o.Filter, o.Agent)
	if err != nil {
		return err
	}
	src, err := o.From.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if options.Keep, err = keep.Chooser(ctx, e, "replay", name, src); err != nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	known, err := o.Baseline.Open(e)
	if err != nil {
		return err
	}
	options.Accepted, options.AcceptedCalls = known.Knows, known.KnowsCalls
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	options.Found = func(ctx context.Context) ([]analysis.Finding, error) {
		return verdict.FindingsIn(ctx, e, "replay", name, src)
	}
	neighbors, err := o.neighbors(ctx, e, name, src, &options)
	if err != nil {
		return err
	}
	r, err := o.run(ctx, e, creds, src, options)
	if neighbors != nil {
		err = errors.Join(err, neighbors.End(r))
	}
	if errors.Is(err, replay.ErrSeveralAgents) {
		return cli.Usage("replay %s: %w; add --to NAME=URL for each of them, or choose one with --agent NAME", name, err)
	}
	if r == nil {
		return fmt.Errorf("replay %s: %w", name, err)
	}
	r.Tool, r.Paint = cli.Tool(), o.paint
	writeErr := cli.WriteOutput(e, o.Output, func(w io.Writer) error {
		return report.Write(creds.masks().Writer(w), o.Format, r)
	})
	if writeErr != nil {
		return errors.Join(err, writeErr)
	}
	if finishErr := known.Finish(e, nil, nil, nil); finishErr != nil {
		return errors.Join(err, finishErr)
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
	case !r.Same() && !o.AllowEmpty:
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}

// neighbors plays the services of --play, whose calls are not sent; nil without such services.
func (o *Options) neighbors(
	ctx context.Context, e cli.Env, name string, src capture.Source, options *replay.Options,
) (*player.Neighbors, error) {
	if len(o.Play) == 0 {
		return nil, nil //nolint:nilnil // nothing is played
	}
	if o.Noise.Learn != "" {
		return nil, cli.Usage("--learn-noise replays twice, and --play has each recorded answer once; use one")
	}
	n, err := player.PlayNeighbors(ctx, e, o.Play, o.Capture, name, src)
	if err != nil {
		return nil, err
	}
	keep := options.Keep
	options.Keep = func(x *capture.Exchange) bool { return !n.Plays(x) && (keep == nil || keep(x)) }
	return n, nil
}

// replay turns flags into options of package replay, except for credentials and the choice of exchanges.
func (o *Options) replay() (replay.Options, error) {
	out := replay.Options{Rules: rules.All, Wait: o.Wait, Timeout: o.Timeout, Limits: o.Limits, Late: o.Noise.Tolerance, Texts: o.Texts, Stay: o.Stay}
	if len(o.To) == 0 {
		return out, cli.Usage("replay needs --to URL, the agent to send to; see a2atap replay --help")
	}
	if err := o.aim(); err != nil {
		return out, err
	}
	out.Agents = o.named
	if err := cli.ChooseFormat("format", &o.Format, o.Output, report.Formats()...); err != nil {
		return out, err
	}
	if err := o.Webhook.Check(); err != nil {
		return out, err
	}
	if err := o.Translation.set(&out); err != nil {
		return out, err
	}
	var err error
	if o.Speed != "max" {
		if out.Speed, err = strconv.ParseFloat(o.Speed, 64); err != nil || !(out.Speed >= 0) || math.IsInf(out.Speed, 1) {
			return out, cli.Usage("--speed %q: write a factor, such as 1 for the recorded pauses, or max for no pauses", o.Speed)
		}
	}
	if out.Profile, err = compare.ParseProfile(o.Profile); err != nil {
		return out, cli.Usage("--profile: %w", err)
	}
	out.Noise, err = o.Noise.Rules()
	return out, err
}

// aim parses the values of --to.
func (o *Options) aim() error {
	o.named = map[string]string{}
	for _, text := range o.To {
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

// splitTo splits [NAME=]URL; an equals sign inside the URL does not end a name.
func splitTo(text string) (name, at string) {
	before, after, found := strings.Cut(text, "=")
	if !found || strings.Contains(before, "://") {
		return "", text
	}
	return before, after
}

// run replays the capture, and records the traffic if requested.
func (o *Options) run(
	ctx context.Context, e cli.Env, creds credentials, src capture.Source, options replay.Options,
) (*report.Report, error) {
	if o.Capture.File == "" {
		return o.send(ctx, creds, src, options)
	}
	names := &redact.Names{}
	for _, s := range creds {
		names.LearnForAll(s.SecretHeaders, s.SecretQuery)
	}
	to, err := o.Capture.Open(e, names)
	if err != nil {
		return nil, err
	}
	options.Sink, options.Seq = to, to.Store.Position().Seq
	r, err := o.send(ctx, creds, src, options)
	err = errors.Join(err, to.Close())
	verdict.Keep(context.WithoutCancel(ctx), e, "replay", o.Capture.File)
	return r, err
}

// send replays the capture once, or twice to learn noise.
func (o *Options) send(
	ctx context.Context, creds credentials, src capture.Source, options replay.Options,
) (*report.Report, error) {
	if o.Noise.Learn != "" {
		return o.learnNoise(ctx, creds.masks().Writer, src, options)
	}
	return replay.Run(ctx, src, o.other, options)
}

// credentials are the credentials for each agent of a replay, from flags.
type credentials []*setup.Setup

// masks returns the strings to hide for all agents.
func (c credentials) masks() (masks setup.Masks) {
	for _, s := range c {
		masks = append(masks, s.Mask)
	}
	return masks
}

// credentials parses the flags for each agent of --to, renders its URL, and sets both in the options.
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
	options.AuthorizeAgent, options.CredentialsTo = map[string]replay.Authorizer{}, o.Flags.To
	for i, a := range agents {
		if a.Name == "" {
			o.other, options.Authorize = list[i].URL, list[i].Options.Authorize
		} else {
			o.named[a.Name], options.AuthorizeAgent[a.Name] = list[i].URL, list[i].Options.Authorize
		}
	}
	return list, nil
}

// tellMissing names a secret missing from requests, and the flag that supplies it.
func (o *Options) tellMissing(e cli.Env, m *replay.Missing) {
	credentials := m.Credentials()
	if len(o.named) > 0 {
		credentials = m.Agent + "=" + credentials
	}
	if !e.Quiet() {
		e.Notice(fmt.Sprintf("%s, and the request is sent without it; give it with --auth %s", m, credentials))
	}
}

// learnNoise replays twice, and adds the differences between the runs to the file of --learn-noise.
func (o *Options) learnNoise(
	ctx context.Context, mask func(io.Writer) io.Writer, src capture.Source, options replay.Options,
) (*report.Report, error) {
	before, err := os.ReadFile(o.Noise.Learn)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--learn-noise %s: %w", o.Noise.Learn, cli.Cause(err))
	}
	r, learnt, err := replay.Learn(ctx, src, o.other, options)
	if err != nil || len(learnt) == 0 {
		return r, err
	}
	var text bytes.Buffer
	if err := writeLearnt(mask(&text), learnt, len(before) == 0); err != nil {
		return r, err
	}
	if len(before) > 0 && !bytes.HasSuffix(before, []byte("\n")) {
		before = append(before, '\n')
	}
	if err := os.WriteFile(o.Noise.Learn, append(before, text.Bytes()...), 0o644); err != nil {
		return r, fmt.Errorf("--learn-noise: %w", err)
	}
	r.Notes = append(r.Notes, fmt.Sprintf("%s written to %s: review before use with --noise",
		analysis.Plural(len(learnt), "rule"), o.Noise.Learn))
	return r, nil
}
