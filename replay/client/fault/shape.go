package fault

import (
	"maps"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Faults of the shape of messages, of their parts, and of the members of requests.
var shapeFaults = []ClientFault{
	of(anyProtocol, "msg-object", sends, "A string is sent instead of the message.",
		onParams(func(p map[string]any) { p["message"] = "hello" }, a2a.SendMessage)),
	of(sinceIDs, "msg-id-present", sends, "Messages have no id.",
		onMessage(func(m map[string]any) { delete(m, "messageId") })),
	of(anyProtocol, "msg-role-enum", sends, "Messages have the role \"human\".",
		onMessage(func(m map[string]any) { m["role"] = "human" })),
	of(anyProtocol, "msg-role-client", sends, "Messages are sent with the role of the agent.",
		onMessage(func(m map[string]any) {
			if m["role"] == "ROLE_USER" {
				m["role"] = "ROLE_AGENT"
			} else {
				m["role"] = "agent"
			}
		})),
	of(anyProtocol, "msg-parts-array", sends, "The parts of messages are a string.",
		onMessage(func(m map[string]any) { m["parts"] = "hello" })),
	of(only10, "msg-parts-nonempty", sends, "Messages have no parts.",
		onMessage(func(m map[string]any) { m["parts"] = []any{} })),
	of(only03, "msg-kind", sends, "Messages have the kind \"question\".",
		onMessage(func(m map[string]any) { m["kind"] = "question" })),
	of(sinceIDs, "msg-extensions-uri", sends, "Messages name an extension by a word that is not a URI.",
		onMessage(func(m map[string]any) { m["extensions"] = []any{"seats"} })),
	of(sinceIDs, "msg-reference-task-ids", sends, "The referenceTaskIds of messages are a string.",
		onMessage(func(m map[string]any) { m["referenceTaskIds"] = "t0" })),
	of(anyProtocol, "metadata-object", sends, "The metadata of messages is a string.",
		onMessage(func(m map[string]any) { m["metadata"] = "none" })),
	of(anyProtocol, "part-object", sends, "Parts are strings instead of objects.",
		onMessage(func(m map[string]any) { m["parts"] = []any{"hello"} })),
	of(only03, "part-discriminator", sends, "Parts do not name their kind.",
		onPart(func(p map[string]any) { delete(p, "kind") })),
	of(only01, "part-discriminator-v01", sends, "Parts are of the type \"markdown\".",
		onPart(func(p map[string]any) { p["type"] = "markdown" })),
	of([]client.Protocol{client.JSONRPC03, client.JSONRPC01, client.Early}, "part-kind-content-match", sends,
		"Text parts have no text.", onPart(func(p map[string]any) { delete(p, "text") })),
	of(only10, "part-exactly-one", sends, "Text parts also contain data.",
		onPart(func(p map[string]any) { p["data"] = map[string]any{} })),
	of(only03, "part-data-object", sends, "Data parts contain a number.",
		onPart(become(map[string]any{"kind": "data", "data": 7}))),
	of(only03, "part-file-xor", sends, "File parts have no content.",
		onPart(become(map[string]any{"kind": "file", "file": map[string]any{"name": "map.svg"}}))),
	of(only01, "part-file-xor-v01", sends, "File parts have both bytes and a URI.",
		onPart(become(map[string]any{"type": "file", "file": map[string]any{
			"bytes": "PHN2Zy8+", "uri": "https://client.example/map.svg",
		}}))),
	of(only10, "part-base64", sends, "File parts have bytes that are not base64.",
		onPart(become(map[string]any{"raw": "<svg/>"}))),
	of(only10, "part-url-absolute", sends, "File parts refer to a file by a path instead of a URI.",
		onPart(become(map[string]any{"url": "/files/map.svg"}))),
	of(only10, "part-media-type-syntax", sends, "The media type of parts is \"text\".",
		onPart(func(p map[string]any) { p["mediaType"] = "text" })),
	of(only10, "json-camelcase", sends, "Messages have the member message_id.", onMessage(func(m map[string]any) {
		m["message_id"] = m["messageId"]
		delete(m, "messageId")
	})),
	of(only10, "enum-name-string", sends, "The role of messages is a number.",
		onMessage(func(m map[string]any) { m["role"] = 1 })),
	of(sinceIDs, "field-type", sends, "The context of messages is a list.",
		onMessage(func(m map[string]any) { m["contextId"] = []any{"c1"} })),
	of(only03, "field-null-required", sends, "The context of messages is null.",
		onMessage(func(m map[string]any) { m["contextId"] = nil })),
	of(only10, "legacy-field-emitted", sends, "Messages have the member kind.",
		onMessage(func(m map[string]any) { m["kind"] = "message" })),
	of(sinceIDs, "unknown-field", sends, "Messages have an unknown member.",
		onMessage(func(m map[string]any) { m["priority"] = "high" })),
	of([]client.Protocol{client.JSONRPC10}, "timestamp-utc-z", a2a.ListTasks,
		"Lists are filtered by a time without a zone.",
		onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000" }, a2a.ListTasks)),
	of([]client.Protocol{client.JSONRPC10}, "timestamp-no-offset", a2a.ListTasks,
		"Lists are filtered by a time with an offset.",
		onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000+00:00" },
			a2a.ListTasks)),
}

var (
	only01   = []client.Protocol{client.JSONRPC01, client.Early}
	sinceIDs = []client.Protocol{client.JSONRPC10, client.REST10, client.JSONRPC03}
)

// onPart makes a fault edit every part of every message that is sent.
func onPart(edit func(part map[string]any)) func() func(*client.Outgoing) {
	return onMessage(func(m map[string]any) {
		parts, _ := m["parts"].([]any)
		for _, p := range parts {
			if part, ok := p.(map[string]any); ok {
				edit(part)
			}
		}
	})
}

// become turns a part into another one.
func become(part map[string]any) func(map[string]any) {
	return func(p map[string]any) {
		clear(p)
		maps.Copy(p, part)
	}
}
