package refagent_test

import "testing"

// cardFaultTests show the faults of cards.
var cardFaultTests = []faultTest{
	{"card-interfaces-nonempty", "spec", nil, "GET /spec", `"supportedInterfaces":[]`, ""},
	{"card-not-modified", "spec", nil, "GET /spec\nIf-None-Match: W/\"1.0.0\"", `200 application/json`, ""},
	{"card-required-nested", "spec", nil, "GET /spec", `"skills":[{"id":"message-only","description"`, ""},
	{"card-required-nested", "spec03", nil, "GET /spec03", `"skills":[{"id":"message-only","description"`, ""},
	{"card-url-absolute", "spec", nil, "GET /spec", `{"url":"/a2a"`, ""},
	{"card-url-absolute", "spec03", nil, "GET /spec03", `{"url":"/a2a"`, ""},
	{"card-url-https", "spec", nil, "GET /spec", `http://agents.a2atap.travel/a2a`, ""},
	{"card-url-https", "spec03", nil, "GET /spec03", `http://agents.a2atap.travel/a2a`, ""},
	{"card-protocol-version-present", "spec03", nil, "GET /spec03", `"protocolVersion":""`, `"0.3.0"`},
	{"card-protocol-version-patch", "spec", nil, "GET /spec", `"protocolVersion":"1.0.1"`, ""},
	{"card-protocol-version-format", "spec", nil, "GET /spec", `"protocolVersion":"v1"`, ""},
	{"card-binding-known", "spec", nil, "GET /spec", `"protocolBinding":"WEBSOCKET"`, ""},
	{"card-preferred-transport", "spec03", nil, "GET /spec03", `"url"`, `"preferredTransport"`},
	{"card-transport-conflict", "spec03", nil, "GET /spec03", `"transport":"GRPC"`, ""},
	{
		"card-additional-complete", "spec03", nil, "GET /spec03",
		`"additionalInterfaces":[{"url":"https://a2atap.example/a2a","transport":"HTTP+JSON"}]`, "",
	},
	{"card-arrays-nonempty", "spec", nil, "GET /spec", `"tags":[]`, ""},
	{"card-mode-syntax", "spec", nil, "GET /spec", `"defaultInputModes":["text/plain","text"]`, ""},
	{"card-skill-id-unique", "spec", nil, "GET /spec", `message-only hello world"]}]`, ""},
	{"card-extension-uri", "spec", nil, "GET /spec", `"uri":"seats/v1"`, ""},
	{"card-mode-syntax", "spec03", nil, "GET /spec03", `"defaultInputModes":["text/plain","text"]`, ""},
	{"card-skill-id-unique", "spec03", nil, "GET /spec03", `message-only hello"]}]`, ""},
	{"card-extension-uri", "spec03", nil, "GET /spec03", `"uri":"seats/v1"`, ""},
	{
		"card-security-refs", "spec", nil, "GET /spec",
		`"securityRequirements":[{"schemes":{}},{"schemes":{"house":{"list":[]}}}]`, "",
	},
	{"card-security-refs", "spec03", nil, "GET /spec03", `"security":[{},{"house":[]}]`, ""},
	{"card-security-shape", "spec", nil, "GET /spec", `"securityRequirements":[{},{"key":[]}]`, ""},
	{"card-scheme-discriminator", "spec03", nil, "GET /spec03", `"securitySchemes":{"house":{"type":"bearer"}}`, ""},
	{"card-scheme-oneof", "spec", nil, "GET /spec", `"house":{"type":"http","scheme":"bearer"}`, ""},
	{"card-apikey-location", "spec", nil, "GET /spec", `"location":"body"`, ""},
	{"card-apikey-location", "spec03", nil, "GET /spec03", `"in":"body"`, ""},
	{"card-oauth-flow-one", "spec", nil, "GET /spec", `"flows":{"clientCredentials":{`, ""},
	{"card-oauth-flow-deprecated", "spec", nil, "GET /spec", `"flows":{"password":{`, ""},
	{"card-oauth-url", "spec", nil, "GET /spec", `"tokenUrl":"/oauth/token"`, ""},
	{"card-oauth-url", "spec03", nil, "GET /spec03", `"tokenUrl":"/oauth/token"`, ""},
	{"card-secret-leak", "spec", nil, "GET /spec", `https://reader:secret@docs`, ""},
	{"card-secret-leak", "spec03", nil, "GET /spec03", `https://reader:secret@docs`, ""},
	{"card-json-object", "spec", nil, "GET /spec", `json [{"name"`, ""},
	{"card-json-object", "spec03", nil, "GET /spec03", `json [{"protocolVersion"`, ""},
	{"card-stable", "spec", []string{"GET /spec"}, "GET /spec", `Was asked for its card 2 times.`, ""},
	{"card-stable", "spec03", []string{"GET /spec03"}, "GET /spec03", `Was asked for its card 2 times.`, ""},
	{"card-signature-shape", "spec", nil, "GET /spec", `"signature":"AAA="`, ""},
	{"card-signature-shape", "spec03", nil, "GET /spec03", `"signature":"AAA="`, ""},
	{"card-signature-header", "spec", nil, "GET /spec", `"protected":"eyJhbGciOiJFUzI1NiIsInR5cCI6IkpPU0UifQ"`, ""},
	{
		"card-signature-typ", "spec", nil, "GET /spec",
		`"protected":"eyJhbGciOiJFUzI1NiIsImtpZCI6ImtleS0xIiwidHlwIjoiSldUIn0"`, "",
	},
	{"card-signature-valid", "spec", nil, "GET /spec", `"signature":"AAAAAAAAAAAAAAAAAAAA`, ""},
	{"card-extended-identity", "spec", nil, knownRPC, `"skills":[{"id":"admin-status"`, `message-only`},
}

// cardHeaderFaults lists the header field that each fault removes.
var cardHeaderFaults = []struct{ slug, request, field string }{
	{"card-cache-control", "GET /spec", "Cache-Control"},
	{"card-etag", "GET /spec", "ETag"},
	{
		"card-extended-cache", "GET /spec/extendedAgentCard\nA2A-Version: 1.0\nAuthorization: Bearer agentbin-test-token",
		"Cache-Control",
	},
}

func TestCardHeaderFaults(t *testing.T) {
	for _, tt := range cardHeaderFaults {
		for _, slug := range []string{"", tt.slug} {
			opts := fixed()
			opts.Fault = slug
			resp := headOf(t, serve(t, "spec", opts), tt.request)
			if has := resp.Header.Get(tt.field) != ""; resp.StatusCode != 200 || has != (slug == "") {
				t.Errorf("fault %q: status %d, and that there is %s is %v", slug, resp.StatusCode, tt.field, has)
			}
		}
	}
}
