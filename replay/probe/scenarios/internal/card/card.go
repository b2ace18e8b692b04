// Package card tests the public card: that it exists, that it has everything that clients rely on, and that its
// signatures were made with the keys that they name.
package card

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Requirement words that differ from version to version.
var (
	// bestEarly is the level of requirements that only the form before 0.1 has: later ones have defaults, or do not
	// mention it.
	bestEarly = scenario.Levels(analysis.Advice, scenario.Since01...)
	// mayIn01 is the level of what 0.1 leaves to the agent and earlier versions do not.
	mayIn01 = scenario.Levels(analysis.May, client.JSONRPC01)
)

// Scenarios are about the card: its existence, and each member that clients rely on, in separate scenarios, so that
// one missing member hides no other.
var Scenarios = []*probe.Scenario{
	{
		ID: "card", Title: "the card can be read", Category: analysis.AgentCard, Level: analysis.Must, Once: true,
		Sections: []string{"1.0 §8.2", "0.3 §5.3"},
		Tags:     []string{"core", "card", "basic", "CARD-DISC-001", "A49", "S0-1.1", "S0-1.6", "S0-1.7", "S0-V1", "S4-1.4", "S4-V1"},
		Fix:      "Serve the agent card as JSON at /.well-known/agent-card.json; up to 0.2, at /.well-known/agent.json.",
		Run: func(_ context.Context, s *probe.Session) error {
			if r := scenario.Refusal(s.NoCard()); r != nil && r.Unauthorized() {
				return probe.Unclear("the agent does not return the card without the right credentials: %s", probe.Describe(r))
			}
			if s.Card == nil {
				return probe.Fail("an agent card", "%v", s.NoCard())
			}
			return nil
		},
	},
	cardMember("card-name", "name", "the card names the agent", "S0-1.2a", nil, cardText("name")),
	cardMember("card-description", "description", "the card describes the agent", "S0-1.2b", mayIn01,
		cardText("description")),
	cardMember("card-url", "url", "the card has the agent's address", "S0-1.2c", nil, cardURL),
	cardMember("card-skills", "skills", "the card lists skills", "S0-1.2d", nil, cardSkills),
	skillMember("id", "S0-1.3a", nil),
	skillMember("name", "S0-1.3b", nil),
	skillMember("description", "S0-1.3c", mayIn01),
	skillModes("inputModes", "skill-input-modes", "S0-1.3d"),
	skillModes("outputModes", "skill-output-modes", "S0-1.3e"),
	{
		ID: "card-oauth2-token-url", Title: "the card has the token URL of OAuth 2.0",
		Category: analysis.AgentCard, Level: analysis.Must, Levels: mayIn01, Once: true,
		Sections: []string{"1.0 §4.5", "0.3 §5.5.3"}, Tags: []string{"card", "auth", "S0-1.4a"},
		Fix: "Name the token URL of each OAuth 2.0 flow in the card.",
		Run: func(_ context.Context, s *probe.Session) error { return askAuth(s, a2a.OAuth2Scheme) },
	},
	{
		ID: "card-api-key-name", Title: "the card says where to send an API key", Category: analysis.AgentCard,
		Level: analysis.Must, Levels: mayIn01, Once: true,
		Sections: []string{"1.0 §4.5", "0.3 §5.5.3"}, Tags: []string{"card", "auth", "S0-1.4b"},
		Fix: "Name the header or parameter of the API key in the card.",
		Run: func(_ context.Context, s *probe.Session) error { return askAuth(s, a2a.APIKeyScheme) },
	},
	{
		ID: "card-capability-flags", Title: "capabilities are true or false", Category: analysis.AgentCard,
		Level: analysis.Must, Once: true, Sections: []string{"1.0 §4.4.3", "0.3 §5.5.2"},
		Tags: []string{"card", "S0-1.5"},
		Fix:  `Write capabilities as JSON booleans: true, not "true" or 1.`,
		Run:  askFlags,
	},
	{
		ID: "card-public", Title: "the card can be read without credentials", Category: analysis.ErrorHandling,
		Stranger: true, Level: analysis.Must, Once: true,
		Levels:   scenario.Levels(analysis.Advice, scenario.Since03...),
		Sections: []string{"1.0 §8.2", "0.3 §5.4"},
		Tags:     []string{"card", "auth", "S0-4.6", "S0-V6", "S0-P6", "S4-6.3a"},
		Fix:      "Let anyone read the public card; put confidential parts into the extended card.",
		Run:      askPublicCard,
	},
	{
		ID: "card-read-again", Title: "a card that has changed has another version or ETag",
		Category: analysis.AgentCard, Level: analysis.Advice, Once: true,
		Sections: []string{"1.0 §8.6", "0.3 §5.5"}, Tags: []string{"card", "cache"},
		Fix: "Change the version and the ETag of a card whenever its content changes.",
		Run: askCardAgain,
	},
	{
		ID: "card-not-changed", Title: "a client that has the current card gets 304", Category: analysis.AgentCard,
		Level: analysis.Should, Levels: scenario.Levels(analysis.Advice, scenario.Old...), Once: true,
		Sections: []string{"1.0 §8.6", "RFC 9110 §13.1.2"}, Tags: []string{"card", "cache"},
		Fix: "Compare If-None-Match with the card's ETag, using the weak comparison, and answer 304 if they are equal.",
		Run: askCardUnchanged,
	},
	{
		ID: "card-bindings", Title: "JSON-RPC is served only where the card offers it", Category: analysis.AgentCard,
		Level: analysis.Must, Protocols: []client.Protocol{client.REST10},
		Sections: []string{"1.0 §5.2"}, Tags: []string{"card"},
		Fix: "List every binding that the agent serves in the card.",
		Run: askBindings,
	},
}

