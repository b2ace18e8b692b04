package mutation_test

import (
	"slices"
	"strconv"

	"a2atap/proxy/capture"
)

// cardMutations break agent cards.
var cardMutations = []mutation{
	broken("card is a list", every, "card-json-object", "", when(fetched, bodies(func(_ *spot,
		old string,
	) string {
		return "[" + old + "]"
	}))).with(otherCard),
	broken("card is a text", every, "card-json-object", "", when(fetched, body(`"Booker"`))).with(otherCard),
	broken("card is HTML", every, "card-json-object", "", when(fetched, htmlLater)).elsewhere().faithfully(),
	broken("card fails", every, "card-unavailable", "", when(fetched, both(status("500 Internal Server Error"),
		body(`{"detail":"oops"}`)))).with(otherCard),
	broken("card is empty", every, "card-required-fields", "",
		when(fetched, body(`{}`))).with(otherCard + " card-json-object"),
	broken("card without a name", every, "card-required-fields", "card", dropped("name")),
	broken("card with a null name", every, "card-required-fields field-null-required", "card", set("name", `null`)),
	broken("card without a version", every, "card-required-fields", "card", dropped("version")),
	broken("card without a description", later, "card-required-fields", "card", dropped("description")),
	broken("card without capabilities", every, "card-required-fields", "card",
		dropped("capabilities")).with(otherCapabilities),
	broken("card without skills", every, "card-required-fields", "card", dropped("skills")),
	broken("card without input modes", later, "card-required-fields", "card", dropped("defaultInputModes")),
	broken("card without output modes", later, "card-required-fields", "card", dropped("defaultOutputModes")),
	broken("card without its address", older, "card-required-fields", "card", dropped("url")).with(otherCard),
	broken("name of a card is a number", every, "field-type", "card", set("name", `5`)),
	broken("skills are a text", every, "field-type", "card", set("skills", `"book"`)),
	broken("capabilities are a list", every, "field-type", "card",
		set("capabilities", `["streaming"]`)).with(otherCapabilities),
	broken("input modes are a text", every, "field-type", "card", set("defaultInputModes", `"text/plain"`)),
	broken("streaming is a text", every, "field-type", "capabilities",
		set("streaming", `"true"`)).with(otherCapabilities),
	broken("push notifications are a text", every, "field-type", "capabilities",
		set("pushNotifications", `"yes"`)).with(otherCapabilities),
	broken("extended card is a text", modern, "field-type", "capabilities",
		set("extendedAgentCard", `"true"`)).with(otherCapabilities),
	broken("version of an agent is a number", every, "field-type", "card", set("version", `1.0`)),
	broken("provider is a text", every, "field-type", "card", set("provider", `"Booker Inc"`)),
	broken("provider without an organization", every, "card-required-nested", "provider", dropped("organization")),
	broken("provider without an address", later, "card-required-nested", "provider", dropped("url")),
	broken("skill without an id", every, "card-required-nested", "skill", dropped("id")),
	broken("skill without a name", every, "card-required-nested", "skill", dropped("name")),
	broken("skill without a description", later, "card-required-nested", "skill", dropped("description")),
	broken("skill without tags", later, "card-required-nested", "skill", dropped("tags")),
	broken("skill is a text", every, "field-type", "skill", become(`"book"`)),
	broken("tags of a skill are a text", every, "field-type", "skill", set("tags", `"tickets"`)),
	broken("examples of a skill are numbers", every, "field-type", "skill", set("examples", `[5]`)),
	broken("two skills with one id", every, "card-skill-id-unique", "card", func(s *spot) bool {
		list := s.o.get("skills").list()
		return len(list) > 1 && set("id", list[0].get("id").raw)(&spot{o: list[1]})
	}),
	broken("card of 0.3 without a version of the protocol", v03|rest03, "card-protocol-version-present", "card",
		when(asked("fetch"), dropped("protocolVersion"))).with(otherCard),
	broken("card of 0.3 with an empty version", v03|rest03, "card-protocol-version-present", "card",
		set("protocolVersion", `""`)),
	broken("card of 0.3 without a transport", v03|rest03, "card-preferred-transport", "card",
		dropped("preferredTransport")).with(otherCard),
	broken("another transport at the main address", v03|rest03, "card-transport-conflict", "additional",
		when(mainAddress, either(whenSet("transport", "JSONRPC", "GRPC"), whenSet("transport", "HTTP+JSON", "GRPC")))).
		with("card-additional-complete"),
	broken("interfaces without the main one", v03|rest03, "card-additional-complete", "additional",
		set("url", `"https://other.example/a2a"`)).faithfully(),
	broken("additional interface without a transport", v03|rest03, "card-required-nested", "additional",
		dropped("transport")).with("card-additional-complete"),
	broken("additional interface without an address", v03|rest03, "card-required-nested", "additional",
		dropped("url")).with("card-additional-complete"),
	broken("relative address in a card", older, "card-url-absolute", "card", set("url", `"/rpc"`)).with(otherCard),
	broken("public address without TLS", older, "card-url-https", "card",
		set("url", `"http://agents.booker.com/rpc"`)).with(otherCard),
	broken("card without interfaces", modern, "card-required-fields", "card",
		dropped("supportedInterfaces")).with(otherCard),
	broken("card with no interface", modern, "card-interfaces-nonempty", "card",
		set("supportedInterfaces", `[]`)).with(otherCard),
	broken("interfaces are one object", modern, "field-type", "card",
		set("supportedInterfaces", `{"url":"https://a.example","protocolBinding":"JSONRPC","protocolVersion":"1.0"}`)).
		with(otherCard + " card-required-fields"),
	broken("interface without an address", modern, "card-required-nested", "interface", dropped("url")).with(otherCard),
	broken("interface without a binding", modern, "card-required-nested", "interface",
		dropped("protocolBinding")).with(otherCard),
	broken("interface without a version", modern, "card-required-nested", "interface",
		dropped("protocolVersion")).with(otherCard),
	broken("relative address of an interface", modern, "card-url-absolute", "interface",
		set("url", `"/rpc"`)).with(otherCard),
	broken("public interface without TLS", modern, "card-url-https", "interface",
		set("url", `"http://agents.booker.com/rpc"`)).with(otherCard),
	broken("interface with a patch version", modern, "card-protocol-version-patch", "interface",
		set("protocolVersion", `"1.0.1"`)),
	broken("binding that is none", modern, "card-binding-known", "interface",
		set("protocolBinding", `"REST"`)).with(otherCard),
	broken("version of an interface is a number", modern, "field-type", "interface",
		set("protocolVersion", `1.0`)).with(otherCard),
	broken("no output mode", modern, "card-arrays-nonempty", "card", set("defaultOutputModes", `[]`)),
	broken("no skills", modern, "card-arrays-nonempty", "card", set("skills", `[]`)).with("card-extended-identity"),
	broken("no tags", modern, "card-arrays-nonempty", "skill", set("tags", `[]`)),
	broken("mode that is no media type", later, "card-mode-syntax", "card", set("defaultInputModes", `["words"]`)),
	broken("mode of a skill that is no media type", later, "card-mode-syntax", "skill",
		put("inputModes", `["plain text"]`)),
	broken("extension without a URI", later, "card-extension-uri", "extension", dropped("uri")).with(otherExtension),
	broken("extension that is no URI", later, "card-extension-uri", "extension",
		set("uri", `"geo places"`)).with(otherExtension),
	broken("extension is required by a text", later, "field-type", "extension", set("required", `"true"`)),
	broken("params of an extension are a list", later, "field-type", "extension", put("params", `["km"]`)),
	broken("requirement of an unknown scheme", later, "card-security-refs", "card", either(
		when(func(s *spot) bool { return s.o.has("security") }, set("security", `[{"nobody":[]}]`)),
		set("securityRequirements", `[{"schemes":{"nobody":{"list":[]}}}]`))).with(otherAuth),
	broken("requirements in the form of 0.3", modern, "card-security-shape", "card",
		set("securityRequirements", `[{"bearer":[]}]`)).with(otherAuth),
	broken("scheme without a type", kinds|rest03, "card-scheme-discriminator", "scheme",
		dropped("type")).with(otherAuth),
	broken("scheme of a type that is none", kinds|rest03, "card-scheme-discriminator", "scheme",
		set("type", `"bearer"`)).with(otherAuth),
	broken("scheme of no kind", modern, "card-scheme-oneof", "scheme", become(`{}`)).with(otherAuth),
	broken("scheme of two kinds", modern, "card-scheme-oneof", "scheme",
		give("mtlsSecurityScheme", `{}`)).with(otherAuth),
	broken("scheme in the form of 0.3", modern, "card-scheme-oneof", "scheme",
		become(`{"type":"http","scheme":"Bearer"}`)).with(otherAuth),
	broken("key in the body", kinds|rest03, "card-apikey-location", "scheme", set("in", `"body"`)),
	broken("key in the body in 1.0", modern, "card-apikey-location", "wrapped", set("location", `"body"`)),
	broken("key without a name", kinds|rest03, "card-required-nested", "scheme", when(has("in"), dropped("name"))),
	broken("key without a name in 1.0", modern, "card-required-nested", "wrapped", dropped("name")),
	broken("HTTP scheme without a scheme", later, "card-required-nested", "scheme wrapped",
		dropped("scheme")).with(otherAuth),
	broken("OpenID without an address", later, "card-required-nested", "scheme wrapped", dropped("openIdConnectUrl")),
	broken("OAuth without flows", later, "card-required-nested card-oauth-flow-one", "scheme wrapped",
		dropped("flows")),
	broken("OAuth with no flow", modern, "card-oauth-flow-one", "flows", become(`{}`)),
	broken("OAuth with two flows", modern, "card-oauth-flow-one", "flows",
		give("clientCredentials", `{"tokenUrl":"https://id.example/token","scopes":{}}`)),
	broken("deprecated flow", modern, "card-oauth-flow-deprecated", "flows",
		both(become(`{"implicit":{"authorizationUrl":"https://id.example/authorize","scopes":{"book":"Book"}}}`))),
	broken("flow without a token address", later, "card-required-nested", "flow", dropped("tokenUrl")),
	broken("flow without scopes", later, "card-required-nested", "flow", dropped("scopes")),
	broken("relative address of a flow", later, "card-oauth-url", "flow", set("tokenUrl", `"/token"`)),
	broken("authorization over plain http", later&^v02, "card-oauth-url", "flow",
		set("authorizationUrl", `"http://id.example.com/authorize"`)),
	broken("scopes are a list", later, "field-type", "flow", set("scopes", `["book"]`)),
	broken("signature without a header", v03|modern, "card-signature-shape", "signature", dropped("protected")),
	broken("signature without a signature", v03|modern, "card-signature-shape", "signature", dropped("signature")),
	broken("signature with padding", v03|modern, "card-signature-shape", "signature", set("signature", `"QUJD+w=="`)),
	broken("signature with a header that is not JSON", v03|modern, "card-signature-shape", "signature",
		set("protected", `"bm8ganNvbg"`)),
	broken("signature without an algorithm", modern, "card-signature-header", "signature",
		set("protected", `"eyJraWQiOiJrMSIsInR5cCI6IkpPU0UifQ"`)),
	broken("signature without a key", modern, "card-signature-header", "signature",
		set("protected", `"eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UifQ"`)),
	broken("signature of no algorithm", modern, "card-signature-header", "signature",
		set("protected", `"eyJhbGciOiJub25lIiwia2lkIjoiazEiLCJ0eXAiOiJKT1NFIn0"`)),
	broken("signature without a type", modern, "card-signature-typ", "signature",
		set("protected", `"eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0"`)),
	broken("signatures are one object", v03|modern, "field-type", "card", func(s *spot) bool {
		list := s.o.get("signatures").list()
		return len(list) > 0 && set("signatures", list[0].text(""))(s)
	}),
	broken("secret in a card", every, "card-secret-leak", "card", secret),
	broken("card without caching", modern, "card-cache-control", "", when(fetched, label("Cache-Control", ""))),
	broken("card without a tag", modern, "card-etag", "", when(fetched, label("ETag", ""))).with("card-not-modified"),
	broken("card in snake case", modern, "json-camelcase", "card",
		rename("defaultInputModes", "default_input_modes")).with("card-required-fields"),
	broken("capabilities in snake case", modern, "json-camelcase", "capabilities",
		rename("pushNotifications", "push_notifications")).with(otherCapabilities),
	broken("unchanged card is sent again", modern, "card-not-modified", "", resent),
}

