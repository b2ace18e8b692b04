package peers

import (
	"context"
	"net/url"
	"path/filepath"
	"sync"
	"testing"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
	"a2atap/proxy/record"
	"a2atap/proxy/recording"
	"a2atap/proxy/webhook"
)

// A tap combines the same parts as the verb record, in front of one agent: a proxy with one tap, a recorder,
// redaction and a store, and the rules that follow the capture while it grows. Its describer knows no A2A, so bodies
// are kept unmodified.
type tap struct {
	agent     string // its name in the capture
	noRewrite bool   // the agent card passes unmodified
	webhooks  *webhook.Spec

	file      string
	recording *record.Recording

	mu      sync.Mutex
	notices []string // notices for the user, losses included
	further []string // taps that opened by themselves

	watchers []chan watched
	stopping sync.Once
	stopped  error
}

// A watched is the result of a reader that followed the capture while it grew.
type watched struct {
	result *judgment.Result
	err    error
}

// route implements [Route].
func (tp *tap) route(t testing.TB, agentURL string) string {
	t.Helper()
	tp.file = filepath.Join(t.TempDir(), "c.a2atap")
	store := must.Get(bolt.Open(tp.file, bolt.Options{Tool: "peers", OnError: tp.lost}))(t)
	agent := must.Get(url.Parse(agentURL))(t)
	tp.recording = record.New(store, record.Options{
		Proxy: proxy.Options{
			Taps:      []proxy.TapSpec{{Name: tp.agent, Agent: agent, Listen: "127.0.0.1:0"}},
			NoRewrite: tp.noRewrite, NoCallers: true, Webhooks: tp.webhooks,
			OnTap:    func(further *proxy.Tap) { tp.note(&tp.further, further.Name()) },
			OnNotice: func(text string) { tp.note(&tp.notices, text) },
		},
		Recorder: recording.Options{OnLoss: tp.lost},
		Redact:   redact.Options{Keep: true},
	})
	must.Do(t, tp.recording.Start())
	reader, err := bolt.Read(tp.file) // as another process does it, by the recorder's socket
	must.Do(t, err)
	t.Cleanup(func() { reader.Close() })
	tp.watch(store)
	tp.watch(reader)
	t.Cleanup(func() { tp.stop() }) //nolint:errcheck // whoever needs the capture asks again
	return tp.recording.Taps()[0].URL()
}

// watch follows the capture until the recording ends.
func (tp *tap) watch(src capture.Source) {
	found := make(chan watched, 1)
	tp.watchers = append(tp.watchers, found)
	go func() {
		result, err := engine.Follow(context.Background(), rules.All, src, nil)
		found <- watched{result, err}
	}()
}

func (tp *tap) lost(err error) { tp.note(&tp.notices, "recording is incomplete: "+err.Error()) }

func (tp *tap) note(list *[]string, text string) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	*list = append(*list, text)
}

// stop ends the recording as the verb record does: taps first, then what is still to be stored. After the first call it
// returns the same.
func (tp *tap) stop() error {
	tp.stopping.Do(func() {
		ctx, cancel := context.WithTimeout(context.Background(), playTimeout)
		defer cancel()
		tp.stopped = tp.recording.Close(ctx)
	})
	return tp.stopped
}
