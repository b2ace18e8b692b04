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

// A Finding is one broken rule at one place: a fact, with the observed value and the protocol's requirement.
type Finding struct {
	Rule       *Rule
	Severity   Severity
	Side       a2a.Side     // who broke it
	Dialects   a2a.Dialects // of the message; 0.2 and 0.3 stay a pair until a card distinguishes them
	Binding    a2a.Binding
	Operation  a2a.Operation
	Revises    bool         // it replaces an earlier finding: see TakesPlaceOf
	Unsettled  bool         // another finding may revise it when the agent's card is known, or the agent is gone
	Within     a2a.Dialects // where it is reported once, for rules with that scope; empty for the request's
	Cause      Cause        // the mistake behind it, which also breaks other rules; empty if unknown
	Link       Link
	ExchangeID uuid.UUID
	Place      Place
	Seen       string   // the observed violation, short
	Expected   string   // what the rule requires, as the second half of the sentence: see Message and Wanted
	Also       []string // covered rules that broke at the same place
	Weight     *Rule    // the covered rule that sets the finding's severity, if worse than its own rule's; otherwise nil
	Capture    string   // name of the capture, set by callers who know it
	Failure    string   // the failure of its exchange's call, set by callers who know it; empty if it did not fail
	Times      int      // how often its link met its cause, set by callers who know it; 0 for a finding at one place
	Workflow   Workflow // its exchange's workflow, set by callers who know it
}

// A Cause is one mistake of a program that breaks several rules in several objects. Of the findings of one cause in a
// step, only the first of the worst severity is reported, and it names the other rules. Of those, only the first at an
// endpoint is reported.
type Cause string

// The causes.
const (
	KindOmitted  Cause = "objects of 0.2 and 0.3 without their kind"
	OlderObjects Cause = "objects of an older version in messages of 1.0"
	NoWrapper    Cause = "objects of 1.0 without their wrapping member"
	Wrapper      Cause = "objects inside a member that the version does not have"
)

// Message returns what was seen, and then what the rule requires, in one sentence.
func (f *Finding) Message() string { return f.Seen + "; " + f.Expected }

// Wanted returns what the rule requires, without the word "expected".
func (f *Finding) Wanted() string { return strings.TrimPrefix(f.Expected, "expected ") }

// A Workflow is everything that followed from one request of a user, as far as known.
type Workflow struct {
	Number uint64 // of the exchange that began it; 0 if unknown
	Caused bool   // an agent made the call for it, not the user
}

// Sections returns the sections on which the finding is based, for the dialects of its message, including those of the
// rule that determines its severity.
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

// String returns the finding in one line: PLACE: message [slug]. Text from the wire is sanitized, including member
// names in the place.
func (f *Finding) String() string {
	return fmt.Sprintf("%s: %s [%s]", Clean(f.Place.String()), Clean(f.Message()), f.Rule.ID)
}

// TakesPlaceOf reports whether a finding that revises others replaces an earlier one. Both then have the same subject,
// about which more is known now: a link at the end of a capture, a place when the card arrived, or all calls since an
// agent is gone.
func (f *Finding) TakesPlaceOf(g *Finding) bool {
	switch {
	case !f.Revises || g.Revises:
		return false
	case f.Rule.Critical != Present:
		return g.Unsettled && slices.Contains(f.Rule.Covers, g.Rule.ID) && f.Side == g.Side &&
			f.Link.Agent == g.Link.Agent && f.Place.Exchange <= g.Place.Exchange
	case f.Link != g.Link:
		return false
	case f.Rule.Revises:
		return f.Rule == g.Rule && f.Side == g.Side
	}
	return g.Unsettled && f.SaysMoreThan(g)
}

// Replace is TakesPlaceOf for callers that store f instead: f then covers the rule of the other finding, and the rules
// that it covered.
func (f *Finding) Replace(g *Finding) bool {
	if !f.TakesPlaceOf(g) {
		return false
	}
	for _, id := range append([]string{g.Rule.ID}, g.Also...) {
		if id != f.Rule.ID && !slices.Contains(f.Also, id) {
			f.Also = append(f.Also, id)
		}
	}
	return true
}

// SaysMoreThan reports whether a finding has the same subject as an earlier one that was made while less was known.
func (f *Finding) SaysMoreThan(g *Finding) bool {
	return f.Rule == g.Rule && f.Side == g.Side && f.Place == g.Place ||
		slices.Contains(f.Also, g.Rule.ID) && f.Place.Covers(g.Place)
}

// Fingerprint identifies the finding across captures: it depends on the rule, the side and the agent (of a notification:
// its sender), the operation, and the place without its numbers.
func (f *Finding) Fingerprint() string { return f.fingerprint(f.Programs().Agent) }

// OldFingerprint returns the fingerprint from when the receiver of a notification counted as its agent. For findings on
// calls it equals Fingerprint.
func (f *Finding) OldFingerprint() string { return f.fingerprint(f.Link.Agent) }

func (f *Finding) fingerprint(agent string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{
		f.Rule.ID, f.Side.String(), agent, f.Operation.String(), f.Place.shape(),
	}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Programs returns the role of each program in the exchange of the finding.
func (f *Finding) Programs() Programs { return f.Link.Programs(f.Operation) }

// Program returns the name of the program that broke the rule; empty if no program is at fault.
func (f *Finding) Program() string { return f.Programs().Of(f.Side) }
