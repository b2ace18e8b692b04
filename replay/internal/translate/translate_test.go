package translate_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/translate"
)

var speakers = []speaker{
	{protocol: client.JSONRPC10},
	{protocol: client.REST10},
	{protocol: client.GRPC10},
	{protocol: client.JSONRPC03},
	{protocol: client.REST03},
	{protocol: client.GRPC03},
	{protocol: client.REST03, proto: true},
}

// A translation has, to the byte of each value, the form in which a client of the other protocol sends the same call.
func TestCallIsWhatTheClientOfTheOtherProtocolSends(t *testing.T) {
	for _, from := range speakers {
		for _, to := range speakers {
			if to.proto {
				continue // it is only read, never written
			}
			for _, r := range requests {
				name := fmt.Sprintf("%s from %s to %s", r.name, from, to)
				is := from.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
				want := to.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
				if is == nil || unsayable(r.name, to, from) {
					continue // this protocol has no form for it
				}
				call := decode(from.to(), "", is)
				got, err := say(&call, is.header, to.to(), "")
				if want == nil || unsayable(r.name, from, to) {
					if err == nil {
						t.Errorf("%s: there is no such request, and yet it is %s %s", name, got.method, got.target)
					}
					continue
				}
				if err != nil {
					t.Errorf("%s: it %v", name, err)
					continue
				}
				compareSent(t, name, got, want)
			}
		}
	}
}

// unsayable reports whether the other protocol has no form for a request, though its client sends something.
func unsayable(request string, from, to speaker) bool {
	switch {
	case to.protocol == client.GRPC03: // tasks are named by paths there, zeros are not sent, and cancellations have no metadata
		return slices.Contains([]string{
			"get", "get with history", "list with all that it can have", "cancel with metadata",
		}, request)
	case to.protocol != client.REST03 || from.protocol == client.REST03:
		return false
	case request == "list with all that it can have":
		return true // the client sends a list without filters
	}
	return request == "cancel with metadata"
}

func compareSent(t *testing.T, name string, got, want *sent) {
	t.Helper()
	if got.method != want.method || sortedQuery(t, got.target) != sortedQuery(t, want.target) {
		t.Errorf("%s: got %s %s, want %s %s", name, got.method, got.target, want.method, want.target)
	}
	expect.Equal(t, name, canonical(t, want.body), canonical(t, got.body))
	for _, field := range []string{"Content-Type", "Accept", "A2A-Version"} {
		expect.Equal(t, name+": "+field, want.header.Get(field), got.header.Get(field))
	}
}

// A translation and its reverse yield the same call.
func TestThereAndBack(t *testing.T) {
	for _, from := range speakers {
		for _, to := range speakers {
			for _, r := range requests {
				is := from.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
				if is == nil || to.proto {
					continue
				}
				call := decode(from.to(), "", is)
				there, err := say(&call, is.header, to.to(), "")
				if err != nil {
					continue // TestCallIsWhatTheClientOfTheOtherProtocolSends covers this
				}
				back, err := say(new(decode(to.to(), "", there)), there.header, from.to(), "")
				if err != nil {
					t.Errorf("%s from %s to %s: back it %v", r.name, from, to, err)
					continue
				}
				if from.proto {
					is = speaker{protocol: from.protocol}.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
				}
				compareSent(t, fmt.Sprintf("%s from %s to %s and back", r.name, from, to), back, is)
			}
		}
	}
}

// The request names the interface's tenant if the client names none, and keeps the call's tenant.
func TestTenants(t *testing.T) {
	for _, from := range []speaker{{protocol: client.JSONRPC10}, {protocol: client.REST10}, {protocol: client.GRPC10}} {
		for _, to := range []speaker{{protocol: client.JSONRPC10}, {protocol: client.REST10}, {protocol: client.GRPC10}} {
			for _, named := range []string{"", "own tenant"} {
				for _, r := range requests {
					from.tenant = named
					is := from.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
					to.tenant = named
					if named == "" {
						to.tenant = "theirs"
					}
					want := to.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
					call := decode(from.to(), named, is)
					got, err := say(&call, is.header, to.to(), "theirs")
					if err != nil {
						t.Errorf("%s from %s to %s: it %v", r.name, from, to, err)
						continue
					}
					compareSent(t, fmt.Sprintf("%s of tenant %q from %s to %s", r.name, named, from, to), got, want)
				}
			}
		}
	}
}

// The translation of a call decodes to the same call, for each dialect and binding.
func TestDecodedCallIsTheSame(t *testing.T) {
	for _, from := range speakers {
		for _, to := range speakers {
			for _, r := range requests {
				is := from.ask(t, func(c *client.Client) { r.call(t.Context(), c) })
				if is == nil || to.proto {
					continue
				}
				call := decode(from.to(), "", is)
				there, err := say(&call, is.header, to.to(), "")
				if err != nil {
					continue
				}
				p := to.to()
				now := decode(p, "", there)
				if now.Binding != p.Binding || !now.Dialects.Has(p.Dialect) {
					t.Errorf("%s from %s is read as %s %s, want %s", r.name, from, now.Binding, now.Dialects, p)
				}
				if a, b := meaning(&call), meaning(&now); a != b {
					t.Errorf("%s from %s to %s means\n%s, want\n%s", r.name, from, to, b, a)
				}
			}
		}
	}
}

