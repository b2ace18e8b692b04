package fault

import "a2atap/replay/refagent/internal/jsonvalue"

// Faults of what a card says of skills, security and OAuth.
var schemeFaults = []Fault{
	{
		Slug: "card-arrays-nonempty", agents: with10,
		Doc:   "The first skill of the card has no tags.",
		hooks: onCards(onFirstSkill(func(o jsonvalue.Object) jsonvalue.Object { return o.With("tags", []any{}) })),
	},
	{
		Slug: "card-mode-syntax", agents: anyAgent,
		Doc: "The card takes text, which is no media type.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("defaultInputModes", jsonvalue.Texts("text/plain", "text"))
		}),
	},
	{
		Slug: "card-skill-id-unique", agents: anyAgent,
		Doc: "The card has its first skill twice.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			skills, _ := o.Get("skills")
			list := skills.([]any)
			return o.With("skills", append(list[:len(list):len(list)], list[0]))
		}),
	},
	{
		Slug: "card-extension-uri", agents: anyAgent,
		Doc: "The card declares an extension by a word.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return withCapability(o, "extensions", extensions("seats/v1", false))
		}),
	},
	{
		Slug: "card-security-refs", agents: with10,
		Doc: "The card requires nothing, or a scheme that it does not describe.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("securityRequirements",
				[]any{
					jsonvalue.Object{{"schemes", jsonvalue.Object{}}},
					jsonvalue.Object{{"schemes", jsonvalue.Object{{"house", jsonvalue.Object{{"list", []any{}}}}}}},
				})
		}),
	},
	{
		Slug: "card-security-refs", agents: only03,
		Doc: "The card requires nothing, or a scheme that it does not describe.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return o.With("security", []any{jsonvalue.Object{}, jsonvalue.Object{{"house", []any{}}}})
		}),
	},
	{
		Slug: "card-security-shape", agents: only10,
		Doc: "The card has its requirements in the form of 0.3.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "key", keyScheme("header")).With("securityRequirements",
				[]any{jsonvalue.Object{}, jsonvalue.Object{{"key", []any{}}}})
		}),
	},
	{
		Slug: "card-scheme-discriminator", agents: only03, Also: []string{"auth-extended-card-client"},
		Doc: "A scheme of the card is of a type that nobody knows.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "house", jsonvalue.Object{{"type", "bearer"}})
		}),
	},
	{
		Slug: "card-scheme-oneof", agents: only10,
		Doc: "A scheme of the card is in the form of 0.3.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "house", jsonvalue.Object{{"type", "http"}, {"scheme", "bearer"}})
		}),
	},
	{
		Slug: "card-apikey-location", agents: only10,
		Doc:   "The card wants an API key in the body.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object { return addScheme(o, "key", keyScheme("body")) }),
	},
	{
		Slug: "card-apikey-location", agents: only03, Also: []string{"auth-scheme-undeclared", "auth-extended-card-client"},
		Doc: "The card wants an API key in the body.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "key", jsonvalue.Object{{"type", "apiKey"}, {"in", "body"}, {"name", "key"}})
		}),
	},
	{
		Slug: "card-oauth-flow-one", agents: only10,
		Doc: "An OAuth scheme of the card has two flows.",
		hooks: onCards(
			addFlows(jsonvalue.Member{"clientCredentials", tokenFlow(tokenURL)},
				jsonvalue.Member{"deviceCode", tokenFlow(tokenURL).With("deviceAuthorizationUrl", tokenURL)}),
		),
	},
	{
		Slug: "card-oauth-flow-deprecated", agents: only10,
		Doc:   "An OAuth scheme of the card wants the password of its user.",
		hooks: onCards(addFlows(jsonvalue.Member{"password", tokenFlow(tokenURL)})),
	},
	{
		Slug: "card-oauth-url", agents: only10,
		Doc:   "The token URL of an OAuth scheme of the card is a path.",
		hooks: onCards(addFlows(jsonvalue.Member{"clientCredentials", tokenFlow("/oauth/token")})),
	},
	{
		Slug: "card-oauth-url", agents: only03, Also: []string{"auth-extended-card-client"},
		Doc: "The token URL of an OAuth scheme of the card is a path.",
		hooks: onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "oauth",
				jsonvalue.Object{{"type", "oauth2"}, {"flows", jsonvalue.Object{{
					"clientCredentials",
					tokenFlow("/oauth/token"),
				}}}})
		}),
	},
	{
		Slug: "card-secret-leak", agents: anyAgent,
		Doc: "The documentation that the card names is reached with a password, which is there.",
		hooks: onCards(
			func(o jsonvalue.Object) jsonvalue.Object {
				return o.With("documentationUrl", "https://reader:secret@docs.a2atap.example/")
			},
		),
	},
}

const tokenURL = "https://login.a2atap.example/token"

// addScheme adds a security scheme to a card.
func addScheme(o jsonvalue.Object, name string, scheme jsonvalue.Object) jsonvalue.Object {
	schemes, _ := o.Get("securitySchemes")
	known, _ := schemes.(jsonvalue.Object)
	return o.With("securitySchemes", known.With(name, scheme))
}

func keyScheme(location string) jsonvalue.Object {
	return jsonvalue.Object{{"apiKeySecurityScheme", jsonvalue.Object{{"location", location}, {"name", "key"}}}}
}

func tokenFlow(url string) jsonvalue.Object {
	return jsonvalue.Object{{"tokenUrl", url}, {"scopes", jsonvalue.Object{}}}
}

// addFlows adds an OAuth scheme to a 1.0 card.
func addFlows(flows ...jsonvalue.Member) func(jsonvalue.Object) jsonvalue.Object {
	return func(o jsonvalue.Object) jsonvalue.Object {
		return addScheme(o, "oauth", jsonvalue.Object{{"oauth2SecurityScheme", jsonvalue.Object{{
			"flows",
			jsonvalue.Object(flows),
		}}}})
	}
}
