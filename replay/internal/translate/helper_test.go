package translate_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/translate"
)

const base = "http://agent.example/a2a"

// A sent request is a client's request on the wire.
type sent struct {
	method, target string
	header         http.Header
	body           []byte
}

// wire is a transport that keeps the last request, and sends no answer.
type wire struct{ last *sent }

func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	w.last = &sent{method: r.Method, target: r.URL.RequestURI(), header: r.Header}
	if r.Body != nil {
		w.last.body, _ = io.ReadAll(r.Body)
	}
	return nil, io.EOF
}

// target returns the target of the last request.
func (w *wire) target() string {
	if w.last == nil {
		return ""
	}
	return w.last.target
}

// A kind of client: a protocol, and how it writes 0.3 over HTTP+JSON.
type speaker struct {
	protocol client.Protocol
	proto    bool
	tenant   string
}

func (s speaker) String() string {
	text := s.protocol.String()
	if s.proto {
		text += " proto"
	}
	return text
}

func (s speaker) to() translate.Protocol {
	binding, _ := a2a.ParseBinding(s.protocol.Binding)
	dialect, _ := a2a.VersionDialects(s.protocol.Version).Single()
	return translate.Protocol{Binding: binding, Dialect: dialect}
}

// ask returns the request that a client sends for a call.
func (s speaker) ask(t testing.TB, call func(*client.Client)) *sent {
	t.Helper()
	w := &wire{}
	c, err := client.New(client.Interface{URL: base, Protocol: s.protocol, Tenant: s.tenant}, client.Options{
		Transport: w, ProtoJSON: s.proto, NewID: func() string { return "made-by-client" },
	})
	must.Do(t, err)
	call(c)
	if m, ok := grpc.MethodOf(strings.TrimPrefix(w.target(), "/a2a")); ok { // the body here is its JSON
		codec := grpc.Codec{Type: m.Request}
		w.last.body = codec.Read(w.last.body).Text
	}
	return w.last
}

// decode reads a request to the interface of a protocol.
func decode(p translate.Protocol, tenant string, r *sent) a2a.Call {
	var known a2a.Known
	known.Add(a2a.Interface{URL: base, Binding: p.Binding, Dialects: a2a.Of(p.Dialect), Tenant: tenant},
		base+strings.TrimPrefix(strings.Split(r.target, "?")[0], "/a2a"))
	return a2a.DecodeRequest(a2a.Request{
		Method: r.method, Target: r.target, Header: r.header.Get, Body: r.body, HasBody: len(r.body) > 0, BodyKept: true,
	}, known)
}

// say translates a call, and returns the result as it would be on the wire.
func say(call *a2a.Call, header http.Header, to translate.Protocol, tenant string) (*sent, error) {
	o := translate.Options{Tenant: tenant, ID: "made-by-client"}
	for name, values := range header {
		for _, v := range values {
			o.Fields = append(o.Fields, translate.Field{Name: name, Value: v})
		}
	}
	r, err := translate.Call(call, to, o)
	if err != nil {
		return nil, err
	}
	out := &sent{method: r.Method, target: "/a2a" + r.Path, header: http.Header{}, body: r.Body}
	if r.Query != "" {
		out.target += "?" + r.Query
	}
	for _, f := range r.Fields {
		out.header.Add(f.Name, f.Value)
	}
	return out, nil
}

// canonical returns a JSON text with its members sorted; it returns other texts unchanged.
func canonical(t testing.TB, body []byte) string {
	t.Helper()
	if len(body) == 0 {
		return ""
	}
	var v any
	if err := json.Unmarshal(body, &v); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	return string(must.Get(json.Marshal(v))(t))
}

// sortedQuery returns a target with sorted query parameters.
func sortedQuery(t testing.TB, target string) string {
	t.Helper()
	u := must.Get(url.Parse(target))(t)
	return u.EscapedPath() + "?" + u.Query().Encode()
}

