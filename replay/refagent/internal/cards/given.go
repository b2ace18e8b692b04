package cards

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// A Given is a card that the agent was given to serve, and its consequences.
type Given struct {
	card      jsonvalue.Object // without the agent's address
	Tag       string           // changes with the card
	Streaming bool
	Statuses  bool           // tasks show which statuses they had: stateTransitionHistory
	Inputs    []string       // media types that the agent or a skill accepts
	Skills    []*givenSkill  // with the longest words first
	help      *engine.Skill  // for what fits none
	offered   []offeredPlace // interfaces of 1.0; empty for all that there are
}

// A givenSkill is a skill of a given card. A message asks for it by a word.
type givenSkill struct {
	word string // its id or its name, in lower case
	Does *engine.Skill
}

// A CardError is the reason why an agent cannot serve a card. New returns it.
type CardError struct{ reason string }

// Error implements error.
func (e *CardError) Error() string { return e.reason }

// Route returns the skill that a message begins with, by its id or its name.
func (g *Given) Route(m *model.Message) *engine.Skill {
	text := strings.ToLower(strings.TrimSpace(m.Text()))
	for _, s := range g.Skills {
		if rest, ok := strings.CutPrefix(text, s.word); ok && endsWord(rest) {
			return s.Does
		}
	}
	return g.help
}

// endsWord reports whether a word has ended before rest.
func endsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}
