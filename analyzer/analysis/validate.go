package analysis

import (
	"errors"
	"fmt"
	"slices"
)

// isSlug reports whether a name consists of lower-case words, separated by hyphens, the first of which begins with a
// letter.
func isSlug(name string) bool {
	word := false // the character before belongs to a word
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', '0' <= c && c <= '9' && i > 0:
			word = true
		case c == '-' && word:
			word = false
		default:
			return false
		}
	}
	return word
}

// Validate returns an error that names every invalid rule and tracker. A rule is invalid if it lacks a text, a citation
// or a check, if its id is not a slug or not unique, or if its covers lead nowhere or in a circle. It is also invalid
// if it wants an observation of a tracker that it does not need. A tracker that rules need, directly or through another
// one, is invalid if a field is missing, its name is not unique, or its needs lead in a circle.
func Validate(rules []*Rule) error {
	var errs []error
	byID := make(map[string]*Rule, len(rules))
	for _, r := range rules {
		errs = append(errs, r.validate()...)
		if byID[r.ID] != nil {
			errs = append(errs, fmt.Errorf("rule %s: duplicate id", r.ID))
		}
		byID[r.ID] = r
	}
	covers := Covered(rules)
	for _, r := range rules {
		for _, id := range r.Covers {
			if byID[id] == nil {
				errs = append(errs, fmt.Errorf("rule %s: covers %q, which does not exist", r.ID, id))
			}
		}
		if slices.Contains(covers[r.ID], r.ID) {
			errs = append(errs, fmt.Errorf("rule %s: covers itself, perhaps through another rule", r.ID))
		}
	}
	return errors.Join(append(errs, validateTrackers(rules)...)...)
}

// validateTrackers checks the trackers that rules need, and the observations that come from them.
func validateTrackers(rules []*Rule) []error {
	var errs []error
	byName := make(map[string]*Tracker)
	makers := make(map[Kinds]*Tracker)
	for _, t := range order(rules) {
		errs = append(errs, t.validate()...)
		if byName[t.Name] != nil {
			errs = append(errs, fmt.Errorf("tracker %s: duplicate name", t.Name))
		}
		byName[t.Name] = t
		for kind := range t.Makes.Each {
			if makers[kind] != nil {
				err := fmt.Errorf("tracker %s: tracker %s makes the same observations", t.Name, makers[kind].Name)
				errs = append(errs, err)
			}
			makers[kind] = t
		}
	}
	return errs
}

func (t *Tracker) validate() []error {
	var errs []error
	fail := func(what string) { errs = append(errs, fmt.Errorf("tracker %s: %s", t.Name, what)) }
	if !isSlug(t.Name) {
		fail("the name is not a slug")
	}
	if t.Doc == "" {
		fail("no doc")
	}
	if t.On == 0 || t.New == nil {
		fail("no state, or no observation for it")
	}
	if t.Makes&^madeByTrackers != 0 {
		fail("it makes observations that belong to the engine")
	}
	if slices.Contains(t.Needs, nil) {
		fail("a need without a tracker")
	}
	if t.reaches(t, make(map[*Tracker]bool)) {
		fail("needs itself, perhaps through another tracker")
	}
	return errs
}

// reaches reports whether a tracker needs another one, directly or through others.
func (t *Tracker) reaches(other *Tracker, seen map[*Tracker]bool) bool {
	for _, need := range t.Needs {
		if need == other {
			return true
		}
		if need != nil && !seen[need] {
			seen[need] = true
			if need.reaches(other, seen) {
				return true
			}
		}
	}
	return false
}

func (r *Rule) validate() []error {
	var errs []error
	fail := func(what string) { errs = append(errs, fmt.Errorf("rule %s: %s", r.ID, what)) }
	if !isSlug(r.ID) {
		fail("the id is not a slug")
	}
	for _, text := range [...][2]string{
		{"title", r.Title}, {"family", r.Family}, {"doc", r.Doc}, {"fix", r.Fix}, {"silent", r.Silent},
	} {
		if text[1] == "" {
			fail("no " + text[0])
		}
	}
	if !slices.Contains(Categories, r.Category) {
		fail("no category")
	}
	if len(r.Cites) == 0 {
		fail("no citation")
	}
	for _, c := range r.Cites {
		if c.Section == "" {
			fail("a citation without section")
		}
	}
	if r.On == 0 || r.Check == nil {
		fail("no check, or no observation for it")
	}
	if r.Bindings == 0 {
		fail("no binding")
	}
	if r.On&ForTrackers != 0 {
		fail("wants an observation that is only for trackers")
	}
	if slices.Contains(r.Needs, nil) {
		fail("a need without a tracker")
	}
	var made Kinds
	for _, t := range r.Needs {
		if t != nil {
			made |= t.Makes
		}
	}
	if r.On&madeByTrackers&^made != 0 {
		fail("wants an observation from a tracker that it does not list in Needs")
	}
	return errs
}
