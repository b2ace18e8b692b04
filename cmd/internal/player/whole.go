package player

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/program"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/trust"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/forward"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/proxy/record"
	"a2atap/proxy/recording"
	"a2atap/proxy/stdio"
	"a2atap/replay/playback"
)

// RunProgram starts a program and answers from the capture what the program asks of models, tools, agents and other
// services. Nothing is forwarded, except for the names that the flags choose.
func RunProgram(ctx context.Context, e cli.Env, o Flags, name string, args []string) error {
	path, err := exec.LookPath(args[0])
	if err != nil {
		return fmt.Errorf("playback: run %s: %w; give a program on the PATH, or its path", args[0], program.Cause(err))
	}
	options, err := o.whole(e, name)
	if err != nil {
		return err
	}
	src, err := o.From.Open(e, name)
	if err != nil {
		return err
	}
	defer src.Close()
	if err := source.TellGaps(ctx, e, "playback", src); err != nil {
		return err
	}
	r := &run{
		env: e, flags: &o, capture: name, live: map[string]bool{}, names: map[hostname.Origin]string{}, own: map[hostname.Origin]bool{},
		notes: newPlaybackNotes(),
	}
	if r.dialer, err = e.Dialer(&o.reach); err != nil {
		return err
	}
	if r.allowed, err = cli.ParseAllowedHosts(o.allowHosts); err != nil {
		return err
	}
	if r.ship, err = o.ship.Beside(e, o.capture.File); err != nil {
		return err
	}
	if err := r.prepare(ctx, src, options); err != nil {
		if _, ok := errors.AsType[*cli.Exit](err); ok {
			return err
		}
		return fmt.Errorf("playback %s: %w", name, err)
	}
	defer r.player.Close()
	status, err := r.play(ctx, path, args)
	if err != nil {
		return err
	}
	return r.verdict(filepath.Base(path), status)
}

// hiding lets a player hide the secrets of live requests as those in the capture are hidden.
func (o *Flags) hiding(ctx context.Context, e cli.Env, src capture.Source, to *playback.Options) error {
	info, err := src.Info(ctx)
	if err != nil || info.SecretsKept {
		return err
	}
	key, err := o.capture.KeyForComparing(e)
	hide := redacted.Options{Key: key}
	to.Hide, to.Exposed = hide.Hidden, info.Imported
	return err
}

// whole returns the options of a player for a whole program. Nothing is guessed: the values of parameters count.
func (o *Flags) whole(e cli.Env, name string) (playback.Options, error) {
	options, err := o.playback(e)
	if err != nil {
		return options, err
	}
	if err := o.outputs(name); err != nil {
		return options, err
	}
	switch {
	case len(o.onMiss) > 0:
		return options, cli.Usage("--on-miss has no effect on a program; --live NAME lets it reach a real service")
	case len(o.serve) > 0 && len(o.live) > 0:
		return options, cli.Usage("--serve and --live both choose what is played; use one")
	case o.readyFile != "":
		return options, cli.Usage("--ready-file has no effect on a program, which starts once all addresses are listening")
	}
	if options.Match == "" {
		options.Match = playback.ByValue
	}
	options.Upstream = upstream
	return options, nil
}

// A run is one program and what it is answered.
type run struct {
	env      cli.Env
	flags    *Flags
	capture  string           // its name
	dialer   *outbound.Dialer // to services that are not played
	allowed  []hostname.Pattern
	ship     *shipment.To // nil if the recording is not shipped
	player   *playback.Player
	live     map[string]bool            // addresses of services that are not played
	calls    atomic.Int64               // that went to those
	names    map[hostname.Origin]string // of recorded services
	own      map[hostname.Origin]bool   // addresses at which this run plays services
	notes    *notes
	change   *change // of live requests; nil if none goes live
	isolated isolation
	tools    string // path of the socket at which tools are recorded; may be empty
}

