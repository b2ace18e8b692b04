package list

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"a2atap/analyzer"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/filter"
	"a2atap/tui/load"
)

// FilterWords offers words for the end of a filter: keys, and behind a key the values that are known.
func (l *Panel) FilterWords(expr string) []string {
	last := expr[strings.LastIndexAny(expr, " (")+1:]
	negated := last[:len(last)-len(strings.TrimLeft(last, "-"))]
	name, _, valued := strings.Cut(last[len(negated):], ":")
	var list []string
	if !valued {
		for _, k := range filter.Keys() {
			list = append(list, negated+k.Name+":")
		}
		return list
	}
	for _, value := range filterValues(l, name) {
		if strings.ContainsAny(value, " ()\"") {
			value = strconv.Quote(value)
		}
		list = append(list, negated+name+":"+value)
	}
	return list
}

// filterValues offers values for a key of the filter: all, where there are few, or else those that were seen.
func filterValues(l *Panel, name string) []string {
	switch name {
	case "agent":
		return seen(l, func(e *load.Entry) string { return e.Agent })
	case "client":
		return seen(l, func(e *load.Entry) string { return e.Client })
	case "link":
		return seen(l, func(e *load.Entry) string { return e.Client + "->" + e.Agent })
	case "op":
		return names(a2a.SendMessage, a2a.Operation.String)
	case "state":
		return names(a2a.Submitted, a2a.State.String)
	case "dialect":
		return names(a2a.V0_1, dialectName)
	case "rule":
		return l.shared.RuleIDs()
	case "severity":
		return []string{analyzer.Error.String(), analyzer.Warning.String(), analyzer.Note.String()}
	}
	return filter.Values(name)
}

func dialectName(d a2a.Dialect) string {
	if d > a2a.V1_0 {
		return ""
	}
	return d.String()
}

// names returns the names of values that are numbered, from one on until one has no name.
func names[N ~uint8](from N, name func(N) string) (list []string) {
	for v := from; name(v) != ""; v++ {
		list = append(list, name(v))
	}
	return list
}

// seen returns what the entries that were read have, each once.
func seen(l *Panel, of func(e *load.Entry) string) []string {
	values := make(map[string]bool)
	for _, e := range l.cache.entries {
		if !e.Absent {
			values[of(&e)] = true
		}
	}
	return slices.Sorted(maps.Keys(values))
}
