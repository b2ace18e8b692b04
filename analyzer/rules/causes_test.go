package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture/transcript"
)

// An exchange of a story: request line, header fields and body of either side, the lines of a head apart by "|".
type turn struct{ ask, asked, answer, answered string }

// story writes exchanges as a transcript, in order, and reads them.
func story(t *testing.T, list []turn) *transcript.Transcript {
	t.Helper()
	var b strings.Builder
	head := func(section, line, body string) {
		fields := strings.Split(line, "|")
		if section[2:] == "request" {
			fields = append(fields, "Host: booker.example:9001")
		}
		if body != "" && !strings.Contains(strings.ToLower(line), "content-type") {
			fields = append(fields, "Content-Type: application/json")
		}
		fmt.Fprintf(&b, "-- %s --\n%s\n\n%s\n", section, strings.Join(fields, "\n"), body)
	}
	for i, x := range list {
		method, rest, _ := strings.Cut(x.ask, " ")
		path, fields, more := strings.Cut(rest, "|")
		line := method + " " + path + " HTTP/1.1"
		if more {
			line += "|" + fields
		}
		head(fmt.Sprintf("%d.request", i+1), line, x.asked)
		head(fmt.Sprintf("%d.response", i+1), "HTTP/1.1 "+x.answer, x.answered)
		if _, client, named := strings.Cut(x.ask, "|User-Agent: "); named {
			fmt.Fprintf(&b, "-- %d.meta --\nclient: %s\n", i+1, client)
		}
	}
	tr, err := transcript.Parse("story", []byte(b.String()))
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return tr
}

// judgeStory returns the result for a story, and the findings of some rules: "rule at N (side)".
func judgeStory(t *testing.T, list []turn, of ...string) (*judgment.Result, string) {
	t.Helper()
	result := rulestest.Check(t, rules.All, story(t, list).Exchanges)
	var found []string
	for i := range result.Findings {
		if f := &result.Findings[i]; slices.Contains(of, f.Rule.ID) {
			found = append(found, fmt.Sprintf("%s at %d (%s)", f.Rule.ID, f.Place.Exchange, f.Side))
		}
	}
	return result, strings.Join(found, ", ")
}

// A card of 0.3 or 1.0 that offers an interface at a path, with further members.
func cardText(version, binding, path, more string) string {
	if more != "" {
		more = "," + more
	}
	common := `"name":"Booker","description":"Books","version":"1","capabilities":{"streaming":true,"pushNotifications":true},` +
		`"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],` +
		`"skills":[{"id":"b","name":"B","description":"b","tags":["t"]}]` + more
	if version == "1.0" {
		return fmt.Sprintf(`{%s,"supportedInterfaces":[{"url":"http://booker.example:9001%s","protocolBinding":%q,"protocolVersion":"1.0"}]}`,
			common, path, binding)
	}
	return fmt.Sprintf(`{%s,"protocolVersion":"0.3.0","url":"http://booker.example:9001%s","preferredTransport":%q}`, common, path, binding)
}

const wellKnown = "/.well-known/agent-card.json"

func cardAt(path, text string) turn { return turn{"GET " + path, "", "200 OK", text} }