// meaning describes the contents of a call, regardless of its protocol.
func meaning(c *a2a.Call) string {
	var parts []string
	for _, p := range (a2a.Message{Value: c.Message}).Parts().All() {
		parts = append(parts, fmt.Sprintf("%d %q %q %q %q %s", p.PartKind(), p.Text(), p.Bytes().Text(), p.URI().Text(),
			p.MediaType(), p.Data().Raw()))
	}
	return fmt.Sprintf("%s tenant %q task %q context %q message %q config %q token %q history %d %t role %s parts %q "+
		"push %q %q %q %q", c.Operation, c.Tenant, c.TaskID, c.ContextID, c.MessageID, c.ConfigID, c.PageToken,
		c.HistoryLength, c.HasHistoryLength, a2a.Message{Value: c.Message}.Role(), parts, c.PushConfig.URL(),
		c.PushConfig.Token(), c.PushConfig.Credentials(), c.PushConfig.Schemes())
}

var (
	rpc10  = translate.Protocol{Binding: a2a.JSONRPC, Dialect: a2a.V1_0}
	rest10 = translate.Protocol{Binding: a2a.HTTPJSON, Dialect: a2a.V1_0}
	rpc03  = translate.Protocol{Binding: a2a.JSONRPC, Dialect: a2a.V0_3}
	rest03 = translate.Protocol{Binding: a2a.HTTPJSON, Dialect: a2a.V0_3}
	rpc02  = translate.Protocol{Binding: a2a.JSONRPC, Dialect: a2a.V0_2}
	grpc10 = translate.Protocol{Binding: a2a.GRPC, Dialect: a2a.V1_0}
	grpc03 = translate.Protocol{Binding: a2a.GRPC, Dialect: a2a.V0_3}
)

// Requests without a translation are rejected, with the reason.
func TestReasons(t *testing.T) {
	for _, c := range []struct {
		name     string
		from, to translate.Protocol
		method   string
		target   string
		body     string
		want     string
	}{
		{
			"a batch", rpc10, rest10, "POST", "/a2a",
			`[{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}]`, "batch",
		},
		{
			"a notification", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","method":"GetTask","params":{"id":"t"}}`, "notification",
		},
		{
			"an id that is no id", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"t"}}`, "JSON-RPC id is null",
		},
		{
			"another version of JSON-RPC", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"1.0","id":1,"method":"GetTask","params":{"id":"t"}}`, "is not JSON-RPC 2.0",
		},
		{"no JSON", rpc10, rest10, "POST", "/a2a", `{"jsonrpc":"2.0","id":1,"method":"GetTask","par`, "not JSON"},
		{
			"an unknown method", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTusk","params":{"id":"t"}}`, "not an operation of A2A",
		},
		{
			"a member twice", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","id":"u"}}`, "/params/id twice",
		},
		{
			"parameters in a list", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":["t"]}`, "parameters are",
		},
		{
			"no id for the path", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{}}`, "the path needs the parameter id",
		},
		{
			"an unknown parameter of a GET", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","history":1}}`, "no place for the parameter history",
		},
		{
			"a text where a number belongs", rpc10, rest10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","historyLength":"1"}}`, "a query cannot express",
		},
		{"a query that holds no number", rest10, rpc10, "GET", "/a2a/tasks/t?historyLength=x", "", `historyLength is "x"`},
		{"an unknown query", rest10, rpc10, "GET", "/a2a/tasks/t?history_length=1", "", "query parameter history_length"},
		{"a list over JSON-RPC of 0.3", rest10, rpc03, "GET", "/a2a/tasks", "", "it has no ListTasks"},
		{"a filtered list in 0.3", rest10, rest03, "GET", "/a2a/tasks?pageSize=3", "", "member /pageSize"},
		{
			"an unknown member in another dialect", rpc03, rpc10, "POST", "/a2a",
			send03(`{"kind":"text","text":"x"}`, `"foo":1`), "it has no equivalent of the member /params/message/foo",
		},
		{
			"a part without kind", rpc03, rpc10, "POST", "/a2a", send03(`{"text":"x"}`, `"taskId":"t"`),
			"/params/message/parts/0 is not a part",
		},
		{
			"several schemes", rpc03, rpc10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotificationConfig/set","params":{"taskId":"t",` +
				`"pushNotificationConfig":{"url":"https://x","authentication":{"schemes":["Basic","Bearer"]}}}}`,
			"but 1.0 allows only one scheme",
		},
		{
			"a text of another media type", rpc10, rpc03, "POST", "/a2a",
			send10(`{"text":"<b>","mediaType":"text/html"}`), `"text/html"`,
		},
		{"data that are a list", rpc10, rpc03, "POST", "/a2a", send10(`{"data":[1]}`), "data must be an object there"},
		{"a part with two contents", rpc10, rpc03, "POST", "/a2a", send10(`{"text":"x","url":"https://x"}`), "not a part"},
		{
			"a role of another dialect", rpc10, rpc03, "POST", "/a2a",
			strings.Replace(send10(`{"text":"x"}`), "ROLE_USER", "user", 1), "not a role in 1.0",
		},
		{
			"a tenant before 1.0", rpc10, rpc03, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"tenant":"x","id":"t"}}`, "no tenants",
		},
		{
			"the extended card in 0.2", rpc10, rpc02, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetExtendedAgentCard"}`, "it has no GetExtendedAgentCard",
		},
		{
			"0.1",
			translate.Protocol{Binding: a2a.JSONRPC, Dialect: a2a.V0_1},
			rpc10, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"tasks/send","params":{"id":"t","message":{"role":"user","parts":[]}}}`,
			"clients create the ids of tasks",
		},
		{
			"config without an id, which the messages of 0.3 need", rpc10, grpc03, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"CreateTaskPushNotificationConfig","params":{"taskId":"t","url":"u"}}`,
			"needs the id of the config",
		},
		{
			"task whose id is no segment of a path", rpc10, grpc03, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"a/b"}}`, `cannot contain its id "a/b"`,
		},
		{
			"no history", rpc10, grpc03, "POST", "/a2a",
			`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","historyLength":0}}`, "cannot express that",
		},
	} {
		call := decode(c.from, "", &sent{method: c.method, target: c.target, header: http.Header{}, body: []byte(c.body)})
		got, err := say(&call, nil, c.to, "")
		switch {
		case err == nil:
			t.Errorf("%s: it is said: %s %s %s", c.name, got.method, got.target, got.body)
		case !strings.Contains(err.Error(), c.want):
			t.Errorf("%s: it %v, want %q in it", c.name, err, c.want)
		}
	}
}

