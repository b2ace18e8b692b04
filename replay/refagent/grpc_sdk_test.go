package refagent_test

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"

	old "github.com/a2aproject/a2a-go/a2a"
	oldclient "github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/google/go-cmp/cmp"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/peers"
	"a2atap/replay/refagent"
)

// overGRPC starts an agent that speaks gRPC, and returns a connection of the official library.
func overGRPC(t *testing.T, agent string) *grpc.ClientConn {
	t.Helper()
	origin := serve(t, agent, refagent.Options{Bindings: []string{"grpc"}, Push: true})
	conn, err := grpc.NewClient("passthrough:///"+strings.TrimPrefix(origin, "http://"),
		grpc.WithTransportCredentials(insecure.NewCredentials()))
	must.Do(t, err)
	t.Cleanup(func() { conn.Close() })
	return conn
}

// The client of the official SDK of 1.0 performs every operation over gRPC.
func TestSDKOverGRPC10(t *testing.T) {
	c, params := a2agrpc.NewGRPCTransport(overGRPC(t, "spec")), a2aclient.ServiceParams{"a2a-version": []string{"1.0"}}
	say := func(text string) *a2a.SendMessageRequest {
		return &a2a.SendMessageRequest{Message: a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(text))}
	}
	ctx := t.Context()
	result, err := c.SendMessage(ctx, params, say("task-lifecycle book"))
	must.Do(t, err)
	task := result.(*a2a.Task)
	if task.Status.State != a2a.TaskStateCompleted || len(task.Artifacts) != 1 {
		t.Errorf("got %+v", task)
	}
	if result, err = c.SendMessage(ctx, params, say("message-only hi")); err != nil {
		t.Error(err)
	} else if _, ok := result.(*a2a.Message); !ok {
		t.Errorf("got %T, want a message", result)
	}
	kinds, err := kindsOf(c.SendStreamingMessage(ctx, params, say("streaming more")))
	want := []string{"Task", "TaskStatusUpdateEvent"}
	for range 4 {
		want = append(want, "TaskArtifactUpdateEvent")
	}
	want = append(want, "TaskStatusUpdateEvent")
	if diff := cmp.Diff(want, kinds); diff != "" || err != nil {
		t.Errorf("stream (-want +got), %v:\n%s", err, diff)
	}
	expect.Equal(t, "get", task.ID, must.Get(c.GetTask(ctx, params, &a2a.GetTaskRequest{ID: task.ID}))(t).ID)
	if page, err := c.ListTasks(ctx, params, &a2a.ListTasksRequest{ContextID: task.ContextID, PageSize: 10}); err != nil ||
		len(page.Tasks) != 1 {
		t.Errorf("list: %+v, %v", page, err)
	}
	for _, refused := range []struct {
		want error
		ask  func() error
	}{
		{a2a.ErrTaskNotFound, func() error { _, err := c.GetTask(ctx, params, &a2a.GetTaskRequest{ID: zeroID}); return err }},
		{a2a.ErrTaskNotCancelable, func() error {
			_, err := c.CancelTask(ctx, params, &a2a.CancelTaskRequest{ID: task.ID})
			return err
		}},
		{a2a.ErrUnsupportedOperation, func() error {
			_, err := kindsOf(c.SubscribeToTask(ctx, params, &a2a.SubscribeToTaskRequest{ID: task.ID}))
			return err
		}},
	} {
		expect.ErrorIs(t, "", refused.want, refused.ask())
	}
	config, err := c.CreateTaskPushConfig(ctx, params, &a2a.PushConfig{TaskID: task.ID, URL: "http://127.0.0.1:9/hook"})
	must.Do(t, err)
	if all, err := c.ListTaskPushConfigs(ctx, params, &a2a.ListTaskPushConfigRequest{TaskID: task.ID}); err != nil ||
		len(all) != 1 || all[0].ID != config.ID {
		t.Errorf("configs: %+v, %v", all, err)
	}
	deletion := &a2a.DeleteTaskPushConfigRequest{TaskID: task.ID, ID: config.ID}
	expect.OK(t, c.DeleteTaskPushConfig(ctx, params, deletion))
	authorized := a2aclient.ServiceParams{"a2a-version": {"1.0"}, "authorization": {"Bearer agentbin-test-token"}}
	card, err := c.GetExtendedAgentCard(ctx, authorized, &a2a.GetExtendedAgentCardRequest{})
	if err != nil || card.Name != "AgentBin Spec Agent (Extended)" || len(card.SupportedInterfaces) != 1 {
		t.Errorf("extended card: %+v, %v", card, err)
	}
}

