package refagent_test

// What the tests of the faults of shapes send, beside what the others do.
var (
	dataRPC = "POST /spec" + v10Header + rpc(`"r"`, "SendMessage", `{"message":`+userMessage("", "data-types")+`}`)
	data03  = "POST /spec03\n\n" + rpc("1", "message/send", message03("data-types"))

	send01 = "POST /spec01\n\n" +
		rpc("1", "tasks/send", `{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"data-types"}]}}`)
	stream01 = "POST /spec01\n\n" +
		rpc("1", "tasks/sendSubscribe",
			`{"id":"t1","message":{"role":"user","parts":[{"type":"text","text":"task-lifecycle"}]}}`)
)

// shapeFaultTests show the faults of shapes as faultTests show the others. TestFaults runs both.
var shapeFaultTests = []struct {
	slug, agent string
	before      []string
	request     string
	has, lacks  string
}{
	{"msg-id-present", "spec", nil, messageRPC, "ROLE_AGENT", `"messageId"`},
	{"msg-id-present", "spec03", nil, streamMessage03, `"role":"agent"`, `"messageId"`},
	{"msg-role-enum", "spec", nil, messageRPC, `"role":"bot"`, "ROLE_AGENT"},
	{"msg-role-enum", "spec03", nil, streamMessage03, `"role":"bot"`, `"role":"agent"`},
	{"msg-role-server", "spec", nil, messageRPC, "ROLE_USER", "ROLE_AGENT"},
	{"msg-role-server", "spec03", nil, streamMessage03, `"role":"user"`, `"role":"agent"`},
	{"msg-parts-array", "spec", nil, messageRPC, `"parts":"hello"`, ""},
	{"msg-parts-array", "spec03", nil, streamMessage03, `"parts":"hello"`, ""},
	{"msg-parts-nonempty", "spec", nil, messageRPC, `"parts":[]`, ""},
	{"msg-kind", "spec03", nil, turn03, `"kind":"reply"`, ""},
	{"msg-context-on-server-message", "spec", nil, messageRPC, "ROLE_AGENT", `"contextId"`},
	{"msg-extensions-uri", "spec", nil, messageRPC, `"extensions":["seats"]`, ""},
	{"msg-extensions-uri", "spec03", nil, streamMessage03, `"extensions":["seats"]`, ""},
	{"msg-reference-task-ids", "spec", nil, messageRPC, `"referenceTaskIds":"id-0"`, ""},
	{"msg-reference-task-ids", "spec03", nil, streamMessage03, `"referenceTaskIds":"id-0"`, ""},
	{"metadata-object", "spec", []string{sendRPC}, getRPC, `"metadata":"none"`, ""},
	{"metadata-object", "spec03", []string{send03}, get03, `"metadata":"none"`, ""},
	{"part-object", "spec", nil, messageRPC, `"parts":["hello"]`, ""},
	{"part-object", "spec03", nil, streamMessage03, `"parts":["hello"]`, ""},
	{"part-discriminator", "spec03", nil, send03, `"parts":[{"text"`, `"kind":"text"`},
	{"part-discriminator-v01", "spec01", nil, send01, `"type":"markdown"`, `"type":"text"`},
	{"part-kind-content-match", "spec03", nil, send03, `{"kind":"text"}`, `"text":`},
	{"part-exactly-one", "spec", nil, sendRPC, `"data":{}`, ""},
	{"part-file-xor", "spec03", nil, data03, `"uri":"https://agentbin.example/file"`, ""},
	{"part-file-xor-v01", "spec01", nil, send01, `"uri":"https://agentbin.example/file"`, ""},
	{"part-base64", "spec", nil, dataRPC, "svg/", ""},
	{"part-base64", "spec03", nil, data03, "svg/", ""},
	{"part-url-absolute", "spec", nil, dataRPC, `"/files/1"`, `"raw"`},
	{"part-url-absolute", "spec03", nil, data03, `"/files/1"`, `"bytes"`},
	{"part-media-type-syntax", "spec", nil, dataRPC, `"svg"`, "svg+xml"},
	{"part-media-type-syntax", "spec03", nil, data03, `"svg"`, "svg+xml"},
	{"output-mode-accepted", "spec", nil, dataRPC, "image/png", "svg+xml"},
	{"output-mode-accepted", "spec03", nil, data03, "image/png", "svg+xml"},
	{"part-data-object", "spec03", nil, data03, `"data":"none"`, "latencyMs"},
	{"artifact-id-present", "spec", []string{sendRPC}, getRPC, `"artifacts":[{`, `"artifactId"`},
	{"artifact-id-present", "spec03", []string{send03}, get03, `"artifacts":[{`, `"artifactId"`},
	{"artifact-id-unique", "spec", []string{sendRPC}, getRPC, `},{"artifactId"`, ""},
	{"artifact-id-unique", "spec03", []string{send03}, get03, `},{"artifactId"`, ""},
	{"artifact-parts-array", "spec", []string{sendRPC}, getRPC, `"parts":"hello"`, ""},
	{"artifact-parts-array", "spec03", []string{send03}, get03, `"parts":"hello"`, ""},
	{"artifact-parts-nonempty", "spec", []string{sendRPC}, getRPC, `"parts":[]`, ""},
	{"artifact-index", "spec01", nil, send01, `"index":-1`, ""},
	{"output-in-message", "spec", nil, sendRPC, `"messageId":"result"`, `"artifacts"`},
	{"output-in-message", "spec03", nil, send03, `"messageId":"result"`, `"artifacts"`},
	{"task-id-present", "spec", []string{sendRPC}, getRPC, `"result":{"contextId"`, `"id":"id-1"`},
	{"task-id-present", "spec03", []string{send03}, get03, `"kind":"task","contextId"`, `"id":"id-1"`},
	{"task-context-id", "spec03", []string{send03}, get03, `"id":"id-1","status"`, `"id":"id-1","contextId"`},
	{"task-status-present", "spec", []string{sendRPC}, getRPC, `"id":"id-1"`, `"status"`},
	{"task-status-present", "spec03", []string{send03}, get03, `"id":"id-1"`, `"status"`},
	{"task-state-enum", "spec", []string{sendRPC}, getRPC, `"state":"paused"`, ""},
	{"task-state-enum", "spec03", []string{send03}, get03, `"state":"paused"`, ""},
	{"task-state-unspecified", "spec", []string{sendRPC}, getRPC, "TASK_STATE_UNSPECIFIED", ""},
	{"task-kind", "spec03", []string{send03}, get03, `"kind":"job"`, `"kind":"task"`},
	{"task-timestamp-format", "spec03", []string{send03}, get03, `"timestamp":"2026-03-01 10:00:00"`, ""},
	{"timestamp-utc-z", "spec", []string{sendRPC}, getRPC, `"timestamp":"2026-03-01T10:00:00.000"`, ""},
	{"timestamp-no-offset", "spec", []string{sendRPC}, getRPC, "00.000+00:00", ""},
	{"timestamp-millis", "spec", nil, streamRPC, "T10:00:01Z", `.000Z"`},
	{"event-kind", "spec03", nil, stream03, `"kind":"artifact"`, "artifact-update"},
	{"event-ids", "spec", nil, streamRPC, `"artifactUpdate":{"taskId":"id-1","artifact"`, ""},
	{"event-ids", "spec03", nil, stream03, `"kind":"artifact-update","taskId":"id-1","artifact"`, ""},
	{"event-id-v01", "spec01", nil, stream01, `"result":{"artifact"`, ""},
	{"event-status", "spec", nil, streamRPC, `"status":{"timestamp"`, ""},
	{"event-status", "spec03", nil, stream03, `"status":{"timestamp"`, ""},
	{"event-artifact", "spec", nil, streamRPC, "artifactUpdate", `"artifact":`},
	{"event-artifact", "spec03", nil, stream03, "artifact-update", `"artifact":`},
	{"event-final-type", "spec03", nil, stream03, `"final":"no"`, ""},
	{"event-flags-type", "spec", nil, streamRPC, `"append":"no"`, ""},
	{"event-flags-type", "spec03", nil, stream03, `"append":"no"`, ""},
	{"send-response-oneof", "spec", nil, sendRPC, `"result":{"id":"id-1"`, `{"task"`},
	{"send-response-oneof", "spec", nil, sendREST, `json {"id":"id-1"`, `{"task"`},
	{"stream-response-oneof", "spec", nil, streamRPC, `"result":{"progress":50}`, ""},
	{"stream-response-oneof", "spec", nil, streamREST, `data: {"progress":50}`, ""},
	{"send-result-type", "spec03", nil, send03, `"result":{"answer":"done"}`, `"id-1"`},
	{"get-result-task", "spec", []string{sendRPC}, getRPC, `"result":{"task":{`, ""},
	{"get-result-task", "spec03", []string{send03}, get03, `"result":{"task":{`, ""},
	{"json-camelcase", "spec", []string{sendRPC}, getRPC, `"context_id":"id-2"`, ""},
	{"enum-name-string", "spec", []string{sendRPC}, getRPC, `"state":3`, "TASK_STATE"},
	{"field-type", "spec", []string{sendRPC}, getRPC, `"history":"none"`, ""},
	{"field-type", "spec03", []string{send03}, get03, `"history":"none"`, ""},
	{"field-null-required", "spec03", []string{send03}, get03, `"history":null`, ""},
	{"legacy-field-emitted", "spec", []string{sendRPC}, getRPC, `"kind":"task"`, ""},
	{"unknown-field", "spec", []string{sendRPC}, getRPC, `"priority":"high"`, ""},
	{"unknown-field", "spec03", []string{send03}, get03, `"priority":"high"`, ""},
}