// cardMember returns the scenario of one member of the card.
func cardMember(
	id, member, title, row string, in map[client.Protocol]analysis.Level, ask func(a2a.Card) error,
) *probe.Scenario {
	return &probe.Scenario{
		ID: id, Title: title, Category: analysis.AgentCard, Level: analysis.Must, Levels: in, Once: true,
		Sections: []string{"1.0 §4.4.1", "0.3 §5.5"}, Tags: []string{"card", "basic", row},
		Fix: fmt.Sprintf("Give the card the member %q.", member),
		Run: func(_ context.Context, s *probe.Session) error {
			card, err := scenario.DeclaredCard(s)
			if err != nil {
				return err
			}
			return ask(card)
		},
	}
}

func cardText(member string) func(a2a.Card) error {
	return func(card a2a.Card) error {
		v := card.Get(member)
		if text, ok := v.Str(); !ok || strings.TrimSpace(text) == "" {
			return probe.Fail(fmt.Sprintf("a string as %q", member), "%s", scenario.Written(v))
		}
		return nil
	}
}

// cardURL asserts that the card has an address: "url", or in 1.0 the URL of each interface.
func cardURL(card a2a.Card) error {
	if !card.Modern {
		return cardText("url")(card)
	}
	list := card.Get("supportedInterfaces")
	if list.Kind() != a2a.Array || list.Len() == 0 {
		return probe.Fail(`an interface with an address in "supportedInterfaces"`, "%s", scenario.Written(list))
	}
	for i, entry := range list.Elems() {
		if entry.Get("url").Text() == "" {
			return probe.Fail(`a string as "url" of each interface`, "supportedInterfaces[%d] is %s", i,
				scenario.Written(entry))
		}
	}
	return nil
}

func cardSkills(card a2a.Card) error {
	if list := card.Get("skills"); list.Kind() != a2a.Array {
		return probe.Fail(`a list as "skills"`, "%s", scenario.Written(list))
	}
	return nil
}

// skillMember returns the scenario of a member that every skill must have.
func skillMember(member, row string, in map[client.Protocol]analysis.Level) *probe.Scenario {
	return skillScenario("skill-"+member, "every skill has a string as "+member, row, in,
		fmt.Sprintf("Give each skill of the card the member %q.", member),
		func(v, _ a2a.Value) error {
			if text, ok := v.Get(member).Str(); !ok || strings.TrimSpace(text) == "" {
				return probe.Fail(fmt.Sprintf("a string as %q", member), "%s", scenario.Written(v.Get(member)))
			}
			return nil
		})
}

// skillModes returns the scenario of the modes of every skill. If the protocol has defaults, the defaults of the card
// are sufficient.
func skillModes(member, id, row string) *probe.Scenario {
	return skillScenario(id, "every skill names its "+member, row, bestEarly,
		fmt.Sprintf("List at least one media type as %q of each skill.", member),
		func(v, defaults a2a.Value) error {
			list := v.Get(member)
			if !list.Exists() {
				list = defaults.Get("default" + strings.ToUpper(member[:1]) + member[1:])
			}
			if list.Kind() != a2a.Array || list.Len() == 0 {
				return probe.Fail(fmt.Sprintf("a list with at least one entry as %q", member), "%s",
					scenario.Written(v.Get(member)))
			}
			return nil
		})
}