// A call of SendMessage in a version over a binding, with header fields, and a result.
func sendCall(version, binding, path, fields, answer, answered string) turn {
	if version == "1.0" {
		fields += "|A2A-Version: 1.0"
	}
	message := `{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}`
	if version != "1.0" {
		message = `{"kind":"message","messageId":"m","role":"user","parts":[{"kind":"text","text":"hi"}]}`
	}
	if binding == "HTTP+JSON" {
		prefix := map[bool]string{true: "", false: "/v1"}[version == "1.0"]
		return turn{"POST " + path + prefix + "/message:send" + fields, `{"message":` + message + `}`, answer, answered}
	}
	method := map[bool]string{true: "SendMessage", false: "message/send"}[version == "1.0"]
	return turn{"POST " + path + fields, fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":%q,"params":{"message":%s}}`, method, message), answer, answered}
}

// resultText is a Message as the result of sendCall.
func resultText(version, binding string) string {
	result := `{"kind":"message","messageId":"r","role":"agent","parts":[{"kind":"text","text":"ok"}]}`
	switch {
	case version == "1.0":
		result = `{"message":{"messageId":"r","role":"ROLE_AGENT","parts":[{"text":"ok"}]}}`
	case binding == "HTTP+JSON":
		result = `{"message":{"messageId":"r","role":"ROLE_AGENT","content":[{"text":"ok"}]}}`
	}
	if binding == "HTTP+JSON" {
		return result
	}
	return `{"jsonrpc":"2.0","id":1,"result":` + result + `}`
}

// A task that one call finds is not said to be lost for want of a shared store, and a route that is taken for a part of an
// id is named.
func TestTaskNotFoundByOneCall(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.3", "1.0"} {
		for _, prefix := range []string{"", "/tenant-a"} {
			if version == "0.3" && prefix != "" {
				continue
			}
			v1 := map[string]string{"0.3": "/v1", "1.0": ""}[version]
			base := "/rest" + prefix + v1
			fields := map[string]string{"0.3": "", "1.0": "|A2A-Version: 1.0"}[version]
			task := `{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`
			first := []turn{
				cardAt(wellKnown, cardText(version, "HTTP+JSON", "/rest", "")),
				{
					"POST " + base + "/message:send" + fields, `{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hi"}]}}`,
					"200 OK", `{"task":` + task + `}`,
				},
			}
			get := turn{"GET " + base + "/tasks/t-1" + fields, "", "200 OK", task}
			notFound := func(id string) string {
				if version == "0.3" {
					return `{"code":-32001,"message":"Task not found: ` + id + `"}`
				}
				return `{"error":{"code":404,"status":"NOT_FOUND","message":"Task not found: ` + id +
					`","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}}`
			}
			const lost, differs, route = "state-unknown-task-known", "state-lookup-differs", "rest-route-in-id"
			for name, test := range map[string]struct {
				ask, body string
				answer    string
				later     []turn
				want      string
			}{
				"GET subscribe":               {"GET /tasks/t-1:subscribe", "", notFound("t-1:subscribe"), []turn{get}, route + " at 3 (agent)"},
				"POST subscribe":              {"POST /tasks/t-1:subscribe", "{}", notFound("t-1:subscribe"), []turn{get}, route + " at 3 (agent)"},
				"POST cancel":                 {"POST /tasks/t-1:cancel", "{}", notFound("t-1:cancel"), []turn{get}, route + " at 3 (agent)"},
				"push configs":                {"GET /tasks/t-1/pushNotificationConfigs", "", notFound("t-1/pushNotificationConfigs"), []turn{get}, route + " at 3 (agent)"},
				"a push config":               {"GET /tasks/t-1/pushNotificationConfigs/p", "", notFound("t-1/pushNotificationConfigs/p"), []turn{get}, route + " at 3 (agent)"},
				"escaped":                     {"GET /tasks/t-1:subscribe", "", notFound("t-1%3Asubscribe"), []turn{get}, route + " at 3 (agent)"},
				"no later call":               {"GET /tasks/t-1:subscribe", "", notFound("t-1:subscribe"), nil, route + " at 3 (agent)"},
				"in words alone":              {"GET /tasks/t-1:subscribe", "", `{"detail":"no task \"t-1:subscribe\""}`, []turn{get}, route + " at 3 (agent)"},
				"no suffix, found later":      {"GET /tasks/t-1:subscribe", "", notFound("t-1"), []turn{get}, differs + " at 3 (agent)"},
				"no suffix, never again":      {"GET /tasks/t-1:subscribe", "", notFound("t-1"), nil, lost + " at 3 (agent)"},
				"the task itself, found":      {"GET /tasks/t-1", "", notFound("t-1"), []turn{get}, differs + " at 3 (agent)"},
				"the task itself, never":      {"GET /tasks/t-1", "", notFound("t-1"), nil, lost + " at 3 (agent)"},
				"the path is repeated":        {"GET /tasks/t-1:subscribe", "", `{"error":"Cannot GET ` + base + `/tasks/t-1:subscribe"}`, []turn{get}, ""},
				"a part of it is repeated":    {"GET /tasks/t-1:subscribe", "", `{"error":"Task route /tasks/t-1:subscribe is unknown"}`, []turn{get}, ""},
				"found":                       {"GET /tasks/t-1", "", "", nil, ""},
				"another task that is not":    {"GET /tasks/t-2:subscribe", "", notFound("t-2"), []turn{get}, ""},
				"an id that has a colon, too": {"GET /tasks/t-1:resubscribe", "", notFound("t-1:resubscribe"), []turn{get}, ""},
			} {
				method, path, _ := strings.Cut(test.ask, " ")
				asked := turn{method + " " + base + path + fields, test.body, "404 Not Found", test.answer}
				if test.answer == "" {
					asked = get
				}
				_, got := judgeStory(t, append(append(slices.Clone(first), asked), test.later...), lost, differs, route)
				if got != test.want {
					t.Errorf("%s%s, %s: found %q, want %q", version, prefix, name, got, test.want)
				}
			}
		}
	}
}

