package peers

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2aclient"
	"github.com/a2aproject/a2a-go/a2aclient/agentcard"
)

// Go03Client is the client of the official Go SDK's 0.3 line. It speaks JSON-RPC.
var Go03Client = driven("go03", func(h *http.Client) driver {
	return &go03Driver{http: h, transport: a2aclient.WithJSONRPCTransport(h)}
})

// A go03Driver drives the 0.3 line's client.
type go03Driver struct {
	http      *http.Client
	transport a2aclient.FactoryOption
	client    *a2aclient.Client
}

func (d *go03Driver) discover(ctx context.Context, agentURL, binding string) ([]Observation, error) {
	card, err := agentcard.NewResolver(d.http).Resolve(ctx, agentURL)
	if err != nil {
		return nil, err
	}
	seen := []Observation{
		{Kind: "card", Text: card.Name, Note: card.ProtocolVersion},
		{Kind: "interface", Note: string(card.PreferredTransport), URL: card.URL},
	}
	for _, i := range card.AdditionalInterfaces {
		seen = append(seen, Observation{Kind: "interface", Note: string(i.Transport), URL: i.URL})
	}
	d.client, err = a2aclient.NewFromCard(ctx, card,
		a2aclient.WithDefaultsDisabled(),
		d.transport,
		a2aclient.WithConfig(a2aclient.Config{PreferredTransports: []a2a.TransportProtocol{a2a.TransportProtocol(binding)}}),
	)
	return seen, err
}

func (d *go03Driver) params(u turn) *a2a.MessageSendParams {
	message := a2a.NewMessage(a2a.MessageRoleUser, a2a.TextPart{Text: u.text})
	message.TaskID, message.ContextID = a2a.TaskID(u.task), u.context
	params := &a2a.MessageSendParams{Message: message, Config: &a2a.MessageSendConfig{Blocking: new(!u.now)}}
	if u.webhook != "" {
		params.Config.PushConfig = &a2a.PushConfig{URL: u.webhook, Token: u.token}
	}
	return params
}

func (d *go03Driver) send(ctx context.Context, u turn) (Observation, error) {
	result, err := d.client.SendMessage(ctx, d.params(u))
	if err != nil {
		return Observation{}, err
	}
	return go03Observation(result), nil
}

func (d *go03Driver) stream(ctx context.Context, u turn, on func(Observation)) error {
	for event, err := range d.client.SendStreamingMessage(ctx, d.params(u)) {
		if err != nil {
			return err
		}
		on(go03Observation(event))
	}
	return nil
}

func (d *go03Driver) get(ctx context.Context, task string) (Observation, error) {
	return go03Task(d.client.GetTask(ctx, &a2a.TaskQueryParams{ID: a2a.TaskID(task)}))
}

func (d *go03Driver) cancel(ctx context.Context, task string) (Observation, error) {
	return go03Task(d.client.CancelTask(ctx, &a2a.TaskIDParams{ID: a2a.TaskID(task)}))
}

// subscribe is not supported: this line's agent sends a subscriber nothing, not even a header, before the next event,
// so a client cannot tell when a subscription has started.
func (d *go03Driver) subscribe(context.Context, string, func(Observation)) error {
	return errors.ErrUnsupported
}

func (d *go03Driver) setPush(ctx context.Context, task, url, token string) (Observation, error) {
	return go03Config(d.client.SetTaskPushConfig(ctx, &a2a.TaskPushConfig{
		TaskID: a2a.TaskID(task), Config: a2a.PushConfig{URL: url, Token: token},
	}))
}

func (d *go03Driver) getPush(ctx context.Context, task, config string) (Observation, error) {
	return go03Config(d.client.GetTaskPushConfig(ctx, &a2a.GetTaskPushConfigParams{
		TaskID: a2a.TaskID(task), ConfigID: config,
	}))
}

func (d *go03Driver) listPush(ctx context.Context, task string) (seen []Observation, err error) {
	configs, err := d.client.ListTaskPushConfig(ctx, &a2a.ListTaskPushConfigParams{TaskID: a2a.TaskID(task)})
	for _, c := range configs {
		config, _ := go03Config(c, nil)
		seen = append(seen, config)
	}
	return seen, err
}

func (d *go03Driver) deletePush(ctx context.Context, task, config string) error {
	return d.client.DeleteTaskPushConfig(ctx, &a2a.DeleteTaskPushConfigParams{
		TaskID: a2a.TaskID(task), ConfigID: config,
	})
}

// list is not asked for: A2A 0.3 has no such operation over JSON-RPC.
func (d *go03Driver) list(context.Context, string) ([]Observation, error) {
	return nil, errors.ErrUnsupported
}

func (d *go03Driver) code(err error) string {
	for _, known := range []error{
		a2a.ErrTaskNotFound, a2a.ErrTaskNotCancelable, a2a.ErrPushNotificationNotSupported,
		a2a.ErrUnsupportedOperation, a2a.ErrInvalidParams, a2a.ErrInvalidRequest, a2a.ErrMethodNotFound,
		a2a.ErrParseError, a2a.ErrInternalError,
	} {
		if errors.Is(err, known) {
			return fmt.Sprintf("%q", known)
		}
	}
	return "other"
}

func go03Observation(event a2a.Event) Observation {
	switch e := event.(type) {
	case *a2a.Message:
		return Observation{Kind: "message", Text: go03Text(e.Parts), Task: string(e.TaskID), Context: e.ContextID}
	case *a2a.Task:
		seen, _ := go03Task(e, nil)
		return seen
	case *a2a.TaskStatusUpdateEvent:
		seen := Observation{
			Kind: "status", State: string(e.Status.State), Final: e.Final, Task: string(e.TaskID), Context: e.ContextID,
		}
		if e.Status.Message != nil {
			seen.Text = go03Text(e.Status.Message.Parts)
		}
		return seen
	case *a2a.TaskArtifactUpdateEvent:
		return Observation{
			Kind: "artifact", Append: e.Append, Last: e.LastChunk, Text: go03Text(e.Artifact.Parts),
			Task: string(e.TaskID), Context: e.ContextID, Artifact: string(e.Artifact.ID),
		}
	default:
		return Observation{Kind: fmt.Sprintf("unknown %T", event)}
	}
}

func go03Task(task *a2a.Task, err error) (Observation, error) {
	if err != nil {
		return Observation{}, err
	}
	seen := Observation{
		Kind: "task", State: string(task.Status.State), History: len(task.History),
		Task: string(task.ID), Context: task.ContextID,
	}
	if task.Status.Message != nil {
		seen.Text = go03Text(task.Status.Message.Parts)
	}
	for _, artifact := range task.Artifacts {
		seen.Artifacts = append(seen.Artifacts, go03Text(artifact.Parts))
	}
	return seen, nil
}

func go03Config(c *a2a.TaskPushConfig, err error) (Observation, error) {
	if err != nil {
		return Observation{}, err
	}
	return Observation{
		Kind: "config", Task: string(c.TaskID), Config: c.Config.ID, URL: c.Config.URL, Note: c.Config.Token,
	}, nil
}
