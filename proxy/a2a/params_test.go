package a2a

import (
	"testing"

	"a2atap/proxy/expect"
)

// asked is what a call names.
type asked struct {
	Task, Context, Message, Config, Page, Tenant string
	History                                      int64
	Hook                                         string
}

func namesOf(c Call) asked {
	return asked{
		c.TaskID, c.ContextID, c.MessageID, c.ConfigID, c.PageToken, c.Tenant, c.HistoryLength,
		c.PushConfig.URL(),
	}
}

// TestParams goes through the parameters of every operation in every dialect.
func TestParams(t *testing.T) {
	tests := []struct {
		name, line, body string
		want             asked
	}{
		{
			"0.1 send", "POST /",
			rpc("tasks/send",
				`{"id":"t","sessionId":"s","message":{"role":"user","parts":[]},"historyLength":3,`+
					`"pushNotification":{"url":"http://h"}}`),
			asked{Task: "t", History: 3, Hook: "http://h"},
		},
		{
			"0.1 set", "POST /",
			rpc("tasks/pushNotification/set", `{"id":"t","pushNotificationConfig":{"url":"http://h"}}`),
			asked{Task: "t", Hook: "http://h"},
		},
		{"0.1 get push", "POST /", rpc("tasks/pushNotification/get", `{"id":"t"}`), asked{Task: "t"}},
		{
			"0.3 send", "POST /",
			rpc("message/send",
				`{"id":"no","message":{"messageId":"m","taskId":"t","contextId":"c"},`+
					`"configuration":{"historyLength":0,"pushNotificationConfig":{"id":"p","url":"http://h"}}}`),
			asked{Task: "t", Context: "c", Message: "m", Config: "p", Hook: "http://h"},
		},
		{"0.3 get", "POST /", rpc("tasks/get", `{"id":"t","historyLength":10}`), asked{Task: "t", History: 10}},
		{
			"0.3 set", "POST /",
			rpc("tasks/pushNotificationConfig/set",
				`{"taskId":"t","pushNotificationConfig":{"id":"p","url":"http://h"}}`),
			asked{Task: "t", Config: "p", Hook: "http://h"},
		},
		{
			"0.3 get push", "POST /",
			rpc("tasks/pushNotificationConfig/get", `{"id":"t","pushNotificationConfigId":"p"}`),
			asked{Task: "t", Config: "p"},
		},
		{"0.3 list push", "POST /", rpc("tasks/pushNotificationConfig/list", `{"id":"t"}`), asked{Task: "t"}},
		{
			"0.3 delete push", "POST /",
			rpc("tasks/pushNotificationConfig/delete", `{"id":"t","pushNotificationConfigId":"p"}`),
			asked{Task: "t", Config: "p"},
		},
		{
			"1.0 send", "POST /",
			rpc("SendMessage",
				`{"tenant":"x","message":{"messageId":"m","taskId":"t","contextId":"c"},`+
					`"configuration":{"historyLength":2,"taskPushNotificationConfig":{"id":"p","url":"http://h"}}}`),
			asked{"t", "c", "m", "p", "", "x", 2, "http://h"},
		},
		{"1.0 subscribe", "POST /", rpc("SubscribeToTask", `{"id":"t","tenant":"x"}`), asked{Task: "t", Tenant: "x"}},
		{"1.0 list", "POST /", rpc("ListTasks", `{"contextId":"c","pageToken":"n"}`), asked{Context: "c", Page: "n"}},
		{
			"1.0 create push", "POST /",
			rpc("CreateTaskPushNotificationConfig", `{"taskId":"t","id":"p","url":"http://h"}`),
			asked{Task: "t", Config: "p", Hook: "http://h"},
		},
		{
			"1.0 get push", "POST /", rpc("GetTaskPushNotificationConfig", `{"taskId":"t","id":"p"}`),
			asked{Task: "t", Config: "p"},
		},
		{
			"1.0 list push", "POST /", rpc("ListTaskPushNotificationConfigs", `{"taskId":"t","pageToken":"n"}`),
			asked{Task: "t", Page: "n"},
		},
		{
			"0.3 REST config", "POST /v1/tasks/t/pushNotificationConfigs",
			`{"config":{"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":{"url":"http://h"}}}`,
			asked{Task: "t", Config: "p", Hook: "http://h"},
		},
		{
			"0.3 REST send", "POST /v1/message:send",
			`{"request":{"messageId":"m","role":"ROLE_USER","content":[{"text":"x"}]},` +
				`"configuration":{"pushNotification":{"url":"http://h"}}}`,
			asked{Message: "m", Hook: "http://h"},
		},
		{
			"1.0 REST list", "GET /tasks?contextId=c%201&pageToken=a%2Bb&historyLength=4&A2A-Version=1.0", "",
			asked{Context: "c 1", Page: "a+b", History: 4},
		},
		{"parameters are no object", "POST /", rpc("SendMessage", `["x"]`), asked{}},
		{
			"members of wrong types", "POST /",
			rpc("SendMessage", `{"message":{"messageId":1,"taskId":null,"contextId":{}},"configuration":[]}`),
			asked{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			expect.Same(t, "", test.want, namesOf(ask(test.line, test.body, Known{})))
		})
	}
	c := ask("POST /", rpc("GetTask", `{"id":"t","historyLength":0}`), Known{})
	if !c.HasHistoryLength || c.Params.Get("id").Pointer() != "/params/id" {
		t.Error("a history length of 0 is not there, or the parameters are not where they are")
	}
}

func TestPushConfig(t *testing.T) {
	const auth = `"token":"k","authentication":{"schemes":["Bearer","Basic"],"credentials":"c"}`
	tests := []struct {
		name, text, id, task string
		schemes              []string
	}{
		{"0.1", `{"id":"t","pushNotificationConfig":{"url":"u",` + auth + `}}`, "", "t", []string{"Bearer", "Basic"}},
		{
			"0.3", `{"taskId":"t","pushNotificationConfig":{"id":"p","url":"u",` + auth + `}}`, "p", "t",
			[]string{"Bearer", "Basic"},
		},
		{
			"proto JSON", `{"name":"tasks/t/pushNotificationConfigs/p","pushNotificationConfig":{"url":"u",` +
				auth + `}}`,
			"p", "t",
			[]string{"Bearer", "Basic"},
		},
		{
			"1.0",
			`{"taskId":"t","id":"p","url":"u","token":"k","authentication":{"scheme":"Bearer","credentials":"c"}}`,
			"p", "t",
			[]string{"Bearer"},
		},
		{"inline", `{"url":"u",` + auth + `}`, "", "", []string{"Bearer", "Basic"}},
	}
	for _, test := range tests {
		c := PushConfig{parse(t, test.text)}
		if c.ID() != test.id || c.TaskID() != test.task || c.URL() != "u" || c.Token() != "k" ||
			c.Credentials() != "c" {
			t.Errorf("%s: id %q, task %q, URL %q, token %q, credentials %q", test.name, c.ID(), c.TaskID(), c.URL(),
				c.Token(), c.Credentials())
		}
		expect.Same(t, test.name+": schemes", test.schemes, c.Schemes())
	}
}
