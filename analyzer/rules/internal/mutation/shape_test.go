package mutation_test

import "strconv"

const (
	messages = "asked answered said"
	aRole    = "msg-role-enum enum-name-string"
)

// shapeMutations break messages, parts and artifacts.
var shapeMutations = []mutation{
	broken("no message is sent", every, "msg-object", "params", dropped("message")),
	broken("message is a text", every, "msg-object", "params", set("message", `"hello"`)).with("dialect-mismatch"),
	broken("message is a list", every, "msg-object", "params", set("message", `[]`)),
	broken("message is null", every, "msg-object field-null-required", "params", set("message", `null`)),
	broken("message without an id", later, "msg-id-present", messages, dropped("messageId")),
	broken("message with an empty id", later, "msg-id-present", messages, set("messageId", `""`)),
	broken("message with a number as its id", later, "msg-id-present", messages, set("messageId", `5`)),
	broken("message in snake case", modern|rest03, "json-camelcase", messages, rename("messageId", "message_id")),
	broken("context in snake case", modern|rest03, "json-camelcase", messages, rename("contextId", "context_id")),
	broken("message without a role", every, "msg-role-enum", messages, dropped("role")),
	broken("role that is none", every, aRole, messages, set("role", `"assistant"`)),
	broken("role is a number", every, aRole, messages, set("role", `1`)),
	broken("role in upper case", older&^rest03, "msg-role-enum", messages,
		when(is("role", "user"), set("role", `"USER"`))),
	broken("role of 0.3 in 1.0", v10, aRole+" dialect-mismatch", "asked answered",
		when(is("role", "ROLE_USER", "ROLE_AGENT"), either(set("role", `"user"`)))).
		with("version-semantics-mixed msg-role-server"),
	broken("role of 1.0 in 0.3", v03, "msg-role-enum dialect-mismatch", "asked",
		set("role", `"ROLE_USER"`)).with("version-semantics-mixed"),
	broken("client in the role of the agent", every, "msg-role-client", "asked", otherRole),
	broken("agent in the role of the user", every, "msg-role-server", "answered said", otherRole),
	broken("message without parts", every&^rest03, "msg-parts-array", messages, dropped("parts")),
	broken("parts are a text", every, "msg-parts-array", messages, set("parts", `"hello"`)),
	broken("parts are one object", every, "msg-parts-array", messages, set("parts", `{"text":"hello"}`)),
	broken("parts are null", every&^rest03, "msg-parts-array field-null-required", messages, set("parts", `null`)),
	broken("no part", every&^rest03, "msg-parts-nonempty", messages, set("parts", `[]`)),
	broken("message of another kind", kinds, "msg-kind event-kind send-result-type", messages,
		set("kind", `"note"`)).with("event-kind send-result-type task-status-present version-semantics-mixed"),
	broken("answering message without its kind", kinds, "msg-kind event-kind", "answered", dropped("kind")),
	broken("answering message without a context", modern, "msg-context-on-server-message", "answered",
		dropped("contextId")),
	broken("extensions are one text", later, "msg-extensions-uri", "asked artifact",
		set("extensions", `"https://ext.example/geo/v1"`)),
	broken("extension is a number", later, "msg-extensions-uri", "asked artifact", set("extensions", `[7]`)),
	broken("extension is no URI", later, "msg-extensions-uri", "asked artifact", set("extensions", `["geo places"]`)),
	broken("referenced task is a number", later, "msg-reference-task-ids", "asked", set("referenceTaskIds", `[7]`)),
	broken("referenced tasks are one text", later, "msg-reference-task-ids", "asked", set("referenceTaskIds", `"t0"`)),
	broken("metadata is a text", every, "metadata-object", "asked answered task artifact part",
		put("metadata", `"none"`)),
	broken("metadata is a list", every, "metadata-object", "asked answered task artifact part", put("metadata", `[]`)),
	broken("metadata of the request is a number", every, "metadata-object", "params",
		when(asked("send"), put("metadata", `5`))),

	broken("part is a text", every, "part-object", "part", become(`"hello"`)).with(otherContent),
	broken("part is null", every, "part-object field-null-required", "part", become(`null`)),
	broken("part is a list", every, "part-object", "part", become(`["hello"]`)),
	broken("part without a kind", kinds, "part-discriminator", "part", dropped("kind")),
	broken("part of a kind that is none", kinds, "part-discriminator", "part", set("kind", `"image"`)),
	broken("part of 0.1 in 0.3", kinds, "part-discriminator", "part",
		rename("kind", "type")).with("version-semantics-mixed dialect-mismatch"),
	broken("part of 0.1 that is nothing", v01, "part-discriminator-v01", "part",
		when(has("text"), both(dropped("type"), rename("text", "value")))),
	broken("text part without a text", v01|kinds, "part-kind-content-match part-discriminator", "part",
		dropped("text")),
	broken("data part without data", v01|kinds, "part-kind-content-match part-discriminator", "part", dropped("data")),
	broken("file part without a file", v01|kinds, "part-kind-content-match part-discriminator", "part",
		dropped("file")),
	broken("part without content", modern, "part-exactly-one", "part", dropped("text")),
	broken("part with two contents", modern, "part-exactly-one", "part",
		when(has("text"), give("url", `"https://files.example/x"`))),
	broken("part with text and data", modern, "part-exactly-one", "part", when(has("text"), give("data", `{}`))),
	broken("text of a part is a number", every, "field-type", "part", set("text", `5`)),
	broken("text of a part is an object", every, "field-type", "part", set("text", `{"value":"hello"}`)),
	broken("file with bytes and address", older&^v01, "part-file-xor", "file",
		when(has("bytes"), give("uri", `"https://files.example/x"`))),
	broken("file with neither bytes nor address", older&^v01, "part-file-xor", "file",
		when(has("uri"), dropped("uri"))),
	broken("file of 0.1 with bytes and address", v01, "part-file-xor-v01", "file",
		when(has("bytes"), give("uri", `"https://files.example/x"`))),
	broken("file is a text", older, "field-type", "part", set("file", `"face.png"`)).with("part-file-xor"),
	broken("bytes that are no base64", older, "part-base64", "file", set("bytes", `"not base64!"`)),
	broken("raw that is no base64", modern, "part-base64", "part", set("raw", `"not base64!"`)),
	broken("raw is a number", modern, "field-type part-base64", "part", set("raw", `5`)),
	broken("data of a part is a text", kinds|rest03, "part-data-object", "part", set("data", `"hello"`)),
	broken("data of a part is a number", kinds|rest03, "part-data-object", "part", set("data", `5`)),
	broken("address of a file is relative", older, "part-url-absolute", "file", set("uri", `"pass.pdf"`)),
	broken("address of a part is relative", modern, "part-url-absolute", "part", set("url", `"/files/pass.pdf"`)),
	broken("media type of a file is none", older, "part-media-type-syntax", "file",
		set("mimeType", `"png"`)).with("output-mode-accepted"),
	broken("media type of a part is none", modern, "part-media-type-syntax", "part",
		put("mediaType", `"plain text"`)).with("output-mode-accepted"),
	broken("media type is a number", every, "field-type", "part file",
		either(set("mediaType", `5`), set("mimeType", `5`))),
	broken("name of a file is a number", every, "field-type", "part file",
		either(set("filename", `5`), set("name", `5`))),
	broken("output that nobody wanted", modern, "output-mode-accepted", "artifact",
		when(asked("send"), when(filtered("acceptedOutputModes"),
			set("parts", `[{"raw":"iVBORw0KGgo=","mediaType":"image/png"}]`)))).with(otherContent),
	broken("file that nobody wanted", kinds|rest03, "output-mode-accepted", "artifact",
		when(asked("send"), when(filtered("acceptedOutputModes"),
			set("parts", `[{"kind":"file","file":{"bytes":"iVBORw0KGgo=","mimeType":"image/png"}}]`)))).
		with(otherContent).faithfully(),

	broken("artifact without an id", later, "artifact-id-present", "artifact",
		dropped("artifactId")).with(otherContent),
	broken("artifact with an empty id", later, "artifact-id-present", "artifact",
		set("artifactId", `""`)).with(otherContent),
	broken("artifact with a number as its id", later, "artifact-id-present field-type", "artifact",
		set("artifactId", `5`)).with(otherContent),
	broken("two artifacts with one id", later, "artifact-id-unique", "task",
		sameArtifacts).with("state-artifacts-after-terminal stream-artifact-consistent"),
	broken("artifact without parts", every&^rest03, "artifact-parts-array", "artifact",
		when(finishedPiece(false), dropped("parts"))).with(otherContent),
	broken("artifact with parts that are a text", every, "artifact-parts-array", "artifact",
		set("parts", `"hello"`)).with(otherContent),
	broken("artifact with no part before 1.0", kinds, "artifact-parts-nonempty", "artifact",
		when(asked("send get"), set("parts", `[]`))).with(otherContent),
	broken("artifact with no part", v01|modern, "artifact-parts-nonempty", "artifact",
		when(finishedPiece(false), set("parts", `[]`))).with(otherContent),
	broken("artifact is a text", every, "event-artifact", "artifactUpdate",
		set("artifact", `"story"`)).with(otherContent),
	broken("index of an artifact is negative", v01, "artifact-index", "artifact",
		set("index", `-1`)).with(otherContent),
	broken("index of an artifact is a text", v01, "artifact-index", "artifact", set("index", `"0"`)).with(otherContent),
	broken("name of an artifact is an object", every, "field-type", "artifact", set("name", `{"en":"seats"}`)),
	broken("artifacts are one object", every, "field-type", "task", func(s *spot) bool {
		return first(s.o, "artifacts") != nil && put("artifacts", first(s.o, "artifacts").text(""))(s)
	}).with(otherContent),
	broken("history is a text", every, "field-type", "task", put("history", `"none"`)),
	broken("context is a number", later, "field-type task-context-id", messages+" task",
		set("contextId", `5`)).with(otherContext + " msg-context-on-server-message"),
	broken("task of a message is a number", later, "field-type", messages,
		set("taskId", `5`)).with(otherContext).with("id-task-unique"),
}

