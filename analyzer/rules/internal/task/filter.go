package task

import (
	"bytes"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules/internal/rule"
	"a2atap/analyzer/track/answer"
	"a2atap/analyzer/track/page"
	"a2atap/proxy/a2a"
)

// Filter is the family of rules about which tasks a list holds, and in which order.
var Filter = rule.Family{
	Name:     "filter",
	Category: analysis.Lifecycle,
	Side:     a2a.Agent,
	On:       analysis.AnswerSeen,
	Bindings: rule.OnCall,
	Cites:    rule.Cite("3.1.4", a2a.V1_0),
	If:       analysis.OfTasks,
}.Of(
	listSorted,
	listFilterContext,
	listFilterStatus,
	listFilterTime,
	listArtifactsOmitted,
	listDuplicateTask,
	listScope,
)

// A timestamp is a time as a message gives it.
type timestamp struct {
	time.Time
	unit time.Duration // of its last digit
}

// timestampOf reads a timestamp (RFC 3339). It returns false for any other value.
func timestampOf(v a2a.Value) (timestamp, bool) {
	raw := v.Raw()
	if v.Kind() != a2a.String || len(raw) < 2 {
		return timestamp{}, false
	}
	return parseTimestamp(raw[1 : len(raw)-1])
}

func parseTimestamp(text []byte) (timestamp, bool) {
	s := timestamp{unit: time.Second}
	if s.UnmarshalText(text) != nil {
		return timestamp{}, false
	}
	if point := bytes.IndexByte(text, '.'); point >= 0 {
		for _, c := range text[point+1:] {
			if c < '0' || c > '9' || s.unit == 1 {
				break
			}
			s.unit /= 10
		}
	}
	return s, true
}

// before reports whether s is earlier than t, as far as the less precise of the two can tell.
func (s timestamp) before(t timestamp) bool {
	unit := max(s.unit, t.unit)
	return s.Truncate(unit).Before(t.Truncate(unit))
}

