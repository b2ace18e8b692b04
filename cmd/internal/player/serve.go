package player

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/hostname"
	"a2atap/proxy/outbound"
	"a2atap/proxy/webhook"
)

// serve plays until the context ends. With a capture, each player is behind a tap.
func (s *stage) serve(ctx context.Context) error {
	o := s.flags
	if err := cli.RemoveReady(o.readyFile); err != nil {
		return err
	}
	var listeners []net.Listener
	defer func() {
		for _, l := range listeners {
			l.Close()
		}
	}()
	for _, r := range s.roles {
		listen := r.listen
		if o.capture.File != "" {
			listen = "127.0.0.1:0"
		}
		l, err := net.Listen("tcp", listen)
		if err != nil {
			return fmt.Errorf("listen for playback on %s: %w; choose another port with --listen, or 0 for a free one",
				listen, outbound.Cause(err))
		}
		listeners = append(listeners, l)
		r.url = "http://" + l.Addr().String() + r.player.Path()
	}
	s.place()
	shown := func(i int) string { return s.roles[i].url }
	if o.capture.File != "" {
		recording, err := s.record()
		if err != nil {
			return err
		}
		defer func() {
			if _, _, err := recording.Stop(); err != nil {
				s.env.Notice(fmt.Sprintf("record the traffic into %s: %v", o.capture.File, err))
			}
		}()
		taps := recording.Taps()
		shown = func(i int) string { return taps[i].URL() }
	}
	if err := s.loops(shown); err != nil {
		return err
	}
	if err := s.announce(shown); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	errs := make([]error, len(s.roles))
	var served sync.WaitGroup
	for i, r := range s.roles {
		listen := r.listen
		if o.capture.File != "" {
			listen = "127.0.0.1:0"
		}
		served.Go(func() {
			defer cancel() // the others end with it
			errs[i] = cli.Serve(ctx, listeners[i], cli.CheckHosts(s.env, r.player, listen, listeners[i], s.allowed))
		})
	}
	served.Wait()
	return errors.Join(errs...)
}

// place sets the addresses of the other agents in each player.
func (s *stage) place() {
	for _, r := range s.roles {
		others := map[string]string{}
		for _, other := range s.roles {
			if other == r {
				continue
			}
			at, _, _ := strings.Cut(strings.TrimPrefix(other.url, "http://"), "/")
			for _, recorded := range other.player.Recorded() {
				others[recorded] = "http://" + at
			}
		}
		r.player.Place(others)
	}
}

// loops returns an error if a live agent is playback itself.
func (s *stage) loops(shown func(i int) string) error {
	own := map[string]bool{} // ports
	for i, r := range s.roles {
		for _, at := range []string{r.url, shown(i)} {
			if u, err := url.Parse(at); err == nil {
				own[u.Port()] = true
			}
		}
	}
	for _, r := range s.roles {
		u := r.forward
		if u != nil && own[u.Port()] && hostname.IsLoopback(hostname.Normal(u.Hostname())) {
			return cli.Usage("--on-miss forward=%s: playback itself listens there, which would loop; give the address of a "+
				"live agent", u)
		}
	}
	return nil
}

// announce prints the addresses of the played agents, and the changes made to them.
func (s *stage) announce(shown func(i int) string) error {
	var ready strings.Builder
	for i, r := range s.roles {
		line := r.called() + " " + shown(i) + "\n"
		ready.WriteString(line)
		if _, err := fmt.Fprint(s.env.Out, line); err != nil {
			return err
		}
	}
	if s.flags.usedUp != "" {
		s.env.Tell("after the last recorded answer to a request: %s", s.flags.usedUp)
	}
	for _, r := range s.roles {
		if u := r.forward; u != nil {
			s.env.Notice(fmt.Sprintf("unmatched requests at %s go to the live agent at %s", r.called(), u.Redacted()))
		}
	}
	for _, f := range s.options.Faults {
		s.env.Notice("playback injects faults: " + f.String())
	}
	if n := s.flags.breakAfter; n > 0 {
		s.env.Notice(fmt.Sprintf("playback injects faults: each stream is cut after %d events", n))
	}
	if s.opened != nil {
		close(s.opened)
	}
	return cli.WriteReady(s.flags.readyFile, ready.String())
}

// record opens a tap in front of each player.
func (s *stage) record() (*recorder.Recording, error) {
	o := s.flags
	key, err := o.capture.Key(s.env)
	if err != nil {
		return nil, err
	}
	var taps []proxy.TapSpec
	for _, r := range s.roles {
		u, err := url.Parse(r.url)
		if err != nil {
			return nil, err
		}
		taps = append(taps, proxy.TapSpec{Name: r.called(), Agent: u, Listen: r.listen})
	}
	return recorder.Start(recorder.Options{
		Output: o.capture.File, Hide: redacted.Options{Key: key},
		Proxy: proxy.Options{
			Taps: taps, Webhooks: &webhook.Spec{Key: key}, AllowRemote: o.allowRemote, AllowHosts: s.allowed,
			OnDial: s.notes.dialed,
		},
		Listener: listener{e: s.env}, Around: s.notes.around, Ship: s.ship,
	})
}

// A listener prints the recording's messages to the user.
type listener struct {
	recorder.Silent
	e cli.Env
}

func (l listener) Notice(text string) { l.e.Notice(text) }

func (l listener) Ship(v shipment.Event) { shipment.Tell(l.e, v) }
