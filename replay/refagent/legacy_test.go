package refagent_test

import (
	"bufio"
	"crypto/x509"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// legacyCall is a call of the dialect before 0.1.
func legacyCall(path, method, params string) string {
	return "POST " + path + jsonHeader + rpc("1", method, params)
}

// states polls a task until it has ended or waits, and returns the states in the answers.
func legacyTask(t *testing.T, origin, id string) string {
	t.Helper()
	for {
		body := bodyOf(t, origin, legacyCall("/", "tasks/get", `{"id":"`+id+`"}`))
		for _, end := range []string{"completed", "failed", "canceled", "input-required"} {
			if strings.Contains(body, `"status":{"state":"`+end+`"`) {
				return body
			}
		}
		if strings.Contains(body, `"error"`) {
			t.Fatal(body)
		}
	}
}

// A task's history consists of its statuses, in an order that the state machine allows.
func TestLegacyHistory(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	for text, want := range map[string]string{
		"task-lifecycle x": "submitted working completed",
		"message-only x":   "submitted working completed",
		"task-failure x":   "submitted working failed",
		"long-running x":   "submitted working completed",
		"data-types x":     "submitted working completed",
		"multi-turn x":     "submitted working input-required",
		"abracadabra":      "submitted failed",
	} {
		id := strings.Fields(text)[0]
		exchange(t, origin, legacyCall("/", "tasks/send", legacySend(id, text)))
		expect.Equal(t, text+": history", want, legacyStates(t, legacyTask(t, origin, id)))
	}
	body := bodyOf(t, origin, legacyCall("/", "tasks/get", `{"id":"task-lifecycle","historyLength":1}`))
	expect.Equal(t, "the last entry", "completed", legacyStates(t, body))
	for id, want := range map[string]string{
		"abracadabra": "No matching skill for this request.", "task-failure": "Simulated failure",
	} {
		expect.Contains(t, "", want, legacyTask(t, origin, id))
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("multi-turn", "done")))
	expect.Equal(t, "after the second turn", "submitted working input-required working completed", legacyStates(t,
		legacyTask(t, origin, "multi-turn")))
}

// legacyStates returns the states in the history of a task.
func legacyStates(t *testing.T, body string) string {
	t.Helper()
	var answer struct {
		Result struct {
			History []struct{ State, Timestamp string }
		}
	}
	must.Do(t, json.Unmarshal([]byte(body), &answer))
	var states []string
	for _, h := range answer.Result.History {
		if _, err := time.Parse(time.RFC3339, h.Timestamp); err != nil {
			t.Errorf("status %+v: %v", h, err)
		}
		states = append(states, h.State)
	}
	return strings.Join(states, " ")
}

// A stream has named events, reports every state, stays open while the task waits, and ends with the task.
func TestLegacyStream(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	resp, body := exchange(t, origin,
		legacyCall("/subscribe", "tasks/sendSubscribe", legacySend("t1", "task-lifecycle x")))
	if resp.Header.Get("Content-Type") != "text/event-stream" || resp.Header.Get("Cache-Control") != "no-cache" {
		t.Errorf("got %v", resp.Header)
	}
	if got, want := legacyEvents(body), "status submitted, status working, artifact, status completed final"; got != want {
		t.Errorf("got %s, want %s; body %s", got, want, body)
	}
	if body := bodyOf(t, origin,
		legacyCall("/subscribe", "tasks/sendSubscribe",
			legacySend("t1", "again"))); legacyEvents(body) != "status completed final" {
		t.Errorf("a task that has ended is shown as %s", body)
	}

	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, origin+"/subscribe",
		strings.NewReader(rpc("7", "tasks/sendSubscribe", legacySend("t2", "multi-turn x"))))
	must.Do(t, err)
	open := must.Get(wireClient.Do(req))(t)
	defer open.Body.Close()
	lines := bufio.NewReader(open.Body)
	var seen strings.Builder
	for !strings.Contains(seen.String(), `"input-required"`) {
		line := must.Get(lines.ReadString('\n'))(t)
		seen.WriteString(line)
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t2", "done")))
	rest := must.Get(io.ReadAll(lines))(t)
	seen.Write(rest)
	want := "status submitted, status working, artifact, status input-required, status working, artifact, status completed final"
	expect.Equal(t, "", want, legacyEvents(seen.String()))
}

// legacyEvents returns the events of a stream in short form.
func legacyEvents(body string) string {
	var events []string
	for frame := range strings.SplitSeq(strings.TrimSpace(body), "\n\n") {
		name, data, _ := strings.Cut(frame, "\n")
		word := strings.TrimPrefix(name, "event: ")
		if _, after, ok := strings.Cut(data, `"state":"`); ok {
			state, _, _ := strings.Cut(after, `"`)
			word += " " + state
		}
		if strings.Contains(data, `"final":true`) {
			word += " final"
		}
		events = append(events, word)
	}
	return strings.Join(events, ", ")
}

// A webhook gets the events that it subscribed to, with its token, and is dropped when it fails for good.
func TestLegacyWebhooks(t *testing.T) {
	type note struct{ Authorization, TaskID, EventType, State string }
	notes := make(chan note, 16)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var body struct {
			TaskID, EventType, Timestamp string
			Status                       struct{ State string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil || body.Timestamp == "" {
			t.Errorf("got %+v, %v", body, err)
		}
		notes <- note{r.Header.Get("Authorization"), body.TaskID, body.EventType, body.Status.State}
	}))
	defer hook.Close()
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	origin := serve(t, "legacy", refagent.Options{Push: true, WebhookRoots: roots})
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "multi-turn x")))
	legacyTask(t, origin, "t1")
	exchange(t, origin, legacyCall("/", "tasks/pushNotification/set",
		`{"id":"t1","pushNotificationConfig":{"url":"`+hook.URL+`","token":"s3","events":["status"]}}`))
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "done")))
	var got []note
	for range 2 {
		got = append(got, <-notes)
	}
	want := []note{{"Bearer s3", "t1", "status", "working"}, {"Bearer s3", "t1", "status", "completed"}}
	expect.Same(t, "notifications", want, got)
}

// The agent retries a failing webhook three times, and then drops it; the task continues.
func TestLegacyWebhookIsDropped(t *testing.T) {
	asked := make(chan struct{}, 16)
	hook := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked <- struct{}{}
		w.WriteHeader(http.StatusInternalServerError)
	}))
	defer hook.Close()
	roots := x509.NewCertPool()
	roots.AddCert(hook.Certificate())
	origin := serve(t, "legacy", refagent.Options{Push: true, WebhookRoots: roots})
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "multi-turn x")))
	legacyTask(t, origin, "t1")
	exchange(t, origin, legacyCall("/", "tasks/pushNotification/set",
		`{"id":"t1","pushNotificationConfig":{"url":"`+hook.URL+`"}}`))
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "more")))
	for range 4 {
		<-asked
	}
	for body := ""; !strings.Contains(body, `"error"`); {
		body = bodyOf(t, origin, legacyCall("/", "tasks/pushNotification/get", `{"id":"t1"}`))
	}
	exchange(t, origin, legacyCall("/", "tasks/send", legacySend("t1", "done")))
	expect.Contains(t, "", `"status":{"state":"completed"`, legacyTask(t, origin, "t1"))
	if len(asked) > 0 {
		t.Error("the webhook was asked after it was dropped")
	}
}