var listSorted = &analysis.Rule{
	ID:     "list-sorted",
	Title:  "tasks of a list are not sorted by time",
	Level:  analysis.Must,
	Needs:  []*analysis.Tracker{page.Tracker},
	Stands: "1.0.1:262",
	Doc: `A list begins with the task whose status is newest. Clients read the first page to learn what is new, and
stop at the first task that they know; they never see what follows it.`,
	Fix:    `Sort by status.timestamp, newest first, before you split the list into pages.`,
	Silent: `Tasks without a timestamp, and differences smaller than the coarser of the two precisions.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		if !ok {
			return
		}
		var last timestamp
		var lastText a2a.Value
		for _, t := range page.Get("tasks").Elems() {
			v := t.Get("status").Get("timestamp")
			now, ok := timestampOf(v)
			if !ok {
				continue
			}
			if !last.IsZero() {
				p.Applied()
				if last.before(now) {
					p.Report(p.Place.At(v.Pointer()), "timestamp "+analysis.Quote(v)+" follows "+analysis.Quote(lastText),
						"expected the newest first")
					return
				}
			}
			last, lastText = now, v
		}
		checkOrderOfPages(p, page)
	},
}

// checkOrderOfPages looks for a task that should have preceded one on an earlier page.
func checkOrderOfPages(p *analysis.Pass, list a2a.Value) {
	eachListed(list, func(t a2a.Task) bool {
		at, ok := t.Time()
		if !ok {
			return true
		}
		older, misplaced := page.Of(p).Misplaced(p.Exchange, t.ID(), at)
		if !misplaced {
			return true
		}
		v := t.Status().Get("timestamp")
		p.Report(p.Place.At(v.Pointer()),
			"timestamp "+analysis.Quote(v)+", which was seen before the first page, follows the older task at "+older.String(),
			"expected the newest first")
		return false
	})
}

// filterText returns the value of a filter in params or in the query; "" without the filter.
func filterText(p *analysis.Pass, name, snake string) string {
	call := &p.Exchange.Call
	if call.Binding == a2a.HTTPJSON {
		text, _ := call.QueryValue(name)
		return text
	}
	return rule.Member(call.Params, name, snake).Text()
}

// eachListed calls f for each task of a page until f returns false.
func eachListed(page a2a.Value, f func(t a2a.Task) bool) {
	for _, v := range page.Get("tasks").Elems() {
		if v.Kind() == a2a.Object && !f(a2a.Task{Value: v}) {
			return
		}
	}
}

var listFilterContext = &analysis.Rule{
	ID:     "list-filter-context",
	Title:  "list holds a task of another context",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:679",
	Doc: `A client that lists the tasks of one context shows them as one conversation. A task of another conversation
among them is confusing at best, and someone else's data at worst.`,
	Fix:    `Apply contextId before you split the list into pages.`,
	Silent: `An empty contextId, which is not a filter, and tasks that name no context.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		want := filterText(p, "contextId", "context_id")
		if !ok || want == "" {
			return
		}
		eachListed(page, func(t a2a.Task) bool {
			id := t.Get("contextId")
			if id.Kind() != a2a.String || id.Is("") {
				return true
			}
			p.Applied()
			if id.Is(want) {
				return true
			}
			p.Report(p.Place.At(id.Pointer()), "contextId is "+analysis.Quote(id),
				"expected "+analysis.QuoteText(want)+", as in the filter")
			return false
		})
	},
}

var listFilterStatus = &analysis.Rule{
	ID:     "list-filter-status",
	Title:  "list holds a task in another state",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:681",
	Doc: `A client that lists the tasks in one state acts on all of them: it answers those that wait for input, or
follows those that are active. It handles a task in another state wrongly.`,
	Fix: `Apply the filter to the same state that the response shows, before you split the list into pages.`,
	Silent: `Status filters that are left out, empty, unspecified or no state at all. A state in the spelling of
another version, which is the client's fault: the agent may not know it. Tasks whose state is unknown.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		text := filterText(p, "status", "status")
		want := a2a.StateOf(text)
		if !ok || !want.Known() || text != want.Spelling(a2a.V1_0) {
			return
		}
		eachListed(page, func(t a2a.Task) bool {
			state := t.State()
			if !state.Known() {
				return true
			}
			p.Applied()
			if state == want {
				return true
			}
			p.Report(p.Place.At(t.Status().StateValue().Pointer()), "state is "+analysis.QuoteText(t.StateText()),
				"expected "+analysis.QuoteText(text)+", as in the filter")
			return false
		})
	},
}

var listFilterTime = &analysis.Rule{
	ID:     "list-filter-time",
	Title:  "list holds a task that is too old",
	Level:  analysis.Must,
	Stands: "1.0.1:proto:694",
	Doc: `statusTimestampAfter asks for what has changed since the client last looked. If the list has older tasks,
the client processes them again.`,
	Fix: `Leave out tasks whose status.timestamp is before statusTimestampAfter.`,
	Silent: `Timestamps equal to the filter, differences smaller than the coarser of the two precisions, and values
that are not timestamps.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		text := filterText(p, "statusTimestampAfter", "status_timestamp_after")
		if !ok || text == "" {
			return
		}
		from, ok := parseTimestamp([]byte(text))
		if !ok {
			return
		}
		eachListed(page, func(t a2a.Task) bool {
			v := t.Status().Get("timestamp")
			at, ok := timestampOf(v)
			if !ok {
				return true
			}
			p.Applied()
			if !at.before(from) {
				return true
			}
			p.Report(p.Place.At(v.Pointer()), "timestamp is "+analysis.Quote(v),
				"expected none before "+analysis.QuoteText(text)+", as in the filter")
			return false
		})
	},
}

var listArtifactsOmitted = &analysis.Rule{
	ID:     "list-artifacts-omitted",
	Title:  "list holds artifacts that were not asked for",
	Level:  analysis.Must,
	Stands: "1.0.1:240",
	Doc: `Artifacts can be large, so a list leaves them out unless the client sets includeArtifacts. An empty list or
null tells clients that the task produced nothing.`,
	Fix:    `Leave the member artifacts out of listed tasks unless includeArtifacts is true.`,
	Silent: `A value of includeArtifacts that is neither true nor false.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		if !ok || !withoutArtifacts(&p.Exchange.Call) {
			return
		}
		eachListed(page, func(t a2a.Task) bool {
			p.Applied()
			artifacts := t.Get("artifacts")
			if !artifacts.Exists() {
				return true
			}
			seen := "artifacts without includeArtifacts"
			if artifacts.IsNull() {
				seen = "artifacts is null without includeArtifacts"
			}
			p.Report(p.Place.At(artifacts.Pointer()), seen, "expected no such member")
			return false
		})
	},
}

