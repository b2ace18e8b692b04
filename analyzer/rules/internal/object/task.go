package object

import (
	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/proxy/a2a"
)

// Tasks is the family of rules about the shape of a task and its status.
var Tasks = rule.Family{
	Name:     "task",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.SnapshotSeen,
	Bindings: rule.OnAll,
}.Of(
	taskIDPresent,
	taskContextID,
	taskStatusPresent,
	taskStateEnum,
	taskStateUnspecified,
	taskKind,
)

var taskIDPresent = &analysis.Rule{
	ID:     "task-id-present",
	Title:  "task without an id",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.1", rule.Before1...).And("4.1.1", a2a.V1_0),
	Stands: "0.1.0:395 0.2.6:types:179 0.3.0:types:478 1.0.1:proto:170",
	Doc: `Clients use the id for everything that they do with a task: get it, cancel it, continue it. Without an id
the task is lost as soon as the answer is read.`,
	Fix:    `Write the task's id as a non-empty string into every Task.`,
	Silent: `The format of the id.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "id", analysis.Error)
	},
}

var taskContextID = &analysis.Rule{
	ID:       "task-context-id",
	Title:    "task without a contextId",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.1", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"field-type"},
	Stands:   "0.2.6:types:180 0.3.0:types:479",
	Doc: `In 0.2 and 0.3 every task has a context, which the agent creates if the client names none. Typed clients
refuse a Task without it, and no client can start a second task in the same conversation.`,
	Fix:    `Write the context's id into every Task.`,
	Silent: `1.0, where the member is optional, and 0.1, which has no contexts.`,
	Check: func(p *analysis.Pass) {
		requireText(p, "contextId", analysis.Error)
	},
}

var taskStatusPresent = &analysis.Rule{
	ID:     "task-status-present",
	Title:  "task without a status, or status without a state",
	Level:  analysis.Must,
	Cites:  rule.Cite("6.1", rule.Before1...).And("4.1.1", a2a.V1_0),
	Stands: "0.1.0:402 0.2.6:types:182 0.3.0:types:481 1.0.1:proto:175",
	Doc: `A client needs the state of a task to know whether to wait, to ask its user, or to use the result. Without
it the client waits forever or gives up.`,
	Fix:    `Write "status" with "state" into every Task, even if only its artifacts have changed.`,
	Silent: `Before 1.0, over HTTP+JSON, a missing state is a note: proto JSON leaves out the state unknown.`,
	Check:  requireState,
}

// requireState reports a task or status update whose status has no state.
func requireState(p *analysis.Pass) {
	p.Applied()
	status := p.Entity.Member("status")
	switch {
	case !status.Exists():
		p.Report(p.Here(), "status is missing", "expected a status with a state")
	case status.Kind() != a2a.Object:
		p.Report(p.Here("status"), "status is "+analysis.Quote(status), "expected an object with a state")
	default:
		if state := status.Get("state"); !state.Exists() || state.IsNull() {
			p.Report(p.Here("status"), "the status has no state", "expected a state",
				analysis.AtMostIf(p.Entity.Proto(), analysis.Note))
		}
	}
}

var taskStateEnum = &analysis.Rule{
	ID:     "task-state-enum",
	Title:  "unknown task state",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.StatusSeen,
	Cites:  rule.Cite("6.3", rule.Before1...).And("4.1.3", a2a.V1_0),
	Covers: []string{"version-semantics-mixed"},
	Stands: "0.1.0:459 0.2.6:types:320 0.3.0:types:650 1.0.1:proto:187",
	Doc: `The list of states is closed. If the state is not in it, a client cannot tell whether the task is still
active: it waits forever, or cannot read the answer at all.`,
	Fix: `Use the state of the list that fits, in the version's spelling ("canceled" has one l). Put details into the
status message or into metadata.`,
	Silent: `A missing state; before 1.0, over HTTP+JSON, the spelling of the proto files. In 1.0 the spelling of
other versions is reported by enum-name-string. If an extension is active and the state is a text, the finding is a
note. Only the first such state in an exchange is reported.`,
	Check: func(p *analysis.Pass) {
		state := p.Entity.Member("state")
		if !state.Exists() {
			return
		}
		p.Applied()
		if isState(p, state) || p.Entity.Modern() && inOtherSpelling(state) && !unknownWord(p, state) {
			return
		}
		p.Report(p.Here("state"), "the state is "+analysis.Quote(state)+whoseSpelling(p, state),
			"expected "+stateNames(p, state),
			analysis.AtMostIf(state.Kind() == a2a.String && hasExtensions(p.Exchange), analysis.Note))
	},
}

