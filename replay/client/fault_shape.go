package client

import "maps"

// Faults of the shape of messages, of their parts, and of the members of requests.
var shapeFaults = []Fault{
	{
		Slug: "msg-object", protocols: anyProtocol,
		Doc:  "A text is sent in place of the message.",
		edit: onParams(func(p map[string]any) { p["message"] = "hello" }, SendMessage),
	},
	{
		Slug: "msg-id-present", protocols: sinceIDs,
		Doc:  "Messages have no id.",
		edit: onMessage(func(m map[string]any) { delete(m, "messageId") }),
	},
	{
		Slug: "msg-role-enum", protocols: anyProtocol,
		Doc:  "Messages have the role \"human\".",
		edit: onMessage(func(m map[string]any) { m["role"] = "human" }),
	},
	{
		Slug: "msg-role-client", protocols: anyProtocol,
		Doc: "Messages are sent in the role of the agent.",
		edit: onMessage(func(m map[string]any) {
			if m["role"] == "ROLE_USER" {
				m["role"] = "ROLE_AGENT"
			} else {
				m["role"] = "agent"
			}
		}),
	},
	{
		Slug: "msg-parts-array", protocols: anyProtocol,
		Doc:  "The parts of messages are a text.",
		edit: onMessage(func(m map[string]any) { m["parts"] = "hello" }),
	},
	{
		Slug: "msg-parts-nonempty", protocols: only10,
		Doc:  "Messages have no part.",
		edit: onMessage(func(m map[string]any) { m["parts"] = []any{} }),
	},
	{
		Slug: "msg-kind", protocols: only03,
		Doc:  "Messages say that they are a question.",
		edit: onMessage(func(m map[string]any) { m["kind"] = "question" }),
	},
	{
		Slug: "msg-extensions-uri", protocols: sinceIDs,
		Doc:  "Messages name an extension by a word.",
		edit: onMessage(func(m map[string]any) { m["extensions"] = []any{"seats"} }),
	},
	{
		Slug: "msg-reference-task-ids", protocols: sinceIDs,
		Doc:  "Messages refer to tasks by a text.",
		edit: onMessage(func(m map[string]any) { m["referenceTaskIds"] = "t0" }),
	},
	{
		Slug: "metadata-object", protocols: anyProtocol,
		Doc:  "The metadata of messages is a text.",
		edit: onMessage(func(m map[string]any) { m["metadata"] = "none" }),
	},
	{
		Slug: "part-object", protocols: anyProtocol,
		Doc:  "Texts stand in place of parts.",
		edit: onMessage(func(m map[string]any) { m["parts"] = []any{"hello"} }),
	},
	{
		Slug: "part-discriminator", protocols: only03,
		Doc:  "Parts do not say what they are.",
		edit: onPart(func(p map[string]any) { delete(p, "kind") }),
	},
	{
		Slug: "part-discriminator-v01", protocols: only01,
		Doc:  "Parts are of the type \"markdown\".",
		edit: onPart(func(p map[string]any) { p["type"] = "markdown" }),
	},
	{
		Slug: "part-kind-content-match", protocols: []Protocol{JSONRPC03, JSONRPC01, Early},
		Doc:  "Parts that say text have none.",
		edit: onPart(func(p map[string]any) { delete(p, "text") }),
	},
	{
		Slug: "part-exactly-one", protocols: only10,
		Doc:  "Parts contain data as well as text.",
		edit: onPart(func(p map[string]any) { p["data"] = map[string]any{} }),
	},
	{
		Slug: "part-data-object", protocols: only03,
		Doc:  "Parts hold a number as data.",
		edit: onPart(become(map[string]any{"kind": "data", "data": 7})),
	},
	{
		Slug: "part-file-xor", protocols: only03,
		Doc:  "Parts are files without content.",
		edit: onPart(become(map[string]any{"kind": "file", "file": map[string]any{"name": "map.svg"}})),
	},
	{
		Slug: "part-file-xor-v01", protocols: only01,
		Doc: "Parts are files with both bytes and a URI.",
		edit: onPart(become(map[string]any{"type": "file", "file": map[string]any{
			"bytes": "PHN2Zy8+", "uri": "https://client.example/map.svg",
		}})),
	},
	{
		Slug: "part-base64", protocols: only10,
		Doc:  "Parts are files whose bytes are not base64.",
		edit: onPart(become(map[string]any{"raw": "<svg/>"})),
	},
	{
		Slug: "part-url-absolute", protocols: only10,
		Doc:  "Parts refer to files by a path alone.",
		edit: onPart(become(map[string]any{"url": "/files/map.svg"})),
	},
	{
		Slug: "part-media-type-syntax", protocols: only10,
		Doc:  "The media type of parts is \"text\".",
		edit: onPart(func(p map[string]any) { p["mediaType"] = "text" }),
	},
	{
		Slug: "json-camelcase", protocols: only10,
		Doc: "Messages have the member message_id.",
		edit: onMessage(func(m map[string]any) {
			m["message_id"] = m["messageId"]
			delete(m, "messageId")
		}),
	},
	{
		Slug: "enum-name-string", protocols: only10,
		Doc:  "The role of messages is a number.",
		edit: onMessage(func(m map[string]any) { m["role"] = 1 }),
	},
	{
		Slug: "field-type", protocols: sinceIDs,
		Doc:  "The context of messages is a list.",
		edit: onMessage(func(m map[string]any) { m["contextId"] = []any{"c1"} }),
	},
	{
		Slug: "field-null-required", protocols: only03,
		Doc:  "The context of messages is null.",
		edit: onMessage(func(m map[string]any) { m["contextId"] = nil }),
	},
	{
		Slug: "legacy-field-emitted", protocols: only10,
		Doc:  "Messages say what kind of object they are.",
		edit: onMessage(func(m map[string]any) { m["kind"] = "message" }),
	},
	{
		Slug: "unknown-field", protocols: sinceIDs,
		Doc:  "Messages have a member of the client's own.",
		edit: onMessage(func(m map[string]any) { m["priority"] = "high" }),
	},
	{
		Slug: "timestamp-utc-z", protocols: []Protocol{JSONRPC10}, On: ListTasks,
		Doc:  "Lists are asked for since a time without a zone.",
		edit: onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000" }, ListTasks),
	},
	{
		Slug: "timestamp-no-offset", protocols: []Protocol{JSONRPC10}, On: ListTasks,
		Doc:  "Lists are asked for since a time with an offset.",
		edit: onParams(func(p map[string]any) { p["statusTimestampAfter"] = "2026-03-01T10:00:00.000+00:00" }, ListTasks),
	},
}

var (
	only01   = []Protocol{JSONRPC01, Early}
	sinceIDs = []Protocol{JSONRPC10, REST10, JSONRPC03}
)

// onPart makes a fault edit every part of every message that is sent.
func onPart(edit func(part map[string]any)) func() func(*Outgoing) {
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
