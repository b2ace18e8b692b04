package fault

import (
	"slices"

	"a2atap/replay/refagent/internal/jsonvalue"
)

// Faults in a card's skills, security and OAuth.
var schemeFaults = []AgentFault{
	of(with10, "card-arrays-nonempty", "The first skill of the card has no tags.",
		onCards(onFirstSkill(with("tags", []any{})))),
	of(anyAgent, "card-mode-syntax", "An input mode of the card is \"text\", which is not a media type.",
		onCards(with("defaultInputModes", jsonvalue.Texts("text/plain", "text")))),
	of(anyAgent, "card-skill-id-unique", "The card has its first skill twice.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			skills, _ := o.Get("skills")
			list := skills.([]any)
			return o.With("skills", append(slices.Clip(list), list[0]))
		})),
	of(anyAgent, "card-extension-uri", "The card declares an extension whose URI is a plain word.",
		onCards(capability("extensions", extensions("seats/v1", false)))),
	of(with10, "card-security-refs", "The card accepts requests without credentials, or with a scheme that it does not describe.",
		onCards(with("securityRequirements", []any{
			jsonvalue.Object{{"schemes", jsonvalue.Object{}}},
			jsonvalue.Object{{"schemes", jsonvalue.Object{{"house", jsonvalue.Object{{"list", []any{}}}}}}},
		}))),
	of(only03, "card-security-refs", "The card accepts requests without credentials, or with a scheme that it does not describe.",
		onCards(with("security", []any{jsonvalue.Object{}, jsonvalue.Object{{"house", []any{}}}}))),
	of(only10, "card-security-shape", "The card has its requirements in the form of 0.3.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "key", keyScheme("header")).With("securityRequirements",
				[]any{jsonvalue.Object{}, jsonvalue.Object{{"key", []any{}}}})
		})),
	of(only03, "card-scheme-discriminator", "A scheme of the card has an unknown type.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "house", jsonvalue.Object{{"type", "bearer"}})
		}), "auth-extended-card-client"),
	of(only10, "card-scheme-oneof", "A scheme of the card is in the form of 0.3.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "house", jsonvalue.Object{{"type", "http"}, {"scheme", "bearer"}})
		})),
	of(only10, "card-apikey-location", "The card declares an API key in the body.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object { return addScheme(o, "key", keyScheme("body")) })),
	of(only03, "card-apikey-location", "The card declares an API key in the body.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "key", jsonvalue.Object{{"type", "apiKey"}, {"in", "body"}, {"name", "key"}})
		}), "auth-scheme-undeclared", "auth-extended-card-client"),
	of(only10, "card-oauth-flow-one", "An OAuth scheme of the card has two flows.", onCards(
		addFlows(jsonvalue.Member{"clientCredentials", tokenFlow(tokenURL)},
			jsonvalue.Member{"deviceCode", tokenFlow(tokenURL).With("deviceAuthorizationUrl", tokenURL)}),
	)),
	of(only10, "card-oauth-flow-deprecated", "An OAuth scheme of the card uses the password flow.",
		onCards(addFlows(jsonvalue.Member{"password", tokenFlow(tokenURL)}))),
	of(only10, "card-oauth-url", "The token URL of an OAuth scheme of the card is a path.",
		onCards(addFlows(jsonvalue.Member{"clientCredentials", tokenFlow("/oauth/token")}))),
	of(only03, "card-oauth-url", "The token URL of an OAuth scheme of the card is a path.",
		onCards(func(o jsonvalue.Object) jsonvalue.Object {
			return addScheme(o, "oauth",
				jsonvalue.Object{{"type", "oauth2"}, {"flows", jsonvalue.Object{{"clientCredentials", tokenFlow("/oauth/token")}}}})
		}), "auth-extended-card-client"),
	of(anyAgent, "card-secret-leak", "The documentation URL in the card contains a password.",
		onCards(with("documentationUrl", "https://reader:secret@docs.a2atap.example/"))),
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
func addFlows(flows ...jsonvalue.Member) editor {
	return func(o jsonvalue.Object) jsonvalue.Object {
		return addScheme(o, "oauth",
			jsonvalue.Object{{"oauth2SecurityScheme", jsonvalue.Object{{"flows", jsonvalue.Object(flows)}}}})
	}
}
