package judgment

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
)

// Bounds of what is told apart. What is beyond them is counted only.
const (
	maxFailed = 1000 // groups of failed calls and tasks
	maxOthers = 100  // exchanges of a group, beside the first
	maxGaps   = 1000 // groups of what was not seen
)

// FailedCalls are calls of one link that failed alike, or tasks that calls told to have ended badly.
type FailedCalls struct {
	Capture   string
	Exchange  uint64   // the first of them
	Others    []uint64 // the next ones, at most a hundred
	Link      analysis.Link
	Binding   a2a.Binding
	Operation string   // or the method in quotes
	Error     string   // by name, as in Calls.Failures
	Code      string   // of the error; empty if it has none
	Text      string   // what the first one's error says; empty if nothing does
	Refused   bool     // they were refused: see Calls.Refused
	Task      bool     // they are tasks: Error is how they ended, such as "task rejected", and their calls have worked
	Known     bool     // they are accepted: see Result.Accept
	Rules     []string // whose findings stand in their exchanges: see Result.Explain
	Count     int
}

// Has reports whether an exchange is among them, as far as they are listed.
func (f *FailedCalls) Has(exchange uint64) bool {
	return f.Exchange == exchange || slices.Contains(f.Others, exchange)
}

// join adds calls that failed alike.
func (f *FailedCalls) join(other *FailedCalls) {
	f.Count += other.Count
	for _, n := range append([]uint64{other.Exchange}, other.Others...) {
		if len(f.Others) < maxOthers && !f.Has(n) {
			f.Others = append(f.Others, n)
		}
	}
}

// Programs returns which program plays which part in the calls, or notifications, that failed.
func (f *FailedCalls) Programs() analysis.Programs {
	return f.Link.Programs(a2a.OperationOf(f.Operation))
}

// Fingerprint identifies the failure across captures and clients: it depends on the agent, which sends notifications, the
// binding, what was asked, and the error with its code and what it says, but for words with numbers and for whether there
// were credentials.
func (f *FailedCalls) Fingerprint() string { return f.fingerprint(f.Programs().Agent) }

// OldFingerprint returns the fingerprint of the time when the receiver of a notification counted as its agent. For calls
// it is the Fingerprint.
func (f *FailedCalls) OldFingerprint() string { return f.fingerprint(f.Link.Agent) }

func (f *FailedCalls) fingerprint(agent string) string {
	text := f.Text
	for _, c := range [...]summary.Credentials{summary.CredentialsMissing, summary.CredentialsSent} {
		text = strings.TrimSuffix(strings.TrimSuffix(text, c.String()), "; ")
	}
	sum := sha256.Sum256([]byte(strings.Join([]string{
		"call", agent, f.Binding.String(), f.Operation, f.Error, f.Code, withoutNumbers(text),
	}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// String returns them as people read them: "4 SendMessage InternalError: database is down", how many more, and the rules
// that say something of them.
func (f *FailedCalls) String() string {
	text := fmt.Sprintf("%d %s %s", f.Exchange, analysis.Clean(f.Operation), analysis.Clean(f.Error))
	if f.Text != "" {
		text += ": " + analysis.Clean(f.Text)
	}
	if f.Count > 1 {
		text += fmt.Sprintf(" (and %d more)", f.Count-1)
	}
	if len(f.Rules) > 0 {
		text += " [" + strings.Join(f.Rules, ", ") + "]"
	}
	return text
}

// A NotSeen is something that passed, or may have passed, and that the record does not show.
type NotSeen struct {
	What     string // such as "exchange"
	Why      string
	Exchange uint64 // the first one; 0 if there is none
	Count    int
	Decides  bool // it makes a verdict incomplete by itself
}

// String returns it as people read it.
func (n *NotSeen) String() string {
	if n.What == seenInPart {
		return analysis.Plural(n.Count, "exchange") + ": " + analysis.Clean(n.Why)
	}
	return analysis.Clean(n.What) + ": " + analysis.Clean(n.Why)
}

// seenInPart is NotSeen.What of an exchange that cannot be judged as a whole.
const seenInPart = "exchange"

// failures are groups of calls that failed alike.
type failures struct {
	list []FailedCalls
	at   map[alike]int // where the group is in the list
}

// An alike is what calls that failed alike have in common.
type alike struct {
	capture                string
	link                   analysis.Link
	binding                a2a.Binding
	operation, error, code string
	refused, known, task   bool
	text                   string // what the error says, without words that have digits: those are ids and numbers
}

// add adds calls to those that failed alike.
func (l *failures) add(f FailedCalls) {
	key := alike{
		f.Capture, f.Link, f.Binding, f.Operation, f.Error, f.Code, f.Refused, f.Known, f.Task,
		withoutNumbers(f.Text),
	}
	if i, known := l.at[key]; known {
		l.list[i].join(&f)
		return
	}
	if len(l.list) == maxFailed {
		return
	}
	if l.at == nil {
		l.at = make(map[alike]int)
	}
	l.at[key] = len(l.list)
	l.list = append(l.list, f)
}

// sorted returns the groups in the order of the first call of each.
func (l *failures) sorted() []FailedCalls {
	list := slices.Clone(l.list)
	slices.SortStableFunc(list, func(a, b FailedCalls) int { return cmp.Compare(a.Exchange, b.Exchange) })
	return list
}

func withoutNumbers(text string) string {
	if !strings.ContainsAny(text, "0123456789") {
		return text
	}
	words := strings.Fields(text)
	for i, word := range words {
		if strings.ContainsAny(word, "0123456789") {
			words[i] = "#"
		}
	}
	return strings.Join(words, " ")
}

// addGap adds something to what was not seen for the same reason.
func addGap(list []NotSeen, n NotSeen) []NotSeen {
	for i := range list {
		if g := &list[i]; g.What == n.What && g.Why == n.Why {
			g.Count += n.Count
			g.Decides = g.Decides || n.Decides
			return list
		}
	}
	if len(list) < maxGaps {
		return append(list, n)
	}
	return list
}
