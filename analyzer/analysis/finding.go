package analysis

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"a2atap/proxy/a2a"
)

// A Finding is one broken rule at one place: a fact, with what was seen and what the protocol asks for.
type Finding struct {
	Rule       *Rule
	Severity   Severity
	Side       a2a.Side     // who broke it
	Dialects   a2a.Dialects // of the message; 0.2 and 0.3 stay a pair until a card tells them apart
	Binding    a2a.Binding
	Operation  a2a.Operation
	Revises    bool         // it takes the place of what was reported before: see TakesPlaceOf
	Unsettled  bool         // it was made without the agent's card, and one that revises it may follow when that is known
	Within     a2a.Dialects // in which it is reported once, for rules that do so in a dialect; empty for the request's
	Cause      Cause        // the mistake behind it, which breaks other rules, too; empty if none is known
	Link       Link
	ExchangeID uuid.UUID
	Place      Place
	Seen       string   // what was on the wire, short
	Expected   string   // what the rule asks for, as the sentence goes on after what was seen: see Message and Wanted
	Also       []string // covered rules that broke at the same place
	Weight     *Rule    // the covered rule that gives it its severity, where that is worse than its own; or nil
	Capture    string   // name of the capture, filled by those who know it
	Failure    string   // with what the call of its exchange failed, filled by those who know it; empty if it did not
	Workflow   Workflow // to which its exchange belongs, filled by those who know it
}

// A Cause is one mistake of a program that breaks several rules in several objects. Of the findings of one cause, the
// first of the worst severity in a step is reported, and names the other rules; and of those, the first at an endpoint.
type Cause string

// The causes.
const (
	KindOmitted  Cause = "objects of 0.2 and 0.3 without their kind"
	OlderObjects Cause = "objects of an older version in messages of 1.0"
	NoWrapper    Cause = "objects of 1.0 without the member that holds them"
	Wrapper      Cause = "objects inside a member that the version does not have"
)

// Message says what was seen, and then what the rule asks for, in one sentence.
func (f *Finding) Message() string { return f.Seen + "; " + f.Expected }

// Wanted is what the rule asks for, without the word that says so.
func (f *Finding) Wanted() string { return strings.TrimPrefix(f.Expected, "expected ") }

// A Workflow is what followed from one request of a user, as far as it is known.
type Workflow struct {
	Number uint64 // of the exchange that began it; 0 if it is not known
	Caused bool   // an agent made the call for it: it is not among the calls that the user made
}

// Sections returns the sections that the finding rests on, for the dialects of its message: also those of the rule that
// gives it its severity.
func (f *Finding) Sections() []string {
	list := f.Rule.Sections(f.Dialects)
	if f.Weight != nil {
		for _, s := range f.Weight.Sections(f.Dialects) {
			if !slices.Contains(list, s) {
				list = append(list, s)
			}
		}
	}
	return list
}

// String returns the finding in one line: PLACE: message [slug]. What came from the wire is cleaned in it, member names
// in the place included.
func (f *Finding) String() string {
	return fmt.Sprintf("%s: %s [%s]", Clean(f.Place.String()), Clean(f.Message()), f.Rule.ID)
}

// TakesPlaceOf reports whether a finding that revises others does so with one that was made before it. They are then
// about one thing, of which more is known now: of a link at the end of a capture, or of a place when the card came.
func (f *Finding) TakesPlaceOf(g *Finding) bool {
	switch {
	case !f.Revises || g.Revises || f.Link != g.Link:
		return false
	case f.Rule.Revises:
		return f.Rule == g.Rule && f.Side == g.Side
	}
	return g.Unsettled && f.SaysMoreThan(g)
}

// Replace is TakesPlaceOf for who puts f there: what the other one has covered, f does from then on.
func (f *Finding) Replace(g *Finding) bool {
	takes := f.TakesPlaceOf(g)
	for _, id := range g.Also {
		if takes && !slices.Contains(f.Also, id) {
			f.Also = append(f.Also, id)
		}
	}
	return takes
}

// SaysMoreThan reports whether a finding is about the same as one that was made while less was known.
func (f *Finding) SaysMoreThan(g *Finding) bool {
	return f.Rule == g.Rule && f.Side == g.Side && f.Place == g.Place ||
		slices.Contains(f.Also, g.Rule.ID) && f.Place.Covers(g.Place)
}

// Fingerprint identifies the finding across captures: it depends on the rule, the side and the agent (of a notification:
// its sender), the operation, and the place without its numbers.
func (f *Finding) Fingerprint() string { return f.fingerprint(f.Programs().Agent) }

// OldFingerprint returns the fingerprint that the finding had while the receiver of a notification counted as its agent.
// For findings on calls it is the Fingerprint.
func (f *Finding) OldFingerprint() string { return f.fingerprint(f.Link.Agent) }

func (f *Finding) fingerprint(agent string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		f.Rule.ID, f.Side.String(), agent, f.Operation.String(), f.Place.shape(),
	}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Programs returns which program plays which part in the exchange of the finding.
func (f *Finding) Programs() Programs { return f.Link.Programs(f.Operation) }

// Program returns the name of the program that broke the rule; empty if no program is at fault.
func (f *Finding) Program() string { return f.Programs().Of(f.Side) }
