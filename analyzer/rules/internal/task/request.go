package task

import (
	"cmp"
	"errors"
	"math"
	"strconv"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/card"
	"a2atap/proxy/a2a"
)

// Requests is the family of rules about the parameters of requests.
var Requests = rule.Family{
	Name:     "request",
	Category: analysis.Lifecycle,
	Side:     a2a.Client,
	On:       analysis.RequestSeen,
}.Of(
	reqTaskID,
	reqSendIDV01,
	reqAcceptedOutputModes,
	reqHistoryLength,
	reqPageSize,
	reqListStatus,
)

var reqTaskID = &analysis.Rule{
	ID:       "req-task-id",
	Title:    "request about a task without the task's id",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	If:       analysis.AboutTask,
	Cites:    rule.Cite("7.3", rule.Before1...).And("3.1.3", a2a.V1_0),
	Covers:   []string{"field-type", "field-null-required", "unknown-field"},
	Stands:   "0.1.0:929 0.2.6:types:255 0.3.0:types:567 1.0.1:proto:665",
	Doc: `To get, cancel or follow a task, and to manage its push configs, the client has to name the task. Without
the id the agent can only refuse.`,
	Fix: `Put the id of the task into params: as taskId for push configs in 1.0 and to set one before 1.0, as id for
everything else. Over HTTP+JSON it is part of the path.`,
	Silent: `Requests whose params are not an object, which another rule reports; tasks/get and tasks/cancel with a
taskId if nothing shows that the endpoint uses A2A, since MCP has the same methods; a bare id instead of tasks/ID over
gRPC before 1.0, since the drafts of 1.0 have the same service. For a 1.0 push config created without taskId the
finding is a warning: the schema does not mark the member as required, since HTTP+JSON has it in the path.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if !asksForTask(call.Operation) || !rule.ParamsReadable(call) {
			return
		}
		p.Applied()
		if call.Binding == a2a.HTTPJSON {
			if call.TaskID == "" {
				p.Report(p.Exchange.RequestPlace().Line(), "the path names no task", "expected the task's id")
			}
			return
		}
		if call.Binding == a2a.GRPC && !call.Dialects.Has(a2a.V1_0) {
			named := cmp.Or(call.Params.Get("name").Text(), call.Params.Get("parent").Text())
			if call.TaskID == "" && (named == "" || strings.Contains(named, "/")) {
				p.Report(rule.InParams(p, call.Params), "neither name nor parent names a task", `expected "tasks/" and its id`)
			}
			return
		}
		name, snake := taskIDMember(call)
		v := rule.Member(call.Params, name, snake)
		if v.Text() != "" {
			return
		}
		worst := analysis.Error
		if call.Operation == a2a.CreatePushConfig && call.Dialects.Has(a2a.V1_0) && (!rule.Given(v) || v.Is("")) {
			worst = analysis.Warning
		}
		at, seen := rule.InParams(p, v), rule.QuoteMember(name, v)
		if other := call.Params.Get(otherMember[name]); !v.Exists() && other.Text() != "" {
			at, seen = rule.InParams(p, other), seen+", and "+rule.QuoteMember(otherMember[name], other)
		}
		p.Report(at, seen, "expected the task's id", analysis.AtMost(worst))
	},
}

// otherMember is the name that the member with the task's id has in other operations and versions.
var otherMember = map[string]string{"id": "taskId", "taskId": "id"}

func asksForTask(o a2a.Operation) bool {
	return o == a2a.GetTask || o == a2a.CancelTask || o == a2a.SubscribeToTask || o.Push()
}

// taskIDMember returns how the parameters of a call name the task.
func taskIDMember(call *a2a.Call) (name, snake string) {
	switch {
	case !call.Operation.Push():
		return "id", "id"
	case call.Dialects.Has(a2a.V1_0), call.Operation == a2a.CreatePushConfig && !call.Dialects.Has(a2a.V0_1):
		return "taskId", "task_id"
	}
	return "id", "id"
}

var reqSendIDV01 = &analysis.Rule{
	ID:       "req-send-id-v01",
	Title:    "tasks/send without the id of the task",
	Level:    analysis.Must,
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.1.1", a2a.V0_1),
	Stands:   "0.1.0:796",
	Doc: `In 0.1 the client creates the id of a task and sends it with every message, including the first. Without it
neither side can refer to the task later.`,
	Fix: `Create an id for a new task, such as a UUID, and send it as params.id. Send the same id with every later
request about the task.`,
	Silent: `Requests whose params are not an object, which another rule reports.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if !call.Operation.Sends() || call.Params.Kind() != a2a.Object {
			return
		}
		p.Applied()
		if id := call.Params.Get("id"); id.Text() == "" {
			p.Report(rule.InParams(p, id), rule.QuoteMember("id", id), "expected the id that the client gives the task")
		}
	},
}