// What comes along with other contents, or another context.
const (
	otherContent = "state-artifacts-after-terminal stream-artifact-consistent stream-chunk-append-known " +
		"state-blocking-artifacts equiv-result-same stream-same-events"
	otherContext = "id-context-stable id-context-preserved id-context-inferred id-stream-context-consistent " +
		"id-context-mismatch-rejected req-context-task-mismatch " +
		"list-filter-context"
)

func otherRole(s *spot) bool {
	for _, pair := range [][2]string{{"user", "agent"}, {"ROLE_USER", "ROLE_AGENT"}} {
		for i, from := range pair {
			if s.o.str("role") == from {
				s.o.put("role", strconv.Quote(pair[1-i]))
				return true
			}
		}
	}
	return false
}

func sameArtifacts(s *spot) bool {
	list := s.o.get("artifacts").list()
	if len(list) < 2 {
		return false
	}
	list[1].put("artifactId", list[0].get("artifactId").raw)
	return true
}

// finishedPiece holds for artifacts that are, or are not, the last piece of one.
func finishedPiece(last bool) func(*spot) bool {
	return func(s *spot) bool {
		flag := s.parent.get("lastChunk")
		if own := s.o.get("lastChunk"); own != nil {
			flag = own
		}
		return (flag != nil && flag.raw == "true") == last
	}
}
