package refagent_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/prompt"
	"a2atap/replay/refagent"
)

// firstTask returns a request that creates a task, or gets a message, from any agent.
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

// S4-I6: every agent limits its unfinished tasks to the given number. A task that ends frees its place, however it
// ends; one that waits for its client does not. The agent that creates no tasks has no limit.
func TestMaxTasksOfEveryAgent(t *testing.T) {
	links := append(slices.Clone(specLinks), link{"spec01", client.JSONRPC01}, link{"legacy", client.Early},
		link{"echo", client.JSONRPC10})
	for _, l := range links {
		t.Run(l.String(), func(t *testing.T) {
			url := serve(t, l.agent, l.with(refagent.Options{MaxTasks: 2, StepTime: time.Millisecond})) + "/" + l.agent
			c := agenttest.Connect(t, strings.TrimSuffix(url, "/legacy"), l.protocol,
				client.Options{ProtoJSON: l.agent == "spec03-proto"})
			ask := func(text string) (*client.Task, error) {
				a, err := prompt.Ask(t.Context(), c, client.Text(text),
					prompt.Options{Interval: time.Millisecond, PollTimeout: must.Patience})
				if err != nil {
					return nil, err
				}
				return a.Task, nil
			}
			for range 3 {
				must.Get(ask("task-lifecycle"))(t)
				must.Get(ask("task-failure"))(t)
			}
			waiting := must.Get(ask("multi-turn"))(t)
			must.Get(ask("multi-turn"))(t)
			for range 2 {
				_, err := ask("task-lifecycle")
				if l.agent == "echo" {
					must.Do(t, err)
					return
				}
				expect.ErrorHas(t, "with two that wait", "has 2 tasks that have not ended", err)
			}
			must.Get(c.Cancel(t.Context(), waiting.ID, nil))(t)
			again := must.Get(ask("multi-turn"))(t)
			expect.Error(t, "with two again", expect.Err(ask("task-lifecycle")))
			m := client.Text("done")
			m.TaskID, m.ContextID = again.ID, again.ContextID
			must.Get(c.Send(t.Context(), m, client.SendOptions{}))(t)
		})
	}
}

// Every agent delays its answers, but not its card.
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
