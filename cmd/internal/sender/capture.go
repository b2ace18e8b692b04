package sender

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay/client/setup"
	"a2atap/replay/live"
)

// A keptTraffic records what send says and hears. A nil one records nothing. It is safe for concurrent use.
type keptTraffic struct {
	transport *live.Transport
	log       *live.Log
	agent     capture.Peer
	file      string // empty if the sink is the caller's
	sink      capture.Sink

	mu  sync.Mutex
	err error // why something could not be kept; the first one
}

// keep opens the capture, if there is to be one.
func (o *Options) keep(e cli.Env, s *setup.Setup) (*keptTraffic, error) {
	if o.Sink != nil {
		return newKept(o.Sink, 0, s), nil
	}
	if o.Capture.File == "" {
		if o.Capture.HasKeyAlone() {
			return nil, cli.Usage("--redaction-key is about --capture FILE, which is missing")
		}
		return nil, nil
	}
	names := &redact.Names{}
	names.LearnForAll(s.SecretHeaders, s.SecretQuery)
	to, err := o.Capture.Open(e, names)
	if err != nil {
		return nil, err
	}
	k := newKept(to, to.Store.Position().Seq, s)
	k.file = o.Capture.File
	return k, nil
}

// newKept records into a sink, after an exchange.
func newKept(sink capture.Sink, after uint64, s *setup.Setup) *keptTraffic {
	k := &keptTraffic{sink: sink}
	at, err := url.Parse(s.URL)
	if err != nil {
		at = &url.URL{} // whoever connects says what is wrong with it
	}
	k.agent = capture.Peer{Name: at.Host, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
	k.log = live.NewLog(after, k.take)
	k.transport = &live.Transport{
		Log: k.log, Dialer: s.Options.Dialer, Limits: s.Options.Limits, Client: capture.Peer{Name: "a2atap", How: "send"},
		Agent: func(at *url.URL) capture.Peer {
			return capture.Peer{Name: k.agent.Name, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
		},
	}
	return k
}

func (k *keptTraffic) take(s capture.Step) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.err == nil {
		k.err = k.sink.Append(s)
	}
}

// received records a push notification to an address that the agent was given.
func (k *keptTraffic) received(at *url.URL, r *http.Request, body []byte, status int) {
	if k == nil {
		return
	}
	k.log.Received(capture.Peer{Name: k.agent.Name, How: "webhook"},
		capture.Peer{Name: "webhook", URL: at.Scheme + "://" + at.Host}, r, body, status)
}

// close stores what was recorded.
func (k *keptTraffic) close() error {
	if k == nil {
		return nil
	}
	k.log.End()
	k.mu.Lock()
	defer k.mu.Unlock()
	err := errors.Join(k.err, k.sink.Close())
	if err != nil && k.file != "" {
		return fmt.Errorf("record into %s: %w", k.file, err)
	}
	return err
}
