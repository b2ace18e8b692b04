package fault

import (
	"slices"
	"sync"
	"time"

	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
	"a2atap/replay/refagent/internal/wire"
)

// Faults of histories and of lists of tasks.
var listFaults = []AgentFault{
	of(only10, "history-max", "Tasks have one more history message than requested.",
		onReply(tellMore)),
	of(only03, "history-max-0x", "Tasks have one more history message than requested.",
		onReply(tellMore)),
	of(only10, "history-zero-omitted", "Lists without history have an empty history in each task.",
		onPageText(func(c *wire.Call, page jsonvalue.Object) jsonvalue.Object {
			if n := c.Request.List.History; n == nil || *n != 0 {
				return page
			}
			return editTasks(page, with("history", []any{}))
		})),
	of(only10, "list-next-token-present", "Pages have no nextPageToken.",
		onPageText(func(_ *wire.Call, page jsonvalue.Object) jsonvalue.Object { return page.Without("nextPageToken") })),
	of(only10, "list-last-page-token", "The last page has a nextPageToken.",
		onPage(func(_ *wire.Call, p *model.Page) {
			if p.Next == "" && len(p.Tasks) == p.Total {
				p.Next = model.Position{At: 1}.Token()
			}
		})),
	of(only10, "list-page-token-ignored", "A page token leads to the same page again.", repeatPages, "list-sorted"),
	of(only10, "list-required-fields", "Pages have no totalSize.",
		onPageText(func(_ *wire.Call, page jsonvalue.Object) jsonvalue.Object { return page.Without("totalSize") })),
	of(only10, "list-page-limit", "Small pages have two tasks too many.", onPage(func(_ *wire.Call, p *model.Page) {
		if n := len(p.Tasks); n > 0 && n == p.Size && p.Size <= 2 {
			for _, suffix := range []string{"-b", "-c"} {
				addLast(p, func(t *model.Task) { renameTask(t, t.ID+suffix) })
			}
		}
	})),
	of(only10, "list-page-size-echo", "The pageSize of pages is larger than requested.",
		onPage(func(_ *wire.Call, p *model.Page) { p.Size++ })),
	of(only10, "list-total-size", "The totalSize of pages is 0.",
		onPage(func(_ *wire.Call, p *model.Page) { p.Total = 0 })),
	of(only10, "list-sorted", "Lists begin with the oldest task.",
		onPage(func(_ *wire.Call, p *model.Page) { slices.Reverse(p.Tasks) })),
	of(only10, "list-filter-context", "The list of a context ends with a task of another one.",
		onPage(func(c *wire.Call, p *model.Page) {
			if c.Request.List.ContextID != "" {
				replaceLast(p, func(t *model.Task) { t.ContextID += "-b" })
			}
		})),
	of(only10, "list-filter-status", "The list of the tasks in one state ends with one in another.",
		onPage(func(c *wire.Call, p *model.Page) {
			if l := c.Request.List; l.State != "" {
				replaceLast(p, func(t *model.Task) {
					if t.Status.State = model.Failed; l.State == model.Failed {
						t.Status.State = model.Completed
					}
				})
			}
		})),
	of(only10, "list-filter-time", "Lists filtered by time end with a task that is an hour too old.",
		onPage(func(c *wire.Call, p *model.Page) {
			if since := c.Request.List.Since; !since.IsZero() {
				replaceLast(p, func(t *model.Task) { t.Status.At = since.Add(-time.Hour) })
			}
		})),
	of(only10, "list-artifacts-omitted", "Lists without artifacts have empty artifacts in each task.",
		onPageText(func(c *wire.Call, page jsonvalue.Object) jsonvalue.Object {
			if c.Request.List.Artifacts {
				return page
			}
			return editTasks(page, with("artifacts", []any{}))
		})),
	of(only10, "list-duplicate-task", "Lists end with their last task twice.",
		onPage(func(_ *wire.Call, p *model.Page) {
			if len(p.Tasks) < p.Size {
				addLast(p, func(*model.Task) {})
			}
		})),
	of(only10, "list-scope", "A client without the right credentials cannot read a task, but can list all tasks.",
		onAdmit(func(c *wire.Call) *model.Failure {
			if c.Op == model.GetTask && c.Request.Authorization != "Bearer "+wire.ExtendedCardToken {
				return model.Fail(model.CodeTaskNotFound, "Task not found: "+c.Request.TaskID)
			}
			return nil
		})),
}

// tellMore adds a message to each history that is limited.
func tellMore(c *wire.Call, r *model.Reply) {
	one := model.Message{ID: "b", Role: model.RoleAgent, Parts: model.Text("Besides, it is sunny in Kyoto")}
	if c.Op == model.GetTask && c.Request.History != nil && r.Task != nil {
		r.Task.History = append(slices.Clip(r.Task.History), one)
	}
	if p := r.Page; p != nil && c.Request.List.History != nil {
		for i := range p.Tasks {
			p.Tasks[i].History = append(slices.Clip(p.Tasks[i].History), one)
		}
	}
}

// onPage makes hooks that edit a page of tasks.
func onPage(edit func(c *wire.Call, p *model.Page)) func() wire.Hooks {
	return onReply(func(c *wire.Call, r *model.Reply) {
		if r.Page != nil {
			edit(c, r.Page)
		}
	})
}

// repeatPages answers a request with a token with the page that gave it.
func repeatPages() wire.Hooks {
	var mu sync.Mutex
	gave := make(map[string]model.Page)
	return wire.Hooks{Reply: func(c *wire.Call, r *model.Reply) {
		if r.Page == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if after := c.Request.List.After; after != (model.Position{}) {
			*r.Page = gave[after.Token()]
		}
		if r.Page.Next != "" {
			gave[r.Page.Next] = *r.Page
		}
	}}
}

// addLast adds a task to a page: a copy of the last one, edited.
func addLast(p *model.Page, edit func(t *model.Task)) {
	if n := len(p.Tasks); n > 0 {
		last := p.Tasks[n-1]
		edit(&last)
		p.Tasks = append(slices.Clip(p.Tasks), last)
		p.Total++
	}
}

// replaceLast replaces the last task of a page with an edited copy.
func replaceLast(p *model.Page, edit func(t *model.Task)) {
	if n := len(p.Tasks); n > 0 {
		last := p.Tasks[n-1]
		renameTask(&last, last.ID+"-b")
		edit(&last)
		p.Tasks = append(slices.Clone(p.Tasks[:n-1]), last)
	}
}

// onPageText makes hooks that edit the JSON of a page.
func onPageText(edit func(c *wire.Call, page jsonvalue.Object) jsonvalue.Object) func() wire.Hooks {
	return onEachResult(model.ListTasks, func(c *wire.Call, v any) any { return edit(c, v.(jsonvalue.Object)) })
}

// editTasks edits each task of a page.
func editTasks(page jsonvalue.Object, edit editor) jsonvalue.Object {
	tasks, _ := page.Get("tasks")
	return page.With("tasks", jsonvalue.Values(tasks.([]any), func(t any) any { return edit(t.(jsonvalue.Object)) }))
}