// withoutArtifacts reports whether a request for a list certainly wants no artifacts.
func withoutArtifacts(call *a2a.Call) bool {
	if call.Binding == a2a.HTTPJSON {
		text, ok := call.QueryValue("includeArtifacts")
		return !ok || text == "false"
	}
	v := rule.Member(call.Params, "includeArtifacts", "include_artifacts")
	include, ok := v.Bool()
	return !rule.Given(v) || ok && !include
}

var listDuplicateTask = &analysis.Rule{
	ID:     "list-duplicate-task",
	Title:  "task is listed twice on a page",
	Level:  analysis.Advice,
	Stands: "1.0.1:proto:704",
	Doc:    `A page holds each task once. If a task is listed twice, clients count wrongly or process it twice.`,
	Fix:    `Select tasks by id. The usual cause is a join that multiplies rows.`,
	Silent: `Tasks without an id, and a task that appears again on another page, since it may have changed in between.
Only the first tasks of very long pages are compared.`,
	Check: func(p *analysis.Pass) {
		page, ok := pageOf(p)
		if !ok {
			return
		}
		var ids [maxPage][]byte
		n := 0
		eachListed(page, func(t a2a.Task) bool {
			id := t.Get("id")
			if id.Kind() != a2a.String || id.Is("") {
				return true
			}
			p.Applied()
			for _, earlier := range ids[:n] {
				if bytes.Equal(earlier, id.Raw()) {
					p.Report(p.Place.At(id.Pointer()), "task "+analysis.Quote(id)+" is on the page already",
						"expected each task once")
					return false
				}
			}
			ids[n] = id.Raw()
			n++
			return n < len(ids)
		})
	},
}

// maxPage is the most tasks that a page may have.
const maxPage = 100

var listScope = &analysis.Rule{
	ID:     "list-scope",
	Title:  "list holds a task that the client is not allowed to see",
	Level:  analysis.Must,
	Once:   analysis.PerExchange,
	On:     analysis.TaskSeen,
	Needs:  []*analysis.Tracker{answer.Tracker},
	Cites:  rule.Cite("13.1", a2a.V1_0),
	Stands: "1.0.1:3075",
	Doc: `A list holds only tasks that the client may see. The agent has told this client that the task does not
exist, and lists it anyway: the client learns of other people's work.`,
	Fix: `Apply the same permission check to ListTasks as to GetTask, before you count and split into pages.`,
	Silent: `Tasks that were created with the same credentials, and requests without credentials. The finding is a
note, since a recording does not show which permissions the credentials grant.`,
	Check: func(p *analysis.Pass) {
		if p.Exchange.Call.Operation != a2a.ListTasks {
			return
		}
		p.Applied()
		if denied := answer.Of(p).Hidden(p.Exchange, p.Task.TaskID); denied != nil {
			p.Report(p.Task.Object,
				"task "+analysis.QuoteText(p.Task.TaskID)+" is listed, and was reported as not found at "+denied.Place.String(),
				"expected no such task in the list", analysis.AtMost(analysis.Note))
		}
	},
}
