package replay_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/client"
	"a2atap/replay/compare"
	"a2atap/replay/internal/agenttest"
)

// Notifications are received instead of the recorded client and compared.
func TestReplayReceivesNotifications(t *testing.T) {
	t.Parallel()
	for _, w := range refWays {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			src := recordPush(t, w)
			wantSame(t, play(t, src, w.start(t), replay.Options{Profile: compare.Exact}))
			r := play(t, src, w.start(t), replay.Options{})
			wantSame(t, r)
			if r.Deliveries.Expected == 0 || r.Deliveries.Received != r.Deliveries.Expected {
				t.Errorf("deliveries %+v", r.Deliveries)
			}
			more := edited(t, src, func(*capture.Exchange) {})
			for x := range src.Exchanges(t.Context(), 1) {
				if x.Agent.Name == "webhook" {
					more = appended(t, more, x, x.Seq+1000)
					break
				}
			}
			r = play(t, more, w.start(t), replay.Options{Timeout: 2 * time.Second})
			if len(r.Differences) != 1 || r.Differences[0].Kind != compare.DifferentDelivery {
				t.Errorf("one notification less than recorded: %s %v", r.Verdict(), r.Differences)
			}
		})
	}
}

const (
	pricedStatus = `{"statusUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001","status":{` +
		`"state":"TASK_STATE_COMPLETED","message":{"messageId":"m2","role":"ROLE_AGENT","parts":[` +
		`{"text":"two seats"},{"data":{"seats":{"price":12}}}]}}}}`
	toldWorking = `{"statusUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001","status":{` +
		`"state":"TASK_STATE_WORKING"}}}`
)

// Notifications are compared as answers are, in whatever order they arrive.
func TestReplayComparesNotifications(t *testing.T) {
	t.Parallel()
	said := []string{toldWorking, chunk("a", false), chunk("b", true), pricedStatus}
	src := recordNotified(t, &notifier{says: said})
	edited := func(was, now string) []string {
		texts := slices.Clone(said)
		for i := range texts {
			texts[i] = strings.Replace(texts[i], was, now, 1)
		}
		return texts
	}
	same := [3]compare.Kind{}
	each := func(k compare.Kind) [3]compare.Kind { return [3]compare.Kind{k, k, k} }
	tests := []struct {
		name string
		says []string
		want [3]compare.Kind // of a difference by protocol, shape and exact; empty for none
	}{
		{"same", said, same},
		{"in another order", []string{pricedStatus, chunk("a", false), toldWorking, chunk("b", true)}, same},
		{
			"fewer chunks",
			[]string{toldWorking, chunk("ab", true), pricedStatus},
			[3]compare.Kind{"", "", compare.DifferentValue},
		},
		{"other words", edited("two seats", "three seats"), [3]compare.Kind{"", "", compare.DifferentValue}},
		{"another state", edited("COMPLETED", "FAILED"), each(compare.DifferentDelivery)},
		{"a part of another kind", edited(`{"text":"two seats"}`, `{"data":{"seats":2}}`), each(compare.DifferentPart)},
		{"a number as string", edited(`"price":12`, `"price":"12"`), each(compare.DifferentType)},
		{"a member renamed", edited(`"price":`, `"cost":`), each(compare.DifferentMember)},
		{"the artifact does not end", slices.Delete(slices.Clone(said), 2, 3), each(compare.DifferentDelivery)},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			to := (&notifier{says: test.says}).start(t)
			profiles, patience := []compare.Profile{compare.Protocol, compare.Shape, compare.Exact}, time.Hour
			if test.want[0] == compare.DifferentDelivery { // which is waited for, and is the same in all profiles
				profiles, patience = profiles[:1], 5*time.Second
			}
			for i, profile := range profiles {
				r := within(t, src, to, replay.Options{Profile: profile, Timeout: patience})
				if want := test.want[i]; want == "" && len(r.Differences) > 0 ||
					want != "" && (len(r.Differences) == 0 || r.Differences[0].Kind != want) {
					t.Errorf("%s: %s %v; want %q", profile, r.Verdict(), r.Differences, want)
				}
				for _, d := range r.Differences {
					if d.Kind == compare.DifferentType && d.Message != `"price" is string, recorded as number` {
						t.Errorf("the type of the price: %s", d.Message)
					}
					if d.Kind != compare.DifferentDelivery && (d.Exchange < 100 || d.Live < 2 ||
						!strings.Contains(d.Place, ".request.body#")) {
						t.Errorf("%s: %s in exchange %d, now %d", profile, &d, d.Exchange, d.Live)
					}
				}
			}
		})
	}
}

// appended returns a capture with one more exchange, under a number.
func appended(t testing.TB, src capture.Source, x *capture.Exchange, seq uint64) *capture.Memory {
	t.Helper()
	m := capture.NewMemory(capture.Info{Name: "appended"})
	for old, err := range src.Steps(t.Context(), 1) {
		must.Do(t, err)
		must.Do(t, m.Append(old))
	}
	x.Seq = seq
	must.Do(t, m.Append(capture.Steps(x)...))
	return m
}

// withPosts returns a capture with requests to a webhook appended.
func withPosts(t testing.TB, src *capture.Memory, posts []*capture.Exchange) *capture.Memory {
	t.Helper()
	for i, x := range posts {
		src = appended(t, src, x, uint64(100+i))
	}
	return src
}

// recordPush records a task with a webhook: what passes through the tap, and what is delivered.
func recordPush(t testing.TB, w way) *capture.Memory {
	var mu sync.Mutex
	var posts []*capture.Exchange
	delivered := make(chan struct{}, 100)
	hook := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		x := webhookExchange(t, r)
		mu.Lock()
		defer mu.Unlock()
		posts = append(posts, x)
		if strings.Contains(strings.ToLower(string(x.Request.Body.Data)), "completed") {
			delivered <- struct{}{}
		}
	}))
	defer hook.Close()
	mem := record(t, w.start(t), func(tapURL string) {
		c := agenttest.Connect(t, tapURL, w.protocol, client.Options{})
		m := client.Text("multi-turn")
		task := must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t).Task
		must.Get(c.CreatePush(t.Context(), client.PushConfig{TaskID: task.ID, URL: hook.URL + "/a"}))(t)
		m = client.Text("done")
		m.TaskID, m.ContextID = task.ID, task.ContextID
		must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t)
		select {
		case <-delivered:
		case <-time.After(replay.DefaultTimeout):
			t.Error("the completed task was not notified")
		}
	})
	mu.Lock()
	defer mu.Unlock()
	return withPosts(t, mem, posts)
}

func webhookExchange(t testing.TB, r *http.Request) *capture.Exchange {
	var head strings.Builder
	head.WriteString("POST " + r.URL.Path + " HTTP/1.1\r\nHost: " + r.Host + "\r\n")
	expect.OK(t, r.Header.Write(&head))
	head.WriteString("\r\n")
	body, err := io.ReadAll(r.Body)
	expect.OK(t, err)
	return &capture.Exchange{
		Started: time.Now().UTC(), State: capture.StateClosed,
		Client: capture.Peer{Name: "booker"}, Agent: capture.Peer{Name: "webhook", URL: "http://" + r.Host},
		Request: capture.Request{
			Head: []byte(head.String()),
			Body: capture.Body{Data: body, Size: int64(len(body)), Complete: true},
		},
		Response: &capture.Response{
			Head: []byte("HTTP/1.1 200 OK\r\n\r\n"),
			Body: capture.Body{Data: []byte{}, Complete: true},
		},
	}
}