// prepare makes the player.
func (r *run) prepare(ctx context.Context, src capture.Source, options playback.Options) error {
	if err := r.flags.hiding(ctx, r.env, src, &options); err != nil {
		return err
	}
	agents, others, err := playback.Agents(ctx, src)
	if err != nil {
		return err
	}
	if err := r.flags.decidable(ctx, src, append(agents, others...)); err != nil {
		return err
	}
	selection, err := verdict.ParseSelection(r.flags.filter, r.flags.agent)
	if err != nil {
		return err
	}
	chosen, err := selection.Chooser(ctx, r.env, "playback", r.capture, src)
	if err != nil {
		return err
	}
	options.Keep = func(x *capture.Exchange) bool {
		played := len(r.flags.serve) == 0 || isChosen(x, r.flags.serve)
		if played = played && !isChosen(x, r.flags.live); !played {
			r.live[playback.Upstream(x.Agent.URL)] = true
		}
		r.name(x)
		return played && chosen(x) && (r.flags.liveFrom == 0 || x.Seq < r.flags.liveFrom)
	}
	answers, err := r.flags.edit(ctx, r.env, src)
	if err != nil {
		return err
	}
	if err := r.goLive(ctx, src, &options); err != nil {
		return err
	}
	r.player, err = playback.New(ctx, answers.source(), options)
	switch {
	case errors.Is(err, playback.ErrNoValue):
		return cli.Usage("--match: %w", err)
	case err != nil:
		return err
	}
	if err := answers.check(r.player); err != nil {
		r.player.Close()
		return err
	}
	return nil
}

// decidable returns an error if the values of --serve or --live do not decide which addresses are played.
func (o *Flags) decidable(ctx context.Context, src capture.Source, names []string) error {
	flag, list := "--serve", o.serve
	if len(list) == 0 {
		flag, list = "--live", o.live
	}
	if len(list) == 0 {
		return nil
	}
	addresses, called := map[string]string{}, map[string]string{} // by name, and names by address
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return err
		}
		name, at := x.Agent.Name, playback.Upstream(x.Agent.URL)
		if at == "" || !isOneOf(name, names) {
			continue
		}
		if was := addresses[name]; was != "" && was != at && isOneOf(name, list) {
			return cli.Usage("%s %s: the capture has calls with that name to %s and to %s; give the addresses instead", flag, name, was, at)
		}
		if was := called[at]; was != "" && isOneOf(was, list) != isOneOf(name, list) && !isAt(at, list) {
			return cli.Usage("%s: in the capture, %s has the names %s and %s; give both, or the address", flag, at, was, name)
		}
		addresses[name], called[at] = at, name
	}
	for _, value := range list {
		if !slices.Contains(names, value) && called[playback.Upstream(value)] == "" {
			return cli.Usage("%s %s: the capture has no calls to it; it has calls to %s", flag, value, orNone(names))
		}
	}
	return nil
}

// isAt reports whether an address is one of the values of a flag, which may also be names.
func isAt(address string, values []string) bool {
	return slices.ContainsFunc(values, func(v string) bool { return playback.Upstream(v) == address })
}

// isChosen reports whether the values of a flag include the service of an exchange, by name or address.
func isChosen(x *capture.Exchange, values []string) bool {
	return isOneOf(x.Agent.Name, values) || isAt(playback.Upstream(x.Agent.URL), values)
}

// plays reports whether what a program asks of an address is answered from the recording.
func (r *run) plays(address string) bool {
	at := playback.Upstream(address)
	if r.live[at] {
		return false
	}
	chosen := len(r.flags.serve) > 0 || r.change != nil && strings.HasPrefix(at, "stdio:") // a tool cannot go live in between
	return !chosen || r.player.Knows(address)
}