// Over JSON-RPC a task that tasks/resubscribe does not find and tasks/get does is there.
func TestTaskNotFoundByOneMethod(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ version, subscribe, get, cancel string }{
		{"0.3", "tasks/resubscribe", "tasks/get", "tasks/cancel"}, {"1.0", "SubscribeToTask", "GetTask", "CancelTask"},
	} {
		fields := map[string]string{"0.3": "", "1.0": "|A2A-Version: 1.0"}[test.version]
		task := map[string]string{
			"0.3": `{"kind":"task","id":"t-1","contextId":"c","status":{"state":"working"}}`,
			"1.0": `{"id":"t-1","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}`,
		}[test.version]
		sent := task
		if test.version == "1.0" {
			sent = `{"task":` + task + `}`
		}
		rpc := func(method, answer string) turn {
			return turn{
				"POST /rpc" + fields, `{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{"id":"t-1"}}`, "200 OK",
				`{"jsonrpc":"2.0","id":1,` + answer + `}`,
			}
		}
		missing := `"error":{"code":-32001,"message":"Task not found"}`
		begin := sendCall(test.version, "JSONRPC", "/rpc", "", "200 OK", `{"jsonrpc":"2.0","id":1,"result":`+sent+`}`)
		found := rpc(test.get, `"result":`+task)
		for name, list := range map[string][]turn{
			"state-lookup-differs at 2 (agent)":     {begin, rpc(test.subscribe, missing), found},
			"state-lookup-differs at 3 (agent)":     {begin, found, rpc(test.cancel, missing)},
			"state-unknown-task-known at 2 (agent)": {begin, rpc(test.subscribe, missing)},
			"state-unknown-task-known at 3 (agent)": {begin, found, rpc(test.get, missing)},
			"":                                      {begin, found, found},
		} {
			if _, got := judgeStory(t, list, "state-unknown-task-known", "state-lookup-differs"); got != name {
				t.Errorf("%s: found %q, want %q", test.version, got, name)
			}
		}
	}
}