// What comes along with another card, its capabilities, its extensions and its security.
const (
	otherCapabilities = "req-capability-streaming req-capability-push req-capability-extended " +
		"cap-streaming-unsupported cap-streaming-unsupported-0x " +
		"cap-extended-undeclared push-unsupported-error push-unsupported-error-0x card-capability-vs-traffic"
	otherCard = otherCapabilities +
		" card-required-fields rpc-method-dialect dialect-mismatch ver-interface-match req-interface-url " +
		"card-transport-conflict " +
		"card-additional-complete card-required-nested rest-route-known card-url-absolute card-unavailable " +
		"card-json-object rpc-method-pascal field-type " +
		"ver-unsupported-error ext-response-unrequested card-protocol-version-present card-preferred-transport " +
		"rest-v1-prefix card-wellknown-path card-etag card-cache-control " +
		"rpc-parse-error-unfounded rpc-errorinfo-reason"
	otherExtension = "ext-response-unrequested ext-response-echo ext-required-missing ext-required-missing-client " +
		"ext-required-missing-0x"
	otherAuth = "auth-not-enforced auth-credentials-sent auth-extended-card-client auth-extended-card-server " +
		"auth-scheme-undeclared card-security-refs field-type card-scheme-oneof card-required-nested"
)

func fetched(s *spot) bool { return s.kind.operation == "fetch" && s.kind.status == "200" }

