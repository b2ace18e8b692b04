package mutation_test

import (
	"fmt"
	"slices"
	"strings"

	"a2atap/proxy/capture"
)

// known are mutations that are not found as they should be, and why: most often the card's types are not looked at yet.
var known = map[string]string{
	"signatures are one object":           "members of cards have no types yet",
	"scopes are a list":                   "members of cards have no types yet",
	"params of an extension are a list":   "members of cards have no types yet",
	"extension is required by a text":     "members of cards have no types yet",
	"version of an interface is a number": "members of cards have no types yet",
	"interfaces are one object":           "members of cards have no types yet",
	"examples of a skill are numbers":     "members of cards have no types yet",
	"tags of a skill are a text":          "members of cards have no types yet",
	"skill is a text":                     "members of cards have no types yet",
	"provider is a text":                  "members of cards have no types yet",
	"version of an agent is a number":     "members of cards have no types yet",
	"extended card is a text":             "members of cards have no types yet",
	"push notifications are a text":       "members of cards have no types yet",
	"streaming is a text":                 "members of cards have no types yet",
	"input modes are a text":              "members of cards have no types yet",
	"capabilities are a list":             "members of cards have no types yet",
	"skills are a text":                   "members of cards have no types yet",
	"name of a card is a number":          "members of cards have no types yet",
	"card without interfaces":             "nothing tells then what card it is",
	"card without its address":            "nothing tells then what card it is",
	"card is empty":                       "nothing tells then what card it is",
	"legacy members in a part":            "over HTTP+JSON a kind is taken for 0.3, whatever version the request names",
	"legacy members in a task":            "over HTTP+JSON a kind is taken for 0.3, whatever version the request names",
}