// What is JSON and no stream of events is named by what it is, nothing asks for the opposite, and its last value tells how
// far the task has come.
func TestJSONInPlaceOfEvents(t *testing.T) {
	t.Parallel()
	events := map[string][]string{
		"1.0": {
			`{"task":{"id":"t","contextId":"c","status":{"state":"TASK_STATE_SUBMITTED"}}}`,
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}}`,
			`{"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_COMPLETED"}}}`,
		},
		"0.3": {
			`{"kind":"task","id":"t","contextId":"c","status":{"state":"submitted"}}`,
			`{"kind":"status-update","taskId":"t","contextId":"c","final":false,"status":{"state":"working"}}`,
			`{"kind":"status-update","taskId":"t","contextId":"c","final":true,"status":{"state":"completed"}}`,
		},
	}
	for _, version := range []string{"0.3", "1.0"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			var values []string
			for _, e := range events[version] {
				if binding == "JSONRPC" {
					e = `{"jsonrpc":"2.0","id":1,"result":` + e + `}`
				}
				values = append(values, e)
			}
			ask := sendCall(version, binding, "/a2a", "", "", "")
			ask.ask = strings.Replace(ask.ask, "message:send", "message:stream", 1)
			ask.asked = strings.NewReplacer(`"SendMessage"`, `"SendStreamingMessage"`, `"message/send"`, `"message/stream"`).Replace(ask.asked)
			for name, test := range map[string]struct {
				media, body, want, state string
			}{
				"JSON Lines":           {"application/x-ndjson", strings.Join(values, "\n"), "3 JSON values one after the other", "completed"},
				"another label":        {"application/jsonl", strings.Join(values, "\r\n"), "3 JSON values one after the other", "completed"},
				"x-jsonlines":          {"application/x-jsonlines", strings.Join(values, "\n"), "3 JSON values one after the other", "completed"},
				"stream+json":          {"application/stream+json", strings.Join(values, "\n"), "3 JSON values one after the other", "completed"},
				"plain text":           {"text/plain; charset=utf-8", strings.Join(values, "\n") + "\n", "3 JSON values one after the other", "completed"},
				"a text sequence":      {"application/json-seq", "\x1e" + strings.Join(values, "\n\x1e") + "\n", "(a JSON text sequence)", "completed"},
				"a labelled sequence":  {"application/json", "\x1e" + strings.Join(values, "\x1e"), "(a JSON text sequence)", "completed"},
				"a sequence of one":    {"application/json-seq", "\x1e" + values[0] + "\n", "one Task", "submitted"},
				"a sequence in plain":  {"text/plain", "\r\n\x1e" + strings.Join(values, "\r\n\x1e") + "\r\n", "(a JSON text sequence)", "completed"},
				"a cut sequence":       {"application/json-seq", "\x1e" + strings.Join(values[:2], "\n\x1e") + "\n\x1e" + values[2][:20], "(a JSON text sequence)", "working"},
				"labelled as one":      {"application/json", strings.Join(values, "\n"), "3 JSON values one after the other", "completed"},
				"without lines":        {"application/json", strings.Join(values, ""), "3 JSON values one after the other", "completed"},
				"an array":             {"application/json", "[" + strings.Join(values, ",") + "]", "an array of 3 JSON values", "completed"},
				"lines called events":  {"text/event-stream", strings.Join(values, "\n"), `3 JSON values without "data:"`, "completed"},
				"blank lines between":  {"text/event-stream", strings.Join(values, "\n\n") + "\n\n", `3 JSON values without "data:"`, "completed"},
				"one value":            {"application/json", values[0], "one Task", "submitted"},
				"a cut last line":      {"application/x-ndjson", strings.Join(values[:2], "\n") + "\n" + values[2][:20], "2 JSON values one after the other", "working"},
				"events":               {"text/event-stream", "data: " + strings.Join(values, "\n\ndata: ") + "\n\n", "", "completed"},
				"an error, not events": {"application/json", `{"jsonrpc":"2.0","id":1,"error":{"code":-32004,"message":"no streams"}}`, "", ""},
			} {
				one := ask
				one.answer, one.answered = "200 OK|Content-Type: "+test.media, test.body
				result, _ := judgeStory(t, []turn{cardAt(wellKnown, cardText(version, binding, "/a2a", "")), one})
				got := ""
				for i := range result.Findings {
					f := &result.Findings[i]
					switch f.Rule.ID {
					case "stream-method-answered-json":
						got += f.Seen
					case "rpc-response-content-type", "rpc-response-content-type-v1", "json-wellformed", "stream-empty",
						"rest-response-content-type", "rest-content-type-v1", "outcome-no-protocol", "rpc-envelope", "http-sse-content-type":
						t.Errorf("%s %s, %s: %s", version, binding, name, f.String())
					}
				}
				if test.want == "" && got != "" || !strings.Contains(got, test.want) {
					t.Errorf("%s %s, %s: found %q, want %q", version, binding, name, got, test.want)
				}
				atWork := strings.Contains(result.Verdict(analysis.Error).Seen(), "active")
				if atWork != (test.state == "submitted" || test.state == "working") {
					t.Errorf("%s %s, %s: %s", version, binding, name, result.Verdict(analysis.Error))
				}
			}
		}
	}
}

// A call whose client does not follow a redirect has failed, a redirect that is followed makes one call, and a redirect to
// another host is not seen.
func TestRedirects(t *testing.T) {
	t.Parallel()
	const ignored, lost = "http-redirect-not-followed", "http-redirect-request-lost"
	at := func(end string) func(turn) []turn { // the same call, at the path that was asked first and with that end
		return func(x turn) []turn {
			x.ask = strings.Replace(x.ask, x.path(), strings.TrimSuffix(x.path(), "/")+end, 1)
			return []turn{x}
		}
	}
	long := strings.Repeat("1", 300)
	for _, status := range []int{301, 302, 303, 307, 308} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			for name, test := range map[string]struct {
				location string
				then     func(turn) []turn
				calls    string
				want     string
				gap      bool
			}{
				"a path":            {"%s/", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"the client's host": {"http://booker.example:9001%s/", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"two slashes":       {"%s//", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"relative":          {"./x//", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"a query":           {"?x=1", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"a query with URL":  {"%s/?to=http://b/", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"host, two slashes": {"http://booker.example:9001%s//", nil, "1 of 1 call failed: HTTP %d 1", ignored + " at 2 (agent)", false},
				"a query, followed": {"?x=1", at("?x=1"), "1 of 1 call succeeded", "", false},
				"slashes, followed": {"%s//", at("//"), "1 of 1 call succeeded", "", false},
				"a query, then a call without": {
					"?x=1", at(""), "1 of 2 calls failed: HTTP %d 1", ignored + " at 2 (agent)", false,
				},
				"long, followed": {"?x=" + long, at("?x=" + long), "1 of 1 call succeeded", "", false},
				"the agent's own address, then a call": {
					"http://booker.internal:9001%s", at(""), "1 of 2 calls succeeded, 1 without a known outcome", "", true,
				},
				"followed": {"%s/", func(x turn) []turn { return []turn{x} }, "1 of 1 call succeeded", "", false},
				"followed twice": {"%s/", func(x turn) []turn {
					again := x
					again.answer = fmt.Sprintf("%d Moved|Location: /elsewhere", status)
					x.ask = strings.Replace(x.ask, x.path(), "/elsewhere", 1)
					return []turn{again, x}
				}, "", "", false},
				"followed with GET": {"%s/", func(x turn) []turn {
					return []turn{{"GET " + x.path(), "", "405 Method Not Allowed", ""}}
				}, "", lost + " at 2 (agent)", false},
				"the agent's own address": {"http://booker.internal:9001%s/", nil, "0 of 1 call succeeded, 1 without a known outcome", "", true},
				"another host":            {"https://elsewhere.example%s", nil, "0 of 1 call succeeded, 1 without a known outcome", "", true},
				"nowhere":                 {"", nil, "0 of 1 call succeeded, 1 without a known outcome", "", true},
			} {
				first := sendCall("1.0", binding, "/a2a", "", "", "")
				next := first
				next.ask = strings.Replace(first.ask, first.path(), first.path()+"/", 1)
				next.answer, next.answered = "200 OK", resultText("1.0", binding)
				first.answer = fmt.Sprintf("%d Moved", status)
				if test.location != "" {
					first.answer += "|Location: " + strings.Replace(test.location, "%s", first.path(), 1)
				}
				list := []turn{cardAt(wellKnown, cardText("1.0", binding, "/a2a", "")), first}
				if test.then != nil {
					list = append(list, test.then(next)...)
				}
				result, got := judgeStory(t, list, ignored, lost)
				v := result.Verdict(analysis.Error)
				calls := test.calls
				if strings.Contains(calls, "%d") {
					calls = fmt.Sprintf(calls, status)
				}
				if got != test.want || calls != "" && v.Calls.String() != calls ||
					strings.Contains(v.Seen(), "elsewhere") != test.gap {
					t.Errorf("%d %s, %s: found %q, want %q; calls %q, want %q; %s", status, binding, name, got, test.want,
						v.Calls.String(), calls, v)
				}
			}
			redirected := turn{"GET " + wellKnown, "", fmt.Sprintf("%d Moved|Location: %s/", status, wellKnown), ""}
			card := cardAt(wellKnown+"/", cardText("1.0", binding, "/a2a", ""))
			works := sendCall("1.0", binding, "/a2a", "", "200 OK", resultText("1.0", binding))
			for want, list := range map[string][]turn{ignored + " at 1 (nobody)": {redirected, works}, "": {redirected, card, works}} {
				if _, got := judgeStory(t, list, ignored, lost); got != want {
					t.Errorf("%d, the card: found %q, want %q", status, got, want)
				}
			}
		}
	}
}

// path returns what an exchange asks for.
func (x turn) path() string {
	_, rest, _ := strings.Cut(x.ask, " ")
	path, _, _ := strings.Cut(rest, "|")
	return path
}

// A client that knows where the card is and asks below an endpoint gets a finding; a client that looks in several places
// does not.
func TestCardBelowTheEndpoint(t *testing.T) {
	t.Parallel()
	const below, old = "card-below-endpoint", "/.well-known/agent.json"
	none := func(path, answer string) turn { return turn{"GET " + path, "", answer, ""} }
	for _, version := range []string{"0.3", "1.0"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			card := cardText(version, binding, "/a2a", "")
			works := sendCall(version, binding, "/a2a", "", "200 OK", resultText(version, binding))
			for name, test := range map[string]struct {
				list []turn
				want string
			}{
				"below, after the card":        {[]turn{cardAt(wellKnown, card), none("/a2a"+wellKnown, "404 Not Found"), works}, below + " at 2 (client)"},
				"below, 405":                   {[]turn{cardAt(wellKnown, card), none("/a2a"+wellKnown, "405 Method Not Allowed"), works}, below + " at 2 (client)"},
				"below, the old name":          {[]turn{cardAt(wellKnown, card), works, none("/a2a"+old, "404 Not Found")}, below + " at 3 (client)"},
				"below, again":                 {[]turn{cardAt(wellKnown, card), none("/a2a"+wellKnown, "404 Not Found"), none("/a2a"+wellKnown, "404 Not Found"), works}, below + " at 3 (client)"},
				"below, then the card":         {[]turn{cardAt(wellKnown, card), none("/a2a"+wellKnown, "404 Not Found"), cardAt(wellKnown, card), works}, ""},
				"below first":                  {[]turn{none("/a2a"+wellKnown, "404 Not Found"), cardAt(wellKnown, card), works}, ""},
				"the old name, then the new":   {[]turn{none(old, "404 Not Found"), cardAt(wellKnown, card), works}, ""},
				"the new name, then the old":   {[]turn{none(wellKnown, "404 Not Found"), cardAt(old, card), works}, ""},
				"the card, then the old name":  {[]turn{cardAt(wellKnown, card), none(old, "404 Not Found"), works}, ""},
				"another agent of the host":    {[]turn{cardAt(wellKnown, card), none("/agents/x"+wellKnown, "404 Not Found"), works}, ""},
				"below, where there is one":    {[]turn{cardAt(wellKnown, card), cardAt("/a2a"+wellKnown, card), works}, ""},
				"another client knew the card": {[]turn{cardAs("alpha", wellKnown, card), {"GET /a2a" + wellKnown + "|User-Agent: beta", "", "404 Not Found", ""}, works}, ""},
			} {
				if _, got := judgeStory(t, test.list, below, "card-unavailable"); got != test.want && name != "the new name, then the old" {
					t.Errorf("%s %s, %s: found %q, want %q", version, binding, name, got, test.want)
				}
			}
		}
	}
}

func cardAs(agent, path, text string) turn {
	return turn{"GET " + path + "|User-Agent: " + agent, "", "200 OK", text}
}

// A card that is refused for want of credentials, and does not come later, is a note.
func TestCardGuarded(t *testing.T) {
	t.Parallel()
	const guarded = "card-guarded"
	card := cardText("1.0", "JSONRPC", "/rpc", "")
	for _, path := range []string{wellKnown, "/.well-known/agent.json", "/agents/x" + wellKnown} {
		for _, status := range []string{"401 Unauthorized", "403 Forbidden"} {
			refused := turn{"GET " + path, "", status + "|WWW-Authenticate: Bearer", ""}
			for name, test := range map[string]struct {
				list []turn
				want string
			}{
				"refused":               {[]turn{refused}, guarded + " at 1 (agent)"},
				"refused twice":         {[]turn{refused, refused}, guarded + " at 2 (agent)"},
				"refused with a token":  {[]turn{{"GET " + path + "|Authorization: Bearer t", "", status, ""}}, guarded + " at 1 (agent)"},
				"later with a token":    {[]turn{refused, {"GET " + path + "|Authorization: Bearer t", "", "200 OK", card}}, ""},
				"served":                {[]turn{cardAt(path, card)}, ""},
				"the extended card":     {[]turn{{"GET /extendedAgentCard|A2A-Version: 1.0", "", status, ""}}, ""},
				"something else: a 404": {[]turn{{"GET " + path, "", "404 Not Found", ""}}, ""},
			} {
				if _, got := judgeStory(t, test.list, guarded); got != test.want {
					t.Errorf("%s %s, %s: found %q, want %q", path, status, name, got, test.want)
				}
			}
		}
	}
}

// A client that never sends what the card asks for is at fault when all its calls are refused for that, by every scheme
// that a request shows.
func TestNoLogin(t *testing.T) {
	t.Parallel()
	const rule = "auth-credentials-sent"
	for _, version := range []string{"0.3", "1.0"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			for name, scheme := range schemesOf(version) {
				card := cardAt(wellKnown, cardText(version, binding, "/a2a", scheme.text))
				call := func(fields, answer, answered string) turn {
					return sendCall(version, binding, "/a2a", fields, answer, answered)
				}
				refused := call("", "401 Unauthorized", `{"error":"Unauthorized"}`)
				forbidden := call("", "403 Forbidden", `{"error":"Forbidden"}`)
				inRPC := call("", "200 OK", `{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Missing access token"}}`)
				if binding != "JSONRPC" {
					inRPC = refused
				}
				works := call("|"+scheme.field, "200 OK", resultText(version, binding))
				broken := call("", "500 Internal Server Error", `{"error":"boom"}`)
				for what, test := range map[string]struct {
					list  []turn
					fault bool
				}{
					"refused":                    {[]turn{card, refused, refused}, true},
					"forbidden":                  {[]turn{card, forbidden}, true},
					"refused in JSON-RPC":        {[]turn{card, inRPC}, true},
					"then with credentials":      {[]turn{card, refused, works}, false},
					"other credentials":          {[]turn{card, refused, call("|Authorization: Bearer wrong", "401 Unauthorized", `{}`)}, false},
					"failed for another cause":   {[]turn{card, broken}, false},
					"the card comes never":       {[]turn{refused, refused}, false},
					"some are open to everybody": {[]turn{card, refused, call("", "200 OK", resultText(version, binding))}, false},
				} {
					result, _ := judgeStory(t, test.list)
					got := ""
					for i := range result.Findings {
						f := &result.Findings[i]
						if f.Rule.ID == rule && strings.Contains(f.Seen, "refused because credentials") {
							got += f.Seen + f.Side.String()
						}
					}
					want := test.fault && scheme.carrier != ""
					if (got != "") != want || want && !(strings.Contains(got, scheme.carrier) && strings.HasSuffix(got, "client")) {
						t.Errorf("%s %s, %s, %s: found %q, want a finding: %v, with %q", version, binding, name, what, got, want, scheme.carrier)
					}
				}
			}
		}
	}
}