var reqAcceptedOutputModes = &analysis.Rule{
	ID:       "req-accepted-output-modes",
	Title:    "configuration without acceptedOutputModes",
	Level:    analysis.Advice,
	Needs:    []*analysis.Tracker{card.Tracker},
	Bindings: rule.OnRPC,
	Cites:    rule.Cite("7.1.1", a2a.V0_2),
	Stands:   "0.2.5:types:294",
	Doc: `Up to 0.2.5 the configuration of a message lists the media types that the client can read. Strict agents of
that time refuse the message without the list.`,
	Fix:    `Send configuration.acceptedOutputModes, such as ["text/plain"], or no configuration at all.`,
	Silent: `Agents whose card does not name a version from 0.2.0 to 0.2.5: later ones do not require it.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		configuration := call.Params.Get("configuration")
		if !call.Operation.Sends() || configuration.Kind() != a2a.Object || !rule.Before0_2_6(p) {
			return
		}
		p.Applied()
		if modes := configuration.Get("acceptedOutputModes"); !rule.Given(modes) {
			at := modes
			if !at.Exists() {
				at = configuration
			}
			p.Report(rule.InParams(p, at), rule.QuoteMember("acceptedOutputModes", modes),
				"expected the media types that the client accepts")
		}
	},
}

var reqHistoryLength = &analysis.Rule{
	ID:       "req-history-length",
	Title:    "historyLength is not a whole number from 0 to 2147483647",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("7.3.1", rule.Before1...).And("3.2.4", a2a.V1_0),
	Stands:   "0.1.0:934 0.2.6:types:267 0.3.0:types:582 1.0.1:467",
	Doc: `historyLength is the maximum number of history messages that the client wants. If it is negative, a fraction
or a text, an agent refuses the request or sends something that the client did not mean. The number has 32 bits:
parsers refuse a larger one.`,
	Fix: `Send a whole number from 0 to 2147483647. Leave the member out to let the agent decide.`,
	Silent: `null; digits in a string, which parsers of 1.0 and of HTTP+JSON accept; text in the query, which another
rule reports. Before 1.0 no text forbids negative or larger numbers: there the finding is a note.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		v := historyLength(call)
		if !rule.Given(v) {
			if n, ok := queryNumber(call, "historyLength"); ok {
				p.Applied()
				checkHistoryLength(p, n, p.Exchange.RequestPlace().Line())
			}
			return
		}
		p.Applied()
		if n, ok := wholeNumber(call, v); ok {
			checkHistoryLength(p, n, rule.InParams(p, v))
		} else {
			p.Report(rule.InParams(p, v), rule.QuoteMember("historyLength", v), "expected a whole number, 0 or more")
		}
	},
}

// historyLength returns the limit of the history in the body of a call.
func historyLength(call *a2a.Call) a2a.Value {
	holder := call.Params
	switch {
	case call.Operation.Sends() && call.Dialects != a2a.Of(a2a.V0_1):
		holder = call.Params.Get("configuration")
	case call.Operation.Sends(), call.Operation == a2a.GetTask:
	case call.Operation == a2a.ListTasks && call.Dialects.Has(a2a.V1_0):
	case call.Operation == a2a.SubscribeToTask && call.Dialects == a2a.Of(a2a.V0_1):
	default:
		return a2a.Value{}
	}
	return rule.Member(holder, "historyLength", "history_length")
}

// checkHistoryLength reports a history limit below zero, or above the maximum of the schemas since 0.2.
func checkHistoryLength(p *analysis.Pass, n int64, at analysis.Place) {
	worst := analysis.Note
	if p.Dialects.Has(a2a.V1_0) {
		worst = analysis.Error
	}
	switch {
	case n < 0:
		p.Report(at, "historyLength is "+numberText(n), "expected a whole number, 0 or more", analysis.AtMost(worst))
	case n > math.MaxInt32:
		p.Report(at, "historyLength is "+numberText(n), "expected no more than "+maxNumber, analysis.AtMost(worst))
	}
}

// maxNumber is the largest number of an int32, as the schemas have them.
const maxNumber = "2147483647"

// numberText returns a number as a finding shows it; those that no int64 holds were cut to its bounds.
func numberText(n int64) string {
	switch n {
	case math.MaxInt64:
		return "beyond 64 bits"
	case math.MinInt64:
		return "below 64 bits"
	}
	return strconv.FormatInt(n, 10)
}

