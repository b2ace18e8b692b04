package refagent

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A givenCard is a card that the agent was told to serve, and what follows from it.
type givenCard struct {
	card      object // without the agent's address
	tag       string // changes with the card
	streaming bool
	statuses  bool           // tasks show which statuses they had: stateTransitionHistory
	inputs    []string       // media types that the agent or a skill takes
	skills    []*givenSkill  // with the longest words first
	help      *skill         // for what fits none
	offered   []offeredPlace // interfaces of 1.0; empty for all that there are
}

// A givenSkill is a skill of a given card. A message asks for it by a word.
type givenSkill struct {
	word string // its id or its name, in lower case
	does *skill
}

// A CardError says why an agent cannot serve a card. New returns it.
type CardError struct{ reason string }

// Error implements error.
func (e *CardError) Error() string { return e.reason }

// readCard reads the card of the options; nil if there is none. It fails with a CardError if it is no card of the
// dialect that the agent speaks, or says what is not so, and then names each member and the reason.
func (p *profile) readCard(o Options) (*givenCard, error) {
	if len(o.Card) == 0 {
		return nil, nil
	}
	v, err := parseJSON(o.Card)
	if err != nil {
		return nil, &CardError{"no card: " + err.Error()}
	}
	card, ok := v.(object)
	if !ok {
		return nil, &CardError{"no card: it is not a JSON object"}
	}
	f := readFields(card)
	f.exact = true
	g := &givenCard{card: card}
	c := &cardCheck{fields: f, profile: p, options: o, given: g}
	c.check()
	if len(*f.bad) > 0 {
		reasons := make([]string, len(*f.bad))
		for i, v := range *f.bad {
			reasons[i] = v.field + " " + v.description
		}
		return nil, &CardError{"no card that agent " + p.name + " can serve: " + strings.Join(reasons, "; ")}
	}
	sum := sha256.Sum256(o.Card)
	g.tag = `"` + hex.EncodeToString(sum[:8]) + `"`
	p.readSkills(f, g)
	return g, nil
}

// readSkills finds out what the skills of a checked card do.
func (p *profile) readSkills(f fields, g *givenCard) {
	help := "Begin a message with the name of a skill:"
	for s := range f.each("skills") {
		id, name := s.text("id"), s.text("name")
		does := acts(id, s.texts("tags"))
		if p.behave != nil {
			does = p.behave(does)
		}
		g.skills = append(g.skills, &givenSkill{strings.ToLower(id), does})
		if !strings.EqualFold(id, name) {
			g.skills = append(g.skills, &givenSkill{strings.ToLower(name), does})
		}
		help += "\n" + id + ": " + cmp.Or(s.text("description"), name)
	}
	slices.SortStableFunc(g.skills, func(a, b *givenSkill) int { return cmp.Compare(len(b.word), len(a.word)) })
	g.help = &skill{name: helpSkill.name, answer: func(string) string { return help }}
	if p.misfit != nil {
		g.help = p.misfit(g.help)
	}
}

// acts returns what a skill of a given card does: as the agent's own one of its id, or of the first tag that is the id
// of one; else it takes a task from submitted to completed.
func acts(id string, tags []string) *skill {
	as := &skill{run: taskLifecycle}
	for _, word := range slices.Concat([]string{id}, tags) {
		i := slices.IndexFunc(skills, func(s *skill) bool { return s.name == word })
		if i >= 0 {
			as = skills[i]
			break
		}
		if word == echoSkill.name {
			as = echoSkill
			break
		}
	}
	return &skill{name: id, answer: as.answer, run: as.run}
}

// route returns the skill that a message begins with, by its id or its name.
func (g *givenCard) route(m *message) *skill {
	text := strings.ToLower(strings.TrimSpace(m.text()))
	for _, s := range g.skills {
		if rest, ok := strings.CutPrefix(text, s.word); ok && endsWord(rest) {
			return s.does
		}
	}
	return g.help
}

// endsWord says whether a word has ended before rest.
func endsWord(rest string) bool {
	r, _ := utf8.DecodeRuneInString(rest)
	return rest == "" || !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '-' && r != '_'
}

// skillFor returns the skill that a message of a new conversation asks for.
func (a *Agent) skillFor(m *message) *skill {
	if a.opts.Work != nil {
		return workSkill(a.opts.Work)
	}
	if a.given != nil {
		return a.given.route(m)
	}
	return a.profile.route(m)
}

// streams says whether the agent offers streams.
func (a *Agent) streams() bool { return a.profile.streaming && (a.given == nil || a.given.streaming) }

// inputs returns the media types that the agent takes.
func (a *Agent) inputs() []string {
	if a.given != nil && len(a.given.inputs) > 0 {
		return a.given.inputs
	}
	return []string{"text/plain"}
}

// takes says whether the agent takes a media type, which has no parameters. Before 0.2 cards may say text for it.
func (a *Agent) takes(mediaType string) bool {
	return slices.ContainsFunc(a.inputs(), func(listed string) bool {
		essence, _, err := mime.ParseMediaType(listed)
		return err == nil && essence == mediaType || listed == "text" && mediaType == "text/plain"
	})
}

// publicCard returns the card; base is the URL of the agent's endpoint.
func (a *Agent) publicCard(base string) object {
	if a.given == nil {
		return a.declareAuth(a.profile.card(a, base))
	}
	return a.profile.face.address(a, a.given, base)
}

// cardTag returns the entity tag of the card.
func (a *Agent) cardTag() string {
	if a.given == nil {
		return `"` + cardVersion + `"`
	}
	return a.given.tag
}