// harmlessMutations break nothing. More of them are in variations, which change a whole conversation.
var harmlessMutations = []mutation{
	harmless("unknown member of a task", every, "task", give("vendorNote", `{"a":[1,null]}`)),
	harmless("unknown member of a message", every, messages, give("vendorNote", `[]`)),
	harmless("unknown member of a part", every, "part", give("vendorNote", `7`)).with(otherContent),
	harmless("unknown member of an artifact", every, "artifact", give("vendorNote", `"x"`)).with(otherContent),
	harmless("unknown member of an update", every, "update", give("vendorNote", `null`)),
	harmless("unknown member of a card", every, "card", give("vendorNote", `"x"`)),
	harmless("unknown capability", every, "capabilities", give("vendorNote", `true`)),
	harmless("unknown member of an envelope", rpc, "call reply", give("vendorNote", `1`)),
	harmless("unknown parameter", every, "params", give("vendorNote", `1`)),
	harmless("metadata of any kind inside", every, "task artifact asked",
		give("metadata", `{"state":"done","kind":5,"role":null,"parts":"x","timestamp":"soon"}`)),
	harmless("metadata in snake case", every, "task artifact asked",
		give("metadata", `{"task_id":1,"context_id":[],"message_id":{}}`)),
	harmless("metadata of a request", every, "params", when(asked("send stream"), give("metadata",
		`{"a":{"b":[1,2.5,null]}}`))),
	harmless("null metadata", v01|modern, "task artifact asked", give("metadata", `null`)),
	harmless("empty metadata", every, "task artifact asked part", give("metadata", `{}`)),
	harmless("data of any kind inside", every, "part", set("data", `{"kind":"x","text":null,`+
		`"status":{"state":1}}`)).with(otherContent),
	harmless("data that is a list in 1.0", modern, "part", when(asked("send"), set("data", `[1,null,{"a":"b"}]`))),
	harmless("data that is a text in 1.0", modern, "part", when(asked("send"), set("data", `"hello"`))),
	harmless("data that is null in 1.0", modern, "part", when(asked("send"), set("data", `null`))),
	harmless("no text at all", every, "part", when(inRequest, set("text", `""`))),
	harmless("text of another script", every, "part", when(inRequest, set("text", `"日本語 🚄 \u0000 \ud83d\ude84 "`))),
	harmless("a very long text", every, "part", when(inRequest, set("text", `"`+strings.Repeat("lorem ipsum ",
		2000)+`"`))),
	harmless("text that looks like JSON", every, "part", when(inRequest, set("text",
		`"{\"jsonrpc\":\"2.0\",\"error\":{}}"`))),
	harmless("one more part", every, messages, func(s *spot) bool {
		p := s.o.get("parts")
		if len(p.list()) == 0 {
			return false
		}
		p.elements = append(p.elements, makeValue(p.elements[0].text("")))
		return true
	}).with(otherContent),
	harmless("base64 without padding", every, "part file", when(lacks("text"), either(set("raw", `"aGVsbG8"`),
		set("bytes", `"aGVsbG8"`)))).with(otherContent),
	harmless("base64 for URLs", every, "part file", when(lacks("text"), either(set("raw", `"-_8="`), set("bytes",
		`"-_8="`)))).with(otherContent),
	harmless("no bytes", every, "part file", when(lacks("text"), either(set("raw", `""`), set("bytes", `""`)))).with(
		otherContent,
	),
	harmless("file in a data URL", every, "part file", either(set("url", `"data:text/plain;base64,aGk="`), set("uri",
		`"data:text/plain;base64,aGk="`))).with(otherContent),
	harmless("file in a storage", every, "part file", either(set("url", `"gs://bucket/object"`), set("uri",
		`"s3://bucket/object"`))).with(otherContent),
	harmless("media type with parameters", every, "part file",
		either(set("mediaType", `"application/json; charset=utf-8; profile=\"x\""`),
			set("mimeType", `"image/png; a=b"`))),
	harmless("no media type", every, "part file", either(dropped("mediaType"), dropped("mimeType"))),
	harmless("no file name", every, "part file", either(dropped("filename"), when(lacks("text"), dropped("name")))),
	harmless("artifact without a name", every, "artifact", dropped("name")),
	harmless("artifact with an empty description", every, "artifact", give("description", `""`)),
	harmless("no artifacts, and a list of them", every, "task", when(asked("send"), give("artifacts", `[]`))),
	harmless("no history, and a list of it", every, "task", when(asked("send"), when(wantsHistory, give("history",
		`[]`)))),
	harmless("less history than asked for", every, "task", when(asked("get"), dropped("history"))),
	harmless("time with nine digits", every, "status", digits("123456789")),
	harmless("time with one digit", every, "status", digits("5")),
	harmless("time without a fraction", every, "status", digits("")),
	harmless("no time", every, "status", dropped("timestamp")),
	harmless("time without a zone before 1.0", older, "status", zone("")),
	harmless("time with an offset before 1.0", older, "status", zone("+00:00")),
	harmless("status without a message", every, "status", when(notAuth, dropped("message"))),
	harmless("flags that say no", later, "artifactUpdate", either(give("append", `false`), give("lastChunk", `false`))),
	harmless("flags left out where they say no", later, "artifactUpdate", whenFalse("append")),
	harmless("last chunk left out where it says no", later, "artifactUpdate", whenFalse("lastChunk")),
	harmless("null flags", modern, "artifactUpdate", either(give("append", `null`), give("lastChunk", `null`))),
	harmless("final left out where it says no", v01, "statusUpdate", whenFalse("final")),
	harmless("empty lists in a card", later, "card", either(give("additionalInterfaces", `[]`), give("signatures",
		`[]`), give("security", `[]`))),
	harmless("empty lists in a skill", every, "skill", either(give("examples", `[]`), give("inputModes", `[]`),
		give("outputModes", `[]`))),
	harmless("card without a provider", every, "card", dropped("provider")),
	harmless("card without an icon", later, "card", dropped("iconUrl")),
	harmless("card without documentation", every, "card", dropped("documentationUrl")),
	harmless("skill without examples", every, "skill", dropped("examples")),
	harmless("one more skill", every, "card", func(s *spot) bool {
		list := s.o.get("skills")
		if len(list.list()) == 0 {
			return false
		}
		more := makeValue(list.elements[0].text(""))
		more.put("id", `"another"`)
		list.elements = append(list.elements, more)
		return true
	}),
	harmless("one more extension", later, "capabilities", func(s *spot) bool {
		if list := s.o.get("extensions"); list != nil && list.kind == '[' {
			list.elements = append(list.elements, makeValue(`{"uri":"https://ext.example/other/v1","required":false}`))
			return true
		}
		return give("extensions", `[{"uri":"https://ext.example/other/v1"}]`)(s)
	}),
	harmless("wildcard mode", later, "card", when(asked("fetch"), set("defaultInputModes", `["text/*","*/*"]`))),
	harmless("mode with parameters", later, "card", when(asked("fetch"), set("defaultInputModes",
		`["text/plain; charset=utf-8"]`))),
	harmless("accepts everything", later, "configuration", put("acceptedOutputModes", `["*/*"]`)),
	harmless("accepts nothing in particular", later, "configuration", put("acceptedOutputModes", `[]`)),
	harmless("no configuration asked for", kinds|rest03, "params",
		when(asked("send"), give("configuration",
			`{"acceptedOutputModes":["text/plain","application/json","image/png"]}`))),
	harmless("number as a text in 1.0", v10, "params configuration",
		either(set("historyLength", `"5"`), when(twoTasks, set("pageSize", `"2"`)))),
	harmless("number with a point in 1.0", v10, "params", when(asked("list"), when(twoTasks, set("pageSize", `2.0`)))),
	harmless("number with an exponent in 1.0", v10, "params",
		when(asked("list"), when(twoTasks, set("pageSize", `2e0`)))),
	harmless("number with an exponent in a reply of 1.0", modern, "page", when(notPaged, set("pageSize", `5e1`))),
	harmless("no filter at all", v10, "params", when(asked("list"), give("contextId", `""`))),
	harmless("no particular state", v10, "params", when(asked("list"), give("status", `"TASK_STATE_UNSPECIFIED"`))),
	harmless("tenant of nobody", modern, "params", when(asked("send get"), give("tenant", `""`))),
	harmless("null members of a request in 1.0", modern, "params", when(asked("send"), give("configuration", `null`))),
	harmless("null members of a task in 1.0", modern, "task",
		when(asked("send"), either(give("history", `null`), give("artifacts", `null`)))),
	harmless("method of older SDKs for the extended card", v03, "call",
		when(asked("card"), set("method", `"agent/authenticatedExtendedCard"`))),
	harmless("deletion answered with an object in 1.0", v10, "reply", when(asked("delete"), set("result", `null`))),
	harmless("message that begins with the id of no task", later, "asked",
		either(give("taskId", `""`), give("contextId", `""`))),
	harmless("referenced tasks, none", later, "asked", give("referenceTaskIds", `[]`)),
	harmless("extensions, none", later, "asked", give("extensions", `[]`)),
	harmless("message in the past without its kind", kinds, "past asked said", dropped("kind")),
	harmless("error with more words", every, "error", when(longMessage, func(s *spot) bool {
		return set("message", strings.TrimSuffix(s.o.get("message").raw, `"`)+`: see https://booker.example/errors"`)(s)
	})),
	harmless("one more detail", v10, "error", func(s *spot) bool {
		list := s.o.get("data")
		if list == nil || list.kind != '[' {
			return false
		}
		list.elements = append(list.elements,
			makeValue(`{"@type":"type.googleapis.com/google.rpc.RequestInfo","requestId":"5"}`))
		return true
	}),
	harmless("error without data before 1.0, or with any", v01|kinds, "error", give("data", `"whatever"`)),
	harmless("null data of an error", rpc, "error", give("data", `null`)),

	harmless("another order of media types", every, "", header("Accept", "text/event-stream;q=0.9, application/json")),
	harmless("more fields in the answer", every, "",
		moreLabel("Server: nginx\r\nX-Request-Id: 5\r\nStrict-Transport-Security: max-age=1\r\nVary: Accept")),
	harmless("cookies", every, "", moreLabel("Set-Cookie: session=1; HttpOnly\r\nSet-Cookie: other=2")),
	harmless("keep-alive", every, "", moreLabel("Connection: keep-alive\r\nKeep-Alive: timeout=5")),
	harmless("chunked", every, "", chunked),
	harmless("field names in lower case", every, "", func(s *spot) bool {
		x := s.x()
		x.Request.Head = []byte(eachField(string(x.Request.Head), strings.ToLower))
		return true
	}),
	harmless("media type in upper case", every, "", header("Content-Type", "Application/JSON")),
	harmless("media type with a charset", every, "", either(header("Content-Type", "application/json; charset=utf-8"),
		header("Content-Type", "application/json;charset=UTF-8"))),
	harmless("media type of an answer with a charset", every, "",
		when(jsonAnswer, label("Content-Type", "application/json; charset=utf-8"))),
	harmless("media type of a stream with a charset", every, "",
		when(called("stream subscribe"), label("Content-Type", "text/event-stream; charset=utf-8"))),
	harmless("status line without a reason", every, "", func(s *spot) bool {
		return s.kind.status == "200" && status("200")(&spot{exchanges: s.exchanges, i: s.i, kind: kind{status: "-"}})
	}),
	harmless("gateway fails", every, "", when(called("get send"), gateway("502 Bad Gateway"))),
	harmless("gateway is busy", every, "", when(called("get send"), gateway("503 Service Unavailable"))),
	harmless("too many requests", every, "", when(called("get send"), gateway("429 Too Many Requests"))),
	harmless("comment before an event", every, "", when(called("stream"), eachEvent(": ping\n%s"))),
	harmless("event with a name, an id and a time to wait", every, "",
		when(called("stream"), eachEvent("event: message\nid: 5\nretry: 3000\n%s"))),
	harmless("event with fields that nobody knows", every, "", when(called("stream"), eachEvent("x-note: 5\n%s"))),
	harmless("blank lines between events", every, "", when(called("stream"), eachEvent("%s\n"))),
}

