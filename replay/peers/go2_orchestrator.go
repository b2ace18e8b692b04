package peers

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2a"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/a2aproject/a2a-go/v2/a2asrv"
	"github.com/google/uuid"
	"google.golang.org/grpc"
)

// Go2Program is the Go SDK's 2.x line in separate processes. The program at the path has [Go2Main] as its main
// function.
func Go2Program(path string) Program { return Program{Name: "go2", binary: path} }

// Go2Main is the main function of what [Go2Program] runs: an agent, a client or an orchestrator, depending on the first
// argument.
func Go2Main() {
	if len(os.Args) < 2 || os.Args[1] != "orchestrator" {
		Main(Go2Agent, Go2Client)
		return
	}
	t := &standIn{}
	defer t.end()
	o := &go2Orchestrator{say: json.NewEncoder(os.Stdout), hooks: make(map[string]chan struct{})}
	running := serve(t, o.handler)
	o.print(map[string]string{"ready": running.URL})
	for in := json.NewDecoder(os.Stdin); ; {
		var plan Plan
		err := in.Decode(&plan)
		if errors.Is(err, io.EOF) {
			break
		}
		t.must(err)
		o.follow(plan)
		o.print(orchestratorLine{Planned: true})
	}
	running.Stop()
}

// A go2Orchestrator is the agent that asks others. It receives the notifications itself.
type go2Orchestrator struct {
	url string

	saying sync.Mutex
	say    *json.Encoder

	mu    sync.Mutex
	plan  Plan
	pool  *http.Transport // one for all users, as most programs have it
	users *meeting
	hooks map[string]chan struct{} // by path; each notification is one value
}

// print tells the parent process something.
func (o *go2Orchestrator) print(line any) {
	o.saying.Lock()
	defer o.saying.Unlock()
	if err := o.say.Encode(line); err != nil {
		fmt.Fprintln(os.Stderr, "tell the parent process:", err)
	}
}

func (o *go2Orchestrator) follow(plan Plan) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.pool != nil {
		o.pool.CloseIdleConnections()
	}
	o.plan, o.users, o.pool = plan, &meeting{of: plan.Together}, &http.Transport{}
}

func (o *go2Orchestrator) handler(url string) http.Handler {
	o.url = url
	card := go2Card(url)
	card.Name, card.Description = "orchestrator go2", "asks other agents, with the Go SDK, 2.x line"
	card.Capabilities.PushNotifications = false
	handler := a2asrv.NewHandler(o, a2asrv.WithLogger(slog.New(slog.DiscardHandler)))
	mux := http.NewServeMux()
	mux.Handle("/rpc", a2asrv.NewJSONRPCHandler(handler))
	mux.Handle("/rest/", http.StripPrefix("/rest", a2asrv.NewRESTHandler(handler)))
	card.SupportedInterfaces = append(card.SupportedInterfaces,
		a2a.NewAgentInterface(strings.TrimPrefix(url, "http://"), a2a.TransportProtocolGRPC))
	service := grpc.NewServer()
	a2agrpc.NewHandler(handler).RegisterWith(service)
	mux.Handle("/lf.a2a.v1.A2AService/", service)
	mux.Handle(a2asrv.WellKnownAgentCardPath, a2asrv.NewStaticAgentCardHandler(card))
	mux.HandleFunc("POST /hook/{id}", o.notified)
	return mux
}

// notified receives a notification.
func (o *go2Orchestrator) notified(w http.ResponseWriter, r *http.Request) {
	o.mu.Lock()
	hook := o.hooks[r.URL.Path]
	o.mu.Unlock()
	select {
	case hook <- struct{}{}:
	default:
		http.Error(w, "nobody waits for this notification", http.StatusNotFound)
	}
}

// hook returns the URL of a webhook, and what gets a value for each notification there.
func (o *go2Orchestrator) hook() (url string, notified <-chan struct{}) {
	path := "/hook/" + uuid.NewString()
	made := make(chan struct{}, notifications)
	o.mu.Lock()
	defer o.mu.Unlock()
	o.hooks[path] = made
	return o.url + path, made
}

// Execute implements a2asrv.AgentExecutor.
func (o *go2Orchestrator) Execute(ctx context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		if !yield(a2a.NewSubmittedTask(req, req.Message), nil) ||
			!yield(go2Status(req, move{do: work}), nil) {
			return
		}
		answer, err := o.ask(ctx, req)
		if err != nil {
			yield(go2Status(req, move{do: fail, text: err.Error()}), nil)
			return
		}
		if yield(a2a.NewArtifactEvent(req, a2a.NewTextPart(answer)), nil) {
			yield(go2Status(req, move{do: complete}), nil)
		}
	}
}

// Cancel implements a2asrv.AgentExecutor.
func (o *go2Orchestrator) Cancel(_ context.Context, req *a2asrv.ExecutorContext) iter.Seq2[a2a.Event, error] {
	return func(yield func(a2a.Event, error) bool) {
		yield(a2a.NewStatusUpdateEvent(req, a2a.TaskStateCanceled, nil), nil)
	}
}

// ask asks the agents of the plan for a user, and returns their answers.
func (o *go2Orchestrator) ask(ctx context.Context, req *a2asrv.ExecutorContext) (string, error) {
	o.mu.Lock()
	user := &go2User{
		orchestrator: o, plan: o.plan, pool: o.pool, message: req.Message.ID, text: go2Text(req.Message.Parts),
	}
	users := o.users
	o.mu.Unlock()
	if user.plan.Trace {
		user.trace = newTrace()
		if parents, _ := req.ServiceParams.Get("traceparent"); len(parents) == 1 {
			user.trace = parents[0]
		}
	}
	if user.plan.Context {
		user.context = req.ContextID
	}
	if err := users.wait(ctx); err != nil {
		return "", fmt.Errorf("wait for the other users: %w", err)
	}
	answers, err := user.askAll(ctx)
	if waiting := users.wait(ctx); err == nil && waiting != nil {
		err = fmt.Errorf("wait for the other users: %w", waiting)
	}
	return fmt.Sprintf("%s: %s", user.text, strings.Join(answers, ", ")), err
}

// A meeting lets so many come together, again and again.
type meeting struct {
	of int

	mu   sync.Mutex
	came int
	all  chan struct{} // closed when all have come; nil until the first has
}

func (m *meeting) wait(ctx context.Context) error {
	m.mu.Lock()
	if m.all == nil {
		m.all = make(chan struct{})
	}
	all := m.all
	if m.came++; m.came >= m.of {
		close(all)
		m.came, m.all = 0, nil
	}
	m.mu.Unlock()
	select {
	case <-all:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
