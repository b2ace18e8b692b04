package probe

import (
	"slices"
	"strings"

	"a2atap/replay/client"
)

// A Behavior is what a scenario needs an agent to do with a message.
type Behavior string

// The behaviors, named as the reference skills that show them.
const (
	Anything       Behavior = ""               // any answer will do
	MessageOnly    Behavior = "message-only"   // answer with a message, never with a task
	CompletesTask  Behavior = "task-lifecycle" // make a task that completes soon
	FailsTask      Behavior = "task-failure"   // make a task that fails
	WaitsForCancel Behavior = "task-cancel"    // make a task that works for a while
	AsksBack       Behavior = "multi-turn"     // make a task that waits for input
	StreamsChunks  Behavior = "streaming"      // make a task that streams an artifact in pieces
	TakesLong      Behavior = "long-running"   // make a task that works for some seconds
	ManyParts      Behavior = "data-types"     // make a task with artifacts of every kind
)

// Behaviors returns those that an agent can be brought to by a text of its own.
func Behaviors() []Behavior {
	return []Behavior{
		MessageOnly, CompletesTask, FailsTask, WaitsForCancel, AsksBack, StreamsChunks, TakesLong, ManyParts,
	}
}

// A Drive says how an agent is brought to do something.
type Drive string

// The drives.
const (
	Scripted Drive = "scripted" // the keywords of the reference skills
	Natural  Drive = "natural"  // the examples of the agent's card
)

// scriptedSkills are the skills that the keywords belong to, without what only some reference agents have.
var scriptedSkills = []string{"message-only", "task-lifecycle", "task-failure"}

// driveOf chooses a drive: scripted if the card has the reference skills.
func driveOf(card *client.Card) Drive {
	if card == nil {
		return Natural
	}
	for _, id := range scriptedSkills {
		if !slices.ContainsFunc(card.Skills, func(s client.Skill) bool { return s.ID == id }) {
			return Natural
		}
	}
	return Scripted
}

// prompt returns a text that may bring an agent to do something, and whether it is known to.
func (d Drive) prompt(b Behavior, card *client.Card, skills []string) (text string, known bool) {
	if d == Scripted {
		if b == Anything {
			b = CompletesTask
		}
		return string(b) + " please", true
	}
	if text, ok := example(card, skills); ok {
		return text, false
	}
	return "hello", false
}

// chosen returns the skills of a card that are to be used.
func chosen(card *client.Card, ids []string) []client.Skill {
	if len(ids) == 0 {
		return card.Skills
	}
	var list []client.Skill
	for _, s := range card.Skills {
		if slices.Contains(ids, s.ID) {
			list = append(list, s)
		}
	}
	return list
}

// example returns the first example of a card's skills, of those that are chosen.
func example(card *client.Card, skills []string) (string, bool) {
	if card == nil {
		return "", false
	}
	for _, s := range chosen(card, skills) {
		for _, text := range s.Examples {
			if strings.TrimSpace(text) != "" {
				return text, true
			}
		}
	}
	return "", false
}
