package replay_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// A booker is an agent that creates a booking number. It returns the booking only to clients that name the number and
// the task.
type booker struct {
	mu     sync.Mutex
	n      int
	series string
	seen   []string // bodies of requests
}

func (b *booker) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	b.seen = append(b.seen, string(body))
	var call struct {
		ID     json.RawMessage
		Params struct {
			Message struct{ Metadata map[string]string }
		}
	}
	if err := json.Unmarshal(body, &call); err != nil {
		http.Error(w, "no JSON", http.StatusBadRequest)
		return
	}
	b.n++
	task, booking := fmt.Sprintf("task-%s-%d", b.series, b.n), fmt.Sprintf("bk-%s-90ab%d", b.series, b.n)
	state := "TASK_STATE_COMPLETED"
	if m := call.Params.Message.Metadata; m != nil {
		task, booking = fmt.Sprintf("task-%s-%d", b.series, b.n-1), fmt.Sprintf("bk-%s-90ab%d", b.series, b.n-1)
		if m["booking"] != booking || m["about"] != task {
			state = "TASK_STATE_REJECTED"
		}
		task += "-more"
	}
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprintf(w,
		`{"jsonrpc":"2.0","id":%s,"result":{"task":{"id":%q,"contextId":"c","status":{"state":%q},"metadata":{"booking":%q}}}}`, call.ID, task, state, booking)
}

// Opaque values are carried like values with roles: a number from one answer, and a task id outside its role. Equal
// words in texts are not.
func TestReplayCarriesOpaqueValues(t *testing.T) {
	t.Parallel()
	agent := &booker{series: "recorded0"}
	s := httptest.NewServer(agent)
	defer s.Close()
	src := record(t, s.URL, func(tapURL string) {
		c := must.Get(client.New(client.Interface{URL: tapURL, Protocol: client.JSONRPC10}, client.Options{}))(t)
		defer c.Close()
		first := must.Get(c.Send(t.Context(), client.Text("book"), client.SendOptions{}))(t).Task
		m := client.Text("I am asking about bk-recorded0-90ab1")
		m.Metadata = []byte(`{"booking":"bk-recorded0-90ab1","about":"` + first.ID + `"}`)
		if r := must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t); r.Task.Status.State != client.Completed {
			t.Fatalf("the recorded agent says %+v", r.Task)
		}
	})
	live := &booker{series: "live77777", n: 40}
	l := httptest.NewServer(live)
	defer l.Close()
	r := must.Get(replay.Run(t.Context(), src, l.URL, replay.Options{Timeout: time.Second}))(t)
	wantSame(t, r)
	second := live.seen[len(live.seen)-1]
	if !strings.Contains(second, "asking about bk-recorded0-90ab1") ||
		!strings.Contains(second, `"booking":"bk-live77777-90ab41"`) {
		t.Errorf("the second request is %s", second)
	}
}

// With a speed the recorded pauses are kept, in proportion.
func TestReplayKeepsPauses(t *testing.T) {
	t.Parallel()
	const pause = 100 * time.Millisecond
	agent := agenttest.Start(t, "spec", refagent.Options{})
	src := edited(t, record(t, agent, twoTasks(t, client.JSONRPC10)), func(x *capture.Exchange) {
		x.Started = x.Started.Add(time.Duration(x.Seq) * pause)
	})
	spent := func(speed float64) time.Duration {
		begun := time.Now()
		wantSame(t, play(t, src, agent, replay.Options{Speed: speed}))
		return time.Since(begun)
	}
	if got := spent(1); got < 5*pause {
		t.Errorf("at the recorded speed it took %s; there are 6 pauses of %s", got, pause)
	}
	if got := spent(4); got < 5*pause/4 {
		t.Errorf("four times as fast it took %s; there are 6 pauses of %s", got, pause)
	}
}
