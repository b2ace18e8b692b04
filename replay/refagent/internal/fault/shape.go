package fault

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the shape of messages and their parts.
var messageFaults = []AgentFault{
	of(anyAgent, "msg-id-present", "The agent's messages have no id.", onShape(isMessage, without("messageId"))),
	of(anyAgent, "msg-role-enum", "The agent's messages have the role \"bot\".", onShape(isMessage, with("role", "bot"))),
	of(anyAgent, "msg-role-server", "The agent answers with the role of the user.",
		onShape(isMessage, func(o jsonvalue.Object) jsonvalue.Object {
			if is(o, "role", "ROLE_AGENT") {
				return o.With("role", "ROLE_USER")
			}
			return o.With("role", "user")
		})),
	of(anyAge, "msg-parts-array", "The parts of the agent's messages are a string.",
		onShape(isMessage, with("parts", "hello"))),
	of(with10, "msg-parts-nonempty", "The agent's messages have no parts.", onShape(isMessage, with("parts", []any{}))),
	of(only03, "msg-kind", "The message in a status has the kind \"reply\".",
		onShape(isStatus, func(o jsonvalue.Object) jsonvalue.Object {
			if message, ok := o.Get("message"); ok {
				return o.With("message", message.(jsonvalue.Object).With("kind", "reply"))
			}
			return o
		})),
	of(with10, "msg-context-on-server-message", "Messages that answer a call have no contextId.",
		onShape(isMessage, without("contextId"))),
	of(anyAgent, "msg-extensions-uri", "The agent's messages name an extension by a word that is not a URI.",
		onShape(isMessage, with("extensions", jsonvalue.Texts("seats")))),
	of(anyAgent, "msg-reference-task-ids", "The referenceTaskIds of the agent's messages are a string.",
		onShape(isMessage, with("referenceTaskIds", "id-0"))),
	of(withTask, "metadata-object", "The metadata of tasks is a string.", onShape(isTask, with("metadata", "none"))),
	of(anyAgent, "part-object", "Parts are strings instead of objects.",
		onShape(isMessage, with("parts", jsonvalue.Texts("hello")))),
	of(only03, "part-discriminator", "Parts do not name their kind.", onShape(isPart, without("kind"))),
	of(before02, "part-discriminator-v01", "Parts are of the type \"markdown\".",
		onShape(isPart, with("type", "markdown"))),
	of(only03, "part-kind-content-match", "Text parts have no text.",
		onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
			if is(o, "kind", "text") {
				return o.Without("text")
			}
			return o
		})),
	of(with10, "part-exactly-one", "Text parts also contain data.",
		onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
			if _, text := o.Get("text"); text {
				return o.With("data", jsonvalue.Object{})
			}
			return o
		})),
	of(only03, "part-file-xor", "Files have both bytes and a URI.",
		onShape(isFile, with("uri", "https://agentbin.example/file"))),
	of(only01, "part-file-xor-v01", "Files have both bytes and a URI.",
		onShape(isFile, with("uri", "https://agentbin.example/file"))),
	of(withTask, "part-base64", "The bytes of files are not base64.", onShape(isFile, inline("<svg/>"))),
	of(withTask, "part-url-absolute", "Files are referred to by a path instead of a URI.", onShape(isFile, referTo("/files/1"))),
	of(withTask, "part-media-type-syntax", "The media type of files is \"svg\".", onShape(isFile, mediaType("svg"))),
	of(withTask, "output-mode-accepted", "The media type of files is image/png, whatever the client accepts.",
		onShape(isFile, mediaType("image/png"))),
	of(only03, "part-data-object", "The data of data parts is a string.", onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
		if is(o, "kind", "data") {
			return o.With("data", "none")
		}
		return o
	})),
}

