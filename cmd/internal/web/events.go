package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"a2atap/cmd/internal/cli"
)

// Timing of events.
const (
	eventPause   = 200 * time.Millisecond // minimum, between two
	heartbeat    = 15 * time.Second       // maximum time without data, which detects closed pages
	eventTimeout = 30 * time.Second       // for a page that does not read
)

// A news has the current state of the capture, for a page that shows it.
type news struct {
	Version   uint64 `json:"version"`
	Name      string `json:"name"`
	Exchanges uint64 `json:"exchanges"`
	Judged    uint64 `json:"judged"` // number of checked exchanges
	Live      bool   `json:"live"`   // it is being recorded
	Whole     bool   `json:"whole"`  // everything so far is checked
	Status    string `json:"status,omitempty"`
	Verdict   string `json:"verdict,omitempty"`
	Error     string `json:"error,omitempty"`
}

// events sends the current state of the capture, and then each change, until the page is closed. (Server-sent events,
// WHATWG HTML section 9.2.)
func (s *site) events(w http.ResponseWriter, r *http.Request) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, fmt.Sprintf("%d pages are open; close one", maxStreams), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	to := http.NewResponseController(w)
	for {
		state, changed := s.knownNow()
		if state.Version == 0 { // nothing is known yet
			select {
			case <-changed:
				continue
			case <-r.Context().Done():
				return
			}
		}
		data, err := json.Marshal(s.news(r.Context(), state))
		if err != nil {
			return
		}
		to.SetWriteDeadline(time.Now().Add(eventTimeout)) //nolint:errcheck // then it waits longer
		if _, err := fmt.Fprintf(w, "event: news\ndata: %s\n\n", data); err != nil || to.Flush() != nil {
			return
		}
		if !waits(r.Context(), time.After(eventPause)) {
			return
		}
		select {
		case <-changed:
		case <-time.After(heartbeat):
		case <-r.Context().Done():
			return
		}
	}
}

// waits pauses, and returns false if the context ends first.
func waits(ctx context.Context, moment <-chan time.Time) bool {
	select {
	case <-moment:
		return true
	case <-ctx.Done():
		return false
	}
}

// news returns the capture's current state.
func (s *site) news(ctx context.Context, state known) news {
	n := news{
		Version: state.Version, Name: cli.ShownName(state.Info.Name), Exchanges: state.Info.Exchanges, Live: state.Info.Live,
		Whole: state.Whole,
	}
	err := state.Err
	if state.Capture != nil {
		n.Judged = state.Capture.Head().Rows
		t, sumErr := s.sum(ctx, state)
		if sumErr == nil {
			n.Status, n.Verdict = string(t.verdict.Status), t.verdict.String()
		} else if err == nil && state.Whole {
			err = sumErr
		}
	}
	if err != nil {
		n.Error = err.Error()
	}
	return n
}
