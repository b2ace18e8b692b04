package rules_test

import (
	"fmt"
	"strings"
	"testing"
)

// An agent that refuses what its card promises is at fault; a client that asks for what the card does not offer is,
// too. Without a card neither is.
func TestWhoIsAtFaultForARefusal(t *testing.T) {
	t.Parallel()
	capabilities := []struct {
		name, flag   string
		rpc, rest    map[string]string
		body         string
		agent, asked string
	}{
		{
			"streaming", "streaming",
			map[string]string{"0.3": "message/stream", "1.0": "SendStreamingMessage"},
			map[string]string{"0.3": "POST /v1/message:stream", "1.0": "POST /message:stream"},
			"message",
			"cap-streaming-refused", "req-capability-streaming",
		},
		{
			"push", "pushNotifications",
			map[string]string{"0.3": "tasks/pushNotificationConfig/set", "1.0": "CreateTaskPushNotificationConfig"},
			map[string]string{"0.3": "POST /v1/tasks/t-1/pushNotificationConfigs", "1.0": "POST /tasks/t-1/pushNotificationConfigs"},
			"config",
			"push-supported-but-refused", "req-capability-push",
		},
		{
			"extended card", "extendedAgentCard",
			map[string]string{"0.3": "agent/getAuthenticatedExtendedCard", "1.0": "GetExtendedAgentCard"},
			map[string]string{"0.3": "GET /v1/card", "1.0": "GET /extendedAgentCard"},
			"",
			"cap-extended-declared", "req-capability-extended",
		},
	}
	for _, version := range []string{"0.3", "1.0"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			for _, capability := range capabilities {
				for _, refusal := range []string{"unknown", "unsupported"} {
					if refusal == "unsupported" && capability.name == "push" {
						continue // its error is another one, and this one may be about the task
					}
					for _, promised := range []string{"yes", "no", "not known"} {
						list := refusedStory(version, binding, capability.flag, capability.rpc[version], capability.rest[version],
							capability.body, refusal, promised)
						want := map[string]string{
							"yes": fmt.Sprintf("%s at %d (agent)", capability.agent, len(list)),
							"no":  fmt.Sprintf("%s at %d (client)", capability.asked, len(list)),
						}[promised]
						_, got := judgeStory(t, list, capability.agent, capability.asked)
						if got != want {
							t.Errorf("%s over %s, %s refused as %s, promised %s: found %q, want %q", version, binding,
								capability.name, refusal, promised, got, want)
						}
					}
				}
			}
		}
	}
}

// refusedStory is the fetch of a card, unless that is not known, a call that succeeds, and one that is refused.
func refusedStory(version, binding, flag, method, route, holds, refusal, promised string) []turn {
	var list []turn
	if promised != "not known" {
		text := cardText(version, binding, "/a", "")
		offered := fmt.Sprint(promised == "yes")
		switch {
		case flag != "extendedAgentCard":
			text = strings.Replace(text, `"`+flag+`":true`, `"`+flag+`":`+offered, 1)
		case version == "1.0":
			text = strings.Replace(text, `"capabilities":{`, `"capabilities":{"extendedAgentCard":`+offered+`,`, 1)
		default:
			text = cardText(version, binding, "/a", `"supportsAuthenticatedExtendedCard":`+offered)
		}
		list = append(list, cardAt(wellKnown, text))
	}
	list = append(list, sendCall(version, binding, "/a", "", "200 OK", resultText(version, binding)))
	fields, message := "", `{"kind":"message","messageId":"m2","role":"user","parts":[{"kind":"text","text":"hi"}]}`
	if version == "1.0" {
		fields, message = "|A2A-Version: 1.0", `{"messageId":"m2","role":"ROLE_USER","parts":[{"text":"hi"}]}`
	} else if binding == "HTTP+JSON" {
		message = `{"messageId":"m2","role":"ROLE_USER","content":[{"text":"hi"}]}`
	}
	body := map[string]string{
		"message": `{"message":` + message + `}`,
		"config":  `{"taskId":"t-1","pushNotificationConfig":{"url":"https://hook.example/a"}}`,
	}[holds]
	if holds == "config" && version == "1.0" {
		body = `{"taskId":"t-1","url":"https://hook.example/a"}`
	}
	if binding == "JSONRPC" {
		params := ""
		if body != "" {
			params = `,"params":` + body
		}
		failure := map[string]string{
			"unknown": `{"code":-32601,"message":"Method not found"}`, "unsupported": `{"code":-32004,"message":"This operation is not supported"}`,
		}[refusal]
		return append(list, turn{
			"POST /a" + fields, `{"jsonrpc":"2.0","id":2,"method":"` + method + `"` + params + `}`,
			"200 OK", `{"jsonrpc":"2.0","id":2,"error":` + failure + `}`,
		})
	}
	verb, path, _ := strings.Cut(route, " ")
	status, answer := "404 Not Found", `{"detail":"Not Found"}`
	if refusal == "unsupported" {
		status = "400 Bad Request"
		answer = `{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"This operation is not supported","details":` +
			`[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION","domain":"a2a-protocol.org"}]}}`
		if version == "0.3" {
			answer = `{"code":-32004,"message":"This operation is not supported"}`
		}
	}
	return append(list, turn{verb + " /a" + path + fields, body, status, answer})
}

// A refusal that does not say of what is one of streaming, unless the request asks for something else that no card
// declares.
func TestRefusalOfWhatTheCardOffers(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.3", "1.0"} {
		for _, test := range []struct {
			name, configuration, card, text string
			blamed                          bool
		}{
			{"nothing else", "", "", "This operation is not supported", true},
			{"text", `"acceptedOutputModes":["text/plain"]`, "", "This operation is not supported", true},
			{"a mode that the card does not have", `"acceptedOutputModes":["image/png"]`, "", "This operation is not supported", false},
			{"a mode of a skill", `"acceptedOutputModes":["image/png"]`, `"outputModes":["image/png"],`, "This operation is not supported", true},
			{"in other letters", `"acceptedOutputModes":["Image/PNG"]`, `"outputModes":["image/png"],`, "This operation is not supported", true},
			{"one of a skill and another", `"acceptedOutputModes":["image/png","video/mp4"]`, `"outputModes":["image/png"],`, "This operation is not supported", false},
			{"a mode of a skill, which the text names", `"acceptedOutputModes":["image/png"]`, `"outputModes":["image/png"],`, "Unsupported output mode", false},
			{"a webhook", map[string]string{
				"0.3": `"pushNotificationConfig":{"url":"https://hook.example/a"}`, "1.0": `"taskPushNotificationConfig":{"url":"https://hook.example/a"}`,
			}[version], "", "This operation is not supported", false},
		} {
			list := refusedStory(version, "JSONRPC", "streaming", map[string]string{"0.3": "message/stream", "1.0": "SendStreamingMessage"}[version],
				"", "message", "unsupported", "yes")
			list[0].answered = strings.Replace(list[0].answered, `"skills":[{`, `"skills":[{`+test.card, 1)
			last := &list[len(list)-1]
			if test.configuration != "" {
				last.asked = strings.Replace(last.asked, `"params":{`, `"params":{"configuration":{`+test.configuration+`},`, 1)
			}
			last.answered = strings.Replace(last.answered, "This operation is not supported", test.text, 1)
			want := ""
			if test.blamed {
				want = fmt.Sprintf("cap-streaming-refused at %d (agent)", len(list))
			}
			if _, got := judgeStory(t, list, "cap-streaming-refused"); got != want {
				t.Errorf("%s, %s: found %q, want %q", version, test.name, got, want)
			}
		}
	}
}
