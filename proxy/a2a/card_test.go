package a2a

import (
	"fmt"
	"testing"

	"a2atap/proxy/expect"
)

const (
	skill   = `{"id":"s","name":"S","description":"d","tags":["t"]}`
	modes   = `"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"]`
	card0_1 = `{"name":"n","url":"https://a.example/","version":"1","capabilities":{},"skills":[]}`
	card0_3 = `{"protocolVersion":"0.3.0","name":"n","description":"d","url":"https://a.example/rpc",` +
		`"preferredTransport":"JSONRPC","version":"1","capabilities":{},` + modes + `,"skills":[` + skill + `]}`
	face1_0 = `"supportedInterfaces":[{"url":"https://a.example/rpc","protocolBinding":"JSONRPC",` +
		`"protocolVersion":"1.0"}]`
	card1_0 = `{"name":"n","description":"d","version":"1","capabilities":{"streaming":true,` +
		`"pushNotifications":false},` + face1_0 + `,` + modes + `,"skills":[` + skill + `]}`
	cardHybrid = `{"protocolVersion":"0.3.0","name":"n","description":"d","url":"https://a.example/rpc",` +
		`"additionalInterfaces":[{"url":"https://a.example/rest","transport":"HTTP+JSON"}],"version":"1",` +
		`"capabilities":{},` + face1_0 + `,` + modes + `,"skills":[` + skill + `]}`
)

func TestCardShapes(t *testing.T) {
	tests := []struct {
		name, text string
		legacy     string
		modern     bool
	}{
		{"0.1 or later without version", card0_1, "0.1/0.2/0.3", false},
		{"0.1", `{"name":"n","url":"u","authentication":{"schemes":["Bearer"]}}`, "0.1", false},
		{"0.2", `{"name":"n","url":"u","protocolVersion":"0.2.5"}`, "0.2", false},
		{"slip of the samples", `{"name":"n","url":"u","protocolVersion":"0.2.9"}`, "0.2/0.3", false},
		{"empty version", `{"name":"n","url":"u","protocolVersion":""}`, "0.2/0.3", false},
		{"since 0.2.4", `{"name":"n","url":"u","preferredTransport":"JSONRPC"}`, "0.2/0.3", false},
		{"schemes", `{"name":"n","url":"u","securitySchemes":{"k":{"type":"apiKey"}}}`, "0.2/0.3", false},
		{"signed", `{"name":"n","url":"u","signatures":[{}]}`, "0.3", false},
		{"0.3", card0_3, "0.3", false},
		{"0.3 without URL", `{"name":"n","protocolVersion":"0.3.0"}`, "0.3", false},
		{
			"0.3 in proto JSON",
			`{"protocolVersion":"0.3.0","url":"u","securitySchemes":{"k":{"httpAuthSecurityScheme":{` +
				`"scheme":"Bearer"}}}}`, "0.3", false,
		},
		{"1.0", card1_0, "", true},
		{"1.0 without interfaces", `{"name":"n","capabilities":{"extendedAgentCard":true}}`, "", true},
		{
			"1.0 by its schemes",
			`{"name":"n","securitySchemes":{"k":{"apiKeySecurityScheme":{"location":"header","name":"k"}}}}`, "", true,
		},
		{"hybrid", cardHybrid, "0.3", true},
		{"nothing tells", `{"name":"n","skills":[]}`, "", false},
		{"no object", `[]`, "", false},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := DecodeCard(parse(t, test.text))
			if c.Legacy.String() != test.legacy || c.Modern != test.modern {
				t.Errorf("legacy %q, modern %v; want %q, %v", c.Legacy, c.Modern, test.legacy, test.modern)
			}
			if c.Shapes.Has(V1_0) != c.Modern || c.Shapes&^onlyV1_0 != c.Legacy {
				t.Errorf("shapes are %q", c.Shapes)
			}
		})
	}
}

func TestCardHolds(t *testing.T) {
	tests := []struct {
		text string
		in   Dialects
		want bool
	}{
		{card0_3, Of(V0_3), true},
		{card0_3, Of(V0_2), false},
		{card0_1, Of(V0_3), false},
		{card0_1, before1, true},
		{cardHybrid, Of(V1_0), true},
		{cardHybrid, Of(V0_3), true},
		{cardHybrid, Of(V0_1), false},
		{`{}`, allDialects, false},
		{`{"name":"a","version":"1"}`, allDialects, false}, // what many hosts say of themselves
		{`{"name":"a","skills":[]}`, allDialects, true},
		{`{"name":"a","skills":[]}`, Of(V0_3, V1_0), false},
	}
	for _, test := range tests {
		expect.Equal(t, fmt.Sprintf("%s: Holds(%s)", test.text, test.in),
			test.want, DecodeCard(parse(t, test.text)).Holds(test.in))
	}
}

