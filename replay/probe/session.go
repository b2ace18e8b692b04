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
	"a2atap/proxy/capture"
	"a2atap/replay/client"
	"a2atap/replay/client/webhook"
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

// At returns a client like Client for another interface of the agent, made with other options.
func (s *Session) At(at client.Interface, change func(*client.Options)) *client.Client {
	o := s.target.options(s)
	change(&o)
	return s.target.client(at, o)
}

// With returns a client like Client that is made with other options.
func (s *Session) With(change func(*client.Options)) *client.Client { return s.At(s.endpoint, change) }

// Edited returns a client like Client whose requests are changed before they are sent.
func (s *Session) Edited(edit func(*client.Outgoing)) *client.Client {
	return s.With(func(o *client.Options) { o.Edit = edit })
}

// Anonymous returns a client like Client that has no credentials.
func (s *Session) Anonymous() *client.Client {
	return s.With(func(o *client.Options) { o.Token, o.Authorize, o.Header = "", nil, nil })
}

// Second returns a client like Client that has the credentials of another user, and whether there is one.
func (s *Session) Second() (*client.Client, bool) {
	second := s.target.opts.Second
	if second == nil {
		return nil, false
	}
	return s.With(func(o *client.Options) {
		o.Token, o.Authorize, o.Header = second.Token, second.Authorize, second.Header
	}), true
}

// HasCredentials reports whether there are credentials to leave out.
func (s *Session) HasCredentials() bool {
	o := &s.target.opts.Client
	return o.Token != "" || o.Authorize != nil
}

// AsUser reports whether the run has credentials, header fields that may be some among them.
func (s *Session) AsUser() bool { return s.HasCredentials() || len(s.target.opts.Client.Header) > 0 }

// Endpoint returns the interface under test.
func (s *Session) Endpoint() client.Interface { return s.endpoint }

// Interfaces returns those of the agent that are asked on.
func (s *Session) Interfaces() []client.Interface {
	list := make([]client.Interface, len(s.target.endpoints))
	for i, e := range s.target.endpoints {
		list[i] = e.Interface
	}
	return list
}

// NoCard returns why there is no Card.
func (s *Session) NoCard() error { return s.target.noCard }

// Keys returns those that agents sign their cards with, as far as they were given.
func (s *Session) Keys() jws.KeySet { return s.target.opts.Keys }

// Skills returns those of the card that are to be used.
func (s *Session) Skills() []client.Skill {
	if s.Card == nil {
		return nil
	}
	return chosen(s.Card, s.skills)
}

// Example returns the first example of the card's skills, of those that are to be used.
func (s *Session) Example() (string, bool) { return example(s.Card, s.skills) }

// Webhook returns the server behind all webhooks of the run, and whether its address was chosen, so that the agent can
// be expected to reach it.
func (s *Session) Webhook() (server *webhook.Server, chosen bool, err error) {
	server, err = s.target.webhooks.open(s.Protocol())
	return server, s.target.opts.Webhook.Public != "", err
}

// Notified records a request to an address that the agent was given, as [webhook.Options] have it.
func (s *Session) Notified(at *url.URL, r *http.Request, body []byte, status int) {
	agent := s.target.peer(&url.URL{Host: s.target.authority()})
	x := s.target.transport.Log.Received(capture.Peer{Name: agent.Name, How: "webhook"},
		capture.Peer{Name: "webhook", URL: at.Scheme + "://" + at.Host}, r, body, status)
	s.target.tape.drop([]uint64{x.Seq})
}

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

// Asks returns how many requests the case has made.
func (s *Session) Asks() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.exchanges)
}

// AnswerTo returns the answer to a request of the case, counted from 0, as far as it is there.
func (s *Session) AnswerTo(n int) *Answer {
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
			s.Follow(events)
			return events, err
		}
		events = append(events, e)
	}
	s.Follow(events)
	return events, nil
}

// First reads the first event of a stream and leaves it.
func (s *Session) First(stream iter.Seq2[client.Event, error]) (client.Event, error) {
	for e, err := range stream {
		if err == nil {
			s.Follow([]client.Event{e})
		}
		return e, err
	}
	return client.Event{}, Fail("an event", "a stream without one")
}

// Follow keeps the sequence of events for the report, in place of an earlier one.
func (s *Session) Follow(events []client.Event) {
	sequence := make([]string, 0, len(events))
	for _, e := range events {
		sequence = append(sequence, EventWords(e))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sequence = sequence
}

// EventWords says what an event is.
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