// Faults of the shape of artifacts and tasks.
var objectFaults = []AgentFault{
	of(withTask, "artifact-id-present", "The artifacts of tasks that are read have no id.",
		onShape(isArtifact, without("artifactId"), model.GetTask)),
	of(withTask, "artifact-id-unique", "Tasks that are read have their first artifact twice.",
		onShape(isTask, repeatArtifact, model.GetTask)),
	of(anyAgeTask, "artifact-parts-array", "The parts of artifacts are a string.",
		onShape(isArtifact, with("parts", "hello"))),
	of(only10, "artifact-parts-nonempty", "Artifacts have no parts.", onShape(isArtifact, with("parts", []any{}))),
	of(before02, "artifact-index", "Artifacts have the index -1.", onShape(isArtifact, with("index", -1))),
	of(withTask, "output-in-message", "A completed task has its result in the status message.",
		onShape(isTask, resultAsMessage, model.SendMessage, model.GetTask)),
	of(anyAgeTask, "task-id-present", "Tasks that are read have no id.", onShape(isTask, without("id"), model.GetTask),
		"auth-required-uses-task"),
	of(only03, "task-context-id", "Tasks that are read have no contextId.",
		onShape(isTask, without("contextId"), model.GetTask)),
	of(anyAgeTask, "task-status-present", "Tasks that are read have no status.",
		onShape(isTask, without("status"), model.GetTask)),
	of(anyAgeTask, "task-state-enum", "Tasks that are read are \"paused\".",
		onShape(isStatus, with("state", "paused"), model.GetTask)),
	of(only10, "task-state-unspecified", "Tasks that are read have an unspecified state.",
		onShape(isStatus, with("state", "TASK_STATE_UNSPECIFIED"), model.GetTask)),
	of(only03, "task-kind", "Tasks that are read have the kind \"job\".",
		onShape(isTask, with("kind", "job"), model.GetTask)),
	of(before10, "task-timestamp-format", "Tasks that are read have a space in their timestamps.",
		onShape(isStatus, with("timestamp", "2026-03-01 10:00:00"), model.GetTask)),
	of(only10, "timestamp-utc-z", "Tasks that are read have timestamps without a zone.",
		onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000"), model.GetTask)),
	of(only10, "timestamp-no-offset", "Tasks that are read have timestamps with an offset.",
		onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000+00:00"), model.GetTask)),
	of(only10, "timestamp-millis", "The events of streams have timestamps without milliseconds.", onFrame(wholeSeconds)),
}

// Faults of events, of what answers hold, and of their members.
var memberFaults = []AgentFault{
	of(only03, "event-kind", "Artifact updates have an unknown kind.",
		onShape(isArtifactUpdate, with("kind", "artifact"))),
	of(withTask, "event-ids", "Artifact updates have no contextId.",
		onShape(isArtifactUpdate, without("contextId"))),
	of(before02, "event-id-v01", "Artifact updates do not name their task.", onShape(isArtifactUpdate, without("id"))),
	of(anyAgeTask, "event-status", "Status updates for working tasks have no state.",
		onShape(isStatus, stateless, model.StreamMessage)),
	of(anyAgeTask, "event-artifact", "Artifact updates have no artifact.", onShape(isArtifactUpdate, without("artifact"))),
	of(only03, "event-final-type", "Status updates that are not final have \"no\" as final.",
		onShape(isStatusUpdate, func(o jsonvalue.Object) jsonvalue.Object {
			if final, _ := o.Get("final"); final == false {
				return o.With("final", "no")
			}
			return o
		})),
	of(withTask, "event-flags-type", "Artifact updates have a string as append.",
		onShape(isArtifactUpdate, with("append", "no"))),
	of(only10, "send-response-oneof", "A message is answered with the bare task.",
		onShape(isWrapper, func(o jsonvalue.Object) jsonvalue.Object {
			if task, ok := o.Get("task"); ok {
				return task.(jsonvalue.Object)
			}
			return o
		}, model.SendMessage)),
	of(only10, "stream-response-oneof", "Streams contain an event of an unknown kind.",
		onEvent(func(_ *wire.Call, n int, f *wire.Frame) []*wire.Frame {
			if n != 1 {
				return []*wire.Frame{f}
			}
			own := *f
			own.Last = false
			own.Body = reshape(f.Body, isWrapper,
				func(jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"progress", 50}} })
			return []*wire.Frame{&own, f}
		})),
	of(only03, "send-result-type", "A message is answered with an unknown object.",
		onShape(isTask, func(jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"answer", "done"}} },
			model.SendMessage)),
	of(anyAgeTask, "get-result-task", "A task that is read is wrapped in another object.",
		onShape(isTask, func(o jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"task", o}} },
			model.GetTask)),
	of(only10, "json-camelcase", "Tasks that are read have the member context_id.",
		onShape(isTask, func(o jsonvalue.Object) jsonvalue.Object {
			id, _ := o.Get("contextId")
			return o.Without("contextId").With("context_id", id)
		}, model.GetTask)),
	of(only10, "enum-name-string", "The states of tasks that are read are numbers.",
		onShape(isStatus, with("state", 3), model.GetTask)),
	of(withTask, "field-type", "The history of tasks that are read is a string.",
		onShape(isTask, with("history", "none"), model.GetTask)),
	of(only03, "field-null-required", "The history of tasks that are read is null.",
		onShape(isTask, with("history", nil), model.GetTask)),
	of(only10, "legacy-field-emitted", "Tasks that are read have the member kind.",
		onShape(isTask, with("kind", "task"), model.GetTask)),
	of(withTask, "unknown-field", "Tasks that are read have an unknown member.",
		onShape(isTask, with("priority", "high"), model.GetTask)),
}

var only01 = []string{"spec01"}