func TestCardInterfaces(t *testing.T) {
	c := DecodeCard(parse(t, cardHybrid))
	want := []Interface{
		{
			URL: "https://a.example/rpc", Transport: "JSONRPC", Binding: JSONRPC, Version: "1.0", Dialects: Of(V1_0),
			Main: true, Pointer: "/supportedInterfaces/0/url",
		},
		{
			URL: "https://a.example/rpc", Binding: JSONRPC, Version: "0.3.0", Dialects: Of(V0_3), Main: true,
			Pointer: "/url",
		},
		{
			URL: "https://a.example/rest", Transport: "HTTP+JSON", Binding: HTTPJSON, Version: "0.3.0",
			Dialects: Of(V0_3),
			Pointer:  "/additionalInterfaces/0/url",
		},
	}
	expect.Same(t, "", want, c.Interfaces)
	for _, i := range c.Interfaces {
		expect.Equal(t, "at "+i.Pointer, i.URL, c.At(i.Pointer).Text())
	}

	odd := DecodeCard(parse(t,
		`{"supportedInterfaces":[{"url":"u","protocolBinding":"JSONRPC"},{"url":"g:443","protocolBinding":"grpc",`+
			`"protocolVersion":"0.3"},{"url":"x","protocolBinding":"https://x.example/b","protocolVersion":"1.0",`+
			`"tenant":"t"},3]}`))
	var got []string
	for _, i := range odd.Interfaces {
		got = append(got, i.Binding.String()+" "+i.Dialects.String()+" "+i.Tenant)
	}
	expect.Same(t, "", []string{"jsonrpc 0.3/1.0 ", "grpc 0.3 ", "http 1.0 t", "http 0.3/1.0 "}, got)
	if old := DecodeCard(parse(t, card0_1)); old.Interfaces[0].Binding != JSONRPC ||
		old.Interfaces[0].Dialects != before1 {
		t.Errorf("the default is %+v", old.Interfaces[0])
	}
}

func TestCardFlags(t *testing.T) {
	c := DecodeCard(parse(t, card1_0))
	if c.Streaming != Yes || c.Push != No || c.ExtendedCard != NotSaid || c.Signed || !c.Streaming.True() ||
		c.Push.True() {
		t.Errorf("streaming %v, push %v, extended %v, signed %v", c.Streaming, c.Push, c.ExtendedCard, c.Signed)
	}
	old := DecodeCard(parse(t,
		`{"url":"u","supportsAuthenticatedExtendedCard":true,"capabilities":{"streaming":"yes","pushNotifications":"false",`+
			`"extensions":[{"uri":"x","required":true},{}]},"signatures":[{"protected":"","signature":""}]}`))
	if !old.ExtendedCard.True() || old.Streaming != Unclear || !old.Streaming.True() || old.Push != No || !old.Signed {
		t.Errorf("streaming %v, push %v, extended %v, signed %v", old.Streaming, old.Push, old.ExtendedCard, old.Signed)
	}
	if c := DecodeCard(parse(t, `{"capabilities":"all"}`)); c.Streaming != Unclear || c.Push != Unclear {
		t.Errorf("of capabilities that are a text: streaming %v, push %v", c.Streaming, c.Push)
	}
	var got []string
	for e := range old.Extensions() {
		if e.Required() {
			got = append(got, e.URI())
		}
	}
	expect.Same(t, "required extensions", []string{"x"}, got)
}

func TestCardCredentials(t *testing.T) {
	c := DecodeCard(parse(t, `{"securitySchemes":{
		"a":{"type":"apiKey","in":"header","name":"X-Key"},
		"b":{"apiKeySecurityScheme":{"location":"query","name":"key"}},
		"c":{"type":"apiKey","in":"cookie","name":"sid"},
		"d":{"type":"http","scheme":"Bearer"},
		"e":{"type":"apiKey","in":"body","name":"x"},
		"f":3}}`))
	expect.Same(t, "", Credentials{Headers: []string{"X-Key"}, Query: []string{"key"}}, c.Credentials())
	schemes := SecuritySchemes(c.Value)
	if len(schemes) != 6 || schemes[3].Type != HTTPScheme || schemes[5].Type != UnknownScheme || !schemes[1].Wrapped {
		t.Errorf("schemes are %+v", schemes)
	}
}