func whenSet(name, from, to string) func(*spot) bool {
	return when(is(name, from), set(name, strconv.Quote(to)))
}

// secret puts a password where a card has room for one.
func secret(s *spot) bool {
	if a := s.o.get("authentication"); a != nil {
		return put("credentials", `"hunter2-hunter2-hunter2"`)(&spot{o: a})
	}
	return put("documentationUrl", `"https://booker:hunter2@booker.example/docs"`)(s)
}

// resent answers a conditional fetch with the card that the client has.
func resent(s *spot) bool {
	if s.kind.operation != "fetch" || s.kind.status != "304" {
		return false
	}
	for _, x := range s.exchanges[:s.i] {
		if kindOf(x).operation == "fetch" && kindOf(x).status == "200" {
			s.x().Response = x.Response
			return true
		}
	}
	return false
}

// mainAddress holds for additional interfaces at the address of the card itself.
func mainAddress(s *spot) bool { return s.root.str("url") == s.o.str("url") }

// htmlLater answers another fetch of the card with a page, when the agent has been seen to speak A2A.
func htmlLater(s *spot) bool {
	x := s.copyOf(s.i)
	s.exchanges = slices.DeleteFunc(s.exchanges,
		func(x *capture.Exchange) bool { return kindOf(x).operation == "fetch" })
	s.after(x)
	page := spot{exchanges: []*capture.Exchange{x}, kind: s.kind}
	return label("Content-Type", "text/html")(&page) && body("<html>Booker</html>")(&page)
}
