package peers

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"testing"

	"github.com/a2aproject/a2a-go/v2/a2a"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/a2aproject/a2a-go/v2/a2asrv/push"
	"github.com/a2aproject/a2a-go/v2/a2asrv/taskstore"
)

// Go2Agent is the agent of the official Go SDK's 2.x line, which speaks A2A 1.0 over JSON-RPC and HTTP+JSON.
var Go2Agent = Agent{Name: "go2", Start: func(t testing.TB) Running { return startGo2(t, nil) }}

// startGo2 starts an agent. What extend adds to the card and the routes is served too; it may be nil.
func startGo2(
	t testing.TB, extend func(url string, handler a2asrv.RequestHandler, card *a2a.AgentCard, mux *http.ServeMux),
) Running {
	return serve(t, func(url string) http.Handler {
		handler := a2asrv.NewHandler(
			&go2Executor{gates: gates{ended: t.Context().Done()}},
			a2asrv.WithPushNotifications(push.NewInMemoryStore(), push.NewHTTPPushSender(nil)),
			a2asrv.WithLogger(slog.New(slog.DiscardHandler)),
			// The store's default refuses to list tasks of callers without a name.
			a2asrv.WithTaskStore(taskstore.NewInMemory(&taskstore.InMemoryStoreConfig{
				Authenticator: func(context.Context) (string, error) { return "anyone", nil },
			})),
		)
		card := go2Card(url)
		mux := http.NewServeMux()
		mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
		mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
		if extend != nil {
			extend(url, handler, card, mux)
		} else {
			mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
		}
		return mux
	})
}

func go2Card(url string) *a2a.AgentCard {
	return &a2a.AgentCard{
		Name:        "peer go2",
		Description: "an agent of the Go SDK, 2.x line",
		Version:     "1.0.0",
		SupportedInterfaces: []*a2a.AgentInterface{
			a2a.NewAgentInterface(url+"/rpc", a2a.TransportProtocolJSONRPC),
			a2a.NewAgentInterface(url+"/rest", a2a.TransportProtocolHTTPJSON),
		},
		Capabilities:       a2a.AgentCapabilities{Streaming: true, PushNotifications: true},
		DefaultInputModes:  []string{"text/plain"},
		DefaultOutputModes: []string{"text/plain"},
		Skills: []a2a.AgentSkill{{
			ID: "moves", Name: "moves", Description: "does what the first word says", Tags: []string{"test"},
		}},
	}
}

// A go2Executor makes the moves as the 2.x line's sequence of events.
type go2Executor struct{ gates gates }

// Execute implements a2asrv.AgentExecutor.
func (e *go2Executor) Execute(ctx context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		text := go2Text(req.Message.Parts)
		e.gates.open(text)
		var artifact a2a.ArtifactID
		for _, m := range moves(text, req.StoredTask != nil) {
			var event a2a.Event
			switch m.do {
			case say:
				event = a2a.NewMessage(a2a.MessageRoleAgent, a2a.NewTextPart(m.text))
			case open:
				event = a2a.NewSubmittedTask(req, req.Message)
			case produce:
				chunk := a2a.NewArtifactEvent(req, a2a.NewTextPart(m.text))
				if m.append {
					chunk = a2a.NewArtifactUpdateEvent(req, artifact, a2a.NewTextPart(m.text))
				}
				artifact, chunk.LastChunk = chunk.Artifact.ID, m.last
				event = chunk
			case pause:
				if err := e.gates.pass(ctx, string(req.TaskID)); err != nil {
					yield(nil, err)
					return
				}
				continue
			case hold:
				if !e.gates.hold(ctx) {
					return
				}
				event = go2Status(req, tooLate)
			default:
				event = go2Status(req, m)
			}
			if !yield(event, nil) {
				return
			}
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (e *go2Executor) Cancel(_ context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(req, a2a.TaskStateCanceled, nil), nil)
	}
}

func go2Status(req *a2asrv.ExecutorContext, m move) *a2a.TaskStatusUpdateEvent {
	state := map[action]a2a.TaskState{
		work: a2a.TaskStateWorking, inputRequired: a2a.TaskStateInputRequired,
		complete: a2a.TaskStateCompleted, fail: a2a.TaskStateFailed,
	}[m.do]
	var message *a2a.Message
	if m.text != "" {
		message = a2a.NewMessageForTask(a2a.MessageRoleAgent, req, a2a.NewTextPart(m.text))
	}
	return a2a.NewStatusUpdateEvent(req, state, message)
}

func go2Text(parts a2a.ContentParts) (text string) {
	for _, part := range parts {
		text += part.Text()
	}
	return text
}
