package verdict

import (
	"regexp"
	"slices"

	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
	"a2atap/proxy/spelling"
)

// namedValue matches a value in a filter that can be compared with names of the protocol or of the rules.
var namedValue = regexp.MustCompile(`\b(op|state|rule|binding|dialect|agent|client):([A-Za-z0-9._+/-]+)`)

// suggestion returns the name that the user probably meant by a value that matches nothing, as nearest does. It returns
// "" if each value is a name of the protocol or of the capture, or resembles none. Such values are not errors: agents
// may use names of their own.
func (s Selection) suggestion(agents, clients []string) string {
	if s.agent != "" && !slices.Contains(agents, s.agent) {
		if words := spelling.Hint(s.agent, agents); words != "" {
			return words
		}
	}
	for _, m := range namedValue.FindAllStringSubmatch(s.filter.String(), -1) {
		key, value := m[1], m[2]
		names := ValuesOf(key)
		switch key {
		case "agent":
			names = agents
		case "client":
			names = clients
		}
		if !slices.Contains(names, value) {
			if words := spelling.Hint(value, names); words != "" {
				return words
			}
		}
	}
	return ""
}

// ValuesOf returns the names that a key of the filter language is compared with.
func ValuesOf(key string) []string {
	var names []string
	switch key {
	case "op":
		for op := a2a.SendMessage; op <= a2a.Webhook; op++ {
			names = append(names, op.String())
		}
	case "state":
		for s := a2a.NoState + 1; s.String() != ""; s++ {
			names = append(names, s.String())
		}
	case "rule":
		names = RuleIDs()
	case "binding":
		names = []string{a2a.JSONRPC.String(), a2a.HTTPJSON.String(), a2a.GRPC.String()}
	case "dialect":
		for d := range a2a.Of(a2a.V0_1, a2a.V0_2, a2a.V0_3, a2a.V1_0).All() {
			names = append(names, d.String())
		}
	}
	return names
}

// RuleIDs returns the ids of all rules, in reading order.
func RuleIDs() []string {
	ids := make([]string, 0, len(rules.All))
	for _, r := range rules.All {
		ids = append(ids, r.ID)
	}
	return ids
}