// wholeNumber returns an integer of the body, cut to the bounds of an int64. Parsers of proto JSON take digits in a
// string as well.
func wholeNumber(call *a2a.Call, v a2a.Value) (int64, bool) {
	if text, ok := v.Str(); ok && (call.Binding == a2a.HTTPJSON || call.Dialects.Has(a2a.V1_0)) {
		return parseNumber(text)
	}
	if n, ok := v.Int(); ok || v.Kind() != a2a.Number {
		return n, ok
	}
	switch raw := string(v.Raw()); {
	case strings.ContainsAny(raw[1:], ".-"): // it may have a fraction
		return 0, false
	case raw[0] == '-':
		return math.MinInt64, true
	}
	return math.MaxInt64, true
}

// queryNumber returns an integer of the query, cut to the bounds of an int64. Another rule reports values that are not
// integers.
func queryNumber(call *a2a.Call, name string) (int64, bool) {
	if call.Binding != a2a.HTTPJSON || call.Query == "" {
		return 0, false
	}
	text, ok := call.QueryValue(name)
	if !ok {
		return 0, false
	}
	return parseNumber(text)
}

func parseNumber(text string) (int64, bool) {
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil || errors.Is(err, strconv.ErrRange)
}

var reqPageSize = &analysis.Rule{
	ID:       "req-page-size",
	Title:    "pageSize out of bounds",
	Level:    analysis.Must,
	Bindings: rule.OnCall,
	If:       analysis.OfLists,
	Cites:    rule.Cite("3.1.4", a2a.V1_0),
	Stands:   "1.0.1:proto:683",
	Doc: `A page of tasks has 1 to 100 tasks. Agents refuse other sizes, or answer with a page size that the client
does not expect.`,
	Fix: `Ask for 1 to 100, or leave pageSize out for the agent's default, and follow nextPageToken for more.`,
	Silent: `Text in the query, which another rule reports. For lists of push configs only the upper limit of the
number, 2147483647, is checked.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		if call.Operation == a2a.ListPushConfigs {
			if n, at, ok := pageSize(p); ok && (n > math.MaxInt32 || n < math.MinInt32) {
				p.Report(at, "pageSize is "+numberText(n), "expected no more than "+maxNumber)
			}
			return
		}
		if call.Operation != a2a.ListTasks {
			return
		}
		n, at, ok := pageSize(p)
		if v := rule.Member(call.Params, "pageSize", "page_size"); !ok && rule.Given(v) && call.Binding == a2a.JSONRPC {
			p.Report(rule.InParams(p, v), rule.QuoteMember("pageSize", v), "expected 1 to 100")
		}
		if !ok {
			return
		}
		p.Applied()
		if n < 1 || n > 100 {
			p.Report(at, "pageSize is "+numberText(n), "expected 1 to 100")
		}
	},
}

// pageSize returns the page size that a request asks for, and where. A message of gRPC tells 0 from none: the field has
// presence (A2A 1.0, ListTasksRequest in the protobuf).
func pageSize(p *analysis.Pass) (n int64, at analysis.Place, ok bool) {
	call := &p.Exchange.Call
	if n, ok := queryNumber(call, "pageSize"); ok {
		return n, p.Exchange.RequestPlace().Line(), true
	}
	v := rule.Member(call.Params, "pageSize", "page_size")
	if n, ok = wholeNumber(call, v); !ok {
		return 0, at, false
	}
	return n, rule.InParams(p, v), true
}

var reqListStatus = &analysis.Rule{
	ID:       "req-list-status",
	Title:    "list filtered by a state that does not exist",
	Level:    analysis.Must,
	If:       analysis.OfTasks,
	Bindings: rule.OnRPC | rule.OnGRPC,
	Cites:    rule.Cite("3.1.4", a2a.V1_0),
	Stands:   "1.0.1:proto:681",
	Doc: `The status filter of ListTasks is the name of a state. With any other text the agent refuses the request, or
lists tasks that the client did not ask for.`,
	Fix: `Send a name such as "TASK_STATE_WORKING", or leave status out.`,
	Silent: `An empty text and TASK_STATE_UNSPECIFIED, which mean no filter; over JSON-RPC, numbers and states in
another spelling, which another rule reports; the query of HTTP+JSON, which another rule covers.`,
	Check: func(p *analysis.Pass) {
		call := &p.Exchange.Call
		status := call.Params.Get("status")
		if call.Operation != a2a.ListTasks || !rule.Given(status) ||
			status.Kind() == a2a.Number && call.Binding != a2a.GRPC {
			return
		}
		p.Applied()
		if text, ok := status.Str(); ok && (text == "" || a2a.StateOf(text) != a2a.NoState) {
			return
		}
		p.Report(rule.InParams(p, status), rule.QuoteMember("status", status),
			"expected the name of a state, such as TASK_STATE_WORKING")
	},
}
