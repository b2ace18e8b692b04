package fault

import (
	"net/url"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// Faults in request headers: versions, extensions and credentials.
var versionFaults = []ClientFault{
	of(only10, "auth-scheme-undeclared", sends,
		"Requests authenticate with the scheme Basic, which the card does not declare.",
		setHeader("Authorization", "Basic Ym9va2VyOmJvb2tlcg==")),
	of(only10, "ext-header-name", sends, "Extensions are requested with X-A2A-Extensions.",
		setHeader("X-A2A-Extensions", seats)),
	of(only03, "ext-header-name-0x", sends, "Extensions are requested with A2A-Extensions.",
		setHeader("A2A-Extensions", seats)),
	of(only10, "ext-header-format", sends, "A2A-Extensions contains a name that is not a URI.",
		setHeader("A2A-Extensions", "seats")),
	of(only10, "ext-header-unknown-param", sends, "Extensions are requested with A2A-Extension, which does not exist.",
		setHeader("A2A-Extension", seats)),
	of(only10, "ver-header-present", sends, "Requests have no version.",
		onEach(func(out *client.Outgoing) { out.Header.Del("A2A-Version") })),
	of(only10, "ver-header-format", sends, "The version has a letter before it.", setHeader("A2A-Version", "v1.0")),
	of(only10, "ver-header-patch", sends, "The version has a patch number.", setHeader("A2A-Version", "1.0.0")),
	of(only10, "ver-header-param-conflict", sends, "The query has another version than the header.",
		onQuery(func(q url.Values) { q.Set("A2A-Version", "0.3") })),
	of(only10, "ver-interface-match", sends, "Requests have a version that the card does not declare.",
		setHeader("A2A-Version", "1.1")),
	of(only01, "version-semantics-mixed", sends, "Parts of 0.1 messages have the member kind of later versions instead of type.",
		onMessage(func(message map[string]any) {
			parts, _ := message["parts"].([]any)
			for _, p := range parts {
				if part, ok := p.(map[string]any); ok {
					part["kind"] = part["type"]
					delete(part, "type")
				}
			}
		}), "unknown-field"),
}

// seats is an extension that no agent has.
const seats = "https://a2atap.example/extensions/seats/v1"

// setHeader makes a fault set a header field of every request.
func setHeader(name, value string) func() func(*client.Outgoing) {
	return onEach(func(out *client.Outgoing) { out.Header.Set(name, value) })
}

// Faults of clients that speak another version than the agent.
var dialectFaults = []ClientFault{
	of(overRPC, "dialect-mismatch", a2a.GetTask,
		"Tasks are requested with the method of another version than the interface's.",
		onEach(func(out *client.Outgoing) { editBody(out, func(body map[string]any) { otherVersion(out, body) }) },
			a2a.GetTask)),
}

func otherVersion(out *client.Outgoing, body map[string]any) {
	switch body["method"] {
	case "GetTask":
		body["method"] = "tasks/get"
		out.Header.Del("A2A-Version")
	case "tasks/get":
		body["method"] = "GetTask"
		out.Header.Set("A2A-Version", "1.0")
	}
}
