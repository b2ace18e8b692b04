package refagent_test

import (
	"encoding/json"
	"strings"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/replay/refagent"
)

// The card must declare the credentials that the agent requires.
func TestGivenSecurity(t *testing.T) {
	bearer := &refagent.Credentials{Scheme: refagent.BearerAuth, Secret: "s"}
	query := &refagent.Credentials{Scheme: refagent.APIKeyAuth, Query: "key", Secret: "s"}
	header := &refagent.Credentials{Scheme: refagent.APIKeyAuth, Header: "X-Key", Secret: "s"}
	scheme10 := func(text string) map[string]any {
		return map[string]any{
			"securitySchemes":      json.RawMessage(`{"mine":` + text + `}`),
			"securityRequirements": json.RawMessage(`[{"schemes":{"mine":{"list":[]}}}]`),
		}
	}
	scheme03 := func(text string) map[string]any {
		return map[string]any{
			"securitySchemes": json.RawMessage(`{"mine":` + text + `}`), "security": json.RawMessage(`[{"mine":[]}]`),
		}
	}
	older := func(text string) map[string]any { return map[string]any{"authentication": json.RawMessage(text)} }
	for _, tt := range []struct {
		agent string
		auth  *refagent.Credentials
		card  map[string]any
		want  string // part of the error; empty for none
	}{
		{"spec", bearer, scheme10(`{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`), ""},
		{"spec", query, scheme10(`{"apiKeySecurityScheme":{"location":"query","name":"key"}}`), ""},
		{"spec", header, scheme10(`{"apiKeySecurityScheme":{"location":"header","name":"x-key"}}`), ""},
		{
			"spec", nil, scheme10(`{"httpAuthSecurityScheme":{"scheme":"Bearer"}}`),
			"securitySchemes.mine is a scheme for other credentials: the agent asks for no credentials",
		},
		{
			"spec", query, scheme10(`{"apiKeySecurityScheme":{"location":"header","name":"key"}}`),
			"the agent asks for an API key in the query parameter key",
		},
		{"spec", bearer, scheme10(`{"httpAuthSecurityScheme":{"scheme":"basic"}}`), "the agent asks for a bearer token"},
		{
			"spec", bearer, scheme10(`{"oauth2SecurityScheme":{"flows":{}}}`),
			"securitySchemes.mine is a scheme for other credentials",
		},
		{"spec", bearer, nil, "securityRequirements is missing: the agent asks for a bearer token"},
		{
			"spec", nil,
			map[string]any{"securityRequirements": json.RawMessage(`[{"schemes":{"a":{"list":[]}}}]`)},
			`securityRequirements[0] names "a", which securitySchemes does not have`,
		},
		{
			"spec", nil,
			map[string]any{"securityRequirements": json.RawMessage(`[{"schemes":{"a":{},"b":{}}}]`)},
			`securityRequirements[0] does not name exactly one scheme: the agent asks for no credentials`,
		},
		{"spec03", bearer, scheme03(`{"type":"http","scheme":"bearer"}`), ""},
		{"spec03", query, scheme03(`{"type":"apiKey","in":"query","name":"key"}`), ""},
		{"spec02", header, scheme03(`{"type":"apiKey","in":"header","name":"X-Key"}`), ""},
		{"spec03", nil, scheme03(`{"type":"http","scheme":"bearer"}`), "the agent asks for no credentials"},
		{
			"spec03", bearer, scheme03(`{"type":"openIdConnect","openIdConnectUrl":"https://a.example"}`),
			"securitySchemes.mine is a scheme",
		},
		{"spec03", bearer, nil, "security is missing"},
		{
			"spec03", bearer, map[string]any{
				"securitySchemes": json.RawMessage(`{"mine":{"type":"http","scheme":"bearer"}}`),
				"security":        json.RawMessage(`[{"mine":[]},{}]`),
			}, "security[1] does not name exactly one scheme",
		},
		{"spec01", bearer, older(`{"schemes":["Bearer"]}`), ""},
		{"spec01", header, older(`{"schemes":["apiKey"],"credentials":"ask us"}`), ""},
		{"legacy", header, older(`{"schemes":["apiKey"],"credentials":{"apiKey":{"headerName":"X-Key"}}}`), ""},
		{
			"legacy", header, older(`{"schemes":["apiKey"],"credentials":{"apiKey":{"headerName":"Other"}}}`),
			`authentication.credentials must name "X-Key" in apiKey.headerName`,
		},
		{"legacy", header, older(`{"schemes":["apiKey"]}`), `authentication.credentials must name`},
		{"legacy", nil, older(`{"schemes":["public"]}`), ""},
		{
			"legacy", nil, older(`{"schemes":["bearer"]}`),
			`authentication.schemes names "bearer", and the agent asks for no credentials`,
		},
		{"legacy", bearer, older(`{"schemes":["bearer","basic"]}`), `authentication must name the scheme "bearer" alone`},
		{"legacy", bearer, nil, `authentication must name the scheme "bearer" alone`},
	} {
		a, err := refagent.New(tt.agent, refagent.Options{Auth: tt.auth, Card: Given(t, tt.agent, tt.card)})
		if err == nil {
			a.Close()
		}
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s, %v, %s: got %v, want %q", tt.agent, tt.auth, tt.card, err, tt.want)
		}
	}
}

