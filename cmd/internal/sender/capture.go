package sender

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/redact"
	"a2atap/replay/client/setup"
	"a2atap/replay/live"
)

// A keptTraffic records the traffic of send. A nil keptTraffic records nothing. It is safe for concurrent use.
type keptTraffic struct {
	transport *live.Transport
	log       *live.Log
	agent     capture.Peer
	file      string // empty if the caller supplied the sink
	sink      capture.Sink
}

// keep opens the capture, if one is wanted.
func (o *Options) keep(e cli.Env, s *setup.Setup) (*keptTraffic, error) {
	if o.Sink != nil {
		return newKept(o.Sink, 0, s), nil
	}
	if o.Capture.File == "" {
		if o.Capture.HasKeyAlone() {
			return nil, cli.Usage("--redaction-key needs --capture FILE")
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

// newKept returns a keptTraffic that records into a sink, after an exchange.
func newKept(sink capture.Sink, after uint64, s *setup.Setup) *keptTraffic {
	k := &keptTraffic{sink: sink}
	at, err := url.Parse(s.URL)
	if err != nil {
		at = &url.URL{} // connecting reports the error
	}
	k.agent = capture.Peer{Name: at.Host, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
	k.log = live.NewLog(after, sink, nil)
	k.transport = &live.Transport{
		Log: k.log, Dialer: s.Options.Dialer, Limits: s.Options.Limits, Client: capture.Peer{Name: "a2atap", How: "send"},
		Agent: func(at *url.URL) capture.Peer {
			return capture.Peer{Name: k.agent.Name, URL: at.Scheme + "://" + at.Host, Addr: at.Host}
		},
	}
	return k
}

// received records a push notification to an address that the agent received.
func (k *keptTraffic) received(at *url.URL, r *http.Request, body []byte, status int) {
	if k == nil {
		return
	}
	k.log.Received(capture.Peer{Name: k.agent.Name, How: "webhook"},
		capture.Peer{Name: "webhook", URL: at.Scheme + "://" + at.Host}, r, body, status)
}

// close stores the recording.
func (k *keptTraffic) close() error {
	if k == nil {
		return nil
	}
	err := errors.Join(k.log.End(), k.sink.Close())
	if err != nil && k.file != "" {
		return fmt.Errorf("record into %s: %w", k.file, err)
	}
	return err
}
