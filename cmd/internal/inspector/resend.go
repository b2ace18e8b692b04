package inspector

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/source"
	"a2atap/cmd/internal/verdict"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/replay"
	"a2atap/replay/report"
	"a2atap/tui"
)

// A resender sends requests again for the inspector. It records them into a separate capture next to the inspected one.
// If this process records the inspected capture, requests go through its taps instead.
type resender struct {
	e      cli.Env
	file   string             // capture of the sent requests
	dialer *outbound.Dialer   // nil for the defaults
	taps   map[string][]wayIn // this process's taps by the names of their agents; nil without a recording
	src    capture.Source     // the inspected capture

	sending sync.WaitGroup
}

// A wayIn is a tap and its current agent, which may differ from an earlier recording's.
type wayIn struct{ tap, agent string }

// resenderOf returns a resender for a recording of this process.
func resenderOf(r *recorder.Recording, e cli.Env, src capture.Source) *resender {
	s := &resender{e: e, src: src, file: resentFile(r.Before().Name), dialer: r.Reach(), taps: map[string][]wayIn{}}
	for _, t := range r.Taps() {
		s.taps[t.AgentName()] = append(s.taps[t.AgentName()], wayIn{t.URL(), fmt.Sprint(t.Agent())})
	}
	return s
}

// sender returns the inspector's Sender.
func (s *resender) sender() *tui.Sender {
	return &tui.Sender{Request: s.request, Task: s.task, Editor: s.editor()}
}

// wait waits until all running sends have been recorded.
func (s *resender) wait() { s.sending.Wait() }

// resentFile returns the path of the capture for requests sent again.
func resentFile(name string) string {
	return strings.TrimSuffix(name, filepath.Ext(name)) + "-resent.a2atap"
}

// request returns the request to send for an exchange.
func (s *resender) request(_ context.Context, x *capture.Exchange) (*tui.Outgoing, error) {
	single, err := replay.NewSingle(x)
	if err != nil {
		return nil, err
	}
	in, tapped := s.wayTo(x.Agent)
	if tapped {
		if err := single.Through(in.tap); err != nil {
			return nil, err
		}
	}
	text, err := requestText(x)
	if err != nil {
		return nil, err
	}
	out := &tui.Outgoing{What: single.Method + " " + single.URL, Text: text}
	out.Remarks = remarksOn(single)
	if !single.Here() {
		out.Remote = []string{hostOf(single.URL)}
	}
	out.Send = func(ctx context.Context) (*tui.Sent, error) { return s.sendToAgent(ctx, single) }
	if out.File = s.file; tapped {
		out.File = ""
		if !here(in.agent) {
			out.Remote = append(out.Remote, hostOf(in.agent))
		}
		out.Remarks = append(in.moved(x), out.Remarks...)
		out.Send = func(ctx context.Context) (*tui.Sent, error) { return s.sendThroughTap(ctx, single) }
	}
	out.Edited = func(text []byte) (*tui.Outgoing, error) {
		edited, err := readRequest(text, x)
		if err != nil {
			return nil, err
		}
		again, err := s.request(context.Background(), edited)
		if again != nil {
			again.Text = text
		}
		return again, err
	}
	return out, nil
}

// wayTo returns the tap of an agent: the one in front of its address, else its first one.
func (s *resender) wayTo(agent capture.Peer) (in wayIn, tapped bool) {
	taps := s.taps[agent.Name]
	if len(taps) == 0 {
		return wayIn{}, false
	}
	at := slices.IndexFunc(taps, func(in wayIn) bool { return hostOf(in.agent) == hostOf(agent.URL) })
	return taps[max(at, 0)], true
}

// moved returns a remark if the tap leads to a different agent than the one that received the exchange.
func (in wayIn) moved(x *capture.Exchange) []string {
	if x.Agent.URL == "" || hostOf(in.agent) == hostOf(x.Agent.URL) {
		return nil
	}
	return []string{fmt.Sprintf("the tap of %s now leads to %s; this request went to %s", x.Agent.Name, in.agent, x.Agent.URL)}
}

// remarksOn describes which parts are not sent as recorded, and why.
func remarksOn(single *replay.Single) []string {
	var remarks []string
	if len(single.Unsent) > 0 {
		remarks = append(remarks, strings.Join(single.Unsent, ", ")+
			": the capture has no secrets, so this is not sent; press e to write it")
	}
	if single.Placeholders {
		remarks = append(remarks, "the body has placeholders of secrets, which are sent unchanged")
	}
	return remarks
}

// sendToAgent sends a request, and records it in the capture for requests sent again.
func (s *resender) sendToAgent(ctx context.Context, single *replay.Single) (sent *tui.Sent, err error) {
	s.sending.Add(1)
	defer s.sending.Done()
	err = s.keeping(func(sink capture.Sink, seq uint64) error {
		x, _, err := single.Send(ctx, replay.SingleOptions{Sink: sink, Seq: seq, Dialer: s.dialer})
		if x != nil {
			sent = &tui.Sent{Exchange: x, File: s.file}
		}
		return err
	})
	return sent, err
}

// keeping opens the capture for requests that are sent again, while requests are running. Secrets are hidden in it.
func (s *resender) keeping(send func(sink capture.Sink, seq uint64) error) error {
	quiet := s.e
	quiet.Err = &strings.Builder{} // the screen belongs to the inspector
	names := &redact.Names{}
	to, err := (&redacted.CaptureFlags{File: s.file}).Open(quiet, names)
	if err != nil {
		return err
	}
	if err := source.LearnFrom(context.Background(), s.src, names); err != nil {
		return errors.Join(fmt.Errorf("read the cards of the capture, which name secrets: %w", err), to.Close())
	}
	err = send(to, to.Store.Position().Seq)
	err = errors.Join(err, to.Close())
	verdict.Keep(context.Background(), quiet, "send", s.file)
	return err
}

