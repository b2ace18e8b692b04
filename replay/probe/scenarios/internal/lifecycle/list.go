package lifecycle

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/replay/client"
	"a2atap/replay/probe"
	"a2atap/replay/probe/scenarios/internal/scenario"
)

// Lists are about ListTasks (A2A 1.0 §3.1.4). They use separate contexts, since other clients may create tasks at the
// same time.
var Lists = scenario.In(probe.Scenario{
	Category: analysis.Lifecycle, Level: analysis.Must, Protocols: scenario.V10,
}, []*probe.Scenario{
	{
		ID: "act-list-pagination", Title: "pages of size 1 contain each task of a context exactly once",
		Sections: []string{"1.0 §3.1.4"},
		Tags: []string{
			"list", "A24", "CORE-LIST-002", "CORE-LIST-004", "acts:CORE-LIST-003", "tck-main:page_token_navigation",
			"tck-main:last_page_detection", "tck-main:custom_page_size", "tck-main:rest_pagination_support",
		},
		Fix: "Give each page a token for the next one, and the last page an empty token.",
		Run: askPages,
	},
	{
		ID: "act-list-fields", Title: "a page has the number of tasks, and its tasks have ids and states",
		Sections: []string{"1.0 §3.1.4"},
		Tags: []string{
			"list", "tck-main:list_all_tasks", "tck-main:tasks_list_with_existing_tasks", "tck-main:total_size_accuracy",
			"tck-main:validates_required_fields", "tck-main:list_tasks_empty_when_none_exist",
		},
		Fix: "Write tasks, nextPageToken, pageSize and totalSize into each page, even an empty one.",
		Run: askPageFields,
	},
	{
		ID: "act-list-sorted", Title: "tasks are sorted by the time of their status, the newest first", Sections: []string{"1.0 §3.1.4"},
		Tags: []string{"list", "CORE-LIST-003", "tck-main:sorted_by_timestamp_descending"},
		Fix:  "Sort tasks by the time of their status, the newest first.",
		Run:  askOrder,
	},
	{
		ID: "act-list-filters", Title: "a list has exactly the tasks that match its filters",
		Sections: []string{"1.0 §3.1.4"},
		Tags: []string{
			"list", "A25", "acts:CORE-LIST-001", "tck-main:filter_by_context_id", "tck-main:filter_by_status",
			"tck-main:filter_by_last_updated_after", "tck-main:combined_filters",
		},
		Fix: "Apply contextId, status and statusTimestampAfter, all of them.",
		Run: askFilters,
	},
	{
		ID: "act-list-artifacts", Title: "a list has artifacts only on request", Sections: []string{"1.0 §3.1.4"},
		Tags: []string{
			"list", "A26", "CORE-LIST-005", "acts:CORE-LIST-002", "tck-main:artifacts_excluded_by_default",
		},
		Fix: "Leave the member artifacts out of listed tasks unless includeArtifacts is true.",
		Run: askNoArtifacts,
	},
	{
		ID: "act-list-artifacts-shown", Title: "a list has artifacts on request", Level: analysis.May,
		Sections: []string{"1.0 §3.1.4"}, Tags: []string{"list", "A26", "tck-main:artifacts_included_when_requested"},
		Fix: "Return the artifacts of listed tasks if includeArtifacts is true.",
		Run: askArtifacts,
	},
	{
		ID: "act-list-history", Title: "listed tasks have at most the requested history",
		Sections: []string{"1.0 §3.1.4", "1.0 §3.2.4"},
		Tags:     []string{"list", "history", "A23", "tck-main:list_history_length_zero", "tck-main:history_length_custom"},
		Fix:      "Apply historyLength in ListTasks too.",
		Run: func(ctx context.Context, s *probe.Session) error {
			task, err := scenario.Conversation(ctx, s)
			if err != nil {
				return err
			}
			for n := range 2 {
				page, err := s.Client.List(ctx, client.ListOptions{ContextID: task.ContextID, HistoryLength: &n})
				if err != nil {
					return err
				}
				for _, t := range page.Tasks {
					if len(t.History) > n {
						return probe.Fail(fmt.Sprintf("at most %d messages of history", n), "%d of task %s", len(t.History), t.ID)
					}
				}
			}
			return nil
		},
	},
	{
		ID: "act-list-page-limit", Title: "a pageSize below 1 or above 100 is refused",
		Sections: []string{"1.0 §3.1.4"},
		Tags: []string{
			"list", "errors", "A24", "tck-main:default_page_size", "tck-main:negative_page_size_error",
			"tck-main:zero_page_size_error", "tck-main:out_of_range_page_size_error", "tck-main:default_page_size_is_50",
		},
		Fix: "Refuse a pageSize that is not between 1 and 100.",
		Run: askPageLimit,
	},
	{
		ID: "act-list-invalid", Title: "invalid tokens and times are refused or ignored",
		// The text specifies neither the error nor that one is required.
		Category: analysis.ErrorHandling, Sections: []string{"1.0 §3.1.4", "1.0 §3.3.2"},
		Tags: []string{
			"list", "errors", "tck-main:invalid_page_token_error", "tck-main:invalid_status_error",
			"tck-main:invalid_timestamp_error",
		},
		Fix: "Refuse unreadable filters and tokens as invalid parameters.",
		Run: func(ctx context.Context, s *probe.Session) error {
			var unclear []string
			for _, bad := range [][2]string{
				{"pageToken", "not a token of this agent"},
				{"status", "TASK_STATE_NOBODY_KNOWS"},
				{"statusTimestampAfter", "yesterday"},
			} {
				if s.Protocol().OverGRPC() && bad[0] != "pageToken" {
					continue // a typed field cannot hold another type
				}
				_, err := listWith(s, bad[0], bad[1]).List(ctx, client.ListOptions{})
				switch {
				case err == nil:
					unclear = append(unclear, bad[0]+" "+bad[1])
				case scenario.Broken(err):
					return probe.Fail("a refusal of "+bad[0]+" "+bad[1], "%s", probe.Describe(scenario.Refusal(err)))
				case scenario.Refusal(err) == nil:
					return err
				}
			}
			if len(unclear) > 0 {
				return probe.Unclear("the agent lists tasks for %s", strings.Join(unclear, ", "))
			}
			return nil
		},
	},
})

