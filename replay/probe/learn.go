package probe

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

// A Learned is information from a recording that helps to probe an agent.
type Learned struct {
	// Prompts are texts that were sent to the agent, by the behavior they triggered: the first of each.
	Prompts map[Behavior]string
	// Exchanges is the number of exchanges with the agent.
	Exchanges int
}

// Behaviors returns those that have a prompt, in reading order.
func (l Learned) Behaviors() []string {
	var list []string
	for _, b := range Behaviors() {
		if l.Prompts[b] != "" {
			list = append(list, string(b))
		}
	}
	return list
}

// Learn reads what a recording shows about an agent: the one with the name, else the one at the host of the URL, else
// the only one. It fails if the choice is ambiguous.
func Learn(ctx context.Context, src capture.Source, name, at string) (Learned, error) {
	l := learner{agents: map[string]*learned{}}
	for x, err := range src.Exchanges(ctx, 1) {
		if err != nil {
			return Learned{}, err
		}
		l.take(x)
	}
	host := ""
	if u, err := url.Parse(at); err == nil {
		host = u.Host
	}
	var names []string
	chosen := l.agents[name]
	for known, a := range l.agents {
		names = append(names, known)
		if chosen == nil && a.hosts[host] {
			chosen = a
		}
	}
	if len(names) == 1 {
		chosen = l.agents[names[0]]
	}
	if chosen == nil {
		slices.Sort(names)
		return Learned{}, fmt.Errorf("which of its agents (%s) is at %s is unknown; write NAME=URL",
			strings.Join(names, ", "), at)
	}
	return Learned{Prompts: chosen.prompts(), Exchanges: chosen.exchanges}, nil
}

// A learner reads exchanges in their order.
type learner struct {
	reader reading.Reader
	agents map[string]*learned // by name
}

// A learned is the known facts about an agent.
type learned struct {
	hosts     map[string]bool
	exchanges int
	sent      []*sent
	tasks     map[string]*sent
}

// A sent is a text that began a conversation, with its outcome.
type sent struct {
	text    string
	at      time.Time
	states  []string
	message bool          // the agent answered with a message, not a task
	pieces  int           // of artifacts in a stream
	working time.Duration // how long afterwards the task was still seen working
}

func (l *learner) take(x *capture.Exchange) {
	read := l.reader.Read(x)
	if !read.Call.A2A() || x.Response == nil {
		return
	}
	a := l.agents[x.Agent.Name]
	if a == nil {
		a = &learned{hosts: map[string]bool{}, tasks: map[string]*sent{}}
		l.agents[x.Agent.Name] = a
	}
	if u, err := url.Parse(x.Agent.URL); err == nil {
		a.hosts[u.Host] = true
	}
	a.exchanges++
	switch {
	case len(read.Errors) > 0:
	case read.Call.Operation.Sends() && a.tasks[read.Call.TaskID] == nil:
		a.begin(x, read)
	case len(read.Tasks) == 1 && a.tasks[read.Tasks[0]] != nil:
		a.tasks[read.Tasks[0]].see(x, read)
	}
}

// begin takes a message that belongs to no task so far.
func (a *learned) begin(x *capture.Exchange, read *reading.Reading) {
	var texts []string
	for _, part := range (a2a.Message{Value: read.Call.Message}).Parts().All() {
		if part.PartKind() != a2a.TextPart {
			return // a text alone cannot repeat this
		}
		texts = append(texts, part.Text())
	}
	s := &sent{text: strings.Join(texts, "\n"), at: x.Started}
	if strings.TrimSpace(s.text) == "" {
		return
	}
	if len(read.Tasks) > 0 {
		a.tasks[read.Tasks[len(read.Tasks)-1]] = s
	}
	s.message = len(read.Tasks) == 0 && slices.Contains(read.Roles, a2a.AgentRole.String())
	s.see(x, read)
	a.sent = append(a.sent, s)
}

// see takes an answer about the task.
func (s *sent) see(x *capture.Exchange, read *reading.Reading) {
	s.states = append(s.states, read.States...)
	for _, e := range read.Events {
		if e.Kind == a2a.ArtifactPayload {
			s.pieces++
		}
	}
	if slices.Contains(read.States, a2a.Working.String()) {
		s.working = max(s.working, x.Started.Sub(s.at))
	}
}

// longWork is the working time from which a task counts as long.
const longWork = time.Second

// prompts returns the first text that triggered each behavior.
func (a *learned) prompts() map[Behavior]string {
	list := map[Behavior]string{}
	for _, s := range a.sent {
		was := func(state a2a.State) bool { return slices.Contains(s.states, state.String()) }
		for b, shown := range map[Behavior]bool{
			MessageOnly:    s.message,
			CompletesTask:  was(a2a.Completed) && !was(a2a.InputRequired) && s.working < longWork,
			FailsTask:      was(a2a.Failed),
			WaitsForCancel: was(a2a.Canceled) || s.working >= longWork,
			AsksBack:       was(a2a.InputRequired),
			StreamsChunks:  s.pieces > 1,
			TakesLong:      s.working >= longWork,
		} {
			if shown && list[b] == "" {
				list[b] = s.text
			}
		}
	}
	return list
}
