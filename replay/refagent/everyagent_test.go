package refagent_test

import (
	"strings"
	"testing"
	"time"

	"a2atap/replay/refagent"
)

// firstTask returns a request that makes a task, or gets a message, from any agent.
func firstTask(agent string) string {
	switch agent {
	case "echo", "spec":
		return "POST /" + agent + v10Header + rpc("1", "SendMessage", `{"message":`+userMessage("", "task-failure")+`}`)
	case "spec03-rest":
		return "POST /spec03-rest/v1/message:send" + jsonHeader + message03("task-failure")
	case "spec03-proto":
		return "POST /spec03-proto/v1/message:send" + jsonHeader +
			`{"message":{"messageId":"m1","role":"ROLE_USER","content":[{"text":"task-failure"}]},"configuration":{"blocking":true}}`
	case "spec01":
		return legacyCall("/spec01", "tasks/send", legacySend("t1", "task-failure"))
	case "legacy":
		return legacyCall("/", "tasks/send", legacySend("t1", "task-failure"))
	}
	return "POST /" + agent + jsonHeader + rpc("1", "message/send", message03("task-failure"))
}

// Every agent takes no more tasks than it was told; one that makes none has no limit.
func TestMaxTasksOfEveryAgent(t *testing.T) {
	for _, agent := range refagent.Names() {
		origin := serve(t, agent, refagent.Options{MaxTasks: 1})
		if body := bodyOf(t, origin, firstTask(agent)); strings.Contains(body, `"error"`) {
			t.Errorf("%s: the first is refused: %s", agent, body)
		}
		second := strings.ReplaceAll(firstTask(agent), `"t1"`, `"t2"`)
		body := bodyOf(t, origin, second)
		if full := strings.Contains(body, "has 1 tasks and takes no more"); full == (agent == "echo") {
			t.Errorf("%s: the second gets %s", agent, body)
		}
	}
}

// Every agent takes its time for what it answers, but not for its card.
func TestDelayOfEveryAgent(t *testing.T) {
	for _, agent := range refagent.Names() {
		origin := serve(t, agent, refagent.Options{Delay: 30 * time.Millisecond})
		began := time.Now()
		if body := bodyOf(t, origin, firstTask(agent)); time.Since(began) < 30*time.Millisecond {
			t.Errorf("%s answers after %v: %s", agent, time.Since(began), body)
		}
		patient := serve(t, agent, refagent.Options{Delay: time.Hour})
		if resp, body := exchange(t, patient, "GET /.well-known/agent.json"); resp.StatusCode != 200 {
			t.Errorf("%s: the card is not there: %s", agent, body)
		}
	}
}