// listWith returns a client that sets one parameter of lists, with any value.
func listWith(s *probe.Session, name, value string) *client.Client {
	return s.Edited(func(out *client.Outgoing) {
		if s.RPC() || s.Protocol().OverGRPC() {
			if name != "pageSize" {
				value = fmt.Sprintf("%q", value)
			}
			scenario.WithParams(s, fmt.Sprintf(`{%q:%s}`, name, value))(out)
			return
		}
		out.URL, _, _ = strings.Cut(out.URL, "?")
		out.URL += "?" + url.Values{name: {strings.Trim(value, `"`)}}.Encode()
	})
}

// family creates tasks in a separate context, waits for their end, and returns them in the order of creation.
func family(ctx context.Context, s *probe.Session, wants ...probe.Behavior) ([]*client.Task, error) {
	var tasks []*client.Task
	for _, want := range wants {
		m := s.Say(want)
		if len(tasks) > 0 {
			m.ContextID = tasks[0].ContextID
		}
		task, err := probe.TaskOf(s.Client.Send(ctx, m, client.SendOptions{}))
		if err != nil {
			return nil, err
		}
		if task, err = probe.AtRest(ctx, s, task); err != nil {
			return nil, err
		}
		if task.ContextID == "" || len(tasks) > 0 && task.ContextID != tasks[0].ContextID {
			return nil, probe.Unclear("the agent does not keep several tasks in one context")
		}
		if slices.ContainsFunc(tasks, func(t *client.Task) bool { return t.ID == task.ID }) {
			return nil, probe.Unclear("the agent continued task %s instead of creating a new one", task.ID)
		}
		tasks = append(tasks, task)
	}
	return tasks, nil
}

