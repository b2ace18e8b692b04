package report

import (
	"fmt"
	"strings"

	"a2atap/analyzer"
)

// A Direction is one way in which two agents can work together, and what is known of it.
type Direction struct {
	ID      string          `json:"id"`   // discover, send, send-back or concurrent
	From    string          `json:"from"` // the agent that is the client of it
	To      string          `json:"to"`
	What    string          `json:"what"` // in words
	Status  DirectionStatus `json:"status"`
	How     string          `json:"how,omitempty"` // who asked; empty if nothing was observed
	Message string          `json:"message,omitempty"`
}

// A DirectionStatus is what is known of a direction.
type DirectionStatus string

// The statuses of directions.
const (
	DirectionObserved    DirectionStatus = "observed"
	DirectionBroken      DirectionStatus = "broken"
	DirectionNotObserved DirectionStatus = "not observed"
)

// Who asked.
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

func directionRows(list []Direction, clean func(string) string) [][]string {
	rows := [][]string{{"Direction", "Result", "How", "Why"}}
	for _, d := range list {
		rows = append(rows, []string{clean(d.What), string(d.Status), orDash(d.How), orDash(clean(d.Message))})
	}
	return rows
}

func directionsText(b *strings.Builder, list []Direction) {
	if len(list) == 0 {
		return
	}
	b.WriteString("\n")
	table(b, directionRows(list, analyzer.Clean))
}

func mdDirections(b *strings.Builder, list []Direction) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "## Both directions\n\n%q is what was asked in the place of the other agent, %q what the record shows of "+
		"the two agents themselves.\n\n", AskedByUs, SeenBetween)
	mdTable(b, directionRows(list, mdText))
}