// Requests, as each client makes them.
var requests = []struct {
	name string
	call func(context.Context, *client.Client)
}{
	{"send", func(ctx context.Context, c *client.Client) {
		c.Send(ctx, message(), client.SendOptions{}) //nolint:errcheck // the wire answers nothing
	}},
	{"send with all that it can have", func(ctx context.Context, c *client.Client) {
		c.Send(ctx, message(), client.SendOptions{ //nolint:errcheck // as above
			ReturnImmediately: true, HistoryLength: new(3), AcceptedOutputModes: []string{"text/plain", "image/png"},
			Push: &client.PushConfig{
				ID: "p1", URL: "https://me.example/hook?a=b&c=d", Token: "t", Scheme: "Bearer", Credentials: "c",
			},
			Metadata: json.RawMessage(`{"trace":"a<b>"}`),
		})
	}},
	{"stream", func(ctx context.Context, c *client.Client) {
		for range c.Stream(ctx, message(), client.SendOptions{AcceptedOutputModes: []string{"text/plain"}}) {
		}
	}},
	{"get", func(ctx context.Context, c *client.Client) {
		c.Get(ctx, "a task:with/odd chars?", nil) //nolint:errcheck // as above
	}},
	{"get with history", func(ctx context.Context, c *client.Client) {
		c.Get(ctx, "t1", new(0)) //nolint:errcheck // as above
	}},
	{"list", func(ctx context.Context, c *client.Client) {
		c.List(ctx, client.ListOptions{}) //nolint:errcheck // as above
	}},
	{"list with all that it can have", func(ctx context.Context, c *client.Client) {
		c.List(ctx, client.ListOptions{ //nolint:errcheck // as above
			ContextID: "c 1", State: client.Working, PageSize: 7, PageToken: "a+b/c=", HistoryLength: new(2),
			StatusTimestampAfter: time.UnixMilli(1_772_359_200_005), IncludeArtifacts: true,
		})
	}},
	{"cancel", func(ctx context.Context, c *client.Client) {
		c.Cancel(ctx, "t1", nil) //nolint:errcheck // as above
	}},
	{"cancel with metadata", func(ctx context.Context, c *client.Client) {
		c.Cancel(ctx, "t1", json.RawMessage(`{"why":["no",1.50]}`)) //nolint:errcheck // as above
	}},
	{"subscribe", func(ctx context.Context, c *client.Client) {
		for range c.Subscribe(ctx, "t1") {
		}
	}},
	{"create push config", func(ctx context.Context, c *client.Client) {
		c.CreatePush(ctx, client.PushConfig{ //nolint:errcheck // as above
			ID: "p1", TaskID: "t1", URL: "https://me.example/hook", Token: "t", Scheme: "Bearer", Credentials: "c",
		})
	}},
	{"get push config", func(ctx context.Context, c *client.Client) {
		c.GetPush(ctx, "t1", "p 1") //nolint:errcheck // as above
	}},
	{"list push configs", func(ctx context.Context, c *client.Client) {
		c.ListPush(ctx, "t1") //nolint:errcheck // as above
	}},
	{"delete push config", func(ctx context.Context, c *client.Client) {
		c.DeletePush(ctx, "t1", "p1") //nolint:errcheck // as above
	}},
	{"extended card", func(ctx context.Context, c *client.Client) {
		c.ExtendedCard(ctx) //nolint:errcheck // as above
	}},
}

// message returns a message with a part of each kind.
func message() client.Message {
	return client.Message{
		ID: "m1", ContextID: "c1", TaskID: "t1",
		Parts: []client.Part{
			{Text: "a \"text\"\n\u2028"},
			{Bytes: []byte{0, 1, 2, 254}, MediaType: "image/png"},
			{URL: "https://files.example/x?y=z&w", MediaType: "text/csv"},
			{Data: json.RawMessage(`{"n":1e3,"list":[]}`)},
		},
		Extensions: []string{"https://ext.example/v1"}, Metadata: json.RawMessage(`{"kind":"mine","parts":[]}`),
	}
}
