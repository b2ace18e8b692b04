package replay

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
	"a2atap/replay/report"
)

// A delivery is one notification, as far as two runs can be compared by it.
type delivery struct {
	task  string
	what  string // kind and state
	ended bool   // it shows the task ended: nothing more is to come of itself
}

// readDelivery reads a recorded notification; none if it cannot be read.
func readDelivery(x *capture.Exchange) []delivery {
	body, err := x.Request.Content()
	if err != nil || len(body) == 0 {
		return nil
	}
	it := compare.NewItem(0, a2a.Answer{Payload: a2a.DecodeWebhook(body)})
	if it.Kind == a2a.ArtifactPayload {
		it.Artifact = 1 // chunks are free, and so is how many of them are notified
	}
	return []delivery{{task: it.Task, what: it.String(), ended: it.State.Terminal()}}
}

// hooks receives the notifications of the live agent at an address of ours, on loopback. The zero of its address means
// that the agent cannot reach it. It is safe for concurrent use.
type hooks struct {
	base     string // URL that the agent is given, without a slash at its end; empty if there is none
	listener net.Listener
	server   *http.Server
	log      *recorder
	agent    string

	mu       sync.Mutex
	byURL    map[string]string // our addresses by the recorded ones
	received []delivery
	changed  chan struct{} // closed when something is received
}

// newHooks listens if the agent is on this machine.
func newHooks(e *endpoints, log *recorder, agent string) (*hooks, error) {
	h := &hooks{log: log, agent: agent, byURL: map[string]string{}, changed: make(chan struct{})}
	if !isLoopback(e.live.Hostname()) {
		return h, nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for notifications: %w", err)
	}
	h.listener, h.base = l, "http://"+l.Addr().String()
	h.server = &http.Server{Handler: h, ReadHeaderTimeout: time.Minute}
	go h.server.Serve(l)
	return h, nil
}

func (h *hooks) close() {
	if h.server != nil {
		h.server.Close()
	}
}

// address returns what stands in place of a recorded webhook URL, or "" if the agent cannot reach any.
func (h *hooks) address(recorded string) string {
	if h.base == "" {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	ours, ok := h.byURL[recorded]
	if !ok {
		ours = fmt.Sprintf("%s%s%d", h.base, compare.WebhookPath, len(h.byURL)+1)
		h.byURL[recorded] = ours
	}
	return ours
}

// ServeHTTP implements http.Handler: it takes a notification and records it.
func (h *hooks) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := live.RequestHead(r)
	log := h.log.Open(capture.Peer{Name: h.agent, How: "webhook"}, capture.Peer{Name: "webhook", URL: h.base}, head)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, live.MaxBody))
	if err != nil {
		log.Close(&capture.Fault{Kind: "truncated", Side: "client", Detail: err.Error()})
		return
	}
	log.RequestBody(body)
	answer := []byte("HTTP/1.1 204 No Content\r\n\r\n")
	log.ResponseHead(answer, false)
	log.ResponseEnd(0, nil)
	log.Close(nil)
	h.mu.Lock()
	h.received = append(h.received, readDelivery(log.Recorded())...)
	close(h.changed)
	h.changed = make(chan struct{})
	h.mu.Unlock()
	w.WriteHeader(http.StatusNoContent)
}

// compare waits until all recorded notifications have a counterpart, or for so long, and returns what differs: for each
// task the kinds and states of its notifications are a multiset, since nothing orders them.
func (h *hooks) compare(
	ctx context.Context, recorded []delivery, v *compare.Values, timeout time.Duration,
) (report.Deliveries, []report.Difference) {
	out := report.Deliveries{}
	if h.base == "" {
		out.LeftOut, out.Why = len(recorded), "the agent cannot reach a webhook on this machine"
		return out, nil
	}
	h.mu.Lock()
	asked := len(h.byURL) > 0
	h.mu.Unlock()
	want, ended := map[string]map[string]int{}, map[string]bool{}
	for _, d := range recorded {
		live, ok := v.Own(compare.TaskID, "", d.task)
		if !ok || !asked {
			out.LeftOut, out.Why = out.LeftOut+1, "their task was not replayed"
			continue
		}
		count(want, live, d.what)
		ended[live] = ended[live] || d.ended
		out.Expected++
	}
	got := h.await(ctx, want, timeout)
	var diffs []report.Difference
	for _, task := range slices.Sorted(maps.Keys(want)) {
		for _, n := range got[task] {
			out.Received += n
		}
		recTask, _ := v.RecordedFor(compare.TaskID, "", task)
		diffs = append(diffs, compareDeliveries(recTask, want[task], got[task], ended[task])...)
	}
	return out, diffs
}

func count(of map[string]map[string]int, task, what string) {
	if of[task] == nil {
		of[task] = map[string]int{}
	}
	of[task][what]++
}

// await returns what was received by task, when all that is wanted is there, or the time is over.
func (h *hooks) await(
	ctx context.Context, want map[string]map[string]int, timeout time.Duration,
) map[string]map[string]int {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		got := map[string]map[string]int{}
		h.mu.Lock()
		for _, d := range h.received {
			count(got, d.task, d.what)
		}
		changed := h.changed
		h.mu.Unlock()
		if covers(got, want) {
			return got
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return got
		}
	}
}

func covers(got, want map[string]map[string]int) bool {
	for task, kinds := range want {
		for what, n := range kinds {
			if got[task][what] < n {
				return false
			}
		}
	}
	return true
}

// compareDeliveries compares the notifications of one task. More than recorded are a difference only if the recording
// shows that the last one had come.
func compareDeliveries(task string, want, got map[string]int, ended bool) []report.Difference {
	var diffs []report.Difference
	kinds := maps.Clone(want)
	maps.Copy(kinds, got)
	for _, what := range slices.Sorted(maps.Keys(kinds)) {
		w, g := want[what], got[what]
		if g < w || g > w && ended && !strings.HasPrefix(what, a2a.ArtifactPayload.String()) {
			diffs = append(diffs, report.Difference{
				Kind: report.DifferentDelivery, Want: fmt.Sprintf("%d", w), Got: fmt.Sprintf("%d", g),
				Message: fmt.Sprintf("task %s: notified %d times of %s, recorded %d", analyzer.Clip(task), g, what, w),
			})
		}
	}
	return diffs
}