// A recorded version other than the call's own was deliberate: it translates to another binding, but not to another
// dialect.
func TestVersionIsItsOwn(t *testing.T) {
	is := &sent{method: "GET", target: "/a2a/tasks/t?A2A-Version=99.9", header: http.Header{}}
	call := decode(rest10, "", is)
	expect.Equal(t, "over the other binding the version is lost",
		"99.9", must.Get(say(&call, is.header, rpc10, ""))(t).header.Get("A2A-Version"))
	expect.ErrorHas(t, "in the other dialect it is", `version "99.9"`, expect.Err(say(&call, is.header, rpc03, "")))
}

// Fields with other names in the other dialect are renamed, and all others stay in order.
func TestFields(t *testing.T) {
	is := &sent{
		method: "POST", target: "/a2a", header: http.Header{},
		body: []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t"}}`),
	}
	call := decode(rpc03, "", is)
	r := must.Get(translate.Call(&call, rest10, translate.Options{Fields: []translate.Field{
		{"Authorization", "Bearer x"},
		{"content-type", "application/json"},
		{"X-A2A-Extensions", "https://e"},
		{"Traceparent", "00-1"},
		{"Accept", "*/*"},
	}}))(t)
	want := "[{Authorization Bearer x} {A2A-Extensions https://e} {Traceparent 00-1} {Accept */*} {A2A-Version 1.0}]"
	expect.Equal(t, "", want, fmt.Sprint(r.Fields))
}

// Parameters that no protocol defines are passed on if the client says that they are its own.
func TestQueryIsCarried(t *testing.T) {
	is := &sent{
		method: "POST", target: "/a2a?api_key=a%26b", header: http.Header{},
		body: []byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t","historyLength":2}}`),
	}
	call := decode(rpc10, "", is)
	there, err := say(&call, nil, rest10, "")
	if err != nil || there.target != "/a2a/tasks/t?historyLength=2&api_key=a%26b" {
		t.Fatalf("got %+v, %v", there, err)
	}
	call = decode(rest10, "", there)
	back, err := translate.Call(&call, rpc10, translate.Options{
		Carry: func(name, value string) bool { return name == "api_key" && value == "a&b" },
	})
	if err != nil || back.Query != "api_key=a%26b" {
		t.Errorf("got %+v, %v", back, err)
	}
}

func send03(part, more string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"message/send","params":{"message":{"kind":"message","messageId":"m",` +
		`"role":"user","parts":[` + part + `],` + more + `}}}`
}

func send10(part string) string {
	return `{"jsonrpc":"2.0","id":1,"method":"SendMessage","params":{"message":{"messageId":"m","role":"ROLE_USER",` +
		`"parts":[` + part + `]}}}`
}
