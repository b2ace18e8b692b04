package refagent

// Faults of what a card says of skills, security and OAuth.
var schemeFaults = []Fault{
	{
		Slug: "card-arrays-nonempty", agents: with10,
		Doc:   "The first skill of the card has no tags.",
		hooks: onCards(onFirstSkill(func(o object) object { return o.with("tags", []any{}) })),
	},
	{
		Slug: "card-mode-syntax", agents: anyAgent,
		Doc:   "An input mode of the card is text, which is not a media type.",
		hooks: onCards(func(o object) object { return o.with("defaultInputModes", texts("text/plain", "text")) }),
	},
	{
		Slug: "card-skill-id-unique", agents: anyAgent,
		Doc: "The card has its first skill twice.",
		hooks: onCards(func(o object) object {
			skills, _ := o.get("skills")
			list := skills.([]any)
			return o.with("skills", append(list[:len(list):len(list)], list[0]))
		}),
	},
	{
		Slug: "card-extension-uri", agents: anyAgent,
		Doc: "The card declares an extension by a word.",
		hooks: onCards(func(o object) object {
			return withCapability(o, "extensions", extensions("seats/v1", false))
		}),
	},
	{
		Slug: "card-security-refs", agents: with10,
		Doc: "The card requires nothing, or a scheme that it does not describe.",
		hooks: onCards(func(o object) object {
			return o.with("securityRequirements",
				[]any{object{{"schemes", object{}}}, object{{"schemes", object{{"house", object{{"list", []any{}}}}}}}})
		}),
	},
	{
		Slug: "card-security-refs", agents: only03,
		Doc: "The card requires nothing, or a scheme that it does not describe.",
		hooks: onCards(func(o object) object {
			return o.with("security", []any{object{}, object{{"house", []any{}}}})
		}),
	},
	{
		Slug: "card-security-shape", agents: only10,
		Doc: "The card has its requirements in the form of 0.3.",
		hooks: onCards(func(o object) object {
			return addScheme(o, "key", keyScheme("header")).with("securityRequirements",
				[]any{object{}, object{{"key", []any{}}}})
		}),
	},
	{
		Slug: "card-scheme-discriminator", agents: only03, Also: []string{"auth-extended-card-client"},
		Doc:   "A scheme of the card is of a type that nobody knows.",
		hooks: onCards(func(o object) object { return addScheme(o, "house", object{{"type", "bearer"}}) }),
	},
	{
		Slug: "card-scheme-oneof", agents: only10,
		Doc: "A scheme of the card is in the form of 0.3.",
		hooks: onCards(func(o object) object {
			return addScheme(o, "house", object{{"type", "http"}, {"scheme", "bearer"}})
		}),
	},
	{
		Slug: "card-apikey-location", agents: only10,
		Doc:   "The card wants an API key in the body.",
		hooks: onCards(func(o object) object { return addScheme(o, "key", keyScheme("body")) }),
	},
	{
		Slug: "card-apikey-location", agents: only03, Also: []string{"auth-scheme-undeclared", "auth-extended-card-client"},
		Doc: "The card wants an API key in the body.",
		hooks: onCards(func(o object) object {
			return addScheme(o, "key", object{{"type", "apiKey"}, {"in", "body"}, {"name", "key"}})
		}),
	},
	{
		Slug: "card-oauth-flow-one", agents: only10,
		Doc: "An OAuth scheme of the card has two flows.",
		hooks: onCards(
			addFlows(member{"clientCredentials", tokenFlow(tokenURL)},
				member{"deviceCode", tokenFlow(tokenURL).with("deviceAuthorizationUrl", tokenURL)}),
		),
	},
	{
		Slug: "card-oauth-flow-deprecated", agents: only10,
		Doc:   "An OAuth scheme of the card wants the password of its user.",
		hooks: onCards(addFlows(member{"password", tokenFlow(tokenURL)})),
	},
	{
		Slug: "card-oauth-url", agents: only10,
		Doc:   "The token URL of an OAuth scheme of the card is a path.",
		hooks: onCards(addFlows(member{"clientCredentials", tokenFlow("/oauth/token")})),
	},
	{
		Slug: "card-oauth-url", agents: only03, Also: []string{"auth-extended-card-client"},
		Doc: "The token URL of an OAuth scheme of the card is a path.",
		hooks: onCards(func(o object) object {
			return addScheme(o, "oauth",
				object{{"type", "oauth2"}, {"flows", object{{"clientCredentials", tokenFlow("/oauth/token")}}}})
		}),
	},
	{
		Slug: "card-secret-leak", agents: anyAgent,
		Doc: "The documentation that the card names is reached with a password, which is there.",
		hooks: onCards(
			func(o object) object { return o.with("documentationUrl", "https://reader:secret@docs.a2atap.example/") },
		),
	},
}

const tokenURL = "https://login.a2atap.example/token"

// addScheme adds a security scheme to a card.
func addScheme(o object, name string, scheme object) object {
	schemes, _ := o.get("securitySchemes")
	known, _ := schemes.(object)
	return o.with("securitySchemes", known.with(name, scheme))
}

func keyScheme(location string) object {
	return object{{"apiKeySecurityScheme", object{{"location", location}, {"name", "key"}}}}
}

func tokenFlow(url string) object { return object{{"tokenUrl", url}, {"scopes", object{}}} }

// addFlows adds an OAuth scheme to a 1.0 card.
func addFlows(flows ...member) func(object) object {
	return func(o object) object {
		return addScheme(o, "oauth", object{{"oauth2SecurityScheme", object{{"flows", object(flows)}}}})
	}
}
