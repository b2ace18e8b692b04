package a2a_test

import (
	"testing"

	"a2atap/proxy/a2a"
)

// What 0.1 was before it was written down has codes with another meaning: they are told by what was asked.
func TestEarlyErrors(t *testing.T) {
	const send = `"method":"tasks/send","params":{"id":"t1"`
	const set = `"method":"tasks/pushNotification/set","params":{"id":"t1"`
	message := `,"message":{"role":"user","parts":[]}`
	tests := []struct {
		request string
		status  int
		code    string
		want    a2a.ErrorName
	}{
		{send + message, 401, "-32000", a2a.AuthenticationRequired},
		{send + message, 200, "-32000", a2a.OtherError},
		{send + message, 200, "-32002", a2a.InvalidTaskState},
		{`"method":"tasks/cancel","params":{"id":"t1","sessionId":"s1"`, 200, "-32002", a2a.TaskNotCancelable},
		{send + message, 200, "-32003", a2a.ResourceExhausted},
		{send + message + `,"pushNotification":{"url":"https://planner.example"}`, 200, "-32003", a2a.PushNotSupported},
		{set, 200, "-32003", a2a.PushNotSupported},
		{send + message + `,"pushNotification":{"url":"http://planner.example"}`, 200, "-32004", a2a.InsecureWebhook},
		{send + message + `,"pushNotification":{"url":"https://planner.example"}`, 200, "-32004", a2a.UnsupportedOperation},
		{send + message, 200, "-32004", a2a.UnsupportedOperation},
		{set + `,"pushNotificationConfig":{"url":"http://planner.example"}`, 200, "-32004", a2a.InsecureWebhook},
		{set + `,"pushNotificationConfig":{"url":"https://planner.example"}`, 200, "-32004", a2a.UnsupportedOperation},
		{`"method":"message/send","params":{"message":{"kind":"message","role":"user"}`, 200, "-32003", a2a.PushNotSupported},
	}
	for _, test := range tests {
		request := []byte(`{"jsonrpc":"2.0","id":1,` + test.request + `}}`)
		answer := []byte(`{"jsonrpc":"2.0","id":1,"error":{"code":` + test.code + `,"message":"no"}}`)
		call := a2a.DecodeRequest(a2a.Request{Method: "POST", Target: "/", Body: request}, a2a.Known{})
		a := a2a.DecodeAnswer(&call, test.status, "application/json", answer)
		if a.Err == nil || a.Err.Name != test.want {
			t.Errorf("%s answered with %s: %v, want %q", test.request, test.code, a.Err, test.want)
		}
	}
}

// A stream at an address of its own belongs to the interface above it.
func TestEarlyStream(t *testing.T) {
	for target, want := range map[string]string{"/subscribe": "", "/a2a/subscribe": "/a2a"} {
		body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t1"}}`)
		if c := a2a.DecodeRequest(a2a.Request{Method: "POST", Target: target, Body: body}, a2a.Known{}); !c.Early || !c.Apart ||
			c.Prefix != want {
			t.Errorf("%s: early %v, prefix %q, want it early, with %q", target, c.Early, c.Prefix, want)
		}
	}
	body := []byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t1"}}`)
	if c := a2a.DecodeRequest(a2a.Request{Method: "POST", Target: "/subscribe", Body: body}, a2a.Known{}); c.Early || c.Apart {
		t.Error("tasks/get at /subscribe is taken for a stream")
	}
	c := a2a.DecodeRequest(a2a.Request{Method: "POST", Target: "/a2a/tasks/get", Body: body}, a2a.Known{})
	if c.Early || !c.Apart || c.Prefix != "/a2a" {
		t.Errorf("tasks/get at its own path: apart %v, prefix %q", c.Apart, c.Prefix)
	}
}

// A card is from before 0.1 if nothing in it came later and something in it is gone since.
func TestEarlyCards(t *testing.T) {
	const (
		head    = `{"name":"Booker","url":"http://booker.example","version":"1"`
		history = `,"capabilities":{"stateTransitionHistory":true}`
		bearer  = `,"authentication":{"schemes":["bearer"]}`
		modes   = `,"skills":[{"id":"a","inputModes":["text"],"outputModes":["text"]}]`
		some    = `,"skills":[{"id":"a","inputModes":["text"],"outputModes":["text"]},{"id":"b","inputModes":["text"]}]`
		none    = `,"skills":[{"id":"a"}]`
		usual   = `,"defaultInputModes":["text"],"defaultOutputModes":["text"]`
	)
	for _, test := range []struct {
		name, card string
		want       bool
	}{
		{"modes", head + modes, true},
		{"modes and schemes", head + bearer + modes, true},
		{"modes beside default ones, with a history of states", head + history + usual + modes, true},
		{"modes beside default ones", head + usual + modes, false},
		{"authentication that is null", head + history + `,"authentication":null` + modes, false},
		{"modes of some skills", head + some, true},
		{"modes of some skills, with a history of states", head + history + bearer + some, true},
		{"modes of some skills beside default ones", head + history + usual + some, false},
		{"input modes of the only skill", head + `,"skills":[{"id":"a","inputModes":["text"],"outputModes":[]}]`, true},
		{"modes of none", head + history + bearer + none, false},
		{"no skills", head + history + bearer + `,"skills":[]`, false},
		{"credentials of 0.1", head + `,"authentication":{"schemes":["a"],"credentials":"text"}` + none, false},
		{"credentials", head + `,"authentication":{"schemes":["a"],"credentials":{"apiKey":{"headerName":"X"}}}` + none, true},
		{"a version", head + modes + `,"protocolVersion":"0.2.5"`, false},
		{"a transport", head + modes + `,"preferredTransport":"JSONRPC"`, false},
		{"security of 0.2", head + modes + `,"security":[]`, false},
		{"a face of 1.0", head + modes + `,"supportedInterfaces":[]`, false},
		{"no card", `{"a":1`, false},
	} {
		if got := a2a.DecodeCard(a2a.Parse([]byte(test.card + `}`)).Root).Early(); got != test.want {
			t.Errorf("%s: early %v, want %v: %s", test.name, got, test.want, test.card)
		}
	}
}
