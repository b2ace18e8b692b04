package client

import "net/url"

// Faults of versions, extensions and credentials: what stands in the header of requests.
var versionFaults = []Fault{
	{
		Slug: "auth-scheme-undeclared", protocols: only10,
		Doc:  "Requests authenticate by the scheme Basic, which the card does not declare.",
		edit: setHeader("Authorization", "Basic Ym9va2VyOmJvb2tlcg=="),
	},
	{
		Slug: "ext-header-name", protocols: only10,
		Doc:  "Extensions are asked for with X-A2A-Extensions.",
		edit: setHeader("X-A2A-Extensions", seats),
	},
	{
		Slug: "ext-header-name-0x", protocols: only03,
		Doc:  "Extensions are asked for with A2A-Extensions.",
		edit: setHeader("A2A-Extensions", seats),
	},
	{
		Slug: "ext-header-format", protocols: only10,
		Doc:  "A2A-Extensions contains a name that is not a URI.",
		edit: setHeader("A2A-Extensions", "seats"),
	},
	{
		Slug: "ext-header-unknown-param", protocols: only10,
		Doc:  "Extensions are asked for with A2A-Extension, which there is not.",
		edit: setHeader("A2A-Extension", seats),
	},
	{
		Slug: "ver-header-present", protocols: only10,
		Doc:  "Requests name no version.",
		edit: onEach(func(out *Outgoing) { out.Header.Del("A2A-Version") }),
	},
	{
		Slug: "ver-header-format", protocols: only10,
		Doc:  "The version has a letter before it.",
		edit: setHeader("A2A-Version", "v1.0"),
	},
	{
		Slug: "ver-header-patch", protocols: only10,
		Doc:  "The version has a patch number.",
		edit: setHeader("A2A-Version", "1.0.0"),
	},
	{
		Slug: "ver-header-param-conflict", protocols: only10,
		Doc:  "The query asks for another version than the header.",
		edit: onQuery(func(q url.Values) { q.Set("A2A-Version", "0.3") }),
	},
	{
		Slug: "ver-interface-match", protocols: only10,
		Doc:  "Requests ask for a version that the card does not declare.",
		edit: setHeader("A2A-Version", "1.1"),
	},
	{
		Slug: "version-semantics-mixed", protocols: only01, Also: []string{"unknown-field"},
		Doc: "Parts of messages of 0.1 say kind, as later versions have it, for type.",
		edit: onMessage(func(message map[string]any) {
			parts, _ := message["parts"].([]any)
			for _, p := range parts {
				if part, ok := p.(map[string]any); ok {
					part["kind"] = part["type"]
					delete(part, "type")
				}
			}
		}),
	},
}

// seats is an extension that no agent has.
const seats = "https://a2atap.example/extensions/seats/v1"

// setHeader makes a fault set a header field of every request.
func setHeader(name, value string) func() func(*Outgoing) {
	return onEach(func(out *Outgoing) { out.Header.Set(name, value) })
}
