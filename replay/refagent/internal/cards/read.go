package cards

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"a2atap/replay/refagent/internal/engine"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// Read reads a card that an agent should serve; it returns nil if no card was given. If the card is not in the
// agent's dialect, or has false statements, it fails with a CardError that names each member and the reason.
func Read(a *Subject, text []byte) (*Given, error) {
	if len(text) == 0 {
		return nil, nil
	}
	v, err := jsonvalue.Parse(text)
	if err != nil {
		return nil, &CardError{"no card: " + err.Error()}
	}
	card, ok := v.(jsonvalue.Object)
	if !ok {
		return nil, &CardError{"no card: it is not a JSON object"}
	}
	f := model.ReadFields(card)
	f.Exact = true
	g := &Given{card: card}
	c := &cardCheck{Fields: f, Subject: a, given: g}
	c.check()
	if len(*f.Bad) > 0 {
		reasons := make([]string, len(*f.Bad))
		for i, v := range *f.Bad {
			reasons[i] = v.Field + " " + v.Description
		}
		return nil, &CardError{"no card that agent " + a.Agent + " can serve: " + strings.Join(reasons, "; ")}
	}
	sum := sha256.Sum256(text)
	g.Tag = `"` + hex.EncodeToString(sum[:8]) + `"`
	a.readSkills(f, g)
	return g, nil
}

// readSkills finds the implementations of a checked card's skills.
func (a *Subject) readSkills(f model.Fields, g *Given) {
	help := "Begin a message with the name of a skill:"
	for s := range f.Each("skills") {
		id, name := s.Text("id"), s.Text("name")
		does := acts(id, s.Texts("tags"))
		if a.Behave != nil {
			does = a.Behave(does)
		}
		g.Skills = append(g.Skills, &givenSkill{strings.ToLower(id), does})
		if !strings.EqualFold(id, name) {
			g.Skills = append(g.Skills, &givenSkill{strings.ToLower(name), does})
		}
		help += "\n" + id + ": " + cmp.Or(s.Text("description"), name)
	}
	slices.SortStableFunc(g.Skills, func(a, b *givenSkill) int { return cmp.Compare(len(b.word), len(a.word)) })
	g.help = &engine.Skill{Name: engine.HelpSkill.Name, Answer: func(string) string { return help }}
	if a.Misfit != nil {
		g.help = a.Misfit(g.help)
	}
}

// acts returns the implementation of a skill of a given card: the agent's skill with its id, or with the first tag that
// is such an id; else one that moves a task from submitted to completed.
func acts(id string, tags []string) *engine.Skill {
	as := &engine.Skill{Run: engine.TaskLifecycle}
	for _, word := range slices.Concat([]string{id}, tags) {
		i := slices.IndexFunc(engine.Skills, func(s *engine.Skill) bool { return s.Name == word })
		if i >= 0 {
			as = engine.Skills[i]
			break
		}
		if word == engine.EchoSkill.Name {
			as = engine.EchoSkill
			break
		}
	}
	return &engine.Skill{Name: id, Answer: as.Answer, Run: as.Run}
}
