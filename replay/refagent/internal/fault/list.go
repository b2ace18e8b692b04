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
var listFaults = []Fault{
	{
		Slug: "history-max", agents: only10,
		Doc:   "Tasks come with one message of history more than was asked for.",
		hooks: func() wire.Hooks { return wire.Hooks{Reply: tellMore} },
	},
	{
		Slug: "history-max-0x", agents: only03,
		Doc:   "Tasks come with one message of history more than was asked for.",
		hooks: func() wire.Hooks { return wire.Hooks{Reply: tellMore} },
	},
	{
		Slug: "history-zero-omitted", agents: only10,
		Doc: "Lists for which no history is wanted say that there is none.",
		hooks: onPageText(func(c *wire.Call, page jsonvalue.Object) jsonvalue.Object {
			if n := c.Request.List.History; n == nil || *n != 0 {
				return page
			}
			return editTasks(page, func(t jsonvalue.Object) jsonvalue.Object { return t.With("history", []any{}) })
		}),
	},
	{
		Slug: "list-next-token-present", agents: only10,
		Doc: "Pages do not say where the next one begins.",
		hooks: onPageText(func(_ *wire.Call,
			page jsonvalue.Object,
		) jsonvalue.Object {
			return page.Without("nextPageToken")
		}),
	},
	{
		Slug: "list-last-page-token", agents: only10,
		Doc: "The last page has a token for another one.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) {
			if p.Next == "" && len(p.Tasks) == p.Total {
				p.Next = model.Position{At: 1}.Token()
			}
		}),
	},
	{
		Slug: "list-page-token-ignored", agents: only10,
		Also:  []string{"list-sorted"},
		Doc:   "A token leads to the page that gave it.",
		hooks: repeatPages,
	},
	{
		Slug: "list-required-fields", agents: only10,
		Doc:   "Pages do not say how many tasks there are.",
		hooks: onPageText(func(_ *wire.Call, page jsonvalue.Object) jsonvalue.Object { return page.Without("totalSize") }),
	},
	{
		Slug: "list-page-limit", agents: only10,
		Doc: "Small pages hold two tasks too many.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) {
			if n := len(p.Tasks); n > 0 && n == p.Size && p.Size <= 2 {
				for _, suffix := range []string{"-b", "-c"} {
					addLast(p, func(t *model.Task) { renameTask(t, t.ID+suffix) })
				}
			}
		}),
	},
	{
		Slug: "list-page-size-echo", agents: only10,
		Doc:   "Pages say that they are larger than was asked for.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) { p.Size++ }),
	},
	{
		Slug: "list-total-size", agents: only10,
		Doc:   "Pages say that there are no tasks in all.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) { p.Total = 0 }),
	},
	{
		Slug: "list-sorted", agents: only10,
		Doc:   "Lists begin with the oldest task.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) { slices.Reverse(p.Tasks) }),
	},
	{
		Slug: "list-filter-context", agents: only10,
		Doc: "The list of a context ends with a task of another one.",
		hooks: onPage(func(c *wire.Call, p *model.Page) {
			if c.Request.List.ContextID != "" {
				replaceLast(p, func(t *model.Task) { t.ContextID += "-b" })
			}
		}),
	},
	{
		Slug: "list-filter-status", agents: only10,
		Doc: "The list of the tasks in one state ends with one in another.",
		hooks: onPage(func(c *wire.Call, p *model.Page) {
			if l := c.Request.List; l.State != "" {
				replaceLast(p, func(t *model.Task) {
					if t.Status.State = model.Failed; l.State == model.Failed {
						t.Status.State = model.Completed
					}
				})
			}
		}),
	},
	{
		Slug: "list-filter-time", agents: only10,
		Doc: "The list of what is new ends with a task of an hour before.",
		hooks: onPage(func(c *wire.Call, p *model.Page) {
			if since := c.Request.List.Since; !since.IsZero() {
				replaceLast(p, func(t *model.Task) { t.Status.At = since.Add(-time.Hour) })
			}
		}),
	},
	{
		Slug: "list-artifacts-omitted", agents: only10,
		Doc: "Lists for which no artifacts are wanted say that there are none.",
		hooks: onPageText(func(c *wire.Call, page jsonvalue.Object) jsonvalue.Object {
			if c.Request.List.Artifacts {
				return page
			}
			return editTasks(page, func(t jsonvalue.Object) jsonvalue.Object { return t.With("artifacts", []any{}) })
		}),
	},
	{
		Slug: "list-duplicate-task", agents: only10,
		Doc: "Lists end with their last task twice.",
		hooks: onPage(func(_ *wire.Call, p *model.Page) {
			if len(p.Tasks) < p.Size {
				addLast(p, func(*model.Task) {})
			}
		}),
	},
	{
		Slug: "list-scope", agents: only10,
		Doc: "A client without the right credentials cannot read a task, and lists all of them.",
		hooks: func() wire.Hooks {
			return wire.Hooks{Admit: func(c *wire.Call) *model.Failure {
				if c.Op == model.GetTask && c.Request.Authorization != "Bearer "+wire.ExtendedCardToken {
					return model.Fail(model.CodeTaskNotFound, "Task not found: "+c.Request.TaskID)
				}
				return nil
			}}
		},
	},
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
	return func() wire.Hooks {
		return wire.Hooks{Reply: func(c *wire.Call, r *model.Reply) {
			if r.Page != nil {
				edit(c, r.Page)
			}
		}}
	}
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

// replaceLast puts another task in the place of the last one of a page, which is like it but for the edit.
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
	return onAnswer(func(c *wire.Call) bool { return isResult(c) && c.Op == model.ListTasks },
		func(c *wire.Call, out *wire.Answer) {
			body := out.Body.(jsonvalue.Object)
			if c.Binding == wire.JSONRPC {
				result, _ := body.Get("result")
				out.Body = body.With("result", edit(c, result.(jsonvalue.Object)))
				return
			}
			out.Body = edit(c, body)
		})
}

// editTasks edits each task of a page.
func editTasks(page jsonvalue.Object, edit func(t jsonvalue.Object) jsonvalue.Object) jsonvalue.Object {
	tasks, _ := page.Get("tasks")
	var edited []any
	for _, t := range tasks.([]any) {
		edited = append(edited, edit(t.(jsonvalue.Object)))
	}
	return page.With("tasks", edited)
}
