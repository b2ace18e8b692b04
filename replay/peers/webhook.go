package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"time"
)

// quiet is how long the webhook waits without a notification before it assumes that all expected ones have come.
// Nothing announces the last one: some agents notify in the background, and in no order.
const quiet = 250 * time.Millisecond

// A hookServer receives push notifications on loopback and turns each into an [Observation].
type hookServer struct {
	URL      string
	received chan Observation
}

func newWebhook(t testing.TB) *hookServer {
	t.Helper()
	h := &hookServer{received: make(chan Observation, 64)} // more than any script causes
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// ServeHTTP notes a notification and accepts it.
func (h *hookServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "read the notification: "+err.Error(), http.StatusBadRequest)
		return
	}
	seen := notification(r, body)
	seen.URL = h.URL + r.URL.RequestURI()
	h.received <- seen
}

// all returns the notifications in no particular order: as many as the pair is known to cause, and what comes until it
// has been quiet for a while. Of a pair that is not known the script's last task has to be notified as completed.
func (h *hookServer) all(ctx context.Context, t testing.TB, pair Pair) (received []Observation) {
	t.Helper()
	known := pair.notifications(t)
	completed := false
	var silence <-chan time.Time
	for {
		select {
		case seen := <-h.received:
			received = append(received, seen)
			completed = completed ||
				strings.HasSuffix(seen.URL, "/inline") && strings.HasSuffix(strings.ToLower(seen.State), "completed")
			if completed && len(received) >= known {
				silence = time.After(quiet)
			}
		case <-silence:
			return received
		case <-ctx.Done():
			t.Errorf("%d notifications came, want %d and one of them that the last task completed: %v", len(received), known,
				context.Cause(ctx))
			return received
		}
	}
}

// notifications returns how many notifications the pair has caused when it was last seen with nothing in between; 0 if
// it never was.
func (p Pair) notifications(t testing.TB) (n int) {
	t.Helper()
	text, err := os.ReadFile(p.seenFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "webhook: ") {
			n++
		}
	}
	return n
}

// seenFile is the file with the lines that the pair's client saw without a tap, relative to this package.
func (p Pair) seenFile() string { return filepath.Join("testdata", "seen", p.String()+".txt") }

// payload has the possible contents of a notification, in all known shapes: the task itself (A2A 0.3 section 9.5), or a
// wrapper with one member (A2A 1.0 section 4.3.3).
type payload struct {
	Kind   string `json:"kind"`
	ID     string `json:"id"`
	TaskID string `json:"taskId"`
	Status struct {
		State string `json:"state"`
	} `json:"status"`
	Artifact json.RawMessage `json:"artifact"`
}

// notification reads one push notification.
func notification(r *http.Request, body []byte) Observation {
	note := append([]string{r.Method, r.Header.Get("Content-Type")}, tokens(r.Header)...)
	seen := Observation{Step: "webhook", Kind: "notification", Note: strings.Join(note, " ")}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		seen.Text = fmt.Sprintf("not a JSON object: %s", body)
		return seen
	}
	inner := json.RawMessage(body)
	shape := "bare"
	for _, name := range []string{"task", "statusUpdate", "artifactUpdate", "message"} {
		if raw, ok := members[name]; ok {
			inner, shape = raw, name
		}
	}
	var p payload
	if err := json.Unmarshal(inner, &p); err != nil {
		seen.Text = fmt.Sprintf("not a task or event: %s", body)
		return seen
	}
	if p.Kind != "" {
		shape = "kind=" + p.Kind
	}
	seen.Note += " " + shape
	seen.State = p.Status.State
	if seen.Task = p.TaskID; seen.Task == "" {
		seen.Task = p.ID
	}
	return seen
}

// tokens lists the headers of a notification that carry a token, as NAME=VALUE, sorted.
func tokens(header http.Header) []string {
	var found []string
	for name, values := range header {
		if lower := strings.ToLower(name); strings.Contains(lower, "token") || lower == "authorization" {
			found = append(found, name+"="+strings.Join(values, ","))
		}
	}
	sort.Strings(found)
	return found
}