// play runs the program, and returns its status.
func (r *run) play(ctx context.Context, path string, args []string) (status int, err error) {
	e, o := r.env, r.flags
	authority, err := trust.Open(e)
	if err != nil {
		return 0, err
	}
	stage := newScene(authority.Leaf, r.plays)
	served := make(chan struct{})
	go func() { defer close(served); stage.serve(r.player) }()
	defer func() { stage.stop(); <-served }()
	var models program.Models
	if !o.noBaseURLs {
		models = program.NewModels(path, e.Getenv, nil)
	}
	for _, why := range models.Skipped {
		e.Tell("%s", why)
	}
	options := proxy.Options{
		Taps: models.Taps, NoRewrite: true, Connect: stage.connect, OnDial: r.notes.dialed, Grace: time.Second,
		Forward: &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf, Bodies: recording.Recognized, Names: r.names},
	}
	listeners, err := r.listen(ctx) // before a tap can get one of these ports
	if err != nil {
		return 0, err
	}
	defer listeners()
	var started atomic.Pointer[recordedRun]
	stage.isTap = func(address string) bool {
		at := started.Load()
		return at != nil && slices.ContainsFunc(at.taps(), func(t *proxy.Tap) bool { return t.Addr() == address })
	}
	recorded, err := r.record(options)
	if err != nil {
		return 0, err
	}
	started.Store(recorded)
	stop := func() {
		if err := recorded.stop(); err != nil {
			e.Notice(fmt.Sprintf("record the traffic into %s: %v", o.capture.File, err))
		}
	}
	further := models.Environ(recorded.taps())
	tools, err := playTools(ctx, r.player, r.plays, r.tools, r.env.Notice)
	if err != nil {
		e.Notice(fmt.Sprintf("tools that a2atap stdio runs cannot be played: %v", err))
	} else {
		further = append(further, stdio.Variable+"="+tools.listener.Path())
		defer tools.close()
	}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, cli.Endings()...)
	if !e.Alone { // else they must not end it before its status is known
		defer signal.Stop(signals)
	}
	relay := cli.SignalRelay{Signals: signals, Interrupts: cli.Interrupts{Now: e.Now}}
	unwatch := r.watch(ctx)
	status, err = program.Run(ctx, e, nil, &relay, path, args, recorded.forward().URL(), further)
	unwatch()
	stop()
	return status, err
}

// listen plays the services at the addresses of --listen, and those that were on this machine also where they were, for
// programs that do not use the proxy.
func (r *run) listen(ctx context.Context) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var serving sync.WaitGroup
	end := func() {
		cancel()
		serving.Wait()
	}
	var begin []func() // once all addresses are known
	defer func() {
		for _, f := range begin {
			serving.Go(f)
		}
		if err != nil {
			end()
		}
	}()
	serve := func(l net.Listener, asked, address string) {
		r.own[hostname.OriginOf(&url.URL{Scheme: "http", Host: l.Addr().String()})] = true
		handler := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			r.player.ServeHTTP(w, q.WithContext(context.WithValue(q.Context(), placeKey{}, address)))
		})
		begin = append(begin, func() {
			cli.Serve(ctx, l, cli.CheckHosts(r.env, handler, asked, l, r.allowed)) //nolint:errcheck // it ends with the program
		})
	}
	moved := map[string]string{}
	if len(r.flags.listen) > 0 {
		places, err := r.flags.places()
		if err != nil {
			return nil, err
		}
		for _, at := range places {
			if at.name == "" {
				return nil, cli.Usage("--listen %s: with a program, write --listen NAME=ADDR", at.listen)
			}
			address := r.player.AddressOf(at.name)
			if address == "" {
				return nil, cli.Usage("--listen %s=%s: the capture has no calls to that agent", at.name, at.listen)
			}
			l, err := net.Listen("tcp", at.listen)
			if err != nil {
				return nil, fmt.Errorf("listen for playback on %s: %w", at.listen, outbound.Cause(err))
			}
			today := "http://" + l.Addr().String()
			moved[playback.Upstream(address)] = today
			fmt.Fprintf(r.env.Err, "%s %s\n", at.name, today)
			serve(l, at.listen, address)
		}
	}
	for _, address := range r.player.Addresses() {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "http" || !hostname.IsLoopback(hostname.Normal(u.Hostname())) || moved[address] != "" {
			continue
		}
		l, err := net.Listen("tcp", u.Host)
		if err != nil {
			r.env.Tell("playback: %s is in use: if the program uses no proxy for localhost, it reaches what listens there", u.Host)
			continue
		}
		serve(l, u.Host, address)
	}
	r.player.Place(moved)
	return end, nil
}

