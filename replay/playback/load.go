package playback

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/replay/canonical"
)

// load reads the exchanges with an agent, or all if the name is empty, and remembers those that keep selects. These
// follow each other: none waits for an exchange that is not played.
func load(
	ctx context.Context, src capture.Source, o *Options, rules *canonical.Rules,
) (*recording, error) {
	s := &recording{
		src: src, ids: map[string]maker{}, texts: map[string]string{},
		neighbors: neighbors{
			byMeaning: map[canonical.Sum][]*neighborCall{}, bodiless: map[string]uint64{}, room: keptContents,
		},
		upstreams: upstreams{known: map[string]string{}, bound: map[string]string{}},
	}
	if o.Exposed {
		s.hide = o.Hide
	}
	last := map[string]*exchange{}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return nil, err
		}
		if isWebhook(x) {
			readNotification(x, last)
			continue
		}
		if o.Agent != "" && !Is(x.Agent.Name, o.Agent) {
			continue
		}
		a, isNeighbor := s.read(x)
		if o.Keep != nil && !o.Keep(x) {
			continue
		}
		if a == nil && !isNeighbor {
			s.skip(x)
			continue
		}
		s.learnUpstream(x)
		if isNeighbor {
			s.readNeighbor(x, rules)
			continue
		}
		a.follow(last)
		s.exchanges = append(s.exchanges, a)
	}
	s.texts = nil
	return s, nil
}

// readNeighbor notes a call that is not A2A; without rules only to whom it was.
func (s *recording) readNeighbor(x *capture.Exchange, rules *canonical.Rules) {
	q, err := s.request(x)
	if q.Method == http.MethodConnect || strings.HasPrefix(x.Agent.URL, "stdio:") && q.Target == "/stdout" {
		return // what passed inside is not known, or it is no call
	}
	if err != nil || !isWhole(x) {
		s.neighbors.bodiless[rules.Place(q)] = x.Seq
		s.neighbors.lacking++
		return
	}
	if !playable(x) {
		s.skip(x)
		return
	}
	if rules == nil {
		s.neighbors.calls = append(s.neighbors.calls, &neighborCall{agent: x.Agent.Name})
		return
	}
	f := rules.Form(q)
	for _, text := range [...]*string{&f.Place, &f.Credentials, &f.Session} {
		*text = s.once(*text)
	}
	c := &neighborCall{
		started: x.Started, asks: asks(q, f, x.Agent.URL), seq: x.Seq, agent: s.once(x.Agent.Name),
		upstream: s.once(upstreamOf(x.Agent.URL)), form: f, sample: canonical.NewSample(q),
	}
	if x.Response != nil {
		status := capture.ParseResponseHead(x.Response.Head).Status
		c.refused = status == http.StatusUnauthorized || status == http.StatusForbidden
	}
	n := &s.neighbors
	n.keep(c, x)
	n.calls = append(n.calls, c)
	n.byMeaning[c.form.Meaning] = append(n.byMeaning[c.form.Meaning], c)
}

// once returns a text that is kept for all who have the same.
func (s *recording) once(text string) string {
	if known, ok := s.texts[text]; ok {
		return known
	}
	s.texts[text] = text
	return text
}

// request returns the request of a recorded exchange for comparison.
func (s *recording) request(x *capture.Exchange) (*canonical.Request, error) {
	hidden, err := s.hidden(x)
	if err != nil {
		return &canonical.Request{}, err
	}
	return hiddenRequest(x, hidden)
}

// hidden returns a recorded exchange without its secrets.
func (s *recording) hidden(x *capture.Exchange) (*capture.Exchange, error) {
	if s.hide == nil {
		return x, nil
	}
	return s.hide(x)
}

// isWhole reports whether the recording has everything of an exchange that was sent.
func isWhole(x *capture.Exchange) bool {
	if x.Request.Body.Dropped > 0 || x.Lost > 0 || !x.Request.Body.Kept() && x.Request.Body.Size > 0 {
		return false
	}
	r := x.Response
	switch {
	case r == nil, r.Stream && !capture.IsGRPC(mediaTypeOf(r)):
		return true
	case capture.IsGRPC(mediaTypeOf(r)):
		return false // of an unknown service
	}
	return r.Body.Dropped == 0 && (r.Body.Kept() || r.Body.Size == 0)
}

func mediaTypeOf(r *capture.Response) string {
	head := capture.ParseResponseHead(r.Head)
	return head.Fields.MediaType()
}

// learnUpstream notes the addresses of an exchange: where the agent is, and the tap that its client used.
func (s *recording) learnUpstream(x *capture.Exchange) {
	key := upstreamOf(x.Agent.URL)
	if key == "" {
		return
	}
	s.upstreams.known[key] = key
	head := capture.ParseRequestHead(x.Request.Head)
	if host := head.Fields.Get("Host"); host != "" && !strings.HasPrefix(key, "stdio:") {
		if tap := upstreamOf("http://" + host); tap != "" && s.upstreams.known[tap] == "" {
			s.upstreams.known[tap] = key
		}
	}
}

// Agents returns the names of the agents that a capture calls, and of the models, tools and other services, in order of
// appearance. An agent with further addresses is named once.
func Agents(ctx context.Context, src capture.Source) (agents, others []string, err error) {
	s, err := load(ctx, src, &Options{}, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("read the capture: %w", err)
	}
	add := func(to *[]string, name string) {
		if !slices.ContainsFunc(*to, func(known string) bool { return Is(name, known) }) {
			*to = append(*to, name)
		}
	}
	for _, a := range s.exchanges {
		add(&agents, a.agent.Name)
	}
	for _, c := range s.neighbors.calls {
		add(&others, c.agent)
	}
	return agents, others, nil
}
