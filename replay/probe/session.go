package probe

import (
	"context"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/jws"
	"a2atap/analyzer/report"
	"a2atap/proxy/capture"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
	"a2atap/replay/live"
)

// A Session is the interface of a scenario to its agent. One case uses it; the methods that send requests may be
// called concurrently.
type Session struct {
	// Client uses the protocol of the case, with the given credentials.
	Client *client.Client
	// Card is the agent's public card; nil if none could be read.
	Card *client.Card
	// URL is the agent's URL as given.
	URL string
	// Version is the version that the interface has, in two parts: 0.2 where Protocol says 0.3.
	Version string
	// Patch is the patch version of the specification whose HTTP statuses are required; empty accepts those of
	// either.
	Patch string
	// Timeout bounds the time for a task.
	Timeout time.Duration
	// Lives are the outcomes of the messages to skills, for the report; the scenario sets them.
	Lives []report.Life

	target   *target
	endpoint client.Interface
	drive    Drive
	skills   []string

	mu        sync.Mutex
	exchanges []*live.Entry
	sequence  []string
}

// Protocol returns the protocol of the case.
func (s *Session) Protocol() client.Protocol { return s.endpoint.Protocol }

// RPC reports whether the binding is JSON-RPC.
func (s *Session) RPC() bool { return s.endpoint.Protocol.Binding == "JSONRPC" }

// NewID returns an unused id.
func (s *Session) NewID() string { return uuid.NewString() }

// Say returns a message that may trigger a behavior: the options' prompt for it, else a keyword, if the agent has the
// reference skills, else an example of the card's skill that fits best. Callers must check the outcome.
func (s *Session) Say(b Behavior) client.Message {
	prompts := s.target.opts.Prompts
	if b == Anything && prompts[b] == "" {
		b = CompletesTask
	}
	if text := prompts[b]; text != "" {
		return client.Text(text)
	}
	if text := s.target.opts.Learned[b]; text != "" && !s.Scripted() {
		return client.Text(text)
	}
	return client.Text(s.drive.prompt(b, s.Card, s.skills))
}

// Scripted reports whether the agent has the reference skills and thus follows keywords.
func (s *Session) Scripted() bool { return s.drive == Scripted }

// At returns a client like Client for another interface of the agent, with other options.
func (s *Session) At(at client.Interface, change func(*client.Options)) *client.Client {
	o := s.target.options(s)
	change(&o)
	return s.target.client(at, o)
}

// With returns a client like Client with other options.
func (s *Session) With(change func(*client.Options)) *client.Client { return s.At(s.endpoint, change) }

// Edited returns a client like Client that edits its requests before sending them.
func (s *Session) Edited(edit func(*client.Outgoing)) *client.Client {
	return s.With(func(o *client.Options) { o.Edit = edit })
}

// Anonymous returns a client like Client without credentials.
func (s *Session) Anonymous() *client.Client {
	return s.With(func(o *client.Options) { o.Token, o.Authorize, o.Header = "", nil, nil })
}

// Second returns a client like Client with the credentials of another user, and whether such credentials exist.
func (s *Session) Second() (*client.Client, bool) {
	second := s.target.opts.Second
	if second == nil {
		return nil, false
	}
	return s.With(func(o *client.Options) {
		o.Token, o.Authorize, o.Header = second.Token, second.Authorize, second.Header
	}), true
}

// HasCredentials reports whether the run has credentials that a client could omit.
func (s *Session) HasCredentials() bool {
	o := &s.target.opts.Client
	return o.Token != "" || o.Authorize != nil
}

// AsUser reports whether the run has credentials, or header fields that may contain some.
func (s *Session) AsUser() bool { return s.HasCredentials() || len(s.target.opts.Client.Header) > 0 }

// Endpoint returns the interface under test.
func (s *Session) Endpoint() client.Interface { return s.endpoint }

// Interfaces returns the agent's interfaces under test.
func (s *Session) Interfaces() []client.Interface {
	list := make([]client.Interface, len(s.target.endpoints))
	for i, e := range s.target.endpoints {
		list[i] = e.Interface
	}
	return list
}