// skillScenario returns a scenario that checks each skill and lists those that fail. The function receives whether
// skills have defaults: before 0.1 they do not.
func skillScenario(
	id, title, row string, in map[client.Protocol]analysis.Level, fix string,
	ask func(skill, defaults a2a.Value) error,
) *probe.Scenario {
	return &probe.Scenario{
		ID: id, Title: title, Category: analysis.AgentCard, Level: analysis.Must, Levels: in, Once: true,
		Sections: []string{"1.0 §4.4.5", "0.3 §5.5.4"}, Tags: []string{"card", "skills", row}, Fix: fix,
		Run: func(_ context.Context, s *probe.Session) error {
			card, err := scenario.DeclaredCard(s)
			if err != nil {
				return err
			}
			if card.Get("skills").Len() == 0 {
				return probe.Unclear("the card lists no skills")
			}
			var defaults a2a.Value
			if s.Protocol() != client.Early {
				defaults = card.Value
			}
			var wrong []string
			expected := ""
			for i, skill := range card.Get("skills").Elems() {
				if f, ok := ask(skill, defaults).(*probe.Failure); ok {
					wrong = append(wrong, fmt.Sprintf("%s of skills[%d], whose id is %q", f.Seen, i, skill.Get("id").Text()))
					expected = f.Expected
				}
			}
			if len(wrong) > 0 {
				return probe.Fail(expected+" of each skill", "%s", strings.Join(wrong, "; "))
			}
			return nil
		},
	}
}

// askAuth asserts that schemes of a type contain what clients need.
func askAuth(s *probe.Session, kind a2a.SchemeType) error {
	card, err := scenario.DeclaredCard(s)
	if err != nil {
		return err
	}
	asked := false
	for _, scheme := range a2a.SecuritySchemes(card.Value) {
		if scheme.Type != kind {
			continue
		}
		asked = true
		if missing := schemeLacks(scheme); missing != "" {
			return probe.Fail(fmt.Sprintf("%s of the scheme %q", missing, scheme.Name), "%s", scenario.Written(scheme.Value))
		}
	}
	authentication := card.Get("authentication")
	credentials := authentication.Get("credentials")
	if !credentials.Exists() {
		credentials = card.Get("credentials")
	}
	if text, is := credentials.Str(); is { // the form of 0.1, in any spelling
		credentials = a2a.Parse([]byte(text)).Root
		if s.Protocol() == client.JSONRPC01 && credentials.Kind() != a2a.Object {
			return probe.Unclear("in 0.1 credentials are described by a string without a defined form")
		}
	}
	for _, word := range authentication.Get("schemes").Elems() {
		switch {
		case kind == a2a.OAuth2Scheme && strings.EqualFold(word.Text(), "oauth2"):
			asked = true
			if credentials.Get("oauth2").Get("tokenUrl").Text() == "" {
				return probe.Fail("credentials.oauth2.tokenUrl", "%s", scenario.Written(credentials))
			}
		case kind == a2a.APIKeyScheme && strings.EqualFold(word.Text(), "apiKey"):
			asked = true
			if credentials.Get("apiKey").Get("headerName").Text() == "" {
				return probe.Fail("credentials.apiKey.headerName", "%s", scenario.Written(credentials))
			}
		}
	}
	if !asked {
		return &probe.Skip{Why: "the card has no such scheme"}
	}
	return nil
}

// schemeLacks names the missing members of an OAuth 2.0 or API key scheme; empty if it is complete.
func schemeLacks(scheme a2a.SecurityScheme) string {
	if scheme.Type == a2a.APIKeyScheme {
		place := "in"
		if scheme.Wrapped {
			place = "location"
		}
		for _, member := range []string{"name", place} {
			if scheme.Get(member).Text() == "" {
				return fmt.Sprintf("%q", member)
			}
		}
		return ""
	}
	if scheme.Get("flows").Len() == 0 {
		return "a flow"
	}
	for name, flow := range scheme.Get("flows").Members() {
		if name != "implicit" && flow.Get("tokenUrl").Text() == "" {
			return fmt.Sprintf("the tokenUrl of the flow %q", name)
		}
	}
	return ""
}

// capabilityFlags are the capabilities that are flags, in any version.
var capabilityFlags = []string{"streaming", "pushNotifications", "stateTransitionHistory", "extendedAgentCard"}

func askFlags(_ context.Context, s *probe.Session) error {
	card, err := scenario.DeclaredCard(s)
	if err != nil {
		return err
	}
	capabilities := card.Get("capabilities")
	if capabilities.Kind() != a2a.Object {
		return probe.Fail(`an object as "capabilities"`, "%s", scenario.Written(capabilities))
	}
	var wrong []string
	for _, name := range capabilityFlags {
		v := capabilities.Get(name)
		if _, ok := v.Bool(); v.Exists() && !v.IsNull() && !ok {
			wrong = append(wrong, fmt.Sprintf("%s is %s", name, scenario.Written(v)))
		}
	}
	if len(wrong) > 0 {
		return probe.Fail("true or false", "%s", strings.Join(wrong, "; "))
	}
	return nil
}