// tapPatience is how long to wait until an exchange that passed through a tap can be read from the capture.
const tapPatience = 5 * time.Second

// sendThroughTap sends a request through a tap of this process, which records the request. It finds the exchange in the
// capture by the client's address.
func (s *resender) sendThroughTap(ctx context.Context, single *replay.Single) (*tui.Sent, error) {
	s.sending.Add(1)
	defer s.sending.Done()
	info, err := s.src.Info(ctx)
	if err != nil {
		return nil, err
	}
	_, from, err := single.Send(ctx, replay.SingleOptions{})
	if err != nil {
		return nil, err
	}
	limit, cancel := context.WithTimeout(ctx, tapPatience)
	defer cancel()
	next := info.Arrivals + 1
	for s.src.Wait(limit, next) == nil {
		for x, err := range s.src.Exchanges(limit, info.Exchanges+1) {
			if err == nil && x.Client.Addr == from && x.State != capture.StateOpen {
				return &tui.Sent{Exchange: x}, nil
			}
		}
		if info, err := s.src.Info(limit); err == nil {
			next = info.Arrivals + 1
		}
	}
	return &tui.Sent{}, nil
}

// task returns the requests to send for the exchanges of a task.
func (s *resender) task(ctx context.Context, src capture.Source, seqs []uint64) (*tui.Outgoing, error) {
	agents, requests := map[string]string{}, 0
	var remote, moved []string
	for _, seq := range seqs {
		x, err := src.Exchange(ctx, seq)
		if err != nil {
			return nil, err
		}
		if x.Agent.URL == "" {
			return nil, fmt.Errorf("the capture has no address for the agent of exchange %d", seq)
		}
		to, in, tapped := x.Agent.URL, wayIn{}, false
		if in, tapped = s.wayTo(x.Agent); tapped {
			to = in.agent
		}
		if requests++; !here(to) && !slices.Contains(remote, hostOf(to)) {
			remote = append(remote, hostOf(to))
		}
		if agents[x.Agent.Name] == "" {
			agents[x.Agent.Name] = to
			if tapped {
				agents[x.Agent.Name] = in.tap
				moved = append(moved, in.moved(x)...)
			}
		}
	}
	keep := func(x *capture.Exchange) bool { _, is := slices.BinarySearch(seqs, x.Seq); return is }
	options := replay.Options{Rules: rules.All, Dialer: s.dialer, Keep: keep}
	out := &tui.Outgoing{Remote: remote, File: s.file}
	out.What, options.Agents = fmt.Sprintf("%s of the task again", analysis.Plural(requests, "request")), agents
	for name, to := range agents {
		out.Remarks = append(out.Remarks, fmt.Sprintf("requests to %s now go to %s", name, to))
	}
	slices.Sort(out.Remarks)
	out.Remarks = append(append(moved, out.Remarks...), "secrets are not in the capture and are not sent; a2atap replay --auth adds them")
	if len(s.taps) > 0 && len(missingTaps(agents, s.taps)) == 0 {
		out.File = ""
	}
	out.Send = func(ctx context.Context) (*tui.Sent, error) { return s.play(ctx, src, options, out.File) }
	return out, nil
}

// missingTaps returns the agents without a tap.
func missingTaps(agents map[string]string, taps map[string][]wayIn) (names []string) {
	for name := range agents {
		if len(taps[name]) == 0 {
			names = append(names, name)
		}
	}
	return names
}

// play replays the task, and records the traffic unless taps do.
func (s *resender) play(
	ctx context.Context, src capture.Source, options replay.Options, file string,
) (*tui.Sent, error) {
	s.sending.Add(1)
	defer s.sending.Done()
	var r *report.Report
	run := func(sink capture.Sink, seq uint64) (err error) {
		options.Sink, options.Seq = sink, seq
		r, err = replay.Run(ctx, src, "", options)
		return err
	}
	var err error
	if file == "" {
		err = run(nil, 0)
	} else {
		err = s.keeping(run)
	}
	if r == nil {
		return nil, err
	}
	return &tui.Sent{File: file, Report: r}, err
}

// here reports whether a URL is on this machine, judged only by its host's spelling.
func here(agent string) bool {
	u, err := url.Parse(agent)
	return err == nil && hostname.IsLoopback(hostname.Normal(u.Hostname()))
}

func hostOf(agent string) string {
	u, err := url.Parse(agent)
	if err != nil {
		return agent
	}
	return u.Host
}

// editor returns the function that starts the user's editor; nil if the environment does not name one.
func (s *resender) editor() func(path string) (*exec.Cmd, error) {
	for _, name := range []string{"VISUAL", "EDITOR"} {
		words := strings.Fields(s.e.Getenv(name))
		if len(words) == 0 {
			continue
		}
		return func(path string) (*exec.Cmd, error) {
			program, err := exec.LookPath(words[0])
			if err != nil {
				return nil, fmt.Errorf("%s is %q, which cannot be started: %w; nothing was sent", name, words[0], err)
			}
			return exec.Command(program, append(slices.Clone(words[1:]), path)...), nil
		}
	}
	return nil
}
