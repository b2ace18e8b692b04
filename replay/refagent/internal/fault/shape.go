package fault

import (
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of the shape of messages and their parts.
var messageFaults = []Fault{
	{
		Slug: "msg-id-present", agents: anyAgent,
		Doc:   "The agent's messages have no id.",
		hooks: onShape(isMessage, without("messageId")),
	},
	{
		Slug: "msg-role-enum", agents: anyAgent,
		Doc:   "The agent's messages have the role \"bot\".",
		hooks: onShape(isMessage, with("role", "bot")),
	},
	{
		Slug: "msg-role-server", agents: anyAgent,
		Doc: "The agent answers in the role of the user.",
		hooks: onShape(isMessage, func(o jsonvalue.Object) jsonvalue.Object {
			if is(o, "role", "ROLE_AGENT") {
				return o.With("role", "ROLE_USER")
			}
			return o.With("role", "user")
		}),
	},
	{
		Slug: "msg-parts-array", agents: anyAgent,
		Doc:   "The parts of the agent's messages are a text.",
		hooks: onShape(isMessage, with("parts", "hello")),
	},
	{
		Slug: "msg-parts-nonempty", agents: with10,
		Doc:   "The agent's messages have no part.",
		hooks: onShape(isMessage, with("parts", []any{})),
	},
	{
		Slug: "msg-kind", agents: only03,
		Doc: "The message that comes with a status says that it is a reply.",
		hooks: onShape(isStatus, func(o jsonvalue.Object) jsonvalue.Object {
			if message, ok := o.Get("message"); ok {
				return o.With("message", message.(jsonvalue.Object).With("kind", "reply"))
			}
			return o
		}),
	},
	{
		Slug: "msg-context-on-server-message", agents: with10,
		Doc:   "Answering messages do not say in which context they are.",
		hooks: onShape(isMessage, without("contextId")),
	},
	{
		Slug: "msg-extensions-uri", agents: anyAgent,
		Doc:   "The agent's messages name an extension by a word.",
		hooks: onShape(isMessage, with("extensions", jsonvalue.Texts("seats"))),
	},
	{
		Slug: "msg-reference-task-ids", agents: anyAgent,
		Doc:   "The agent's messages refer to tasks by a text.",
		hooks: onShape(isMessage, with("referenceTaskIds", "id-0")),
	},
	{
		Slug: "metadata-object", agents: withTask,
		Doc:   "The metadata of tasks is a text.",
		hooks: onShape(isTask, with("metadata", "none")),
	},
	{
		Slug: "part-object", agents: anyAgent,
		Doc:   "Texts stand in place of parts.",
		hooks: onShape(isMessage, with("parts", jsonvalue.Texts("hello"))),
	},
	{
		Slug: "part-discriminator", agents: only03,
		Doc:   "Parts do not say what they are.",
		hooks: onShape(isPart, without("kind")),
	},
	{
		Slug: "part-discriminator-v01", agents: only01,
		Doc:   "Parts are of the type \"markdown\".",
		hooks: onShape(isPart, with("type", "markdown")),
	},
	{
		Slug: "part-kind-content-match", agents: only03,
		Doc: "Parts that say text have none.",
		hooks: onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
			if is(o, "kind", "text") {
				return o.Without("text")
			}
			return o
		}),
	},
	{
		Slug: "part-exactly-one", agents: with10,
		Doc: "Text parts hold data too.",
		hooks: onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
			if _, text := o.Get("text"); text {
				return o.With("data", jsonvalue.Object{})
			}
			return o
		}),
	},
	{
		Slug: "part-file-xor", agents: only03,
		Doc:   "Files have both bytes and a URI.",
		hooks: onShape(isFile, with("uri", "https://agentbin.example/file")),
	},
	{
		Slug: "part-file-xor-v01", agents: only01,
		Doc:   "Files have both bytes and a URI.",
		hooks: onShape(isFile, with("uri", "https://agentbin.example/file")),
	},
	{
		Slug: "part-base64", agents: withTask,
		Doc:   "The bytes of files are not base64.",
		hooks: onShape(isFile, inline("<svg/>")),
	},
	{
		Slug: "part-url-absolute", agents: withTask,
		Doc:   "Files are referred to by a path alone.",
		hooks: onShape(isFile, referTo("/files/1")),
	},
	{
		Slug: "part-media-type-syntax", agents: withTask,
		Doc:   "The media type of files is \"svg\".",
		hooks: onShape(isFile, mediaType("svg")),
	},
	{
		Slug: "output-mode-accepted", agents: withTask,
		Doc:   "The media type of files is image/png, whatever the client accepts.",
		hooks: onShape(isFile, mediaType("image/png")),
	},
	{
		Slug: "part-data-object", agents: only03,
		Doc: "Data is a text.",
		hooks: onShape(isPart, func(o jsonvalue.Object) jsonvalue.Object {
			if is(o, "kind", "data") {
				return o.With("data", "none")
			}
			return o
		}),
	},
}

