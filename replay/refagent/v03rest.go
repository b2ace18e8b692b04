package refagent

// The JSON of A2A 0.3 over HTTP+JSON: that of the JSON-RPC binding, with a wrapper around what a send or a stream
// gives.
type v03rest struct{ v03 }

// decode implements dialect. The config to create stands in a member of its own, or is the body.
func (d v03rest) decode(op operation, params object) (*request, *failure) {
	if op == listTasks {
		return &request{op: op, list: listing{pageSize: 100, artifacts: true}}, nil
	}
	if op == createPushConfig {
		params = unwrapConfig(params)
	}
	return d.v03.decode(op, params)
}

// unwrapConfig takes the container of a push config out of the member "config". The task is the one of the path.
func unwrapConfig(params object) object {
	config, ok := params.get("config")
	if inner, is := config.(object); ok && is {
		task, _ := params.get("taskId")
		return inner.with("taskId", task)
	}
	return params
}

// result implements dialect (A2A 0.3 §3.2.3).
func (d v03rest) result(op operation, r reply) any {
	switch {
	case r.message != nil:
		return object{{"message", d.message(*r.message)}}
	case r.page != nil:
		return values(r.page.tasks, d.task)
	case r.task != nil && op == sendMessage:
		return object{{"task", d.task(*r.task)}}
	case op == deletePushConfig:
		return object{}
	}
	return d.v03.result(op, r)
}

func (d v03rest) event(e event) any {
	inner := d.v03.event(e)
	switch {
	case e.task != nil:
		return object{{"task", inner}}
	case e.message != nil:
		return object{{"message", inner}}
	case e.status != nil:
		return object{{"statusUpdate", inner}}
	}
	return object{{"artifactUpdate", inner}}
}