// A recorded run is the proxy in front of a program.
type recordedRun struct {
	taps    func() []*proxy.Tap
	forward func() *forward.Proxy
	stop    func() error
}

// record starts the proxy, which records if the flags say where.
func (r *run) record(o proxy.Options) (*recordedRun, error) {
	if r.flags.capture.File == "" {
		if d := r.dialer; d != nil {
			o.RootCAs, o.Insecure, o.ClientCertificate, o.Upstream = d.Roots, d.Insecure, d.Certificate, d.Proxy
		}
		all := record.New(discard{}, record.Options{Proxy: o, Around: r.counting})
		if err := all.Start(); err != nil {
			return nil, err
		}
		return &recordedRun{all.Taps, all.Forward, func() error { return all.Close(context.Background()) }}, nil
	}
	key, err := r.flags.capture.Key(r.env)
	if err != nil {
		return nil, err
	}
	o.Tools = true
	all, err := recorder.Start(recorder.Options{
		Output: r.flags.capture.File, Hide: redacted.Options{Key: key}, Proxy: o, Reach: r.dialer,
		Listener: listener{e: r.env}, Around: func(next capture.Sink) capture.Sink { return r.counting(r.notes.around(next)) },
		Ship: r.ship,
	})
	if err != nil {
		return nil, err
	}
	r.tools = all.Tools()
	return &recordedRun{all.Taps, all.Forward, func() error { _, _, err := all.Stop(); return err }}, nil
}

// counting counts the calls that go to live services.
func (r *run) counting(next capture.Sink) capture.Sink { return counter{next, r} }

type counter struct {
	capture.Sink
	run *run
}

// Append implements capture.Sink.
func (c counter) Append(steps ...capture.Step) error {
	for i := range steps {
		if opened, ok := steps[i].What.(capture.Opened); ok && !c.run.plays(opened.Agent.URL) {
			c.run.calls.Add(1)
		}
	}
	return c.Sink.Append(steps...)
}

// discard is a sink that keeps nothing.
type discard struct{}

// Append implements capture.Sink.
func (discard) Append(...capture.Step) error { return nil }

// Close implements capture.Sink.
func (discard) Close() error { return nil }

// verdict prints what was answered, writes the report, and returns the exit status.
func (r *run) verdict(program string, status int) error {
	report := r.player.Report()
	if r.change != nil {
		r.calls.Add(int64(report.Forwarded))
		r.change.tellUnused(r.env)
	}
	for _, line := range report.NotRequested() {
		fmt.Fprintf(r.env.Err, "playback: %s\n", line)
	}
	for _, line := range report.NotPlayable() {
		r.env.Notice("playback: " + line)
	}
	fmt.Fprintf(r.env.Err, "playback: %s\n", report.Whole(int(r.calls.Load())))
	if r.flags.isolated || r.isolated.shown && len(r.isolated.seen) > 0 {
		fmt.Fprintf(r.env.Err, "playback: %s\n", &r.isolated)
	}
	if err := r.write(&report, program, status); err != nil {
		return err
	}
	if status != 0 {
		fmt.Fprintf(r.env.Err, "playback: %s exited with %d\n", program, status)
		return &cli.Exit{Code: status}
	}
	nothing := report.Served+report.Forwarded == 0
	switch {
	case report.Missed > 0:
		return &cli.Exit{Code: cli.ExitFindings}
	case nothing && !r.flags.allowEmpty:
		r.env.Tell("playback: inconclusive: nothing was answered from the recording; if the program ignores HTTP_PROXY, give it " +
			"the addresses of --listen NAME=ADDR")
		return &cli.Exit{Code: cli.ExitInconclusive}
	case len(report.Unused) > 0 && !r.flags.allowUnused && !nothing:
		return &cli.Exit{Code: cli.ExitFindings}
	case r.flags.isolated && !r.isolated.proved():
		return &cli.Exit{Code: cli.ExitInconclusive}
	}
	return nil
}
