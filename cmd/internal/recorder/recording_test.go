package recorder

import (
	"context"
	"errors"
	"net/url"
	"path/filepath"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/shipment"
	"a2atap/proxy"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
)

// recorded returns the name of a capture with one exchange, of a recording that has ended.
func recorded(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "c.a2atap")
	store, err := bolt.Open(path, bolt.Options{})
	must.Do(t, err)
	err = store.Append(
		capture.Step{Seq: 1, What: capture.Opened{
			Started: time.Unix(1, 0).UTC(),
			Head:    []byte("GET /card HTTP/1.1\r\nHost: a\r\n\r\n"),
		}},
		capture.Step{Seq: 1, What: capture.Closed{}},
	)
	must.Do(t, errors.Join(err, store.Close()))
	return path
}

// recordInto starts a recording of a tap to which nothing is sent.
func recordInto(t *testing.T, path string) *Recording {
	t.Helper()
	agent := must.Get(url.Parse("http://127.0.0.1:9"))(t)
	r, err := Start(Options{
		Output: path,
		Proxy:  proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: agent, Listen: "127.0.0.1:0"}}},
	})
	must.Do(t, err)
	return r
}

func TestAppendingNothingEnds(t *testing.T) {
	result := cmdtest.Stop(t, recordInto(t, recorded(t)))
	if result.Counts.Exchanges != 0 || result.Live {
		t.Errorf("a recording of nothing judged %d exchanges, live %t", result.Counts.Exchanges, result.Live)
	}
}

// A follower that learns of a step must find it: otherwise it retries forever.
func TestAdditionWaitsForWhatItYields(t *testing.T) {
	store := must.Get(bolt.Open(recorded(t), bolt.Options{}))(t)
	src := &addition{Source: store, after: store.Position()}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := src.Wait(ctx, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting for the first step of an empty recording returns %v, want that of the context", err)
	}
	must.Do(t, store.Close())
	if err := src.Wait(t.Context(), 1); !errors.Is(err, capture.ErrEnded) {
		t.Errorf("waiting after the end returns %v, want that it has ended", err)
	}
}

// hears is a Listener of the functions that it has.
type hears struct {
	Silent
	notice, tell func(string)
	finding      func(analysis.Finding)
	ship         func(shipment.Event)
}

func (l hears) Notice(text string) {
	if l.notice != nil {
		l.notice(text)
	}
}

func (l hears) Tell(text string) {
	if l.tell != nil {
		l.tell(text)
	}
}

func (l hears) Finding(f analysis.Finding) {
	if l.finding != nil {
		l.finding(f)
	}
}

func (l hears) Ship(v shipment.Event) {
	if l.ship != nil {
		l.ship(v)
	}
}