func askPublicCard(ctx context.Context, s *probe.Session) error {
	if s.Card == nil {
		return askGuardedCard(ctx, s)
	}
	header := http.Header{"Accept": {"application/json"}}
	if s.Protocol().Version == "1.0" {
		header.Set("A2A-Version", "1.0")
	}
	a, err := s.AskAnonymously(ctx, http.MethodGet, s.Card.URL, header, nil)
	if err != nil {
		return err
	}
	if a.Status != http.StatusOK {
		return probe.Fail("HTTP 200 without credentials", "HTTP %d", a.Status)
	}
	return nil
}

// askGuardedCard checks, if the card is unreadable, whether each possible place requires credentials.
func askGuardedCard(ctx context.Context, s *probe.Session) error {
	var refused *client.Error
	if !errors.As(s.NoCard(), &refused) || !refused.Unauthorized() || s.Endpoint().URL == "" {
		return probe.Unclear("not tested: there is no card")
	}
	guarded := 0
	for _, name := range []string{"agent-card.json", "agent.json"} {
		at := strings.TrimRight(s.Endpoint().URL, "/") + "/.well-known/" + name
		a, err := s.AskAnonymously(ctx, http.MethodGet, at, http.Header{"Accept": {"application/json"}}, nil)
		if err != nil {
			return err
		}
		switch a.Status {
		case http.StatusUnauthorized, http.StatusForbidden:
			guarded = a.Status
		case http.StatusOK:
			return nil
		}
	}
	if guarded == 0 {
		return probe.Unclear("not tested: there is no card")
	}
	return probe.Fail("HTTP 200 without credentials", "HTTP %d", guarded)
}

// again reads the card a second time.
func again(ctx context.Context, s *probe.Session, condition string) (*probe.Answer, error) {
	if s.Card == nil {
		return nil, probe.Unclear("not tested: there is no card")
	}
	header := http.Header{"Accept": {"application/json"}}
	if s.Protocol().Version == "1.0" {
		header.Set("A2A-Version", "1.0")
	}
	if condition != "" {
		header.Set("If-None-Match", condition)
	}
	a, err := s.Ask(ctx, http.MethodGet, s.Card.URL, header, nil)
	if err == nil && a.Status != http.StatusOK && (condition == "" || a.Status != http.StatusNotModified) {
		err = probe.Unclear("the card could not be read again: HTTP %d", a.Status)
	}
	return a, err
}

func askCardAgain(ctx context.Context, s *probe.Session) error {
	first, err := again(ctx, s, "")
	if err != nil {
		return err
	}
	second, err := again(ctx, s, "")
	if err != nil {
		return err
	}
	version := func(a *probe.Answer) string { return a.JSON().Get("version").Text() + " " + a.Header.Get("ETag") }
	if !bytes.Equal(first.Body, second.Body) && version(first) == version(second) {
		return probe.Fail("the same card under the same version and ETag", "another card")
	}
	return nil
}

func askCardUnchanged(ctx context.Context, s *probe.Session) error {
	first, err := again(ctx, s, "")
	if err != nil {
		return err
	}
	tag := first.Header.Get("ETag")
	if tag == "" {
		return &probe.Skip{Why: "the card has no ETag"}
	}
	second, err := again(ctx, s, tag)
	switch {
	case err != nil || second.Status == http.StatusNotModified:
		return err
	case second.Header.Get("ETag") != tag:
		return probe.Unclear("the card has a new ETag for each request")
	}
	return probe.Fail("HTTP 304 for If-None-Match: "+tag, "HTTP %d with the same ETag", second.Status)
}

// askBindings sends JSON-RPC requests to an interface that offers only HTTP+JSON.
func askBindings(ctx context.Context, s *probe.Session) error {
	at := s.Endpoint()
	for _, i := range s.Interfaces() {
		if i.URL == at.URL && i.Protocol.Binding == "JSONRPC" {
			return &probe.Skip{Why: "the card offers JSON-RPC at this address"}
		}
	}
	at.Protocol = client.JSONRPC10
	_, err := s.At(at, func(*client.Options) {}).Get(ctx, s.NewID(), nil)
	if r := scenario.Refusal(err); err == nil || r != nil && r.Reason == "TASK_NOT_FOUND" && s.Last().JSON().Has("jsonrpc") {
		return probe.Fail("no answer to JSON-RPC, which the card does not offer", "%s", scenario.Brief(s.Last()))
	}
	return nil
}
