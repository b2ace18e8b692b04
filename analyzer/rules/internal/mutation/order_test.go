package mutation_test

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"a2atap/proxy/capture"
)

// orderMutations break what holds between exchanges.
var orderMutations = []mutation{
	broken("finished task works again", later, "state-final-state-agrees state-terminal-immutable", "status",
		when(asked("get"), when(finished, setState("working")))).faithfully(),
	broken("finished task ended otherwise", later, "state-final-state-agrees state-terminal-immutable", "status",
		when(asked("get"), when(finished, either(whenState("completed", "failed"), whenState("failed",
			"completed"))))).faithfully(),
	broken("artifact of a finished task changes", later, "state-artifacts-after-terminal stream-artifact-consistent",
		"artifact",
		when(asked("get"), when(filtered("t2"), func(s *spot) bool {
			p := first(s.o, "parts")
			return p != nil && p.has("text") && set("text", `"something else"`)(&spot{o: p})
		}))).faithfully(),
	broken("message to a finished task is taken", later,
		"state-send-terminal-rejected state-send-terminal-rejected-v1", "",
		taken).with("id-context-mismatch-rejected req-context-task-mismatch req-to-terminal " +
		"legacy-field-emitted").elsewhere().faithfully(),
	broken("finished task is canceled", every, "state-cancel-terminal state-cancel-changes-terminal", "",
		replay("cancel", "canceled")).
		with("state-terminal-immutable"),
	broken("message to a finished task fails", modern, "state-send-terminal-code", "error",
		when(asked("send"), when(aboutEnd, otherError("TASK_NOT_CANCELABLE",
			-32002)))).with("push-supported-but-refused push-unsupported-error"),
	broken("cancel of a finished task fails inside", every, "state-cancel-terminal-code error-internal-for-named-case",
		"error",
		when(asked("cancel"), internal)).with("rpc-errorinfo-code-match rpc-errorinfo-reason rest-error-status-map " +
		"rest-error-code-equals-status"),
	broken("subscription to a finished task fails inside", modern,
		"state-subscribe-terminal-code error-internal-for-named-case", "error",
		when(asked("subscribe"), when(does("stream"),
			internal))).with("rpc-errorinfo-code-match rpc-errorinfo-reason rest-error-status-map " +
		"rest-error-code-equals-status cap-streaming-unsupported"),
	broken("unknown task is an internal error", every, "error-internal-for-named-case", "error",
		when(taskError, when(denied, internal))).with("rpc-errorinfo-code-match rpc-errorinfo-reason " +
		"rest-error-status-map rest-error-code-equals-status"),
	broken("two tasks have one id", later, "id-task-unique id-context-stable", "",
		sameTask).with(otherTask + " " + otherContext + " " + otherState + " " + otherContent +
		" state-final-state-agrees").elsewhere().faithfully(),
	broken("message id is used again", later, "req-message-id-reuse", "", again(func(x *capture.Exchange) bool {
		return replaceIn(x, `"parts":[`, `"parts":[{"kind":"text","text":"and more"},`, true)
	})).with("id-task-unique part-exactly-one legacy-field-emitted version-semantics-mixed " +
		otherState).elsewhere().faithfully(),
	broken("listed task is in another context", modern, "list-filter-context", "task",
		when(asked("list"), when(filtered("contextId"), set("contextId", `"c99"`)))).with(otherContext),
	broken("listed task is in another state", modern, "list-filter-status", "status",
		when(asked("list"), when(filtered("status"), set("state", `"TASK_STATE_FAILED"`)))).with(otherState),
	broken("listed task is too old", modern, "list-filter-time", "status",
		when(asked("list"), when(filtered("statusTimestampAfter"), set("timestamp", `"2020-03-05T10:00:00.000Z"`)))),
	broken("notification for a task that nobody asked about", later, "hook-task-known", "",
		notified(func(x *capture.Exchange) bool {
			return replaceIn(x, `"t6"`, `"t2"`, true)
		})).with(otherState + " " + otherContext + " " + otherContent),
	broken("notification of another end", modern, "hook-state-agrees", "", when(hooked, func(s *spot) bool {
		x := s.copyOf(s.i)
		if !replaceIn(x, "TASK_STATE_COMPLETED", "TASK_STATE_FAILED", true) {
			return false
		}
		s.after(x)
		return true
	})).with("state-terminal-immutable").elsewhere(),
	broken("a card that its client could have kept", modern, "card-conditional-get", "",
		refetch).elsewhere().faithfully(),
	broken("client goes on with a finished task", later, "req-to-terminal", "", goOn).elsewhere(),
}