func inRequest(s *spot) bool {
	return s.kind.operation == "send" && s.parent != nil && !s.root.has("result") && s.root.has("message") ||
		s.root.has("method")
}

// wantsHistory holds where the request does not say that it wants none.
func wantsHistory(s *spot) bool { return !filtered(`"historyLength":0`)(s) }

func notAuth(s *spot) bool { return !is("state", "auth-required", "TASK_STATE_AUTH_REQUIRED")(s) }

// digits writes a time with another fraction, which is as late as it was.
func digits(fraction string) func(*spot) bool {
	return func(s *spot) bool {
		text := s.o.str("timestamp")
		if len(text) < 20 || !strings.HasSuffix(text, "Z") {
			return false
		}
		if fraction == "" {
			return s.kind.operation == "send" && set("timestamp", fmt.Sprintf("%q", text[:19]+"Z"))(s)
		}
		whole, old, ok := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
		if !ok {
			return false
		}
		if len(fraction) > 1 {
			return set("timestamp", fmt.Sprintf("%q", whole+"."+(old + "000000000")[:9]+"Z"))(s)
		}
		return s.kind.operation == "send" && set("timestamp", fmt.Sprintf("%q", whole+"."+old[:1]+"Z"))(s)
	}
}

func zone(to string) func(*spot) bool {
	return func(s *spot) bool {
		text := s.o.str("timestamp")
		return strings.HasSuffix(text, "Z") && set("timestamp", fmt.Sprintf("%q", strings.TrimSuffix(text, "Z")+to))(s)
	}
}

