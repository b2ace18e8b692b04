package report

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report/markup"
	"a2atap/proxy/a2a"
)

// A Direction is one way in which two agents can work together, with known facts about it.
type Direction struct {
	ID      string          `json:"id"`   // discover, send, send-back or concurrent
	From    string          `json:"from"` // the agent that is the client of it
	To      string          `json:"to"`
	What    string          `json:"what"` // a description
	Status  DirectionStatus `json:"status"`
	How     string          `json:"how,omitempty"` // who asked; empty if nothing was observed
	Message string          `json:"message,omitempty"`
}

// A DirectionStatus is the status of a direction.
type DirectionStatus string

// The statuses of directions.
const (
	DirectionObserved    DirectionStatus = "observed"
	DirectionBroken      DirectionStatus = "broken"
	DirectionNotObserved DirectionStatus = "not observed"
)

// The origins of requests: this program, or the other agent.
const (
	AskedByUs   = "asked by us"
	SeenBetween = "seen between them"
)

// The ids of directions.
const (
	Discover   = "discover"
	Send       = "send"
	SendBack   = "send-back"
	Concurrent = "concurrent"
)

// NewDirections returns the directions between two agents, none of them observed yet: A discovers B, A sends to B, B
// sends to A, both handle tasks at the same time.
func NewDirections(a, b string) []Direction {
	return []Direction{
		{ID: Discover, From: a, To: b, What: a + " discovers the card of " + b, Status: DirectionNotObserved},
		{ID: Send, From: a, To: b, What: a + " sends a task to " + b, Status: DirectionNotObserved},
		{ID: SendBack, From: b, To: a, What: b + " sends a task to " + a, Status: DirectionNotObserved},
		{
			ID: Concurrent, From: a, To: b, What: "both handle tasks at the same time, without interference",
			Status: DirectionNotObserved,
		},
	}
}

// Directions returns what a recording shows about each direction between agents that talk to each other: one is a
// client of the other under the same name. Whether an agent is a client under another name is uncertain, and so not
// reported.
func Directions(r *judgment.Result) []Direction {
	var list []Direction
	calls := make(callsByLink)
	clients := make(map[string]bool)
	for i := range r.Calls {
		if c := &r.Calls[i]; c.Made > 0 {
			calls[c.Link], clients[c.Link.Client] = c, true
		}
	}
	var agents []*judgment.Agent
	for i := range r.Agents {
		agents = append(agents, &r.Agents[i])
		for client := range r.Agents[i].Contacts {
			clients[client] = true
		}
	}
	for i, b := range agents { // b was called first
		for _, a := range agents[i+1:] {
			if !clients[a.Link] && !clients[b.Link] {
				continue
			}
			there, back := talked(calls, a, b), talked(calls, b, a)
			if !there && !back {
				continue
			}
			client, agent := a, b
			if !there || back && discovered(b, a) && !discovered(a, b) {
				client, agent = b, a
			}
			list = append(list, between(r, calls, client, agent)...)
		}
	}
	return list
}

// talked reports whether an agent is a client of another.
func talked(calls callsByLink, client, agent *judgment.Agent) bool {
	_, answered := agent.Contacts[client.Link]
	return client.Link != "" && (answered || calls.between(client, agent) != nil)
}

// discovered reports whether an agent has read the card of another.
func discovered(client, agent *judgment.Agent) bool {
	return agent.Contacts[client.Link].Operations[a2a.GetCard] > 0
}

// callsByLink has the results of the calls of each link that had any.
type callsByLink map[analysis.Link]*judgment.Calls

// between returns the results of the calls between two agents; may be nil.
func (c callsByLink) between(client, agent *judgment.Agent) *judgment.Calls {
	return c[analysis.Link{Client: client.Link, Agent: agent.Link}]
}

// between returns the directions between two agents of which the first is a client of the second.
func between(r *judgment.Result, calls callsByLink, a, b *judgment.Agent) []Direction {
	list := NewDirections(analysis.Clean(a.Link), analysis.Clean(b.Link))
	for i := range list {
		d := &list[i]
		switch d.ID {
		case Discover:
			seen(d, b.Contacts[a.Link].Operations[a2a.GetCard])
		case Send:
			sent(d, calls, a, b)
		case SendBack:
			sent(d, calls, b, a)
		case Concurrent:
			atOnce(d, r, a, b)
		}
	}
	return list
}

// seen sets a direction to observed if something was seen of it.
func seen(d *Direction, n int) {
	if n > 0 {
		d.Status, d.How = DirectionObserved, SeenBetween
	}
}