// NoCard returns why there is no Card.
func (s *Session) NoCard() error { return s.target.noCard }

// Keys returns the given keys that agents sign their cards with.
func (s *Session) Keys() jws.KeySet { return s.target.opts.Keys }

// Skills returns the card's selected skills.
func (s *Session) Skills() []client.Skill {
	if s.Card == nil {
		return nil
	}
	return chosen(s.Card, s.skills)
}

// Example returns an example of the card's selected skills.
func (s *Session) Example() (string, bool) { return example(Anything, s.Card, s.skills) }

// Webhook returns the server behind all webhooks of the run, and whether the user chose its address. The agent should
// then be able to reach it.
func (s *Session) Webhook() (server *webhook.Server, chosen bool, err error) {
	server, err = s.target.webhooks.open(s.Protocol())
	return server, s.target.opts.Webhook.Public != "", err
}

// Notified records a request to a webhook address, as [webhook.Options] defines it.
func (s *Session) Notified(at *url.URL, r *http.Request, body []byte, status int) {
	agent := s.target.peer(&url.URL{Host: s.target.authority()})
	s.target.transport.Log.Received(capture.Peer{Name: agent.Name, How: "webhook"},
		capture.Peer{Name: "webhook", URL: at.Scheme + "://" + at.Host}, r, body, status)
}

// Ask sends any request, with the given headers and the credentials of Client, and reads the answer to its end. An
// answer of any status counts as an answer.
func (s *Session) Ask(ctx context.Context, method, url string, header http.Header, body []byte) (*Answer, error) {
	out := &client.Outgoing{Method: method, URL: url, Header: http.Header{}, Body: body}
	for name, values := range header {
		out.Header[name] = slices.Clone(values)
	}
	o := s.target.options(s)
	if s.target.private() && !s.target.here(url) {
		o.Token, o.Authorize, o.Header = "", nil, nil
	}
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
	return readAnswer(s.exchanges[len(s.exchanges)-1].Recorded())
}

// Asks returns the number of the case's requests.
func (s *Session) Asks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.exchanges)
}

// AnswerTo returns the received part of the answer to a request of the case, counted from 0.
func (s *Session) AnswerTo(n int) *Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n >= len(s.exchanges) {
		return &Answer{}
	}
	return readAnswer(s.exchanges[n].Recorded())
}

// asked notes an exchange of the case.
func (s *Session) asked(x *live.Entry) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.exchanges = append(s.exchanges, x)
}

// Collect reads a stream to its end, and keeps the sequence of its events for the report.
func (s *Session) Collect(stream iter.Seq2[client.Event, error]) ([]client.Event, error) {
	var events []client.Event
	for e, err := range stream {
		if err != nil {
			s.Follow(events)
			return events, err
		}
		events = append(events, e)
	}
	s.Follow(events)
	return events, nil
}

// First reads the first event of a stream and then closes the stream.
func (s *Session) First(stream iter.Seq2[client.Event, error]) (client.Event, error) {
	for e, err := range stream {
		if err == nil {
			s.Follow([]client.Event{e})
		}
		return e, err
	}
	return client.Event{}, Fail("an event", "a stream without one")
}

// Follow keeps the sequence of events for the report, replacing an earlier one.
func (s *Session) Follow(events []client.Event) {
	sequence := make([]string, 0, len(events))
	for _, e := range events {
		sequence = append(sequence, EventWords(e))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = sequence
}

// EventWords describes an event.
func EventWords(e client.Event) string {
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

// fill adds the case's requests and observations to a result.
func (s *Session) fill(r *Result) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r.Sequence, r.Skills = s.sequence, s.Lives
	for _, x := range s.exchanges {
		r.Exchanges = append(r.Exchanges, x.Seq())
	}
	if n := len(s.exchanges); n > 0 {
		x := s.exchanges[n-1].Recorded()
		r.Request, r.Answer = requestText(x), answerText(x)
	}
}
