package replay_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/live"
	"a2atap/replay/refagent"
)

// Methods of JSON-RPC and paths of HTTP+JSON, of all versions.
var (
	cancels = agenttest.Either(agenttest.RPC("CancelTask"), agenttest.RPC("tasks/cancel"),
		agenttest.Path(http.MethodPost, ":cancel$"))
	continues = agenttest.About(func(r *http.Request, body string) bool {
		return r.Method == http.MethodPost && strings.Contains(body, `"more"`)
	})
	configures = agenttest.Either(agenttest.RPC("CreateTaskPushNotificationConfig"),
		agenttest.RPC("tasks/pushNotificationConfig/set"), agenttest.RPC("tasks/pushNotification/set"))
	streams = agenttest.Either(agenttest.RPC("SendStreamingMessage"), agenttest.RPC("message/stream"),
		agenttest.RPC("tasks/sendSubscribe"))
)

// everyBinding has one agent for each version and binding whose messages are JSON.
var everyBinding = map[string]client.Protocol{
	"spec": client.JSONRPC10, "spec03": client.JSONRPC03, "spec03-rest": client.REST03, "spec02": client.JSONRPC03,
	"spec01": client.JSONRPC01, "legacy": client.Early, "spec over REST": client.REST10,
}

// overRPC are the JSON-RPC agents of everyBinding.
var overRPC = map[string]client.Protocol{
	"spec": client.JSONRPC10, "spec03": client.JSONRPC03, "spec02": client.JSONRPC03, "spec01": client.JSONRPC01,
	"legacy": client.Early,
}

// A passiveRow is a row of the mission that a tap shows, with the agent's fault and the rule that finds it.
type passiveRow struct {
	rows, fault, rule string
	in                map[string]client.Protocol
	broken            func() agenttest.Breaker
	say               talk
}

var passiveRows = []passiveRow{
	{
		"S0-2.3 S0-V3 S3-11", "a cancellation is answered with the task as it was", "state-cancel-without-effect",
		everyBinding, func() agenttest.Breaker { return agenttest.Unmoved(cancels) }, canceling,
	},
	{
		"S0-2.4", "a follow-up is answered with the task as it was", "state-input-ignored", everyBinding,
		func() agenttest.Breaker { return agenttest.Unmoved(continues) }, following,
	},
	{
		"S0-4.6 S0-V6", "the card is answered 401", "card-guarded", everyBinding,
		func() agenttest.Breaker { return agenttest.Failing(agenttest.Card, 401) }, canceling,
	},
	{
		"S0-4.6 S0-V6", "the card is answered 403", "card-guarded", everyBinding,
		func() agenttest.Breaker { return agenttest.Failing(agenttest.Card, 403) }, canceling,
	},
	{
		"S4-6.1c", "the method of a promised webhook is not found", "push-supported-but-refused", overRPC,
		func() agenttest.Breaker { return agenttest.Refusing(configures, -32601) }, configure,
	},
	{
		"S4-6.1b S4-6.1c", "the method of promised streams is not found", "cap-streaming-refused", overRPC,
		func() agenttest.Breaker { return agenttest.Refusing(streams, -32601) }, streaming,
	},
	{
		"S3-12", "the metadata of a cancellation is lost", "cancel-metadata-lost",
		map[string]client.Protocol{"spec": client.JSONRPC10, "spec over REST": client.REST10},
		func() agenttest.Breaker {
			return agenttest.Changing(agenttest.Anything, `"metadata":\{"reason":"enough"\}`, `"metadata":{}`)
		}, canceling,
	},
}

// For each row of the mission that a tap shows, the rule finds the agent's fault in every version and binding that
// has it, and finds nothing in the same session with a correct agent.
func TestPassiveRows(t *testing.T) {
	t.Parallel()
	for _, row := range passiveRows {
		for agent, p := range row.in {
			t.Run(fmt.Sprintf("%s/%s/%s", row.rows, row.fault, agent), func(t *testing.T) {
				t.Parallel()
				name, _, _ := strings.Cut(agent, " ")
				for _, fault := range [][]agenttest.Breaker{nil, {row.broken()}} {
					src := record(t, agenttest.Start(t, name, refagent.Options{Push: true}, fault...), func(tapURL string) {
						row.say(t.Context(), tapURL, p, client.Options{})
					})
					found := must.Get(engine.Run(t.Context(), rules.All, src, nil))(t).Findings
					if got := broken(found)[breach{row.rule, a2a.Agent}]; got != (fault != nil) {
						t.Errorf("broken: %v, and %s is found: %v; found are %v", fault != nil, row.rule, got, found)
					}
				}
			})
		}
	}
}

// canceling creates a task, cancels it before it has ended, and reads it.
var canceling = over(func(ctx context.Context, c *client.Client) {
	task := sent(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))
	if task == nil {
		return
	}
	c.Cancel(ctx, task.ID, json.RawMessage(`{"reason":"enough"}`)) //nolint:errcheck // see tour
	c.Get(ctx, task.ID, nil)                                       //nolint:errcheck // see tour
})

// following answers the question of a task.
var following = over(func(ctx context.Context, c *client.Client) {
	task := sent(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{}))
	for range 200 { // before 0.2 the send does not wait for the question
		if task == nil || task.Status.State == client.InputRequired {
			break
		}
		live.Sleep(ctx, 10*time.Millisecond)
		task, _ = c.Get(ctx, task.ID, nil)
	}
	if task == nil {
		return
	}
	further := client.Text("more")
	further.TaskID, further.ContextID = task.ID, task.ContextID
	c.Send(ctx, further, client.SendOptions{}) //nolint:errcheck // see tour
})

// streaming creates a task in a stream.
var streaming = over(func(ctx context.Context, c *client.Client) {
	for _, err := range c.Stream(ctx, client.Text("task-lifecycle please"), client.SendOptions{}) {
		if err != nil {
			return
		}
	}
})