// sent sets the direction in which a client sends tasks: broken if all its calls failed.
func sent(d *Direction, calls callsByLink, client, agent *judgment.Agent) {
	done := agent.Contacts[client.Link].Operations
	seen(d, done[a2a.SendMessage]+done[a2a.SendStreamingMessage])
	c := calls.between(client, agent)
	if d.Status == DirectionNotObserved && c != nil && c.Succeeded == 0 && c.Failed > 0 {
		d.Status, d.How, d.Message = DirectionBroken, SeenBetween, c.String()
	}
}

// interference are the families of rules about effects of one task on another.
var interference = []string{"identity", "context", "parallel"}

// mixesUp reports whether a finding is about an agent that mixed up tasks or sessions. Of the rules about behavior that
// a version leaves open, only those count whose finding names another task or session than the client's.
func mixesUp(f *analysis.Finding) bool {
	return f.Side == a2a.Agent && slices.Contains(interference, f.Rule.Family) && (f.Severity == analysis.Error ||
		slices.Contains([]string{"id-session-echo-v01", "id-task-history-consistent", "id-status-message-task"}, f.Rule.ID))
}

// atOnce reports how both agents handle parallel tasks: broken if an agent mixed up tasks or sessions and has worked for the
// other on several tasks at the same time, observed if both have done so without a mix-up.
func atOnce(d *Direction, r *judgment.Result, a, b *judgment.Agent) {
	there, back := b.Contacts[a.Link].AtOnce, a.Contacts[b.Link].AtOnce
	atWork := map[analysis.Link]int{{Client: a.Link, Agent: b.Link}: there, {Client: b.Link, Agent: a.Link}: back}
	for i := range r.Findings {
		f := &r.Findings[i]
		if atWork[f.Link] > 0 && mixesUp(f) {
			d.Status, d.How, d.Message = DirectionBroken, SeenBetween, f.String()
			return
		}
	}
	switch {
	case there > 0 && back > 0:
		seen(d, there+back)
	case there > 0:
		d.Message = "only " + d.To + " was seen to"
	case back > 0:
		d.Message = "only " + d.From + " was seen to"
	}
}

// directionRows are the directions between two agents that were asked, a row for each.
func directionRows(list []Direction, clean func(string) string) [][]string {
	rows := [][]string{{"Direction", "Result", "How", "Why"}}
	for _, d := range list {
		rows = append(rows, []string{clean(d.What), string(d.Status), orDash(d.How), orDash(clean(d.Message))})
	}
	return rows
}

// betweenHead is the head of betweenRows, in the order in which NewDirections has them.
var betweenHead = []string{"client → agent", "reads its card", "sends tasks", "receives tasks", "both at once"}

// betweenRows returns the recorded directions between agents, a row for each pair of them, and the reasons for broken
// ones. If every agent calls in one direction only and no tasks were mixed up, the last two columns are left out.
func betweenRows(list []Direction, clean func(string) string) (rows [][]string, why []string) {
	bothWays := slices.ContainsFunc(list, func(d Direction) bool {
		return (d.ID == SendBack || d.ID == Concurrent) && d.Status != DirectionNotObserved
	})
	rows = [][]string{betweenHead}
	if !bothWays {
		rows[0] = betweenHead[:3]
	}
	for _, d := range list {
		if !bothWays && (d.ID == SendBack || d.ID == Concurrent) {
			continue
		}
		if d.ID == Discover {
			rows = append(rows, []string{clean(d.From + " → " + d.To)})
		}
		last := &rows[len(rows)-1]
		*last = append(*last, string(d.Status))
		if d.Status == DirectionBroken {
			why = append(why, clean(d.What)+": "+clean(d.Message))
		}
	}
	return rows, why
}

func directionsText(b *strings.Builder, r *Report) {
	switch list := r.Directions; {
	case len(list) == 0:
	case r.Tests != nil:
		b.WriteString("\nboth directions\n")
		table(b, directionRows(list, analysis.Clean))
	default:
		rows, why := betweenRows(list, analysis.Clean)
		b.WriteString("\nbetween agents\n")
		table(b, rows)
		for _, line := range why {
			b.WriteString("broken: " + line + "\n")
		}
	}
}

func mdDirections(b *strings.Builder, r *Report) {
	switch list := r.Directions; {
	case len(list) == 0:
	case r.Tests != nil:
		fmt.Fprintf(b, "## Both directions\n\n%q are requests that a2atap sent instead of the other agent, %q is recorded traffic between "+
			"the two agents.\n\n", AskedByUs, SeenBetween)
		markup.Table(b, directionRows(list, markup.Text))
	default:
		b.WriteString("## Between agents\n\nRecorded traffic of agents that call each other.\n\n")
		rows, why := betweenRows(list, markup.Text)
		markup.Table(b, rows)
		for _, line := range why {
			b.WriteString("Broken: " + line + "\n\n")
		}
	}
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}
