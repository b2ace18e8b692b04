package main

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strconv"

	"github.com/spf13/cobra"

	"a2atap/analyzer"
	"a2atap/proxy"
	"a2atap/proxy/capture/credential"
	"a2atap/replay/playback"
)

type playbackOptions struct {
	listen      string
	filter      string
	agent       string
	speed       string
	breakAfter  int
	usedUp      string
	match       string
	capture     string
	redactKey   string
	readyFile   string
	allowRemote bool
	allowHosts  []string
	allowed     []proxy.HostPattern // allowHosts
	allowEmpty  bool
}

func newPlayback(e env) *cobra.Command {
	o := playbackOptions{}
	cmd := &cobra.Command{
		Use:   "playback CAPTURE --listen ADDR",
		Short: "Play the agent's side of a capture for a live client",
		Long: `Playback answers a client as the recorded agent did. Requests are matched by operation, task, context and
kinds of parts, in any binding, then by what was requested before: a client may use other words, and what was ignored is
counted. --match shape also asks for the same names and types of parameters, exact for the same values. Repeated requests get the recorded answers in order, then the
last one again (with --used-up error, an error). A request without a match gets a protocol error, and the differences
to the nearest recorded request are printed on standard error. It runs until it is interrupted.

Exit status: 0 all requests were matched, 1 some were not, 2 wrong usage, 3 failed to listen or read, 4 inconclusive:
no request came.`,
		Example: `  a2atap playback c.a2atap --listen 127.0.0.1:9001
  a2atap playback c.a2atap --listen 127.0.0.1:0 --agent booker --speed max --ready-file ready
  a2atap playback c.a2atap --listen 127.0.0.1:9001 --break-after 3`,
		RunE: func(cmd *cobra.Command, args []string) error { return playBack(cmd.Context(), e, o, args[0]) },
	}
	f := cmd.Flags()
	f.StringVar(&o.listen, "listen", "127.0.0.1:0", "listen on `ADDR`; port 0 is a free one")
	f.StringVar(&o.filter, "filter", "", "play the exchanges that match `EXPR`")
	f.StringVar(&o.agent, "agent", "", "play the agent `NAME`")
	f.StringVar(&o.speed, "speed", "1",
		"play recorded pauses at the speed `FACTOR`: 1 as recorded, 2 twice as fast, max without pauses")
	f.IntVar(&o.breakAfter, "break-after", 0, "cut each stream after `N` events")
	f.StringVar(&o.usedUp, "used-up", "repeat",
		"what to do when the recorded answers run out: `WHAT` is repeat (the last one) or error")
	f.StringVar(&o.match, "match", "operation",
		"what has to be as recorded: `WHAT` is operation, shape (names and types, too) or exact")
	f.StringVar(&o.capture, "capture", "", "record the traffic into `FILE`; an existing capture is appended to")
	f.StringVar(&o.redactKey, "redaction-key", "", "with --capture: "+redactionKeyHelp)
	f.StringVar(&o.readyFile, "ready-file", "", "write NAME URL to `FILE` once it is listening")
	f.BoolVar(&o.allowRemote, "allow-remote", false, "allow a listening address that other machines can reach")
	f.StringArrayVar(&o.allowHosts, "allow-host", nil, allowHostHelp)
	f.BoolVar(&o.allowEmpty, "allow-empty", false, "exit with 0 also if no request came")
	return withArgs(cmd, 1, 1)
}