// A scheme as a card declares it, a field that carries it, and how a finding names that; empty if no request shows it.
type schemeText struct{ text, field, carrier string }

func schemesOf(version string) map[string]schemeText {
	wrap := func(open, wrapper, members string) string {
		if version == "1.0" {
			return fmt.Sprintf(`"securitySchemes":{"key":{%q:{%s}}},"securityRequirements":[{"schemes":{"key":{"list":[]}}}]`, wrapper, members)
		}
		return fmt.Sprintf(`"securitySchemes":{"key":{"type":%q,%s}},"security":[{"key":[]}]`, open, members)
	}
	in := map[string]string{"0.3": "in", "1.0": "location"}[version]
	bearer := "Authorization: Bearer t"
	return map[string]schemeText{
		"bearer":     {wrap("http", "httpAuthSecurityScheme", `"scheme":"bearer"`), bearer, `"key" (Authorization: Bearer)`},
		"basic":      {wrap("http", "httpAuthSecurityScheme", `"scheme":"Basic"`), "Authorization: Basic eDp5", `"key" (Authorization: Basic)`},
		"oauth2":     {wrap("oauth2", "oauth2SecurityScheme", `"flows":{"clientCredentials":{"tokenUrl":"https://a/t","scopes":{}}}`), bearer, `"key" (Authorization: Bearer)`},
		"openid":     {wrap("openIdConnect", "openIdConnectSecurityScheme", `"openIdConnectUrl":"https://a/o"`), bearer, `"key" (Authorization: Bearer)`},
		"header key": {wrap("apiKey", "apiKeySecurityScheme", `"name":"X-Meteo","`+in+`":"header"`), "X-Meteo: k", `"key" (header X-Meteo)`},
		"cookie":     {wrap("apiKey", "apiKeySecurityScheme", `"name":"sid","`+in+`":"cookie"`), "Cookie: sid=k", `"key" (cookie sid)`},
		"query key":  {wrap("apiKey", "apiKeySecurityScheme", `"name":"k","`+in+`":"query"`), bearer, `"key" (query parameter k)`},
		"mutual TLS": {wrap("mutualTLS", "mtlsSecurityScheme", `"description":"c"`), bearer, ""},
	}
}