func TestCardMissing(t *testing.T) {
	tests := []struct {
		name, text  string
		in          Dialect
		top, nested []string
	}{
		{"0.1 is complete", card0_1, V0_1, nil, nil},
		{"0.1 is no 0.2", card0_1, V0_2, []string{"description", "defaultInputModes", "defaultOutputModes"}, nil},
		{"0.3 is complete", card0_3, V0_3, nil, nil},
		{"1.0 is complete", card1_0, V1_0, nil, nil},
		{"hybrid has both", cardHybrid, V1_0, nil, nil},
		{
			"null is missing", `{"name":null,"url":"u","version":"","capabilities":{},"skills":[]}`, V0_1,
			[]string{"name"},
			nil,
		},
		{
			"nested in 1.0", `{"name":"n","description":"","version":"1","capabilities":{},` + modes +
				`,"supportedInterfaces":[{"url":"u"}],"skills":[` + skill +
				`,{"id":"x","name":"y"}],"provider":{"organization":"o"},
			"securitySchemes":{"a/b":{"apiKeySecurityScheme":{"name":"k"}},` +
				`"o":{"oauth2SecurityScheme":{"flows":{"deviceCode":{"tokenUrl":"u","scopes":{}},"implicit":{}}}}}}`,
			V1_0, nil,
			[]string{
				"/supportedInterfaces/0/protocolBinding", "/supportedInterfaces/0/protocolVersion",
				"/skills/1/description", "/skills/1/tags", "/provider/url",
				"/securitySchemes/a~1b/apiKeySecurityScheme/location",
				"/securitySchemes/o/oauth2SecurityScheme/flows/deviceCode/deviceAuthorizationUrl",
			},
		},
		{
			"schemes in 0.3",
			`{"securitySchemes":{"a":{"type":"apiKey","name":"k"},"h":{"type":"http"},"o":{"type":"oauth2"},` +
				`"i":{"type":"openIdConnect"},"f":{"type":"oauth2","flows":{"password":{}}}}}`, V0_3,
			[]string{
				"name", "description", "url", "version", "capabilities", "defaultInputModes", "defaultOutputModes",
				"skills",
			},
			[]string{
				"/securitySchemes/a/in", "/securitySchemes/h/scheme", "/securitySchemes/o/flows",
				"/securitySchemes/i/openIdConnectUrl", "/securitySchemes/f/flows/password/tokenUrl",
				"/securitySchemes/f/flows/password/scopes",
			},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			c := DecodeCard(parse(t, test.text))
			expect.Same(t, "top", test.top, c.MissingFields(test.in))
			expect.Same(t, "nested", test.nested, c.MissingNested(test.in))
		})
	}
	for _, f := range cardFields {
		if f.In.Empty() || f.Path[0] != '/' {
			t.Errorf("field %+v", f)
		}
	}
}

func TestCardPaths(t *testing.T) {
	for path, want := range map[string]bool{
		"/.well-known/agent.json": true, "/.well-known/agent-card.json": true, "/x/y/.well-known/agent-card.json": true,
		"/api/.well-known/weather/agent-card.json": true, "/.well-known/weather/agent.json": true,
		"/agent.json": false, "/.well-known//agent.json": false, "/.well-known/a/b/agent.json": false, "/.well-known/agent-card.json/": false, "/.well-known/openid-configuration": false,
	} {
		expect.Equal(t, "IsCardPath("+path+")", want, IsCardPath(path))
	}
}

func TestSecretPointers(t *testing.T) {
	const secret = `"token":"S","authentication":{"schemes":["Bearer"],"scheme":"Bearer","credentials":"S"}`
	tests := []struct {
		operation Operation
		in        Dialects
		body      string
	}{
		{SendMessage, Of(V0_1), rpc("tasks/send", `{"pushNotification":{`+secret+`}}`)},
		{SendMessage, Of(V0_2), rpc("message/send", `{"configuration":{"pushNotificationConfig":{`+secret+`}}}`)},
		{
			SendStreamingMessage, Of(V1_0),
			rpc("SendMessage", `{"configuration":{"taskPushNotificationConfig":{`+secret+`}}}`),
		},
		{SendMessage, Of(V0_3), `{"configuration":{"pushNotification":{` + secret + `}}}`},
		{CreatePushConfig, Of(V0_1), rpc("tasks/pushNotification/set", `{"pushNotificationConfig":{`+secret+`}}`)},
		{CreatePushConfig, Of(V1_0), rpc("CreateTaskPushNotificationConfig", `{`+secret+`}`)},
		{CreatePushConfig, Of(V0_3), `{"config":{"pushNotificationConfig":{` + secret + `}}}`},
		{CreatePushConfig, Of(V0_3), result(`{"pushNotificationConfig":{` + secret + `}}`)},
		{GetPushConfig, Of(V1_0), result(`{` + secret + `}`)},
		{ListPushConfigs, Of(V0_3), result(`[{"pushNotificationConfig":{` + secret + `}}]`)},
		{ListPushConfigs, Of(V1_0), result(`{"configs":[{` + secret + `}]}`)},
		{ListPushConfigs, Of(V1_0), `{"configs":[{` + secret + `}]}`},

		// as the proto files spell the names
		{SendMessage, Of(V0_3), `{"configuration":{"push_notification_config":{` + secret + `}}}`},
		{SendStreamingMessage, Of(V1_0), `{"configuration":{"task_push_notification_config":{` + secret + `}}}`},
		{CreatePushConfig, Of(V0_3), `{"task_id":"t","push_notification_config":{` + secret + `}}`},
		{GetPushConfig, Of(V0_3), `{"name":"n","push_notification_config":{` + secret + `}}`},
		{ListPushConfigs, Of(V0_3), `{"configs":[{"push_notification_config":{` + secret + `}}]}`},
	}
	for _, test := range tests {
		for _, in := range []Dialects{test.in, 0} {
			found := 0
			for _, pointer := range SecretPointers(test.operation, in) {
				found += countAt(parse(t, test.body), pointer)
			}
			if found != 2 {
				t.Errorf("%v in %q: %d of 2 secrets found in %s", test.operation, in, found, test.body)
			}
		}
	}
	if got := SecretPointers(GetTask, 0); got != nil {
		t.Errorf("secrets of GetTask: %v", got)
	}
}
