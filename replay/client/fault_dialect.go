package client

// Faults of clients that speak another version than the agent.
var dialectFaults = []Fault{
	{
		Slug: "dialect-mismatch", protocols: overRPC, On: GetTask,
		Doc:  "Tasks are asked for by the method of another version than the interface speaks.",
		edit: onEach(func(out *Outgoing) { out.editBody(func(body map[string]any) { otherVersion(out, body) }) }, GetTask),
	},
}

func otherVersion(out *Outgoing, body map[string]any) {
	switch body["method"] {
	case "GetTask":
		body["method"] = "tasks/get"
		out.Header.Del("A2A-Version")
	case "tasks/get":
		body["method"] = "GetTask"
		out.Header.Set("A2A-Version", "1.0")
	}
}