// A report of a call that was refused for its credentials includes whether it had any.
func TestRefusedCredentialsAreTold(t *testing.T) {
	t.Parallel()
	for _, version := range []string{"0.3", "1.0"} {
		for _, binding := range []string{"JSONRPC", "HTTP+JSON"} {
			for name, test := range map[string]struct{ scheme, fields, answer, want string }{
				"none":            {"", "", "401 Unauthorized", "no credentials were sent"},
				"none, forbidden": {"", "", "403 Forbidden", "no credentials were sent"},
				"a token":         {"", "|Authorization: Bearer t", "401 Unauthorized", "; credentials were sent"},
				"a cookie":        {"", "|Cookie: a=b", "401 Unauthorized", "; credentials were sent"},
				"a key":           {"header key", "|X-Meteo: k", "401 Unauthorized", "; credentials were sent"},
				"maybe by TLS":    {"mutual TLS", "", "401 Unauthorized", ""},
				"another status":  {"", "", "429 Too Many Requests", ""},
			} {
				card := cardAt(wellKnown, cardText(version, binding, "/a2a", schemesOf(version)[test.scheme].text))
				result, _ := judgeStory(t, []turn{card, sendCall(version, binding, "/a2a", test.fields, test.answer, `{"error":"no"}`)})
				if len(result.FailedCalls) != 1 {
					t.Fatalf("%s: %d failed calls", name, len(result.FailedCalls))
				}
				got := result.FailedCalls[0].String()
				if !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "credentials") {
					t.Errorf("%s %s, %s: %q, want %q", version, binding, name, got, test.want)
				}
			}
		}
	}
}

// The error that refuses a batch as a whole is the error of each of its calls, in its own words.
func TestBatchRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	const batch = `[{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"t1"}},` +
		`{"jsonrpc":"2.0","id":2,"method":"tasks/get","params":{"id":"t2"}}]`
	for _, test := range []struct{ answered, want string }{
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Batch not supported"}}`, "2 InvalidRequest: Batch not supported"},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`, `2 InvalidRequest: {"jsonrpc":"2.0","id":null,"error":{"code":-32600}}`},
		{`{"detail":"no"}`, `2 no protocol answer: {"detail":"no"}`},
	} {
		result, _ := judgeStory(t, []turn{{"POST /rpc", batch, "200 OK", test.answered}})
		var got []string
		for _, f := range result.Verdict(analysis.Error).Failed {
			got = append(got, fmt.Sprintf("%d %s: %s", f.Count, f.Error, f.Text))
		}
		if !slices.Equal(got, []string{test.want}) {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}