func finished(s *spot) bool {
	return slices.Contains([]string{"completed", "failed", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"},
		s.o.str("state"))
}

// setState gives a status a state in the spelling that it had.
func setState(name string) func(*spot) bool {
	return func(s *spot) bool {
		now := name
		if strings.HasPrefix(s.o.str("state"), "TASK_STATE_") {
			now = "TASK_STATE_" + strings.ToUpper(name)
		}
		return set("state", strconv.Quote(now))(s)
	}
}

func whenState(from, to string) func(*spot) bool {
	return when(is("state", from, "TASK_STATE_"+strings.ToUpper(from)), setState(to))
}

// aboutEnd holds for refusals of what a finished task does not take.
func aboutEnd(s *spot) bool { return s.o.str("message") == "This operation is not supported" }

// otherError makes another error of one in every respect.
func otherError(reason string, code int) func(*spot) bool {
	return func(s *spot) bool {
		if s.kind.rest && s.o.get("details") == nil {
			return false
		}
		for _, name := range []string{"data", "details"} {
			for _, d := range s.o.get(name).list() {
				if d.has("reason") {
					d.put("reason", `"`+reason+`"`)
				}
			}
		}
		if !s.kind.rest {
			s.o.put("code", strconv.Itoa(code))
		}
		s.o.put("message", `"Not here"`)
		return true
	}
}

// internal makes an internal error of one.
func internal(s *spot) bool {
	s.o.put("message", `"Internal error"`)
	s.o.remove("data")
	s.o.remove("details")
	if !s.kind.rest {
		s.o.put("code", "-32603")
		return true
	}
	if s.kind.in == rest03 {
		s.o.put("code", "-32603")
	}
	if s.o.has("status") {
		s.o.put("status", `"INTERNAL"`)
		s.o.put("code", "500")
	}
	x := s.own(s.i)
	return status("500 Internal Server Error")(&spot{exchanges: []*capture.Exchange{x}, kind: s.kind})
}

// filtered holds for lists that were asked for with a filter.
func filtered(name string) func(*spot) bool {
	return func(s *spot) bool {
		r := s.x().Request
		return strings.Contains(string(r.Head)+string(r.Body.Data), name)
	}
}

// after puts an exchange behind all others.
func (s *spot) after(x *capture.Exchange) {
	last := s.exchanges[len(s.exchanges)-1]
	x.Seq, x.ID[0], x.ID[1] = last.Seq+1, 0xEE, x.ID[1]+1
	x.Started = last.Started.Add(max(time.Second, last.Ended+time.Second))
	s.exchanges = append(s.exchanges, x)
}

// copyOf returns a copy of an exchange.
func (s *spot) copyOf(i int) *capture.Exchange {
	t := spot{exchanges: slices.Clone(s.exchanges)}
	return t.own(i)
}

// replaceIn changes a text of the request, or of the answer.
func replaceIn(x *capture.Exchange, from, to string, request bool) bool {
	b, head := &x.Request.Body, &x.Request.Head
	if !request {
		if x.Response == nil || x.Response.Stream {
			return false
		}
		b, head = &x.Response.Body, &x.Response.Head
	}
	return setText(b, head, strings.Replace(string(b.Data), from, to, 1))
}

// taskOf returns the task of an answer; nil if it does not exist.
func taskOf(x *capture.Exchange) *value {
	if x.Response == nil || x.Response.Stream {
		return nil
	}
	root, ok := parseValue(string(x.Response.Body.Data))
	if !ok {
		return nil
	}
	for _, name := range []string{"result", "task"} {
		if inner := root.get(name); inner != nil {
			root = inner
		}
	}
	if !root.isTask() {
		return nil
	}
	return root
}

var terminal = []string{"completed", "failed", "TASK_STATE_COMPLETED", "TASK_STATE_FAILED"}

// taken sends a message to a task that had ended, and answers it with the task.
func taken(s *spot) bool {
	task := taskOf(s.x())
	if s.kind.operation != "send" || task == nil || !slices.Contains(terminal, task.str("status", "state")) ||
		!strings.Contains(string(s.x().Request.Body.Data), `"messageId":"`) {
		return false
	}
	x := s.copyOf(s.i)
	if strings.Contains(string(x.Request.Body.Data), `"taskId"`) ||
		!replaceIn(x, `"messageId":"`, `"taskId":"`+task.str("id")+`","messageId":"again-`, true) {
		return false
	}
	s.after(x)
	return true
}

// goOn does so, and has the message refused.
func goOn(s *spot) bool {
	if !taken(s) {
		return false
	}
	last := s.exchanges[len(s.exchanges)-1]
	if s.kind.rest {
		return setText(&last.Response.Body, &last.Response.Head,
			`{"error":{"code":400,"status":"FAILED_PRECONDITION","message":"ended","details":[`+
				`{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION",`+
				`"domain":"a2a-protocol.org"}]}}`) &&
			status("400 Bad Request")(&spot{exchanges: []*capture.Exchange{last}, kind: s.kind})
	}
	root, _ := parseValue(string(last.Response.Body.Data))
	root.remove("result")
	root.put("error", `{"code":-32004,"message":"ended",`+
		`"data":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"UNSUPPORTED_OPERATION",`+
		`"domain":"a2a-protocol.org"}]}`)
	return setText(&last.Response.Body, &last.Response.Head, root.text(""))
}

// replay repeats a cancel of a task that had ended, with success.
func replay(operation, state string) func(*spot) bool {
	return func(s *spot) bool {
		if s.kind.operation != operation || s.x().Response == nil ||
			!strings.Contains(string(s.x().Response.Body.Data), "cannot be canceled") {
			return false
		}
		for _, other := range s.exchanges[:s.i] {
			task := taskOf(other)
			if task == nil || task.str("id") != "t2" || !slices.Contains(terminal, task.str("status", "state")) {
				continue
			}
			now := setState(state)
			now(&spot{o: task.get("status")})
			r := s.x().Response
			if s.kind.rest {
				return setText(&r.Body, &r.Head, task.text("")) && status("200 OK")(s)
			}
			root, _ := parseValue(string(r.Body.Data))
			root.remove("error")
			root.put("result", task.text(""))
			return setText(&r.Body, &r.Head, root.text(""))
		}
		return false
	}
}

// sameTask gives the task of a send the id of that of another one.
func sameTask(s *spot) bool {
	task := taskOf(s.x())
	if s.kind.operation != "send" || task == nil || strings.Contains(string(s.x().Request.Body.Data), `"taskId"`) {
		return false
	}
	for i, other := range s.exchanges[:s.i] {
		if t := taskOf(other); t != nil && kindOf(other).operation == "send" &&
			!strings.Contains(string(other.Request.Body.Data), `"taskId"`) &&
			t.str("id") != task.str("id") {
			_ = i
			return replaceIn(s.x(), `"id":"`+task.str("id")+`"`, `"id":"`+t.str("id")+`"`, false)
		}
	}
	return false
}

// again sends a message again, changed, and answers it in the same way.
func again(change func(*capture.Exchange) bool) func(*spot) bool {
	return func(s *spot) bool {
		if s.kind.operation != "send" || !called("send")(s) {
			return false
		}
		x := s.copyOf(s.i)
		if !change(x) {
			return false
		}
		s.after(x)
		return true
	}
}

// notified sends a notification again, changed.
func notified(change func(*capture.Exchange) bool) func(*spot) bool {
	return func(s *spot) bool { return s.kind.operation == "hook" && change(s.x()) }
}

// refetch fetches the card again without asking whether it changed.
func refetch(s *spot) bool {
	if s.kind.operation != "fetch" || s.kind.status != "200" {
		return false
	}
	first, second := s.x(), s.copyOf(s.i)
	first.Conn, second.Conn = 7, 7
	s.after(second)
	return true
}

// denied holds where the agent has said before that it does not know a task.
func denied(s *spot) bool {
	return slices.ContainsFunc(s.exchanges[:s.i], func(x *capture.Exchange) bool {
		return x.Response != nil && strings.Contains(string(x.Response.Body.Data), "Task not found")
	})
}