func playBack(ctx context.Context, e env, o playbackOptions, name string) error {
	options, err := o.playback(e)
	if err != nil {
		return err
	}
	keep, err := parseSelection(o.filter, o.agent)
	if err != nil {
		return err
	}
	src, err := openCapture(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := e.tellGaps(ctx, "playback", src); err != nil {
		return err
	}
	if options.Keep, err = keep.chooser(ctx, src); err != nil {
		return fmt.Errorf("playback %s: %w", name, err)
	}
	player, err := playback.New(ctx, src, options)
	if err != nil {
		return fmt.Errorf("playback %s: %w", name, err)
	}
	defer player.Close()
	ctx, cancel := untilInterrupted(ctx, e)
	defer cancel()
	if err := o.serve(ctx, e, player); err != nil {
		return err
	}
	report := player.Report()
	for _, u := range report.Unused {
		e.tell("not requested: exchange %d %s", u.Exchange, u.Operation)
	}
	fmt.Fprintf(e.Err, "playback: %s\n", report.Verdict())
	switch {
	case report.Missed > 0:
		return &exit{code: exitFindings}
	case report.Served == 0 && !o.allowEmpty:
		return &exit{code: exitInconclusive}
	}
	return nil
}

// playback turns flags into what the package takes, but for the choice of exchanges.
func (o *playbackOptions) playback(e env) (playback.Options, error) {
	out := playback.Options{
		BreakAfter: o.breakAfter, UsedUp: playback.UsedUp(o.usedUp), Match: playback.Match(o.match),
	}
	if err := choose("word for --match", o.match,
		string(playback.ByOperation), string(playback.ByShape), string(playback.ByValue)); err != nil {
		return out, err
	}
	if err := choose("word for --used-up", o.usedUp, string(playback.RepeatLast), string(playback.Refuse)); err != nil {
		return out, err
	}
	if o.breakAfter < 0 {
		return out, usage("--break-after %d: write a number of events, or 0 to cut no stream", o.breakAfter)
	}
	if err := localOnly(o.listen, o.allowRemote); err != nil {
		return out, err
	}
	var err error
	if o.allowed, err = parseAllowedHosts(o.allowHosts); err != nil {
		return out, err
	}
	if o.speed != "max" {
		factor, err := strconv.ParseFloat(o.speed, 64)
		if err != nil || factor <= 0 {
			return out, usage("--speed %q: write a factor above 0, or max", o.speed)
		}
		out.Speed = factor
	}
	out.OnMiss = func(m playback.Miss) {
		fmt.Fprintf(e.Err, "playback: not matched: %s\n", analyzer.Clean(credential.WithoutUserinfo(m.String())))
	}
	return out, nil
}

// serve plays until the context ends. With a capture, a tap stands in front of the player.
func (o *playbackOptions) serve(ctx context.Context, e env, player *playback.Player) error {
	if err := removeReady(o.readyFile); err != nil {
		return err
	}
	listen := o.listen
	if o.capture != "" {
		listen = "127.0.0.1:0"
	}
	l, err := net.Listen("tcp", listen)
	if err != nil {
		return fmt.Errorf("listen for playback on %s: %w; choose another port with --listen, or 0 for a free one",
			listen, netCause(err))
	}
	address := "http://" + l.Addr().String() + player.Path()
	if o.capture != "" {
		r, err := o.record(e, address)
		if err != nil {
			l.Close()
			return err
		}
		defer func() {
			if _, _, err := r.stop(); err != nil {
				e.notice(fmt.Sprintf("record the traffic into %s: %v", o.capture, err))
			}
		}()
		address = r.proxy.Taps()[0].URL()
	}
	fmt.Fprintf(e.Out, "playback %s\n", address)
	e.tell("when the recorded answers to a request run out: %s", o.usedUp)
	if err := writeReady(o.readyFile, "playback "+address+"\n"); err != nil {
		l.Close()
		return err
	}
	return serve(ctx, l, checkHosts(e, player, listen, l, o.allowed))
}

func (o *playbackOptions) record(e env, agentURL string) (*recording, error) {
	u, err := url.Parse(agentURL)
	if err != nil {
		return nil, err
	}
	key, err := e.redactionKey(o.redactKey)
	if err != nil {
		return nil, err
	}
	return startRecording(recordingOptions{
		output: o.capture, key: key, allowRemote: o.allowRemote, allowHosts: o.allowed,
		onNotice: e.notice,
		taps:     []proxy.TapSpec{{Name: "playback", Agent: u, Listen: o.listen}},
	})
}
