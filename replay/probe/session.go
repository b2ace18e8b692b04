package probe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"sync"
	"time"

	"a2atap/replay/live"

	"github.com/google/uuid"

	"a2atap/proxy/capture"
	"a2atap/replay/client"
)

// A Session is what a scenario speaks through. It is used by one case; the methods that speak may be called at the same
// time.
type Session struct {
	// Client speaks the protocol of the case, with the credentials that were given.
	Client *client.Client
	// Card is the agent's public card; nil if none could be read.
	Card *client.Card
	// URL is the agent's, as it was given.
	URL string
	// Version is the version that the interface has, in two parts: 0.2 where Protocol says 0.3.
	Version string
	// Patch is the patch version of the specification whose HTTP statuses are insisted on; empty for those of either.
	Patch string
	// Timeout is how long a task may take.
	Timeout time.Duration

	target   *target
	endpoint client.Interface
	drive    Drive
	skills   []string

	mu        sync.Mutex
	exchanges []uint64
	sequence  []string
}

// Protocol returns what is spoken.
func (s *Session) Protocol() client.Protocol { return s.endpoint.Protocol }

// RPC reports whether the binding is JSON-RPC.
func (s *Session) RPC() bool { return s.endpoint.Protocol.Binding == "JSONRPC" }

// NewID returns an id that nobody has used.
func (s *Session) NewID() string { return uuid.NewString() }

// Say returns a message that should bring the agent to do something: what the options give for that, else a keyword, if
// the agent has the reference skills, else the first example of its card. What comes of it has to be looked at.
func (s *Session) Say(b Behavior) client.Message {
	prompts := s.target.opts.Prompts
	if b == Anything && prompts[b] == "" {
		b = CompletesTask
	}
	if text := prompts[b]; text != "" {
		return client.Text(text)
	}
	text, _ := s.drive.prompt(b, s.Card, s.skills)
	return client.Text(text)
}

// Scripted reports whether the agent has the reference skills: what it is told to do, it does.
func (s *Session) Scripted() bool { return s.drive == Scripted }

// Edited returns a client like Client whose requests are changed before they are sent.
func (s *Session) Edited(edit func(*client.Outgoing)) *client.Client {
	o := s.target.options(s)
	o.Edit = edit
	return s.target.client(s.endpoint, o)
}

// Anonymous returns a client like Client that has no credentials.
func (s *Session) Anonymous() *client.Client {
	o := s.target.options(s)
	o.Token, o.Authorize, o.Header = "", nil, nil
	return s.target.client(s.endpoint, o)
}

// Second returns a client like Client that has the credentials of another user, and whether there is one.
func (s *Session) Second() (*client.Client, bool) {
	second := s.target.opts.Second
	if second == nil {
		return nil, false
	}
	o := s.target.options(s)
	o.Token, o.Authorize, o.Header = second.Token, second.Authorize, second.Header
	return s.target.client(s.endpoint, o), true
}

// Endpoint returns the interface under test.
func (s *Session) Endpoint() client.Interface { return s.endpoint }

// Ask sends any request, with the headers of the given one and the credentials of Client, and reads the answer to its
// end. An answer of any status is an answer.
func (s *Session) Ask(ctx context.Context, method, url string, header http.Header, body []byte) (*Answer, error) {
	out := &client.Outgoing{Method: method, URL: url, Header: http.Header{}, Body: body}
	for name, values := range header {
		out.Header[name] = slices.Clone(values)
	}
	o := s.target.options(s)
	for name, values := range o.Header {
		if out.Header[name] == nil {
			out.Header[name] = slices.Clone(values)
		}
	}
	if o.Token != "" && out.Header.Get("Authorization") == "" {
		out.Header.Set("Authorization", "Bearer "+o.Token)
	}
	if o.Authorize != nil {
		if err := o.Authorize(ctx, out); err != nil {
			return nil, fmt.Errorf("get credentials: %w", err)
		}
	}
	return s.roundTrip(ctx, o.Transport, out)
}

// AskAnonymously is Ask without credentials.
func (s *Session) AskAnonymously(
	ctx context.Context, method, url string, header http.Header, body []byte,
) (*Answer, error) {
	out := &client.Outgoing{Method: method, URL: url, Header: header.Clone(), Body: body}
	return s.roundTrip(ctx, s.target.options(s).Transport, out)
}

func (s *Session) roundTrip(ctx context.Context, t http.RoundTripper, out *client.Outgoing) (*Answer, error) {
	req, err := http.NewRequestWithContext(ctx, out.Method, out.URL, bodyReader(out.Body))
	if err != nil {
		return nil, fmt.Errorf("make a request for %s %s", out.Method, out.URL)
	}
	if out.Header != nil {
		req.Header = out.Header
	}
	if req.Header.Get("User-Agent") == "" {
		req.Header.Set("User-Agent", s.target.userAgent())
	}
	resp, err := t.RoundTrip(req)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", out.Method, out.URL, err)
	}
	_, err = io.Copy(io.Discard, resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", out.Method, out.URL, err)
	}
	return s.Last(), nil
}

// Last returns the answer to the newest request of the case.
func (s *Session) Last() *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.exchanges) == 0 {
		return &Answer{}
	}
	return readAnswer(s.target.tape.exchange(s.exchanges[len(s.exchanges)-1]))
}

