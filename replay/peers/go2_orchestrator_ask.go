package peers

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"

	"github.com/a2aproject/a2a-go/v2/a2aclient"
	a2agrpc "github.com/a2aproject/a2a-go/v2/a2agrpc/v1"
	"github.com/google/uuid"
	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
)

// A go2User is one message of a user, and the orchestrator's requests to others because of it.
type go2User struct {
	orchestrator *go2Orchestrator
	plan         Plan
	pool         *http.Transport
	message      string // its id
	text         string
	context      string // passed on, unless empty
	trace        string // the traceparent that came; empty for handing none on
}

// askAll asks the agents that the plan names.
func (u *go2User) askAll(ctx context.Context) ([]string, error) {
	switch {
	case u.plan.Next != "":
		answer, err := u.handOn(ctx)
		return []string{answer}, err
	case u.plan.Stream != "":
		return u.askThree(ctx)
	}
	return nil, nil
}

// handOn passes the user's message to the next agent of a chain.
func (u *go2User) handOn(ctx context.Context) (string, error) {
	agent, err := u.meet(ctx, u.plan.Next)
	if err != nil {
		return "", err
	}
	request := agent.request(turn{text: u.text, context: u.context})
	u.orchestrator.print(orchestratorLine{Call: request.Message.ID, For: u.message})
	answer, err := agent.client.SendMessage(ctx, request)
	if err != nil {
		return "", fmt.Errorf("send to %s: %w", u.plan.Next, err)
	}
	return strings.Join(go2Observation(answer).Artifacts, " "), nil
}

// askThree asks the three agents at the same time. The stream ends last.
func (u *go2User) askThree(ctx context.Context) ([]string, error) {
	var (
		answers  = make([]string, 3)
		errs     = make([]error, 3)
		all      sync.WaitGroup
		others   sync.WaitGroup
		released = make(chan struct{})
	)
	all.Go(func() { answers[0], errs[0] = u.follow(ctx, released) })
	others.Go(func() { answers[1], errs[1] = u.beNotified(ctx) })
	others.Go(func() { answers[2], errs[2] = u.beRefused(ctx) })
	others.Wait()
	close(released)
	all.Wait()
	return answers, errors.Join(errs...)
}

// follow follows a task by stream, and releases it when the others have answered.
func (u *go2User) follow(ctx context.Context, released <-chan struct{}) (answer string, err error) {
	agent, err := u.meet(ctx, u.plan.Stream)
	if err != nil {
		return "", err
	}
	var releasing error
	err = agent.stream(ctx, turn{text: "poll ", quote: u.text, context: u.context}, func(seen Observation) {
		switch {
		case seen.Kind == "artifact":
			answer += seen.Text
		case seen.Kind == "status" && strings.HasSuffix(seen.State, "WORKING"):
			<-released
			_, releasing = agent.send(ctx, turn{text: "release " + seen.Task})
		}
	})
	if err = errors.Join(err, releasing); err != nil {
		return "", fmt.Errorf("follow the task of %s: %w", u.plan.Stream, err)
	}
	return answer, nil
}

// beNotified has a task done, waits for the notifications, and asks for it.
func (u *go2User) beNotified(ctx context.Context) (string, error) {
	agent, err := u.meet(ctx, u.plan.Push)
	if err != nil {
		return "", err
	}
	webhook, notified := u.orchestrator.hook()
	made, err := agent.send(ctx, turn{
		text: "work ", quote: u.text, context: u.context, now: true, webhook: webhook, token: uuid.NewString(),
	})
	if err != nil {
		return "", fmt.Errorf("send to %s: %w", u.plan.Push, err)
	}
	for range notifications {
		select {
		case <-notified:
		case <-ctx.Done():
			return "", fmt.Errorf("wait for the notifications of %s: %w", u.plan.Push, ctx.Err())
		}
	}
	task, err := agent.get(ctx, made.Task)
	if err != nil {
		return "", fmt.Errorf("get the task of %s: %w", u.plan.Push, err)
	}
	return strings.Join(task.Artifacts, " "), nil
}

// beRefused waits for a task that fails.
func (u *go2User) beRefused(ctx context.Context) (string, error) {
	agent, err := u.meet(ctx, u.plan.Fail)
	if err != nil {
		return "", err
	}
	task, err := agent.send(ctx, turn{text: "fail ", quote: u.text, context: u.context})
	if err != nil {
		return "", fmt.Errorf("send to %s: %w", u.plan.Fail, err)
	}
	return task.Text, nil
}

// meet reads an agent's card. What connects to the agent over gRPC ends with the context.
func (u *go2User) meet(ctx context.Context, agentURL string) (*go2Driver, error) {
	client := &http.Client{Transport: &accountable{u}}
	agent := Go2Client.driver(client).(*go2Driver)
	binding := cmp.Or(u.plan.Binding, JSONRPC)
	if binding == GRPC {
		agent.transports = []a2aclient.FactoryOption{a2agrpc.WithGRPCTransport(plaintext,
			grpc.WithUnaryInterceptor(func(ctx context.Context, method string, in, out any, c *grpc.ClientConn, call grpc.UnaryInvoker,
				opts ...grpc.CallOption,
			) error {
				return call(u.account(ctx), method, in, out, c, opts...)
			}),
			grpc.WithStreamInterceptor(func(ctx context.Context, d *grpc.StreamDesc, c *grpc.ClientConn, method string,
				begin grpc.Streamer, opts ...grpc.CallOption,
			) (grpc.ClientStream, error) {
				return begin(u.account(ctx), d, c, method, opts...)
			}),
		)}
	}
	if _, err := agent.discover(ctx, agentURL, binding); err != nil {
		return nil, fmt.Errorf("read the card of %s: %w", agentURL, err)
	}
	context.AfterFunc(ctx, func() { agent.client.Destroy() }) //nolint:errcheck // it is not used any more
	return agent, nil
}

// account is what accountable does, for a call over gRPC.
func (u *go2User) account(ctx context.Context) context.Context {
	id := uuid.NewString()
	ctx = metadata.AppendToOutgoingContext(ctx, "x-request-id", id)
	if u.trace != "" {
		ctx = metadata.AppendToOutgoingContext(ctx, "traceparent", childOf(u.trace))
	}
	u.orchestrator.print(orchestratorLine{Call: id, For: u.message})
	return ctx
}

// An accountable transport gives each request an id, reports the message that it belongs to, and propagates the trace.
type accountable struct {
	user *go2User
}

// RoundTrip implements http.RoundTripper.
func (a *accountable) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	id := uuid.NewString()
	r.Header.Set("X-Request-Id", id)
	if trace := a.user.trace; trace != "" {
		r.Header.Set("Traceparent", childOf(trace))
	}
	a.user.orchestrator.print(orchestratorLine{Call: id, For: a.user.message})
	return a.user.pool.RoundTrip(r)
}

// childOf returns a traceparent of the same trace, with a new span id: W3C Trace Context, section 3.2.
func childOf(parent string) string {
	fields := strings.Split(parent, "-") // version, trace id, span id, flags
	if len(fields) < 4 {
		return parent
	}
	fields[2] = randomHex(8)
	return strings.Join(fields, "-")
}

// newTrace returns a traceparent of a trace that begins.
func newTrace() string { return "00-" + randomHex(16) + "-" + randomHex(8) + "-01" }

// randomHex returns so many random bytes, as hexadecimal digits.
func randomHex(n int) string {
	p := make([]byte, n)
	_, _ = rand.Read(p) // it cannot fail
	return hex.EncodeToString(p)
}
