package web

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/judged"
)

// How events are sent.
const (
	eventPause   = 200 * time.Millisecond // at least, between two
	heartbeat    = 15 * time.Second       // after which something is sent in any case: a page that is gone is found out
	eventTimeout = 30 * time.Second       // for a page that does not read
)

// A news says how the capture is now, for a page that shows it.
type news struct {
	Version   uint64 `json:"version"`
	Name      string `json:"name"`
	Exchanges uint64 `json:"exchanges"`
	Judged    uint64 `json:"judged"` // of them
	Live      bool   `json:"live"`   // it is being recorded
	Whole     bool   `json:"whole"`  // all that is there was judged
	Status    string `json:"status,omitempty"`
	Verdict   string `json:"verdict,omitempty"`
	Error     string `json:"error,omitempty"`
}

// events sends the news of the capture, now and whenever there are any, until the page is closed. (Server-sent events,
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
		state, changed := s.following.Now()
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

// waits waits for a moment, and returns false if the context ends before.
func waits(ctx context.Context, moment <-chan time.Time) bool {
	select {
	case <-moment:
		return true
	case <-ctx.Done():
		return false
	}
}

// news says how the capture is.
func (s *site) news(ctx context.Context, state judged.Followed) news {
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
