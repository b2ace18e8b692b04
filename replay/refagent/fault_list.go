package refagent

import (
	"slices"
	"sync"
	"time"
)

// Faults of histories and of lists of tasks.
var listFaults = []Fault{
	{
		Slug: "history-max", agents: only10,
		Doc:   "Tasks come with one message of history more than was asked for.",
		hooks: func() hooks { return hooks{reply: tellMore} },
	},
	{
		Slug: "history-max-0x", agents: only03,
		Doc:   "Tasks come with one message of history more than was asked for.",
		hooks: func() hooks { return hooks{reply: tellMore} },
	},
	{
		Slug: "history-zero-omitted", agents: only10,
		Doc: "Lists for which no history is wanted say that there is none.",
		hooks: onPageText(func(c *call, page object) object {
			if n := c.request.list.history; n == nil || *n != 0 {
				return page
			}
			return editTasks(page, func(t object) object { return t.with("history", []any{}) })
		}),
	},
	{
		Slug: "list-next-token-present", agents: only10,
		Doc:   "Pages do not say where the next one begins.",
		hooks: onPageText(func(_ *call, page object) object { return page.without("nextPageToken") }),
	},
	{
		Slug: "list-last-page-token", agents: only10,
		Doc: "The last page has a token for another one.",
		hooks: onPage(func(_ *call, p *page) {
			if p.next == "" && len(p.tasks) == p.total {
				p.next = position{at: 1}.token()
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
		hooks: onPageText(func(_ *call, page object) object { return page.without("totalSize") }),
	},
	{
		Slug: "list-page-limit", agents: only10,
		Doc: "Small pages hold two tasks too many.",
		hooks: onPage(func(_ *call, p *page) {
			if n := len(p.tasks); n > 0 && n == p.size && p.size <= 2 {
				for _, suffix := range []string{"-b", "-c"} {
					p.addLast(func(t *task) { renameTask(t, t.id+suffix) })
				}
			}
		}),
	},
	{
		Slug: "list-page-size-echo", agents: only10,
		Doc:   "Pages say that they are larger than was asked for.",
		hooks: onPage(func(_ *call, p *page) { p.size++ }),
	},
	{
		Slug: "list-total-size", agents: only10,
		Doc:   "Pages say that there are no tasks in all.",
		hooks: onPage(func(_ *call, p *page) { p.total = 0 }),
	},
	{
		Slug: "list-sorted", agents: only10,
		Doc:   "Lists begin with the oldest task.",
		hooks: onPage(func(_ *call, p *page) { slices.Reverse(p.tasks) }),
	},
	{
		Slug: "list-filter-context", agents: only10,
		Doc: "The list of a context ends with a task of another one.",
		hooks: onPage(func(c *call, p *page) {
			if c.request.list.contextID != "" {
				p.replaceLast(func(t *task) { t.contextID += "-b" })
			}
		}),
	},
	{
		Slug: "list-filter-status", agents: only10,
		Doc: "The list of the tasks in one state ends with one in another.",
		hooks: onPage(func(c *call, p *page) {
			if l := c.request.list; l.state != "" {
				p.replaceLast(func(t *task) {
					if t.status.state = failed; l.state == failed {
						t.status.state = completed
					}
				})
			}
		}),
	},
	{
		Slug: "list-filter-time", agents: only10,
		Doc: "The list of what is new ends with a task of an hour before.",
		hooks: onPage(func(c *call, p *page) {
			if since := c.request.list.since; !since.IsZero() {
				p.replaceLast(func(t *task) { t.status.at = since.Add(-time.Hour) })
			}
		}),
	},
	{
		Slug: "list-artifacts-omitted", agents: only10,
		Doc: "Lists for which no artifacts are wanted say that there are none.",
		hooks: onPageText(func(c *call, page object) object {
			if c.request.list.artifacts {
				return page
			}
			return editTasks(page, func(t object) object { return t.with("artifacts", []any{}) })
		}),
	},
	{
		Slug: "list-duplicate-task", agents: only10,
		Doc: "Lists end with their last task twice.",
		hooks: onPage(func(_ *call, p *page) {
			if len(p.tasks) < p.size {
				p.addLast(func(*task) {})
			}
		}),
	},
	{
		Slug: "list-scope", agents: only10,
		Doc: "A client without the right credentials cannot read a task, and lists all of them.",
		hooks: func() hooks {
			return hooks{admit: func(c *call) *failure {
				if c.op == getTask && c.request.authorization != "Bearer "+extendedCardToken {
					return fail(codeTaskNotFound, "Task not found: "+c.request.taskID)
				}
				return nil
			}}
		},
	},
}

// tellMore adds a message to each history that is limited.
func tellMore(c *call, r *reply) {
	one := message{id: "b", role: roleAgent, parts: text("Besides, it is sunny in Kyoto")}
	if c.op == getTask && c.request.history != nil && r.task != nil {
		r.task.history = append(slices.Clip(r.task.history), one)
	}
	if p := r.page; p != nil && c.request.list.history != nil {
		for i := range p.tasks {
			p.tasks[i].history = append(slices.Clip(p.tasks[i].history), one)
		}
	}
}

// onPage makes hooks that edit a page of tasks.
func onPage(edit func(c *call, p *page)) func() hooks {
	return func() hooks {
		return hooks{reply: func(c *call, r *reply) {
			if r.page != nil {
				edit(c, r.page)
			}
		}}
	}
}

// repeatPages answers a request with a token with the page that gave it.
func repeatPages() hooks {
	var mu sync.Mutex
	gave := make(map[string]page)
	return hooks{reply: func(c *call, r *reply) {
		if r.page == nil {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		if after := c.request.list.after; after != (position{}) {
			*r.page = gave[after.token()]
		}
		if r.page.next != "" {
			gave[r.page.next] = *r.page
		}
	}}
}

// addLast adds a task to a page: a copy of the last one, edited.
func (p *page) addLast(edit func(t *task)) {
	if n := len(p.tasks); n > 0 {
		last := p.tasks[n-1]
		edit(&last)
		p.tasks = append(slices.Clip(p.tasks), last)
		p.total++
	}
}

// replaceLast puts another task in the place of the last one of a page, which is like it but for the edit.
func (p *page) replaceLast(edit func(t *task)) {
	if n := len(p.tasks); n > 0 {
		last := p.tasks[n-1]
		renameTask(&last, last.id+"-b")
		edit(&last)
		p.tasks = append(slices.Clone(p.tasks[:n-1]), last)
	}
}

// onPageText makes hooks that edit the JSON of a page.
func onPageText(edit func(c *call, page object) object) func() hooks {
	return onAnswer(func(c *call) bool { return isResult(c) && c.op == listTasks }, func(c *call, out *answer) {
		body := out.body.(object)
		if c.binding == jsonRPC {
			result, _ := body.get("result")
			out.body = body.with("result", edit(c, result.(object)))
			return
		}
		out.body = edit(c, body)
	})
}

// editTasks edits each task of a page.
func editTasks(page object, edit func(t object) object) object {
	tasks, _ := page.get("tasks")
	var edited []any
	for _, t := range tasks.([]any) {
		edited = append(edited, edit(t.(object)))
	}
	return page.with("tasks", edited)
}