// asks returns how many requests the case has made.
func (s *Session) asks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.exchanges)
}

// answerTo returns the answer to a request of the case, counted from 0, as far as it is there.
func (s *Session) answerTo(n int) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.exchanges) {
		return &Answer{}
	}
	return readAnswer(s.target.tape.exchange(s.exchanges[n]))
}

// asked notes the number of an exchange of the case.
func (s *Session) asked(n uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = append(s.exchanges, n)
}

// Collect reads a stream to its end, and keeps the sequence of its events for the report.
func (s *Session) Collect(stream iter.Seq2[client.Event, error]) ([]client.Event, error) {
	var events []client.Event
	for e, err := range stream {
		if err != nil {
			s.follow(events)
			return events, err
		}
		events = append(events, e)
	}
	s.follow(events)
	return events, nil
}

// First reads the first event of a stream and leaves it.
func (s *Session) First(stream iter.Seq2[client.Event, error]) (client.Event, error) {
	for e, err := range stream {
		if err == nil {
			s.follow([]client.Event{e})
		}
		return e, err
	}
	return client.Event{}, Fail("an event", "a stream without one")
}

func (s *Session) follow(events []client.Event) {
	sequence := make([]string, 0, len(events))
	for _, e := range events {
		sequence = append(sequence, eventWords(e))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = sequence
}

func eventWords(e client.Event) string {
	switch {
	case e.Task != nil:
		return "task " + string(e.Task.Status.State)
	case e.Status != nil:
		return "status " + string(e.Status.Status.State)
	case e.Artifact != nil:
		return "artifact " + e.Artifact.Artifact.ID
	case e.Message != nil:
		return "message"
	}
	return "unknown event"
}

// Await polls a task, with pauses that grow, until its state is settled or the timeout is over; then it fails. It
// returns the task as last seen.
func (s *Session) Await(ctx context.Context, id string, settled func(client.State) bool) (*client.Task, error) {
	begun := time.Now()
	for pause := 50 * time.Millisecond; ; pause = min(2*pause, time.Second) {
		task, err := s.Client.Get(ctx, id, nil)
		if err != nil {
			return task, err
		}
		if settled(task.Status.State) {
			return task, nil
		}
		if waited := time.Since(begun); waited > s.Timeout {
			return task, Fail("a task that ends or waits for input", "task %s still %s after %d ms", id, task.Status.State,
				waited.Milliseconds())
		}
		if !live.Sleep(ctx, pause) {
			return task, ctx.Err()
		}
	}
}

// Settle is Await for scenarios that are about something else: where the task does not settle in time, they are
// inconclusive, and the scenario task-completes fails.
func (s *Session) Settle(ctx context.Context, id string) (*client.Task, error) {
	task, err := s.Await(ctx, id, Settled)
	var late *Failure
	if errors.As(err, &late) {
		return task, Unclear("%s, and this is about what comes then", late.Seen)
	}
	return task, err
}

// Settled reports whether a task in that state does nothing more by itself.
func Settled(state client.State) bool { return state.Terminal() || state.Interrupted() }

// Task sends a message that should bring the agent to make a task, and returns the task as answered. Where the agent
// answers with a message, the case is inconclusive.
func (s *Session) Task(ctx context.Context, b Behavior, o client.SendOptions) (*client.Task, error) {
	return s.taskOf(s.Client.Send(ctx, s.Say(b), o))
}

func (s *Session) taskOf(r *client.Result, err error) (*client.Task, error) {
	switch {
	case err != nil:
		return nil, err
	case r.Task == nil:
		return nil, Unclear("the agent answered with a message, and this is about tasks")
	}
	return r.Task, nil
}

// Finished makes a task and waits for its end. A task that ends otherwise than completed, or asks back, makes the case
// inconclusive unless the agent is scripted.
func (s *Session) Finished(ctx context.Context, b Behavior) (*client.Task, error) {
	task, err := s.Task(ctx, b, client.SendOptions{})
	if err != nil {
		return nil, err
	}
	if !Settled(task.Status.State) {
		if task, err = s.Settle(ctx, task.ID); err != nil {
			return task, err
		}
	}
	if !task.Status.State.Terminal() {
		return task, Unclear("task %s is %s, and this is about one that has ended", task.ID, task.Status.State)
	}
	return task, nil
}

// fill adds to a result what the case has asked and seen.
func (s *Session) fill(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Exchanges, r.Sequence = s.exchanges, s.sequence
	if !r.Bad() || len(s.exchanges) == 0 {
		return
	}
	if x := s.target.tape.exchange(s.exchanges[len(s.exchanges)-1]); x != nil {
		r.Request, r.Answer = requestText(x), answerText(x)
	}
}

// A tape keeps the exchanges of cases that are still running.
type tape struct {
	mu sync.Mutex
	xs map[uint64]*capture.Exchange
}

func (t *tape) take(s capture.Step) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.xs[s.Seq] = capture.Assemble(t.xs[s.Seq], s)
}

// exchange returns a copy of an exchange as recorded so far; nil if there is none.
func (t *tape) exchange(n uint64) *capture.Exchange {
	t.mu.Lock()
	defer t.mu.Unlock()
	if x := t.xs[n]; x != nil {
		return x.Copy()
	}
	return nil
}

func (t *tape) drop(numbers []uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, n := range numbers {
		delete(t.xs, n)
	}
}
