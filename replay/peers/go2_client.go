package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2aclient"
	"github.com/a2aproject/a2a-go/v2/a2aclient/agentcard"
)

// Go2Client is the client of the official Go SDK's 2.x line, which speaks A2A 1.0 over JSON-RPC and HTTP+JSON.
var Go2Client = driven("go2", go2DriverOf(func(h *http.Client) (agentcard.Parser, []a2aclient.FactoryOption) {
	return agentcard.DefaultCardParser, []a2aclient.FactoryOption{
		a2aclient.WithJSONRPCTransport(h), a2aclient.WithRESTTransport(h),
	}
}))

// go2DriverOf returns what makes drivers of the 2.x line. The dialect supplies the parser for cards and the transports.
func go2DriverOf(dialect func(*http.Client) (agentcard.Parser, []a2aclient.FactoryOption)) func(*http.Client) driver {
	return func(h *http.Client) driver {
		d := &go2Driver{http: h}
		d.parser, d.transports = dialect(d.http)
		return d
	}
}

// A go2Driver drives the 2.x line's client.
type go2Driver struct {
	http       *http.Client
	parser     agentcard.Parser
	transports []a2aclient.FactoryOption
	client     *a2aclient.Client
}

func (d *go2Driver) discover(ctx context.Context, agentURL, binding string) ([]Observation, error) {
	resolver := agentcard.NewResolver(d.http)
	resolver.CardParser = d.parser
	card, err := resolver.Resolve(ctx, agentURL)
	if err != nil {
		return nil, err
	}
	seen := []Observation{{Kind: "card", Text: card.Name}}
	for _, i := range card.SupportedInterfaces {
		seen = append(seen, Observation{
			Kind: "interface", Note: fmt.Sprintf("%s %s", i.ProtocolBinding, i.ProtocolVersion), URL: i.URL,
		})
	}
	options := append([]a2aclient.FactoryOption{
		a2aclient.WithDefaultsDisabled(),
		a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{a2a.TransportProtocol(binding)}}),
	}, d.transports...)
	d.client, err = a2aclient.NewFromCard(ctx, card, options...)
	return seen, err
}

func (d *go2Driver) request(u turn) *a2a.SendMessageRequest {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.NewTextPart(u.text))
	if u.quote != "" {
		message.Parts = append(message.Parts, a2a.NewTextPart(u.quote))
	}
	message.TaskID, message.ContextID = a2a.TaskID(u.task), u.context
	request := &a2a.SendMessageRequest{Message: message, Config: &a2a.SendMessageConfig{ReturnImmediately: u.now}}
	if u.webhook != "" {
		request.Config.PushConfig = &a2a.PushConfig{URL: u.webhook, Token: u.token}
	}
	return request
}

func (d *go2Driver) send(ctx context.Context, u turn) (Observation, error) {
	result, err := d.client.SendMessage(ctx, d.request(u))
	if err != nil {
		return Observation{}, err
	}
	return go2Observation(result), nil
}

func (d *go2Driver) stream(ctx context.Context, u turn, on func(Observation)) error {
	for event, err := range d.client.SendStreamingMessage(ctx, d.request(u)) {
		if err != nil {
			return err
		}
		on(go2Observation(event))
	}
	return nil
}

func (d *go2Driver) get(ctx context.Context, task string) (Observation, error) {
	return go2Task(d.client.GetTask(ctx, &a2a.GetTaskRequest{ID: a2a.TaskID(task)}))
}

func (d *go2Driver) cancel(ctx context.Context, task string) (Observation, error) {
	return go2Task(d.client.CancelTask(ctx, &a2a.CancelTaskRequest{ID: a2a.TaskID(task)}))
}

func (d *go2Driver) subscribe(ctx context.Context, task string, on func(Observation)) error {
	for event, err := range d.client.SubscribeToTask(ctx, &a2a.SubscribeToTaskRequest{ID: a2a.TaskID(task)}) {
		if err != nil {
			return err
		}
		on(go2Observation(event))
	}
	return nil
}

func (d *go2Driver) deletePush(ctx context.Context, task, config string) error {
	return d.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigRequest{
		TaskID: a2a.TaskID(task), ID: config,
	})
}

func (d *go2Driver) list(ctx context.Context, contextID string) (seen []Observation, err error) {
	answer, err := d.client.ListTasks(ctx, &a2a.ListTasksRequest{ContextID: contextID, IncludeArtifacts: true})
	if err != nil {
		return nil, err
	}
	for _, task := range answer.Tasks {
		one, _ := go2Task(task, nil)
		seen = append(seen, one)
	}
	return seen, nil
}

func (d *go2Driver) code(err error) string {
	for _, known := range []error{
		a2a.ErrTaskNotFound, a2a.ErrTaskNotCancelable, a2a.ErrPushNotificationNotSupported,
		a2a.ErrUnsupportedOperation, a2a.ErrInvalidParams, a2a.ErrInvalidRequest, a2a.ErrMethodNotFound,
		a2a.ErrParseError, a2a.ErrInternalError, a2a.ErrServerError,
	} {
		if errors.Is(err, known) {
			return fmt.Sprintf("%q", known)
		}
	}
	return "other"
}

func go2Observation(event a2a.Event) Observation {
	switch e := event.(type) {
	case *a2a.Message:
		return Observation{Kind: "message", Text: go2Text(e.Parts), Task: string(e.TaskID), Context: e.ContextID}
	case *a2a.Task:
		seen, _ := go2Task(e, nil)
		return seen
	case *a2a.TaskStatusUpdateEvent:
		seen := Observation{Kind: "status", State: string(e.Status.State), Task: string(e.TaskID), Context: e.ContextID}
		if e.Status.Message != nil {
			seen.Text = go2Text(e.Status.Message.Parts)
		}
		return seen
	case *a2a.TaskArtifactUpdateEvent:
		return Observation{
			Kind: "artifact", Append: e.Append, Last: e.LastChunk, Text: go2Text(e.Artifact.Parts),
			Task: string(e.TaskID), Context: e.ContextID, Artifact: string(e.Artifact.ID),
		}
	default:
		return Observation{Kind: fmt.Sprintf("unknown %T", event)}
	}
}

func go2Task(task *a2a.Task, err error) (Observation, error) {
	if err != nil {
		return Observation{}, err
	}
	seen := Observation{
		Kind: "task", State: string(task.Status.State), History: len(task.History),
		Task: string(task.ID), Context: task.ContextID,
	}
	if task.Status.Message != nil {
		seen.Text = go2Text(task.Status.Message.Parts)
	}
	for _, artifact := range task.Artifacts {
		seen.Artifacts = append(seen.Artifacts, go2Text(artifact.Parts))
	}
	return seen, nil
}