// isState reports whether a value is a state as the current dialects spell it.
func isState(p *analysis.Pass, v a2a.Value) bool {
	if v.Kind() != a2a.String || v.Is("") {
		return false
	}
	for d := a2a.V0_1; d <= a2a.V1_0; d++ {
		if !p.Dialects.Has(d) && (d != a2a.V1_0 || !p.Entity.Proto()) {
			continue
		}
		for s := a2a.Submitted; s <= a2a.Unspecified; s++ {
			if v.Is(s.Spelling(d)) {
				return true
			}
		}
	}
	return p.Entity.Proto() && v.Is("TASK_STATE_CANCELLED")
}

// unknownWord reports whether a value is a number over gRPC, where a number means an unknown enumeration value.
func unknownWord(p *analysis.Pass, v a2a.Value) bool {
	return p.Exchange.Call.Binding == a2a.GRPC && v.Kind() == a2a.Number
}

// inOtherSpelling reports whether a value is a state in the spelling of another version, or as a number.
func inOtherSpelling(v a2a.Value) bool {
	return v.Kind() == a2a.Number || a2a.StateOf(v.Text()) != a2a.NoState
}

// hasExtensions reports whether an extension was asked for or activated.
func hasExtensions(x *analysis.Exchange) bool {
	for _, name := range [...]string{"A2A-Extensions", "X-A2A-Extensions"} {
		if x.Request.Fields.Has(name) || x.Response.Fields.Has(name) || x.Trailer.Has(name) {
			return true
		}
	}
	return false
}

var taskStateUnspecified = &analysis.Rule{
	ID:     "task-state-unspecified",
	Title:  "task state TASK_STATE_UNSPECIFIED",
	Level:  analysis.Should,
	On:     analysis.StatusSeen,
	Cites:  rule.Cite("5.7", a2a.V1_0),
	Stands: "1.0.1:1263",
	Doc: `The state is required, and this value means that it was not set. A client learns nothing from it: neither
whether to wait nor whether there is a result.`,
	Fix: `Set a state before a task is shown: TASK_STATE_SUBMITTED as soon as it exists.`,
	Silent: `The state unknown of older versions, which is legal there. The finding is a warning, since the comment on
the value also allows it for a state that is unknown.`,
	Check: func(p *analysis.Pass) {
		state := p.Entity.Member("state")
		if state.Kind() != a2a.String {
			return
		}
		p.Applied()
		if state.Is("TASK_STATE_UNSPECIFIED") {
			p.Report(p.Here("state"), "the state is "+analysis.Quote(state), "expected a state that is set")
		}
	},
}

var taskKind = &analysis.Rule{
	ID:       "task-kind",
	Title:    `task without kind "task"`,
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("6.1", a2a.V0_2, a2a.V0_3),
	Covers:   []string{"version-semantics-mixed", "field-type", "task-context-id"},
	Stands:   "0.2.6:types:192 0.3.0:types:492",
	Doc: `An agent answers a message with a Task or a Message, and "kind" tells the client which one it is. A typed
client that does not find it cannot read the answer.`,
	Fix: `Write "kind":"task" into every Task.`,
	Silent: `Events of a stream, which event-kind checks, and tasks inside another object, which get-result-task
checks.`,
	Check: func(p *analysis.Pass) {
		if p.Event != nil || p.Entity.Within != a2a.NoEntity {
			return
		}
		p.Applied()
		switch kind := p.Entity.Member("kind"); {
		case kind.Is("task"):
		case kind.Exists():
			p.Report(p.Here("kind"), "kind is "+analysis.Quote(kind), `expected "task"`)
		default:
			p.Report(p.Here(), "kind is missing", `expected "task"`, analysis.For(analysis.KindOmitted))
		}
	},
}
