package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sort"
	"strings"
	"sync"
	"testing"
)

// A webhook receives push notifications on loopback and turns each into a [Sighting].
type webhook struct {
	URL string

	mu       sync.Mutex
	received []Sighting
	ended    chan struct{} // closed when a task that ended has been notified
	once     sync.Once
}

func newWebhook(t testing.TB) *webhook {
	t.Helper()
	h := &webhook{ended: make(chan struct{})}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	h.URL = server.URL
	return h
}

// ServeHTTP notes a notification and accepts it.
func (h *webhook) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, "read the notification: "+err.Error(), http.StatusBadRequest)
		return
	}
	seen := notification(r, body)
	h.mu.Lock()
	h.received = append(h.received, seen)
	h.mu.Unlock()
	if strings.HasSuffix(strings.ToLower(seen.State), "completed") {
		h.once.Do(func() { close(h.ended) })
	}
}

// untilTerminal waits for the notification of an ended task and returns all that have come.
func (h *webhook) untilTerminal(ctx context.Context, t testing.TB) []Sighting {
	t.Helper()
	select {
	case <-h.ended:
	case <-ctx.Done():
		t.Errorf("no notification of an ended task arrived: %v", context.Cause(ctx))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Sighting(nil), h.received...)
}

// payload is what a notification may hold, in all the shapes that are around: the task itself (A2A 0.3 section 9.5), or
// a wrapper with one member (A2A 1.0 section 4.3.3).
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
func notification(r *http.Request, body []byte) Sighting {
	seen := Sighting{Step: "webhook", Kind: "webhook", Note: strings.Join(append([]string{
		r.Method, "{webhook}" + r.URL.RequestURI(), r.Header.Get("Content-Type"),
	}, tokens(r.Header)...), " ")}
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
		shape = p.Kind
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