// A card of another dialect, or one with false promises, is rejected with the member and the reason.
func TestGivenCardsThatCannotBe(t *testing.T) {
	is := func(name, text string) map[string]any { return map[string]any{name: json.RawMessage(text)} }
	interfaces := func(text string) map[string]any { return is("supportedInterfaces", text) }
	for _, tt := range []struct {
		agent string
		opts  refagent.Options
		card  map[string]any
		want  string
	}{
		{agent: "spec", card: is("name", "null"), want: "name is required"},
		{agent: "spec", card: is("version", `7`), want: "version must be a string"},
		{agent: "legacy", card: is("version", "null"), want: "version is required"},
		{agent: "spec", card: is("description", `""`), want: "description is required"},
		{agent: "legacy", card: is("description", `1`), want: "description must be a string"},
		{agent: "spec", card: is("iconUrl", `1`), want: "iconUrl must be a string"},
		{agent: "spec", card: is("provider", `{"url":"https://a.example"}`), want: "provider.organization is required"},
		{agent: "spec", card: is("signatures", `[]`), want: "signatures would not hold"},
		{agent: "spec", card: is("capabilities", `null`), want: "capabilities is required"},
		{agent: "spec", card: is("capabilities", `[]`), want: "capabilities must be an object"},
		{
			agent: "spec", card: is("capabilities", `{"streaming":"true"}`),
			want: "capabilities.streaming must be true or false",
		},
		{
			agent: "echo", card: is("capabilities", `{"streaming":true}`),
			want: "capabilities.streaming is true, and agent echo does not stream",
		},
		{
			agent: "legacy", card: is("capabilities", `{"pushNotifications":true}`),
			want: "capabilities.pushNotifications is true, and the agent was not told",
		},
		{agent: "spec", opts: refagent.Options{Push: true}, want: "capabilities.pushNotifications is not true"},
		{
			agent: "spec", card: is("capabilities", `{"extendedAgentCard":true}`),
			want: "capabilities.extendedAgentCard is true",
		},
		{
			agent: "spec03", card: is("supportsAuthenticatedExtendedCard", `true`),
			want: "supportsAuthenticatedExtendedCard is true",
		},
		{
			agent: "spec03", card: is("capabilities", `{"stateTransitionHistory":true}`),
			want: "capabilities.stateTransitionHistory is true",
		},
		{
			agent: "spec", card: is("capabilities", `{"extensions":[{"uri":"urn:x"}]}`),
			want: "capabilities.extensions are promised",
		},
		{agent: "spec", card: is("defaultInputModes", `[]`), want: "defaultInputModes must name at least one media type"},
		{agent: "spec03", card: is("defaultOutputModes", `null`), want: "defaultOutputModes must name at least one"},
		{agent: "spec", card: is("skills", `[]`), want: "skills must hold at least one skill"},
		{
			agent: "spec", card: is("skills", `[{"id":"a","name":"A","description":"d"}]`),
			want: "skills[0].tags must hold at least one",
		},
		{
			agent: "spec", card: is("skills", `[{"name":"A","description":"d","tags":["t"]}]`),
			want: "skills[0].id is required",
		},
		{
			agent: "spec01", card: is("skills", `[{"id":"a","name":"A"},{"id":"a","name":"B"}]`),
			want: `skills[1].id is "a", as that of another skill`,
		},
		{
			agent: "legacy", card: is("skills", `[{"id":"a","name":"A","description":"d","outputModes":["text"]}]`),
			want: "skills[0].inputModes must name",
		},
		{
			agent: "spec", card: is("url", `"http://a.example"`),
			want: "url is not a member of a card of A2A 1.0, which this agent speaks",
		},
		{agent: "spec", card: is("protocolVersion", `"0.3.0"`), want: "protocolVersion is not a member"},
		{
			agent: "spec03", card: is("supportedInterfaces", `[]`),
			want: "supportedInterfaces is not a member of a card of A2A 0.3",
		},
		{
			agent: "legacy", card: is("securitySchemes", `{}`),
			want: "securitySchemes is not a member of a card of the dialect before A2A 0.1",
		},
		{
			agent: "spec03", card: is("protocolVersion", `"0.2.6"`),
			want: `protocolVersion is "0.2.6", and the agent speaks 0.3`,
		},
		{agent: "spec03", card: is("protocolVersion", `null`), want: `protocolVersion is required`},
		{
			agent: "spec03", card: is("preferredTransport", `"GRPC"`),
			want: `preferredTransport is "GRPC", and the agent speaks JSONRPC`,
		},
		{agent: "spec03-rest", card: is("preferredTransport", `"JSONRPC"`), want: `and the agent speaks HTTP+JSON`},
		{
			agent: "spec03", card: is("additionalInterfaces", `[{"url":"http://a.example","transport":"HTTP+JSON"}]`),
			want: `additionalInterfaces[0].transport is "HTTP+JSON"`,
		},
		{agent: "spec03", card: is("url", `"ftp://a.example"`), want: `url must be an absolute http or https URL`},
		{
			agent: "spec", card: interfaces(`[{"protocolBinding":"GRPC","protocolVersion":"1.0"}]`),
			want: `supportedInterfaces[0].protocolBinding is "GRPC"`,
		},
		{
			agent: "spec", card: interfaces(`[{"protocolBinding":"JSONRPC","protocolVersion":"0.3"}]`),
			want: `supportedInterfaces[0].protocolVersion is "0.3"`,
		},
		{
			agent: "spec", card: interfaces(`[{"url":"/spec","protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`),
			want: `supportedInterfaces[0].url must be an absolute`,
		},
		{
			agent: "spec",
			card: interfaces(`[{"protocolBinding":"JSONRPC","protocolVersion":"1.0"},` +
				`{"protocolBinding":"JSONRPC","protocolVersion":"1.0"}]`),
			want: `supportedInterfaces[1] is a second interface for JSONRPC`,
		},
		{
			agent: "spec", card: interfaces(`[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"a"}]`),
			want: `tenant is "a", whom the agent does not serve`,
		},
		{
			agent: "spec", opts: refagent.Options{Tenants: []string{"a", "b"}},
			card: interfaces(`[{"protocolBinding":"JSONRPC","protocolVersion":"1.0","tenant":"a"}]`),
			want: `supportedInterfaces have none for the tenant "b"`,
		},
	} {
		tt.opts.Card = Given(t, tt.agent, tt.card)
		a, err := refagent.New(tt.agent, tt.opts)
		if err == nil {
			a.Close()
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.HasPrefix(err.Error(), "no card that agent "+tt.agent+" can serve: ") {
			t.Errorf("%s %s: got %v, want %s", tt.agent, tt.card, err, tt.want)
		}
	}
	for text, want := range map[string]string{
		"{": "no card: unexpected", "[]": "no card: it is not a JSON object", "\xff": "not UTF-8",
	} {
		_, err := refagent.New("spec", refagent.Options{Card: []byte(text)})
		expect.ErrorHas(t, text, want, err)
	}
}