// Faults of the shape of artifacts and tasks.
var objectFaults = []Fault{
	{
		Slug: "artifact-id-present", agents: withTask,
		Doc:   "The artifacts of tasks that are read have no id.",
		hooks: onShape(isArtifact, without("artifactId"), model.GetTask),
	},
	{
		Slug: "artifact-id-unique", agents: withTask,
		Doc:   "Tasks that are read show their first artifact twice.",
		hooks: onShape(isTask, repeatArtifact, model.GetTask),
	},
	{
		Slug: "artifact-parts-array", agents: withTask,
		Doc:   "The parts of artifacts are a text.",
		hooks: onShape(isArtifact, with("parts", "hello")),
	},
	{
		Slug: "artifact-parts-nonempty", agents: only10,
		Doc:   "Artifacts have no part.",
		hooks: onShape(isArtifact, with("parts", []any{})),
	},
	{
		Slug: "artifact-index", agents: only01,
		Doc:   "Artifacts have the index -1.",
		hooks: onShape(isArtifact, with("index", -1)),
	},
	{
		Slug: "output-in-message", agents: withTask,
		Doc:   "A task that was completed has its result in the status message.",
		hooks: onShape(isTask, resultAsMessage, model.SendMessage, model.GetTask),
	},
	{
		Slug: "task-id-present", agents: withTask, Also: []string{"auth-required-uses-task"},
		Doc:   "Tasks that are read have no id.",
		hooks: onShape(isTask, without("id"), model.GetTask),
	},
	{
		Slug: "task-context-id", agents: only03,
		Doc:   "Tasks that are read are in no context.",
		hooks: onShape(isTask, without("contextId"), model.GetTask),
	},
	{
		Slug: "task-status-present", agents: withTask,
		Doc:   "Tasks that are read have no status.",
		hooks: onShape(isTask, without("status"), model.GetTask),
	},
	{
		Slug: "task-state-enum", agents: withTask,
		Doc:   "Tasks that are read are \"paused\".",
		hooks: onShape(isStatus, with("state", "paused"), model.GetTask),
	},
	{
		Slug: "task-state-unspecified", agents: only10,
		Doc:   "Tasks that are read are in no state that is set.",
		hooks: onShape(isStatus, with("state", "TASK_STATE_UNSPECIFIED"), model.GetTask),
	},
	{
		Slug: "task-kind", agents: only03,
		Doc:   "Tasks that are read say that they are a job.",
		hooks: onShape(isTask, with("kind", "job"), model.GetTask),
	},
	{
		Slug: "task-timestamp-format", agents: only03,
		Doc:   "Tasks that are read have a blank in their timestamps.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01 10:00:00"), model.GetTask),
	},
	{
		Slug: "timestamp-utc-z", agents: only10,
		Doc:   "Tasks that are read have timestamps without a zone.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000"), model.GetTask),
	},
	{
		Slug: "timestamp-no-offset", agents: only10,
		Doc:   "Tasks that are read have timestamps with an offset.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000+00:00"), model.GetTask),
	},
	{
		Slug: "timestamp-millis", agents: only10,
		Doc:   "The events of streams have timestamps of whole seconds.",
		hooks: onEvent(wholeSeconds),
	},
}