// whenFalse removes a flag that says no.
func whenFalse(name string) func(*spot) bool {
	return func(s *spot) bool { return s.o.get(name) != nil && s.o.get(name).raw == "false" && s.o.remove(name) }
}

// longMessage holds for errors with a message to be read.
func longMessage(s *spot) bool { return s.o.str("message") != "" }

func chunked(s *spot) bool {
	r := s.x().Response
	if r == nil || len(r.Body.Data) == 0 {
		return false
	}
	setHeader(&r.Head, "Content-Length", "")
	return addLine(&r.Head, "Transfer-Encoding: chunked")
}

func jsonAnswer(s *spot) bool {
	r := s.x().Response
	return r != nil && strings.Contains(string(r.Head), "application/json") || r != nil &&
		strings.Contains(string(r.Head), "application/a2a+json")
}

// gateway answers in the place of the agent, before all that was said.
func gateway(line string) func(*spot) bool {
	return func(s *spot) bool {
		x := s.copyOf(s.i)
		s.after(x)
		x.Response = &capture.Response{
			At: x.Response.At, Head: []byte("HTTP/1.1 " + line +
				"\r\nContent-Type: text/html\r\nRetry-After: 1\r\n\r\n"),
			Body: capture.Body{
				Data: []byte("<html>try later</html>"), Size: 22, Complete: true,
				At: x.Response.Body.At,
			},
		}
		return true
	}
}

// eachEvent writes each event of a stream in another way.
func eachEvent(format string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Response
		var text strings.Builder
		for _, e := range r.Events {
			if e.Unterminated || e.Dropped > 0 {
				return false
			}
			if e.K > 0 {
				fmt.Fprintf(&text, format, e.Raw)
			}
		}
		var splitter capture.Splitter
		blocks := splitter.Write([]byte(text.String()))
		blocks = append(blocks, splitter.Flush()...)
		if len(r.Events) == 0 || slices.ContainsFunc(r.Events,
			func(e capture.Event) bool { return strings.Contains(string(e.Raw), "event:") }) {
			return false
		}
		for i := range blocks {
			blocks[i].At = r.Events[min(i, len(r.Events)-1)].At
		}
		r.Events = blocks
		return true
	}
}

// twoTasks holds for lists of two tasks a page.
func twoTasks(s *spot) bool { return s.o.get("pageSize") != nil && s.o.get("pageSize").raw == "2" }