// The client of the official SDK of 0.3 also performs every operation over gRPC.
func TestSDKOverGRPC03(t *testing.T) {
	c, ctx := oldclient.NewGRPCTransport(overGRPC(t, "spec03")), t.Context()
	say := func(text string) *old.MessageSendParams {
		blocking := true
		return &old.MessageSendParams{
			Message: old.NewMessage(old.MessageRoleUser, old.TextPart{Text: text}),
			Config:  &old.MessageSendConfig{Blocking: &blocking},
		}
	}
	result := must.Get(c.SendMessage(ctx, say("task-lifecycle book")))(t)
	task := result.(*old.Task)
	if task.Status.State != old.TaskStateCompleted || len(task.Artifacts) != 1 {
		t.Errorf("got %+v", task)
	}
	kinds, err := kindsOf(c.SendStreamingMessage(ctx, say("streaming more")))
	if err != nil || len(kinds) != 7 || kinds[0] != "Task" {
		t.Errorf("stream: %v, %v", kinds, err)
	}
	expect.Equal(t, "get", task.ID, must.Get(c.GetTask(ctx, &old.TaskQueryParams{ID: task.ID}))(t).ID)
	expect.ErrorIs(t, "", old.ErrTaskNotFound, expect.Err(c.GetTask(ctx, &old.TaskQueryParams{ID: zeroID})))
	config, err := c.SetTaskPushConfig(ctx, &old.TaskPushConfig{
		TaskID: task.ID, Config: old.PushConfig{ID: "mine", URL: "http://127.0.0.1:9/hook"},
	})
	if err != nil || config.Config.ID != "mine" {
		t.Fatalf("%+v, %v", config, err)
	}
	params := &old.GetTaskPushConfigParams{TaskID: task.ID, ConfigID: "mine"}
	expect.Equal(t, "config", task.ID, must.Get(c.GetTaskPushConfig(ctx, params))(t).TaskID)
	if all, err := c.ListTaskPushConfig(ctx, &old.ListTaskPushConfigParams{TaskID: task.ID}); err != nil || len(all) != 1 {
		t.Errorf("configs: %+v, %v", all, err)
	}
}

// kindsOf returns the types of the events of a stream.
func kindsOf[E any](events iter.Seq2[E, error]) (kinds []string, err error) {
	for e, err := range events {
		if err != nil {
			return kinds, err
		}
		name := fmt.Sprintf("%T", e)
		kinds = append(kinds, name[strings.LastIndexByte(name, '.')+1:])
	}
	return kinds, nil
}

// a2atap's client performs every operation over gRPC with agents of the official SDKs.
func TestSDKAgentsOverGRPC(t *testing.T) {
	for _, tt := range []struct {
		agent    peers.Agent
		protocol client.Protocol
	}{{peers.Go2GRPCAgent, client.GRPC10}, {peers.Go03GRPCAgent, client.GRPC03}} {
		t.Run(tt.protocol.String(), func(t *testing.T) {
			t.Parallel()
			ctx := t.Context()
			c := agenttest.Connect(t, tt.agent.Start(t).URL, tt.protocol, client.Options{})
			task := send(t, c, client.Text("work"))
			if task.Status.State != client.Completed || len(task.Artifacts) == 0 {
				t.Errorf("got %s", task.Raw)
			}
			if r, err := c.Send(ctx, client.Text("hello"), client.SendOptions{}); err != nil || r.Message == nil {
				t.Errorf("got %+v, %v, want a message", r, err)
			}
			line, last := collect(t, c.Stream(ctx, client.Text("fail"), client.SendOptions{}))
			if !strings.HasPrefix(line, "task:submitted") || last.State() != client.Failed {
				t.Errorf("stream: %s", line)
			}
			if got := get(t, c, task.ID); got.ID != task.ID {
				t.Errorf("got %s", got.Raw)
			}
			_, err := c.Get(ctx, "no-such-task", nil)
			checkRefusal(t, err, -32001)
			if tt.protocol == client.GRPC10 {
				if page, err := c.List(ctx, client.ListOptions{ContextID: task.ContextID}); err != nil || len(page.Tasks) != 1 {
					t.Errorf("list: %+v, %v", page, err)
				}
			}
			config, err := c.CreatePush(ctx, client.PushConfig{TaskID: task.ID, ID: "mine", URL: "http://127.0.0.1:9/hook"})
			must.Do(t, err)
			if got, err := c.GetPush(ctx, task.ID, config.ID); err != nil || got.TaskID != task.ID || got.URL != config.URL {
				t.Errorf("config: %+v, %v", got, err)
			}
			all, err := c.ListPush(ctx, task.ID)
			if err != nil || !slices.ContainsFunc(all, func(p client.PushConfig) bool { return p.ID == config.ID }) {
				t.Errorf("configs: %+v, %v", all, err)
			}
			expect.OK(t, c.DeletePush(ctx, task.ID, config.ID))
			for e, err := range c.Stream(ctx, client.Text("wait"), client.SendOptions{}) {
				must.Do(t, err)
				if e.State() == client.Working {
					expect.Equal(t, "cancel",
						client.Canceled, must.Get(c.Cancel(ctx, e.TaskID(), nil))(t).Status.State)
				}
			}
		})
	}
}
