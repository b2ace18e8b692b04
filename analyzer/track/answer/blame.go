package answer

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// A Matter is a subject of a request that an agent may refuse.
type Matter uint8

// The matters.
const (
	Streaming Matter = iota
	PushConfig
	ExtendedCard
	Extension
	OutputMode
	Authentication
)

// matters are the words for each matter in the texts of errors.
var matters = [...][]string{
	Streaming:      {"stream", "sse", "subscri"},
	PushConfig:     {"push", "webhook", "notification", "callback"},
	ExtendedCard:   {"extended", "agent card", "agentcard"},
	Extension:      {"extension"},
	OutputMode:     {"output mode", "outputmode", "output type", "content type", "content-type", "media type", "mime", "modality"},
	Authentication: {"authenti", "authoriz", "credential", "permission", "forbidden", "log in", "login", "scope"},
}

// Blames reports whether the error of a refused call is certainly about a matter. Its text names only that matter, or
// it names none and the request asks for nothing else that an agent may refuse. An agent may refuse whatever the cards
// before the call do not declare.
func Blames(o *analysis.Observation, cards []*card.Card, matter Matter) bool {
	text := strings.ToLower(o.Answer.Err.Message)
	text = strings.ReplaceAll(text, strings.ToLower(o.Exchange.Call.Method), "")
	if matter == ExtendedCard {
		text = strings.NewReplacer("authenticated extended", "extended", "authenticatedextended", "extended").Replace(text)
	}
	named := false
	for m := range matters {
		if names(text, Matter(m)) {
			if Matter(m) != matter {
				return false
			}
			named = true
		}
	}
	return named || !asksForMore(o.Exchange, cards, matter)
}

// Names reports whether the text of an error names one of the matters.
func Names(failure *a2a.Error, list ...Matter) bool {
	text := strings.ToLower(failure.Message)
	return slices.ContainsFunc(list, func(m Matter) bool { return names(text, m) })
}

func names(text string, m Matter) bool {
	return slices.ContainsFunc(matters[m], func(word string) bool { return strings.Contains(text, word) })
}

// asksForMore reports whether a request asks for something other than a matter that an agent may refuse.
func asksForMore(x *analysis.Exchange, cards []*card.Card, matter Matter) bool {
	if x.Call.PushConfig.Exists() && matter != PushConfig {
		return true
	}
	if asksForForeign(x, cards) {
		return true
	}
	configuration := x.Call.Params.Get("configuration")
	for _, name := range [...]string{"acceptedOutputModes", "accepted_output_modes"} {
		for _, mode := range configuration.Get(name).Elems() {
			if !isText(mode.Text()) && !offersMode(cards, mode.Text()) {
				return true
			}
		}
	}
	return false
}

// asksForForeign reports whether a request asks for an extension that no card declares. An agent does not refuse a
// declared extension.
func asksForForeign(x *analysis.Exchange, cards []*card.Card) bool {
	foreign := func(uri string) bool {
		return !slices.ContainsFunc(cards, func(c *card.Card) bool {
			for declared := range c.Extensions() {
				if declared.URI() == uri {
					return true
				}
			}
			return false
		})
	}
	for _, name := range [...]string{"A2A-Extensions", "X-A2A-Extensions"} {
		for _, value := range x.Request.Fields.Values(name) {
			for uri := range strings.SplitSeq(value, ",") {
				if uri = strings.TrimSpace(uri); uri != "" && foreign(uri) {
					return true
				}
			}
		}
	}
	for _, v := range x.Call.Message.Get("extensions").Elems() {
		if foreign(v.Text()) {
			return true
		}
	}
	return false
}

// offersMode reports whether a card declares an output mode, which its agent then does not refuse.
func offersMode(cards []*card.Card, mode string) bool {
	has := func(list a2a.Value) bool {
		for _, v := range list.Elems() {
			if strings.EqualFold(v.Text(), mode) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(cards, func(c *card.Card) bool {
		for _, skill := range c.Value.Get("skills").Elems() {
			if has(skill.Get("outputModes")) {
				return true
			}
		}
		return has(c.Value.Get("defaultOutputModes"))
	})
}

// isText reports whether an output mode is one that agents use by default.
func isText(mode string) bool {
	return mode == "text" || strings.HasPrefix(mode, "text/") || mode == "*/*"
}
