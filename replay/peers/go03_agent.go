package peers

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/a2a"
	"github.com/a2aproject/a2a-go/a2asrv"
	"github.com/a2aproject/a2a-go/a2asrv/eventqueue"
	"github.com/a2aproject/a2a-go/a2asrv/push"
)

// Go03Agent is the agent of the official Go SDK's 0.3 line. That line speaks JSON-RPC, and no HTTP+JSON.
var Go03Agent = Agent{Name: "go03", Start: startGo03}

func startGo03(t testing.TB) Running {
	return serve(t, func(url string) http.Handler {
		handler := a2asrv.NewHandler(
			&go03Executor{gates: gates{ended: t.Context().Done()}},
			a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
			a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
		)
		mux := http.NewServeMux()
		mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
		mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(&a2a.AgentCard{
			ProtocolVersion:    go03Version,
			Name:               "peer go03",
			Description:        "an agent of the Go SDK, 0.3 line",
			Version:            "1.0.0",
			URL:                url + "/rpc",
			PreferredTransport: a2a.TransportProtocolJSONRPC,
			Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
			DefaultInputModes:  []string{"text/plain"},
			DefaultOutputModes: []string{"text/plain"},
			Skills: []a2a.AgentSkill{{
				ID: "moves", Name: "moves", Description: "does what the first word says", Tags: []string{"test"},
			}},
		}))
		return mux
	})
}

// A go03Executor makes the moves with the 0.3 line's event queue.
type go03Executor struct{ gates gates }

// Execute implements a2asrv.AgentExecutor.
func (e *go03Executor) Execute(ctx context.Context, req *a2asrv.RequestContext, queue eventqueue.Queue) error {
	text := go03Text(req.Message.Parts)
	e.gates.open(text)
	var artifact a2a.ArtifactID
	for _, m := range moves(text, req.StoredTask != nil) {
		var event a2a.Event
		switch m.do {
		case say:
			event = a2a.NewMessage(a2a.MessageRoleAgent, a2a.TextPart{Text: m.text})
		case open:
			event = a2a.NewSubmittedTask(req, req.Message)
		case produce:
			chunk := a2a.NewArtifactEvent(req, a2a.TextPart{Text: m.text})
			if m.append {
				chunk = a2a.NewArtifactUpdateEvent(req, artifact, a2a.TextPart{Text: m.text})
			}
			artifact, chunk.LastChunk = chunk.Artifact.ID, m.last
			event = chunk
		case pause:
			if err := e.gates.pass(ctx, string(req.TaskID)); err != nil {
				return err
			}
			continue
		case hold:
			if !e.gates.hold(ctx) {
				return ctx.Err()
			}
			event = go03Status(req, tooLate)
		default:
			event = go03Status(req, m)
		}
		if err := queue.Write(ctx, event); err != nil {
			return fmt.Errorf("write event: %w", err)
		}
	}
	return nil
}

// Cancel implements a2asrv.AgentExecutor.
func (e *go03Executor) Cancel(ctx context.Context, req *a2asrv.RequestContext, queue eventqueue.Queue) error {
	event := a2a.NewStatusUpdateEvent(req, a2a.TaskStateCanceled, nil)
	event.Final = true
	return queue.Write(ctx, event)
}

func go03Status(req *a2asrv.RequestContext, m move) *a2a.TaskStatusUpdateEvent {
	state := map[action]a2a.TaskState{
		work: a2a.TaskStateWorking, inputRequired: a2a.TaskStateInputRequired,
		complete: a2a.TaskStateCompleted, fail: a2a.TaskStateFailed,
	}[m.do]
	var message *a2a.Message
	if m.text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, req, a2a.TextPart{Text: m.text})
	}
	event := a2a.NewStatusUpdateEvent(req, state, message)
	event.Final = state.Terminal() || state == a2a.TaskStateInputRequired
	return event
}

func go03Text(parts a2a.ContentParts) (text string) {
	for _, part := range parts {
		if p, ok := part.(a2a.TextPart); ok {
			text += p.Text
		}
	}
	return text
}
