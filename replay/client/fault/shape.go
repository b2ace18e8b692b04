package fault

import (
	"maps"

	"a2atap/replay/client"
)

// Faults of the shape of messages, of their parts, and of the members of requests.
var shapeFaults = []ClientFault{
	of(anyProtocol, "msg-object", "", "A text is sent in place of the message.",
		onParams(func(p map[string]any) { p["message"] = "hello" }, client.SendMessage)),
	of(sinceIDs, "msg-id-present", "", "Messages have no id.",
		onMessage(func(m map[string]any) { delete(m, "messageId") })),
	of(anyProtocol, "msg-role-enum", "", "Messages have the role \"human\".",
		onMessage(func(m map[string]any) { m["role"] = "human" })),
	of(anyProtocol, "msg-role-client", "", "Messages are sent in the role of the agent.",
		onMessage(func(m map[string]any) {
			if m["role"] == "ROLE_USER" {
				m["role"] = "ROLE_AGENT"
			} else {
				m["role"] = "agent"
			}
		})),
	of(anyProtocol, "msg-parts-array", "", "The parts of messages are a text.",
		onMessage(func(m map[string]any) { m["parts"] = "hello" })),
	of(only10, "msg-parts-nonempty", "", "Messages have no part.",
		onMessage(func(m map[string]any) { m["parts"] = []any{} })),
	of(only03, "msg-kind", "", "Messages say that they are a question.",
		onMessage(func(m map[string]any) { m["kind"] = "question" })),
	of(sinceIDs, "msg-extensions-uri", "", "Messages name an extension by a word.",
		onMessage(func(m map[string]any) { m["extensions"] = []any{"seats"} })),
	of(sinceIDs, "msg-reference-task-ids", "", "Messages refer to tasks by a text.",
		onMessage(func(m map[string]any) { m["referenceTaskIds"] = "t0" })),
	of(anyProtocol, "metadata-object", "", "The metadata of messages is a text.",
		onMessage(func(m map[string]any) { m["metadata"] = "none" })),
	of(anyProtocol, "part-object", "", "Texts stand in place of parts.",
		onMessage(func(m map[string]any) { m["parts"] = []any{"hello"} })),
	of(only03, "part-discriminator", "", "Parts do not say what they are.",
		onPart(func(p map[string]any) { delete(p, "kind") })),
	of(only01, "part-discriminator-v01", "", "Parts are of the type \"markdown\".",
		onPart(func(p map[string]any) { p["type"] = "markdown" })),
	of([]client.Protocol{client.JSONRPC03, client.JSONRPC01, client.Early}, "part-kind-content-match", "",
		"Parts that say text have none.", onPart(func(p map[string]any) { delete(p, "text") })),
	of(only10, "part-exactly-one", "", "Parts contain data as well as text.",
		onPart(func(p map[string]any) { p["data"] = map[string]any{} })),
	of(only03, "part-data-object", "", "Parts hold a number as data.",
		onPart(become(map[string]any{"kind": "data", "data": 7}))),
	of(only03, "part-file-xor", "", "Parts are files without content.",
		onPart(become(map[string]any{"kind": "file", "file": map[string]any{"name": "map.svg"}}))),
	of(only01, "part-file-xor-v01", "", "Parts are files with both bytes and a URI.",
		onPart(become(map[string]any{"type": "file", "file": map[string]any{
			"bytes": "PHN2Zy8+", "uri": "https://client.example/map.svg",
		}}))),
	of(only10, "part-base64", "", "Parts are files whose bytes are not base64.",
		onPart(become(map[string]any{"raw": "<svg/>"}))),
	of(only10, "part-url-absolute", "", "Parts refer to files by a path alone.",
		onPart(become(map[string]any{"url": "/files/map.svg"}))),
	of(only10, "part-media-type-syntax", "", "The media type of parts is \"text\".",
		onPart(func(p map[string]any) { p["mediaType"] = "text" })),
	of(only10, "json-camelcase", "", "Messages have the member message_id.", onMessage(func(m map[string]any) {
		m["message_id"] = m["messageId"]
		delete(m, "messageId")
	})),
	of(only10, "enum-name-string", "", "The role of messages is a number.",
		onMessage(func(m map[string]any) { m["role"] = 1 })),
	of(sinceIDs, "field-type", "", "The context of messages is a list.",
		onMessage(func(m map[string]any) { m["contextId"] = []any{"c1"} })),
	of(only03, "field-null-required", "", "The context of messages is null.",
		onMessage(func(m map[string]any) { m["contextId"] = nil })),
	of(only10, "legacy-field-emitted", "", "Messages say what kind of object they are.",
		onMessage(func(m map[string]any) { m["kind"] = "message" })),
	of(sinceIDs, "unknown-field", "", "Messages have a member of the client's own.",
		onMessage(func(m map[string]any) { m["priority"] = "high" })),
	of([]client.Protocol{client.JSONRPC10}, "timestamp-utc-z", client.ListTasks,
		"Lists are asked for since a time without a zone.",
		onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000" }, client.ListTasks)),
	of([]client.Protocol{client.JSONRPC10}, "timestamp-no-offset", client.ListTasks,
		"Lists are asked for since a time with an offset.",
		onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000+00:00" },
			client.ListTasks)),
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

// become makes a part another one.
func become(part map[string]any) func(map[string]any) {
	return func(p map[string]any) {
		clear(p)
		maps.Copy(p, part)
	}
}