func askPages(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask, probe.CompletesTask, probe.CompletesTask)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	o := client.ListOptions{ContextID: tasks[0].ContextID, PageSize: 1}
	for i := 0; i == 0 || o.PageToken != ""; i++ {
		page, err := s.Client.List(ctx, o)
		switch {
		case err != nil:
			return err
		case i > len(tasks):
			return probe.Fail("an empty nextPageToken on the last page", "another page after %d, for %d tasks", i, len(tasks))
		case len(page.Tasks) > 1:
			return probe.Fail("a page of one task", "%d tasks", len(page.Tasks))
		case !s.Protocol().OverGRPC() && !scenario.ResultOf(s, s.Last()).Has("nextPageToken"):
			return probe.Fail("a page with nextPageToken", "%s", scenario.Brief(s.Last()))
		}
		for _, t := range page.Tasks {
			if seen[t.ID] {
				return probe.Fail("each task only once", "task %s on two pages", t.ID)
			}
			seen[t.ID] = true
		}
		o.PageToken = page.NextPageToken
	}
	for _, t := range tasks {
		if !seen[t.ID] {
			return missing(ctx, s, t)
		}
	}
	if len(seen) > len(tasks) {
		return probe.Fail(fmt.Sprintf("the %d tasks of the context", len(tasks)), "%d", len(seen))
	}
	return nil
}

// missing returns the outcome if no list shows a task: agents may forget tasks.
func missing(ctx context.Context, s *probe.Session, t *client.Task) error {
	if _, err := s.Client.Get(ctx, t.ID, nil); scenario.Gone(err) {
		return probe.Unclear("task %s was not kept", t.ID)
	}
	return probe.Fail("task "+t.ID+" in the list", "a list without it")
}

func askPageFields(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask, probe.CompletesTask)
	if err != nil {
		return err
	}
	for _, contextID := range []string{tasks[0].ContextID, s.NewID()} {
		page, err := s.Client.List(ctx, client.ListOptions{ContextID: contextID})
		if err != nil {
			return err
		}
		result := scenario.ResultOf(s, s.Last())
		for _, name := range []string{"tasks", "nextPageToken", "pageSize", "totalSize"} {
			if !result.Has(name) && !s.Protocol().OverGRPC() { // gRPC omits empty values
				return probe.Fail("a page with "+name, "%s", scenario.Brief(s.Last()))
			}
		}
		for _, t := range page.Tasks {
			if t.ID == "" || t.Status.State == "" {
				return probe.Fail("tasks with ids and states", "%s", t.Raw)
			}
		}
		if contextID == tasks[0].ContextID && page.TotalSize != len(tasks) {
			return probe.Fail(fmt.Sprintf("totalSize %d", len(tasks)), "%d", page.TotalSize)
		}
		if contextID != tasks[0].ContextID && (len(page.Tasks) > 0 || page.TotalSize != 0 || page.NextPageToken != "") {
			return probe.Fail("an empty page for a context without tasks", "%s", scenario.Brief(s.Last()))
		}
	}
	return nil
}

func askOrder(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask, probe.CompletesTask, probe.CompletesTask)
	if err != nil {
		return err
	}
	page, err := s.Client.List(ctx, client.ListOptions{ContextID: tasks[0].ContextID})
	if err != nil {
		return err
	}
	var last time.Time
	for _, t := range page.Tasks {
		at, err := time.Parse(time.RFC3339Nano, t.Status.Timestamp)
		if err != nil {
			return probe.Unclear("the status of task %s has no time", t.ID)
		}
		if !last.IsZero() && at.After(last) {
			return probe.Fail("the newest status first", "task %s of %s after one of %s", t.ID, t.Status.Timestamp,
				last.Format(time.RFC3339Nano))
		}
		last = at
	}
	return nil
}

