package probe

import (
	"slices"
	"strings"

	"a2atap/replay/client"
)

// A Behavior is the reaction to a message that a scenario needs from an agent.
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

// Behaviors returns those that a specific text can trigger.
func Behaviors() []Behavior {
	return []Behavior{
		MessageOnly, CompletesTask, FailsTask, WaitsForCancel, AsksBack, StreamsChunks, TakesLong, ManyParts,
	}
}

// A Drive is the way to trigger a behavior.
type Drive string

// The drives.
const (
	Scripted Drive = "scripted" // the keywords of the reference skills
	Natural  Drive = "natural"  // the examples of the agent's card
)

// scriptedSkills are the skills with keywords, except those that only some reference agents have.
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

// prompt returns a text that may trigger a behavior: a keyword, or the example of the skill that fits best.
func (d Drive) prompt(b Behavior, card *client.Card, skills []string) string {
	if d == Scripted {
		if b == Anything {
			b = CompletesTask
		}
		return string(b) + " please"
	}
	if text, ok := example(b, card, skills); ok {
		return text
	}
	return "hello"
}

// chosen returns the skills of a card that the options select.
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

// signs are the words that suggest that a skill shows a behavior, the plainest first.
var signs = map[Behavior][]string{
	MessageOnly:    {"message-only", "echo", "greet", "chat"},
	FailsTask:      {"task-failure", "fail", "error"},
	WaitsForCancel: {"task-cancel", "cancel", "long-running", "slow", "long"},
	AsksBack:       {"multi-turn", "input-required", "clarif", "follow-up", "interactive", "dialog", "form"},
	StreamsChunks:  {"streaming", "stream", "chunk", "increment"},
	TakesLong:      {"long-running", "slow", "background", "long"},
	ManyParts:      {"data-types", "multi-modal", "multimodal", "file", "image", "structured"},
}

// example returns an example of the selected skills of a card. It prefers the skill that fits the behavior best by
// its tags, its id and name, or its examples, in that order; else the first ordinary skill, else the first.
func example(b Behavior, card *client.Card, skills []string) (string, bool) {
	if card == nil {
		return "", false
	}
	best, most := "", -1
	for _, s := range chosen(card, skills) {
		i := slices.IndexFunc(s.Examples, func(text string) bool { return strings.TrimSpace(text) != "" })
		if i < 0 {
			continue
		}
		text, n := s.Examples[i], 0
		if len(signs[b]) > 0 {
			n, text = fitness(&s, signs[b], text)
		} else if !slices.ContainsFunc([]Behavior{FailsTask, WaitsForCancel, AsksBack}, func(other Behavior) bool {
			special, _ := fitness(&s, signs[other], "")
			return special > 0
		}) {
			n = 1
		}
		if n > most {
			best, most = text, n
		}
	}
	return best, most >= 0
}

// fitness returns how well a skill fits some words, 0 for not at all, and the example that fits; else the given one.
func fitness(s *client.Skill, words []string, text string) (n int, said string) {
	has := func(texts ...string) func(word string) bool {
		return func(word string) bool {
			return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(spelled(t), word) })
		}
	}
	for _, e := range s.Examples {
		if slices.ContainsFunc(words, has(e)) {
			n, text = 1, e
			break
		}
	}
	for places, texts := range [][]string{{s.ID, s.Name}, s.Tags} {
		if i := slices.IndexFunc(words, has(texts...)); i >= 0 {
			n = max(n, (places+1)*len(signs[AsksBack])+len(words)-i)
		}
	}
	return n, text
}

// spelled writes a text in the form of signs: in lower case, with hyphens between words.
func spelled(text string) string {
	return strings.NewReplacer(" ", "-", "_", "-").Replace(strings.ToLower(text))
}
