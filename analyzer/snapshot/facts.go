package snapshot

import (
	"strconv"
	"strings"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/filter"
)

// Facts are a row as a filter asks for it.
type Facts struct {
	*Row
	Workflow uint64 // number of the exchange that began its workflow; 0 if not requested
	Marked   bool
}

// Decide matches a filter against the exchange, and returns whether the answer is certain: if not, the exchange must be
// read.
func (f Facts) Decide(of *filter.Filter) (match, certain bool) {
	r := f.Row
	return of.Decide(&filter.Outline{
		Seq: r.Seq, ID: r.ID, Started: r.Started, Took: r.Took, Gap: r.Gap, State: r.Life,
		Client: r.Link.Client, Agent: r.Link.Agent, AgentURL: r.AgentURL,
		Method: r.Method, Target: r.Target, Host: r.Host, Status: r.Status,
		RequestSize: r.RequestSize, ResponseSize: r.ResponseSize, Types: r.Types, Traces: r.Traces, Partial: r.Partial,
		Stream: r.Stream, Cut: r.Cut, Rewritten: r.Rewritten, Replayed: r.Replayed,
		Broken: r.Fault != nil, FaultMade: r.FaultMade != "",
	}, f)
}

// Values implements filter.Facts.
func (f Facts) Values(key string) []string {
	switch key {
	case "kind":
		return some(f.Kind().String())
	case "tool", "model", "tokens":
		if f.Neighbor != nil {
			return f.Neighbor.Values(key)
		}
	case "op":
		if f.Neighbor != nil {
			return f.Neighbor.Values(key)
		}
		if f.Operation == a2a.NoOperation {
			return some(f.Called)
		}
		return some(f.Operation.String(), f.Called)
	case "dialect":
		return reading.DialectNames(f.Dialects)
	case "binding":
		if f.Binding == a2a.NoBinding {
			return nil
		}
		return some(f.Binding.String())
	case "task":
		return f.Tasks
	case "context":
		return f.Contexts
	case "state":
		return names(f.States)
	case "role":
		return names(f.Roles)
	case "event":
		var kinds []string
		for _, k := range f.Kinds {
			kinds = append(kinds, reading.KindNames(k)...)
		}
		return kinds
	case "code":
		return f.codes()
	case "workflow":
		if f.Workflow == 0 {
			return nil
		}
		return some(strconv.FormatUint(f.Workflow, 10))
	case "is":
		return f.properties()
	}
	return f.ofFindings(key)
}

func (f Facts) codes() []string {
	var codes []string
	for i := range f.Errors {
		e := &f.Errors[i]
		if e.Known {
			codes = append(codes, strconv.FormatInt(e.Code, 10))
		}
		if status, _, _ := strings.Cut(e.Label, " "); f.Binding == a2a.GRPC {
			codes = append(codes, some(status)...)
		}
		codes = append(codes, some(e.Name.String(), e.Reason)...)
	}
	return codes
}

func (f Facts) properties() []string {
	var words []string
	for _, p := range []struct {
		holds bool
		word  string
	}{{len(f.Errors) > 0, "error"}, {f.Row.Failed(), "failed"}, {f.Push, "push"}, {f.Card, "card"}, {f.Marked, "marked"}, {f.Neighbor != nil && f.Neighbor.Declined(f.Status), "declined"}} {
		if p.holds {
			words = append(words, p.word)
		}
	}
	return words
}

func (f Facts) ofFindings(key string) []string {
	var values []string
	for i := range f.Found {
		switch found := &f.Found[i]; key {
		case "rule":
			values = append(append(values, found.Rule), found.Also...)
		case "severity":
			values = append(values, found.Severity.String())
		case "side":
			values = append(values, found.Side.String())
		}
	}
	return values
}

// Normalize implements filter.Facts.
func (f Facts) Normalize(key, word string) string { return reading.Normalize(key, word) }

func names[T interface{ String() string }](list []T) []string {
	var words []string
	for _, v := range list {
		words = append(words, v.String())
	}
	return words
}

func some(values ...string) []string {
	var list []string
	for _, v := range values {
		if strings.TrimSpace(v) != "" {
			list = append(list, v)
		}
	}
	return list
}
