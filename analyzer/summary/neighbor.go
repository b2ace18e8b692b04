package summary

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/neighbor"
)

// neighborFailure describes the failure of a call that is not A2A, or returns "".
func neighborFailure(c *neighbor.Call, status int) string {
	switch {
	case c == nil || !c.Failed:
		return ""
	case status < 400:
		return strings.TrimSuffix("failed: "+analysis.ErrorText(c.Failure), ": ")
	}
	return strings.TrimSuffix(statusWords(status)+": "+analysis.ErrorText(c.Failure), ": ")
}

// Bounds of an outcome.
const (
	mostNamed  = 4  // tools that are named
	mostQuoted = 40 // characters of a tool's result
)

// neighborWords describes the answer to a call that is not A2A; said is the beginning of its text.
func neighborWords(c *neighbor.Call, said string) (words []Word) {
	if c == nil {
		return nil
	}
	add := func(look Look, format string, args ...any) {
		words = append(words, Word{Text: analysis.Clean(fmt.Sprintf(format, args...)), Look: look})
	}
	if len(c.Asked) > 0 {
		var names []string
		for _, t := range c.Asked {
			if len(names) < mostNamed && !slices.Contains(names, t.Name) {
				names = append(names, t.Name)
			}
		}
		more := ""
		if n := len(c.Asked) - len(names); n > 0 {
			more = fmt.Sprintf(" and %d more", n)
		}
		add(Plain, "asks for %s%s", strings.Join(names, ", "), more)
	} else if c.Finish != "" {
		add(Plain, "%s", c.Finish)
	}
	if c.Input+c.Output > 0 {
		add(Dim, "%d→%d tokens", c.Input, c.Output)
	}
	if c.First > 0 && c.Kind == neighbor.Model {
		add(Dim, "first chunk %s", DurationWords(c.First))
	}
	if c.Server != "" && c.Handshake() && c.Tools == 0 {
		add(Plain, "%s", strings.TrimSuffix(c.Server+", MCP "+c.Version, ", MCP "))
	}
	if c.Tools > 0 && c.Kind == neighbor.MCP {
		add(Dim, "%s", analysis.Plural(c.Tools, "tool"))
	}
	if said != "" && c.Operation == "tools/call" && !c.Failed {
		text := []rune(said)
		if len(text) > mostQuoted {
			text = append(text[:mostQuoted:mostQuoted], '…')
		}
		add(Dim, "%s", analysis.QuoteText(string(text)))
	}
	if len(c.Requests) > 0 {
		add(Plain, "asked back for %s", strings.Join(c.Requests[:min(len(c.Requests), mostNamed)], ", "))
	}
	return words
}
