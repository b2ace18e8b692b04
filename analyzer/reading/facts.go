package reading

import (
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// Facts are a reading in the form that filters use, together with the findings of the exchange.
type Facts struct {
	*Reading
	Findings []analysis.Finding
	Workflow uint64 // number of the exchange that began its workflow; 0 if that was not found out
	Marked   bool
	Failed   bool // according to its summary: analysis.Summary.Failed
	// The exchange is known to be a notification by the address that it went to, which the reading alone does not know.
	Notification bool
}

// Operation returns the operation of the request.
func (f Facts) Operation() a2a.Operation {
	if f.Notification {
		return a2a.Webhook
	}
	return f.Call.Asks()
}

// Values implements filter.Facts.
func (f Facts) Values(key string) []string {
	switch key {
	case "op":
		return f.operations()
	case "dialect":
		return f.dialects()
	case "binding":
		if f.Call.Binding == a2a.NoBinding {
			return nil
		}
		return some(f.Call.Binding.String())
	case "task":
		return f.Tasks
	case "context":
		return f.Contexts
	case "message":
		return f.Messages
	case "state":
		return f.States
	case "role":
		return f.Roles
	case "event":
		return f.eventKinds()
	case "code":
		return f.codes()
	case "workflow":
		if f.Workflow == 0 {
			return nil
		}
		return some(strconv.FormatUint(f.Workflow, 10))
	case "is":
		return f.properties()
	case "kind":
		return some(f.Kind().String())
	case "tool", "model", "tokens":
		if f.Neighbor != nil {
			return f.Neighbor.Values(key)
		}
	}
	return f.ofFindings(key)
}

// operations returns the operation's name and the request's name for it.
func (f Facts) operations() []string {
	op := f.Operation()
	if f.Neighbor != nil {
		return f.Neighbor.Values("op")
	}
	if op == a2a.NoOperation {
		return some(f.Call.Method)
	}
	return some(op.String(), f.Call.Method)
}

// eventNames are the names of updates on the wire of each dialect, and short names.
var eventNames = map[a2a.PayloadKind][]string{
	a2a.StatusPayload:   {"status", "status-update", "statusUpdate"},
	a2a.ArtifactPayload: {"artifact", "artifact-update", "artifactUpdate"},
}

func (f Facts) eventKinds() []string {
	var kinds []string
	for _, e := range f.Events {
		kinds = append(kinds, KindNames(e.Kind)...)
	}
	return kinds
}

// KindNames returns the names of events of a kind: our own, and those on the wire of each dialect.
func KindNames(k a2a.PayloadKind) []string { return append([]string{k.String()}, eventNames[k]...) }

func (f Facts) dialects() []string { return DialectNames(f.Dialects) }

// DialectNames returns the set as written, and each of its members: a filter asks which dialects the exchange may be
// in.
func DialectNames(in a2a.Dialects) []string {
	names := some(in.String())
	if _, single := in.Single(); !single {
		for d := range in.All() {
			names = append(names, d.String())
		}
	}
	return names
}

func (f Facts) codes() []string {
	var codes []string
	for _, e := range f.Errors {
		if e.CodeKnown {
			codes = append(codes, strconv.FormatInt(e.Code, 10))
		}
		codes = append(codes, some(e.GRPCStatus, e.Name.String(), e.Reason)...)
	}
	return codes
}

func (f Facts) properties() []string {
	var words []string
	if len(f.Errors) > 0 {
		words = append(words, "error")
	}
	if f.Failed {
		words = append(words, "failed")
	}
	if f.Operation() == a2a.Webhook || f.Call.PushConfig.Exists() {
		words = append(words, "push")
	}
	if f.Card != nil || f.Call.Operation == a2a.GetCard || f.Call.Operation == a2a.GetExtendedCard {
		words = append(words, "card")
	}
	if f.Marked {
		words = append(words, "marked")
	}
	if f.Neighbor != nil && f.Neighbor.Optional {
		words = append(words, "declined")
	}
	return words
}

func (f Facts) ofFindings(key string) []string {
	var values []string
	for i := range f.Findings {
		switch found := &f.Findings[i]; key {
		case "rule":
			values = append(append(values, found.Rule.ID), found.Also...)
		case "severity":
			values = append(values, found.Severity.String())
		case "side":
			values = append(values, found.Side.String())
		}
	}
	return values
}

// Normalize implements filter.Facts.
func (f Facts) Normalize(key, word string) string { return Normalize(key, word) }

// Normalize returns the name that filters compare for a user's word, in any spelling or dialect. A word that no dialect
// knows is unchanged.
func Normalize(key, word string) string {
	switch key {
	case "op":
		if op := a2a.OperationOf(word); op != a2a.NoOperation {
			return op.String()
		}
	case "state":
		if s, ok := a2a.ParseState(word); ok {
			return s.String()
		}
	case "role":
		if r, ok := a2a.ParseRole(word); ok {
			return r.String()
		}
	}
	return word
}

func some(values ...string) []string {
	return slices.DeleteFunc(values, func(v string) bool { return strings.TrimSpace(v) == "" })
}
