package refagent_test

import (
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/refagent"
)

// earlyBehaviors are the tests that need more than one exchange, or also apply to other agents.
var earlyBehaviors = []struct {
	rows string
	test func(t *testing.T)
}{
	{"S4-2.2 S4-2.4 S4-3.2b S4-3.1c", TestLegacyHistory},
	{"S4-4.1c S4-4.3 S4-V5", TestLegacyStream},
	{"S4-4.1f S4-4.2 S4-4.4 S4-P3", TestLegacyStreamIsLeft},
	{"S4-1.5 S4-P1", TestLegacyEnvelope},
	{"S4-5.2a S4-5.2b S4-5.2c S4-V6", TestLegacyWebhooks},
	{"S4-5.3 S4-5.5", TestLegacyWebhookIsDropped},
	{"S4-5.5", TestFailedDeliveriesAreLogged},
	{"S4-I4 S4-2.3", TestOlderTasksOutliveTheAgent},
	{"S4-2.3 S4-3.1a S4-V2 S4-V3", TestEarlyResumes},
	{"S4-3.1b S4-I2", TestGivenSkills},
	{"S4-I1 S4-6.1a S4-6.1b S4-6.1c S4-P5", TestGivenCardsThatCannotBe},
	{"S4-I2 S4-V9", TestEarlyCards},
	{"S4-6.4 S4-V1", TestEarlyEndToEnd},
	{"S4-P2", TestEarlyIDs},
	{"S4-4.1b", TestEarlyKeepsAlive},
}

// A message with the id of a waiting task resumes the task, which gets artifacts and returns them on reads.
func TestEarlyResumes(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	exchange(t, origin, legacySends("t1", "multi-turn"))
	legacyTask(t, origin, "t1")
	body := bodyOf(t, origin, legacySends("t1", "done"))
	expect.Contains(t, "resumed", `"status":{"state":"working"`, body)
	for !strings.Contains(body, `"status":{"state":"completed"`) {
		body = bodyOf(t, origin, legacyCall("/", "tasks/get", `{"id":"t1"}`))
	}
	if !strings.Contains(body, `"artifacts":[{"name":"turn-1","parts":[{"type":"text",`) ||
		!strings.Contains(body, `"name":"final"`) {
		t.Errorf("got %s", body)
	}
}

// The agent reads its card when it starts, and has exactly the skills of the card.
func TestEarlyCards(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{Push: true, Card: Given(t, "legacy", map[string]any{
		"capabilities": map[string]any{"streaming": true, "pushNotifications": true, "stateTransitionHistory": true},
	})})
	if got := publicCard(t, origin); got["name"] != "Travel" || got["url"] != origin {
		t.Errorf("got %v", got)
	}
	exchange(t, origin, legacySends("t1", "book-flight to Rome"))
	expect.Contains(t, "", "[book-flight] Processed: book-flight to Rome", legacyTask(t, origin, "t1"))
}

// The connection of a stream stays open for the next request, as its header promises.
func TestEarlyKeepsAlive(t *testing.T) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		serve(t, "legacy", refagent.Options{})+"/subscribe",
		strings.NewReader(rpc("1", "tasks/sendSubscribe", legacySend("t1", "task-failure"))))
	must.Do(t, err)
	resp := must.Get(transport.RoundTrip(req))(t)
	defer resp.Body.Close()
	expect.Equal(t, "Connection", "keep-alive", resp.Header.Get("Connection"))
	expect.OK(t, expect.Err(io.Copy(io.Discard, resp.Body)))
}

// A client that knows only the address finds the card, and sends a task to the card's URL.
func TestEarlyEndToEnd(t *testing.T) {
	card := publicCard(t, serve(t, "legacy", refagent.Options{}))
	origin := card["url"].(string)
	example := card["skills"].([]any)[1].(map[string]any)["examples"].([]any)[0].(string)
	exchange(t, origin, legacySends("t1", example))
	expect.Contains(t, "", `"status":{"state":"completed"`, legacyTask(t, origin, "t1"))
}

// The agent's ids are UUIDs: here the session of a client that names none.
func TestEarlyIDs(t *testing.T) {
	origin := serve(t, "legacy", refagent.Options{})
	body := bodyOf(t, origin, legacyCall("/", "tasks/send",
		`{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"task-cancel"}]}}`))
	uuid := regexp.MustCompile(`"sessionId":"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"`)
	if !uuid.MatchString(body) {
		t.Errorf("got %s", body)
	}
}
