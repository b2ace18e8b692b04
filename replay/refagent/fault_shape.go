package refagent

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
		hooks: onShape(isMessage, func(o object) object {
			if is(o, "role", "ROLE_AGENT") {
				return o.with("role", "ROLE_USER")
			}
			return o.with("role", "user")
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
		hooks: onShape(isStatus, func(o object) object {
			if message, ok := o.get("message"); ok {
				return o.with("message", message.(object).with("kind", "reply"))
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
		hooks: onShape(isMessage, with("extensions", texts("seats"))),
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
		hooks: onShape(isMessage, with("parts", texts("hello"))),
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
		hooks: onShape(isPart, func(o object) object {
			if is(o, "kind", "text") {
				return o.without("text")
			}
			return o
		}),
	},
	{
		Slug: "part-exactly-one", agents: with10,
		Doc: "Text parts hold data too.",
		hooks: onShape(isPart, func(o object) object {
			if _, text := o.get("text"); text {
				return o.with("data", object{})
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
		hooks: onShape(isPart, func(o object) object {
			if is(o, "kind", "data") {
				return o.with("data", "none")
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
		hooks: onShape(isArtifact, without("artifactId"), getTask),
	},
	{
		Slug: "artifact-id-unique", agents: withTask,
		Doc:   "Tasks that are read show their first artifact twice.",
		hooks: onShape(isTask, repeatArtifact, getTask),
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
		hooks: onShape(isTask, resultAsMessage, sendMessage, getTask),
	},
	{
		Slug: "task-id-present", agents: withTask, Also: []string{"auth-required-uses-task"},
		Doc:   "Tasks that are read have no id.",
		hooks: onShape(isTask, without("id"), getTask),
	},
	{
		Slug: "task-context-id", agents: only03,
		Doc:   "Tasks that are read are in no context.",
		hooks: onShape(isTask, without("contextId"), getTask),
	},
	{
		Slug: "task-status-present", agents: withTask,
		Doc:   "Tasks that are read have no status.",
		hooks: onShape(isTask, without("status"), getTask),
	},
	{
		Slug: "task-state-enum", agents: withTask,
		Doc:   "Tasks that are read are \"paused\".",
		hooks: onShape(isStatus, with("state", "paused"), getTask),
	},
	{
		Slug: "task-state-unspecified", agents: only10,
		Doc:   "Tasks that are read are in no state that is set.",
		hooks: onShape(isStatus, with("state", "TASK_STATE_UNSPECIFIED"), getTask),
	},
	{
		Slug: "task-kind", agents: only03,
		Doc:   "Tasks that are read say that they are a job.",
		hooks: onShape(isTask, with("kind", "job"), getTask),
	},
	{
		Slug: "task-timestamp-format", agents: only03,
		Doc:   "Tasks that are read have a blank in their timestamps.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01 10:00:00"), getTask),
	},
	{
		Slug: "timestamp-utc-z", agents: only10,
		Doc:   "Tasks that are read have timestamps without a zone.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000"), getTask),
	},
	{
		Slug: "timestamp-no-offset", agents: only10,
		Doc:   "Tasks that are read have timestamps with an offset.",
		hooks: onShape(isStatus, with("timestamp", "2026-03-01T10:00:00.000+00:00"), getTask),
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
		hooks: onShape(isStatus, stateless, streamMessage),
	},
	{
		Slug: "event-artifact", agents: withTask,
		Doc:   "Artifact updates bring no artifact.",
		hooks: onShape(isArtifactUpdate, without("artifact")),
	},
	{
		Slug: "event-final-type", agents: only03,
		Doc: "Status updates say \"no\" where they do not say final.",
		hooks: onShape(isStatusUpdate, func(o object) object {
			if final, _ := o.get("final"); final == false {
				return o.with("final", "no")
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
		hooks: onShape(isWrapper, func(o object) object {
			if task, ok := o.get("task"); ok {
				return task.(object)
			}
			return o
		}, sendMessage),
	},
	{
		Slug: "stream-response-oneof", agents: only10,
		Doc: "Streams have an event of the agent's own in them.",
		hooks: onEvent(func(_ *call, n int, f *frame) []*frame {
			if n != 1 {
				return []*frame{f}
			}
			own := *f
			own.last = false
			own.body = reshape(f.body, isWrapper, func(object) object { return object{{"progress", 50}} })
			return []*frame{&own, f}
		}),
	},
	{
		Slug: "send-result-type", agents: only03,
		Doc:   "A message is answered with an object of the agent's own.",
		hooks: onShape(isTask, func(object) object { return object{{"answer", "done"}} }, sendMessage),
	},
	{
		Slug: "get-result-task", agents: withTask,
		Doc:   "A task that is read stands in another object.",
		hooks: onShape(isTask, func(o object) object { return object{{"task", o}} }, getTask),
	},
	{
		Slug: "json-camelcase", agents: only10,
		Doc: "Tasks that are read have the member context_id.",
		hooks: onShape(isTask, func(o object) object {
			id, _ := o.get("contextId")
			return o.without("contextId").with("context_id", id)
		}, getTask),
	},
	{
		Slug: "enum-name-string", agents: only10,
		Doc:   "The states of tasks that are read are numbers.",
		hooks: onShape(isStatus, with("state", 3), getTask),
	},
	{
		Slug: "field-type", agents: withTask,
		Doc:   "The history of tasks that are read is a text.",
		hooks: onShape(isTask, with("history", "none"), getTask),
	},
	{
		Slug: "field-null-required", agents: only03,
		Doc:   "The history of tasks that are read is null.",
		hooks: onShape(isTask, with("history", nil), getTask),
	},
	{
		Slug: "legacy-field-emitted", agents: only10,
		Doc:   "Tasks that are read say what kind of object they are.",
		hooks: onShape(isTask, with("kind", "task"), getTask),
	},
	{
		Slug: "unknown-field", agents: withTask,
		Doc:   "Tasks that are read have a member of the agent's own.",
		hooks: onShape(isTask, with("priority", "high"), getTask),
	},
}

var only01 = []string{"spec01"}