func askFilters(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask, probe.FailsTask)
	if err != nil {
		return err
	}
	if _, err := family(ctx, s, probe.CompletesTask); err != nil {
		return err
	}
	contextID, state := tasks[0].ContextID, tasks[0].Status.State
	future := time.Now().Add(24 * time.Hour)
	since, isNew := newerThan(tasks)
	for _, f := range []struct {
		name    string
		options client.ListOptions
		passes  func(*client.Task) bool
	}{
		{"contextId", client.ListOptions{ContextID: contextID}, func(*client.Task) bool { return true }},
		{"status", client.ListOptions{State: state}, func(t *client.Task) bool { return t.Status.State == state }},
		{
			"contextId and status",
			client.ListOptions{ContextID: contextID, State: state},
			func(t *client.Task) bool { return t.Status.State == state },
		},
		{
			"contextId and statusTimestampAfter",
			client.ListOptions{ContextID: contextID, StatusTimestampAfter: future},
			func(*client.Task) bool { return false },
		},
		{
			"statusTimestampAfter, a moment before the first of its tasks",
			client.ListOptions{ContextID: contextID, StatusTimestampAfter: since},
			isNew,
		},
	} {
		page, err := s.Client.List(ctx, f.options)
		if err != nil {
			return err
		}
		for _, t := range page.Tasks {
			if f.options.ContextID != "" && t.ContextID != contextID || !f.passes(&t) {
				return probe.Fail("only tasks that match the filter by "+f.name, "task %s, %s, in context %s", t.ID, t.Status.State,
					t.ContextID)
			}
		}
		if f.options.ContextID == "" {
			continue // other clients may have filled the page
		}
		for _, t := range tasks {
			if f.passes(t) && !slices.ContainsFunc(page.Tasks, func(p client.Task) bool { return p.ID == t.ID }) {
				return missing(ctx, s, t)
			}
		}
	}
	return nil
}

func askNoArtifacts(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask)
	if err != nil {
		return err
	}
	if len(tasks[0].Artifacts) == 0 {
		return probe.Unclear("task %s has no artifact", tasks[0].ID)
	}
	if _, err := s.Client.List(ctx, client.ListOptions{ContextID: tasks[0].ContextID}); err != nil {
		return err
	}
	for _, t := range scenario.ResultOf(s, s.Last()).Get("tasks").Elems() {
		if t.Has("artifacts") {
			return probe.Fail("tasks without the member artifacts", "%s", t.Raw())
		}
	}
	return nil
}

func askArtifacts(ctx context.Context, s *probe.Session) error {
	tasks, err := family(ctx, s, probe.CompletesTask)
	if err != nil {
		return err
	}
	if len(tasks[0].Artifacts) == 0 {
		return probe.Unclear("task %s has no artifact", tasks[0].ID)
	}
	page, err := s.Client.List(ctx, client.ListOptions{ContextID: tasks[0].ContextID, IncludeArtifacts: true})
	if err != nil {
		return err
	}
	for _, t := range page.Tasks {
		if t.ID == tasks[0].ID && len(t.Artifacts) == 0 {
			return probe.Fail("the artifacts of task "+t.ID, "none")
		}
	}
	return nil
}

func askPageLimit(ctx context.Context, s *probe.Session) error {
	for _, size := range []string{"101", "-1", "0"} {
		page, err := listWith(s, "pageSize", size).List(ctx, client.ListOptions{})
		switch {
		case err == nil && size == "101" && len(page.Tasks) <= 100:
			continue // an agent may read it as 100
		case err == nil && size == "0":
			return probe.Unclear("a pageSize of 0 counts as absent, as in JSON mappings of protobuf")
		}
		if r := scenario.Refusal(err); r != nil && !scenario.Broken(err) {
			continue // the text does not specify the error
		}
		if err := scenario.RefusedParams(s, err, "pageSize "+size); err != nil {
			return err
		}
	}
	return nil
}

// newerThan returns a time before all tasks got their state, by the agent's clock, and whether a task got its state
// after that. If a task has no time, it returns the zero time, and all tasks are newer.
func newerThan(tasks []*client.Task) (since time.Time, isNew func(*client.Task) bool) {
	for _, t := range tasks {
		at, err := time.Parse(time.RFC3339Nano, t.Status.Timestamp)
		if err != nil {
			return time.Time{}, func(*client.Task) bool { return true }
		}
		if since.IsZero() || at.Before(since) {
			since = at
		}
	}
	since = since.Add(-time.Second)
	return since, func(t *client.Task) bool {
		at, err := time.Parse(time.RFC3339Nano, t.Status.Timestamp)
		return err != nil || !at.Before(since)
	}
}
