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
	"a2atap/proxy/capture"
)

// Bounds of the groups. Beyond them, only counts are kept.
const (
	maxFailed = 1000 // groups of failed calls and tasks
	maxOthers = 100  // exchanges of a group, after the first
	maxGaps   = 1000 // groups of unseen traffic
)

// FailedCalls are calls of one link that failed alike, or tasks that ended badly according to calls.
type FailedCalls struct {
	Capture   string
	Exchange  uint64   // the first of them
	Others    []uint64 // the next ones, at most a hundred
	Link      analysis.Link
	Binding   a2a.Binding
	Operation string   // or the method in quotes
	Error     string   // by name, as in Calls.Failures
	Code      string   // of the error, or empty
	Text      string   // of the first error; empty without a text
	Refused   bool     // they were refused: see Calls.Refused
	Task      bool     // tasks, not calls: Error is how they ended, such as "task rejected", and their calls succeeded
	Known     bool     // they are accepted: see Result.Accept
	Rules     []string // of the findings in their exchanges: see Result.Explain
	Count     int

	Other bool   // they are calls of models and MCP servers, which are not judged
	Cause string // the failed call of a model or a tool during the first of them: "1.2s after its model answered 429"
}

// Has reports whether an exchange is listed among the calls.
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

// Programs returns the role of each program in the calls, or notifications, that failed.
func (f *FailedCalls) Programs() analysis.Programs {
	return f.Link.Programs(a2a.OperationOf(f.Operation))
}

// Fingerprint identifies the failure across captures and clients. It depends on the agent (the sender of a
// notification), the binding, the operation, and the error with its code and text. It ignores words with numbers, and
// whether the call had credentials.
func (f *FailedCalls) Fingerprint() string { return f.fingerprint(f.Programs().Agent) }

// OldFingerprint returns the fingerprint from when the receiver of a notification counted as its agent. For calls it
// equals Fingerprint.
func (f *FailedCalls) OldFingerprint() string { return f.fingerprint(f.Link.Agent) }

func (f *FailedCalls) fingerprint(agent string) string {
	text, _ := f.gist()
	sum := sha256.Sum256([]byte(strings.Join([]string{
		"call", agent, f.Binding.String(), f.Operation, f.Error, f.Code, text,
	}, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// gist returns the common part of similar errors: the beginning of their text without words that contain digits, which
// are ids and numbers, and whether there were credentials.
func (f *FailedCalls) gist() (text string, sent summary.Credentials) {
	text = f.Text
	for _, c := range [...]summary.Credentials{summary.CredentialsMissing, summary.CredentialsSent} {
		if before, ok := strings.CutSuffix(text, c.String()); ok {
			text, sent = strings.TrimSuffix(before, "; "), c
		}
	}
	if f.Code == "" { // it was the body of an answer
		return analysis.WithoutNumbers(summary.OneLine(text)), sent
	}
	return analysis.WithoutNumbers(analysis.Clip(text)), sent
}

// sameText reports whether two failures have the same text, apart from ids and numbers.
func (f *FailedCalls) sameText(other *FailedCalls) bool {
	text, sent := f.gist()
	otherText, otherSent := other.gist()
	return text == otherText && sent == otherSent
}

// String returns the calls as text for people: "4 SendMessage InternalError: database is down", the number of further
// ones, and the rules that explain them.
func (f *FailedCalls) String() string {
	text := fmt.Sprintf("%d %s %s", f.Exchange, analysis.Clean(f.Operation), analysis.Clean(f.Error))
	if f.Text != "" {
		text += ": " + analysis.Clean(f.Text)
	}
	if f.Cause != "" {
		text += ", " + analysis.Clean(f.Cause)
	}
	if f.Count > 1 {
		text += fmt.Sprintf(" (and %d more)", f.Count-1)
	}
	if len(f.Rules) > 0 {
		text += " [" + strings.Join(f.Rules, ", ") + "]"
	}
	return text
}

// A NotSeen is traffic that passed, or may have passed, and is missing from the record.
type NotSeen struct {
	What     string // such as "exchange"
	Why      string
	Exchange uint64 // the first one; 0 if unknown
	Count    int
	Decides  bool           // it makes a verdict incomplete by itself
	Crash    *capture.Crash // the end of a recorder, if that is the reason; otherwise nil
}

// String returns the gap as text for people.
func (n *NotSeen) String() string {
	if n.What == seenInPart {
		return analysis.Plural(n.Count, "exchange") + ": " + analysis.Clean(n.Why)
	}
	return analysis.Clean(n.What) + ": " + analysis.Clean(n.Why)
}

// seenInPart is NotSeen.What of an exchange that cannot be checked completely.
const seenInPart = "exchange"

// failures are groups of calls that failed alike.
type failures struct {
	list []FailedCalls
	at   map[alike]int // where the group is in the list
}

// An alike identifies calls that failed alike.
type alike struct {
	capture                string
	link                   analysis.Link
	binding                a2a.Binding
	operation, error, code string
	refused, known, task   bool
	text                   string // its gist
	sent                   summary.Credentials
}

// add adds calls to those that failed alike.
func (l *failures) add(f FailedCalls) {
	text, sent := f.gist()
	key := alike{f.Capture, f.Link, f.Binding, f.Operation, f.Error, f.Code, f.Refused, f.Known, f.Task, text, sent}
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

// addGap adds unseen traffic to the group with the same reason.
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
