package dialect

import (
	"encoding/base64"
	"encoding/json"
	"strings"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// What several dialects write and read alike.

// wrapped puts an event into the member named after its kind, as ProtoJSON does with a oneof.
func wrapped(e model.Event, event any) any {
	switch {
	case e.Task != nil:
		return jsonvalue.Object{{"task", event}}
	case e.Message != nil:
		return jsonvalue.Object{{"message", event}}
	case e.Status != nil:
		return jsonvalue.Object{{"statusUpdate", event}}
	}
	return jsonvalue.Object{{"artifactUpdate", event}}
}

// statusUpdate writes an update with a status that is written already, artifactUpdate one with an artifact.
func statusUpdate(u *model.StatusUpdate, status any) jsonvalue.Object {
	return jsonvalue.Object{{"taskId", u.TaskID}, {"contextId", u.ContextID}, {"status", status}}
}

func artifactUpdate(u *model.ArtifactUpdate, artifact any) jsonvalue.Object {
	return jsonvalue.Object{{"taskId", u.TaskID}, {"contextId", u.ContextID}, {"artifact", artifact}}
}

// status writes a status whose state is spelled so.
func status(s model.Status, state string, message func(model.Message) any) any {
	o := jsonvalue.Object{{"state", state}}
	if s.Message != nil {
		o = o.With("message", message(*s.Message))
	}
	return o.With("timestamp", model.Timestamp(s.At))
}

// contents adds a task's contents to its object.
func contents(o jsonvalue.Object, t model.Task, artifact func(model.Artifact) any,
	message func(model.Message) any,
) any {
	return o.List("artifacts", jsonvalue.Values(t.Artifacts, artifact)).
		List("history", jsonvalue.Values(t.History, message)).
		Nested("metadata", t.Metadata)
}

// artifactHead begins an artifact.
func artifactHead(a model.Artifact) jsonvalue.Object {
	return jsonvalue.Object{{"artifactId", a.ID}}.Optional("name", a.Name).Optional("description", a.Description)
}

// protoState spells a state as A2A 1.0 §4.1.3.
func protoState(s model.State) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}

func protoRole(r model.Role) string { return "ROLE_" + strings.ToUpper(string(r)) }

// readProtoRole reads a role by its name or by its number, as parsers of ProtoJSON do.
func readProtoRole(f model.Fields) model.Role {
	switch f.Value("role") {
	case "ROLE_USER", json.Number("1"):
		return model.RoleUser
	case "ROLE_AGENT", json.Number("2"):
		return model.RoleAgent
	}
	f.Complain("role", "must be ROLE_USER")
	return ""
}

// readRole reads a role as the versions before 1.0 write it.
func readRole(f model.Fields) model.Role {
	switch r := model.Role(f.Text("role")); r {
	case model.RoleUser, model.RoleAgent:
		return r
	}
	f.Complain("role", `must be "user"`)
	return ""
}

// file writes a file as the versions before 1.0 do.
func file(p model.Part) jsonvalue.Object {
	o := jsonvalue.Object{}.Optional("name", p.Filename).Optional("mimeType", p.MediaType)
	if p.Kind == model.RawPart {
		return append(o, jsonvalue.Member{"bytes", base64.StdEncoding.EncodeToString(p.Raw)})
	}
	return append(o, jsonvalue.Member{"uri", p.URL})
}

// authenticated adds the schemes of a push notification config, as the versions before 1.0 write them.
func authenticated(o jsonvalue.Object, c model.PushConfig) jsonvalue.Object {
	if len(c.Schemes) == 0 {
		return o
	}
	return append(o, jsonvalue.Member{"authentication", jsonvalue.Object{{"schemes", jsonvalue.Texts(c.Schemes...)}}})
}