// Faults of events, of what answers hold, and of their members.
var memberFaults = []Fault{
	{
		Slug: "event-kind", agents: only03,
		Doc:   "Artifact updates have a kind of their own.",
		hooks: onShape(isArtifactUpdate, with("kind", "artifact")),
	},
	{
		Slug: "event-ids", agents: withTask,
		Doc:   "Artifact updates do not say in which context they are.",
		hooks: onShape(isArtifactUpdate, without("contextId")),
	},
	{
		Slug: "event-id-v01", agents: only01,
		Doc:   "Artifact updates do not name their task.",
		hooks: onShape(isArtifactUpdate, without("id")),
	},
	{
		Slug: "event-status", agents: withTask,
		Doc:   "Updates that say that the task is working have no state.",
		hooks: onShape(isStatus, stateless, model.StreamMessage),
	},
	{
		Slug: "event-artifact", agents: withTask,
		Doc:   "Artifact updates bring no artifact.",
		hooks: onShape(isArtifactUpdate, without("artifact")),
	},
	{
		Slug: "event-final-type", agents: only03,
		Doc: "Status updates say \"no\" where they do not say final.",
		hooks: onShape(isStatusUpdate, func(o jsonvalue.Object) jsonvalue.Object {
			if final, _ := o.Get("final"); final == false {
				return o.With("final", "no")
			}
			return o
		}),
	},
	{
		Slug: "event-flags-type", agents: withTask,
		Doc:   "Artifact updates have a text for append.",
		hooks: onShape(isArtifactUpdate, with("append", "no")),
	},
	{
		Slug: "send-response-oneof", agents: only10,
		Doc: "A message is answered with the bare task.",
		hooks: onShape(isWrapper, func(o jsonvalue.Object) jsonvalue.Object {
			if task, ok := o.Get("task"); ok {
				return task.(jsonvalue.Object)
			}
			return o
		}, model.SendMessage),
	},
	{
		Slug: "stream-response-oneof", agents: only10,
		Doc: "Streams have an event of the agent's own in them.",
		hooks: onEvent(func(_ *wire.Call, n int, f *wire.Frame) []*wire.Frame {
			if n != 1 {
				return []*wire.Frame{f}
			}
			own := *f
			own.Last = false
			own.Body = reshape(f.Body, isWrapper,
				func(jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"progress", 50}} })
			return []*wire.Frame{&own, f}
		}),
	},
	{
		Slug: "send-result-type", agents: only03,
		Doc: "A message is answered with an object of the agent's own.",
		hooks: onShape(isTask, func(jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"answer", "done"}} },
			model.SendMessage),
	},
	{
		Slug: "get-result-task", agents: withTask,
		Doc: "A task that is read stands in another object.",
		hooks: onShape(isTask, func(o jsonvalue.Object) jsonvalue.Object { return jsonvalue.Object{{"task", o}} },
			model.GetTask),
	},
	{
		Slug: "json-camelcase", agents: only10,
		Doc: "Tasks that are read have the member context_id.",
		hooks: onShape(isTask, func(o jsonvalue.Object) jsonvalue.Object {
			id, _ := o.Get("contextId")
			return o.Without("contextId").With("context_id", id)
		}, model.GetTask),
	},
	{
		Slug: "enum-name-string", agents: only10,
		Doc:   "The states of tasks that are read are numbers.",
		hooks: onShape(isStatus, with("state", 3), model.GetTask),
	},
	{
		Slug: "field-type", agents: withTask,
		Doc:   "The history of tasks that are read is a text.",
		hooks: onShape(isTask, with("history", "none"), model.GetTask),
	},
	{
		Slug: "field-null-required", agents: only03,
		Doc:   "The history of tasks that are read is null.",
		hooks: onShape(isTask, with("history", nil), model.GetTask),
	},
	{
		Slug: "legacy-field-emitted", agents: only10,
		Doc:   "Tasks that are read say what kind of object they are.",
		hooks: onShape(isTask, with("kind", "task"), model.GetTask),
	},
	{
		Slug: "unknown-field", agents: withTask,
		Doc:   "Tasks that are read have a member of the agent's own.",
		hooks: onShape(isTask, with("priority", "high"), model.GetTask),
	},
}

var only01 = []string{"spec01"}
