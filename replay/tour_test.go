package replay_test

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/replay/client"
)

// tour uses every operation that the card offers. Failures are part of the tour, which also runs with faulty agents
// and clients.
var tour = over(func(ctx context.Context, c *client.Client) {
	streams, extended := true, true
	if card := c.Card(); card != nil {
		streams, extended = card.Streaming, card.Extended
	}
	if extended {
		c.ExtendedCard(
			ctx,
		) //nolint:errcheck // see above; it comes early, so that what it says is surely known to all that follows
	}
	ask := func(task *client.Task, ops ...a2a.Operation) {
		for _, op := range ops {
			if task != nil {
				askIn(ctx, c, op, task)
			}
		}
	}
	send := func(text string) *client.Task { return sent(c.Send(ctx, client.Text(text), client.SendOptions{})) }
	for _, text := range []string{
		"message-only hello", "task-lifecycle please", "task-failure please",
		"data-types please",
	} {
		ask(send(text), a2a.GetTask, a2a.CancelTask)
	}
	c.Send(ctx, client.Text("data-types please"), client.SendOptions{ //nolint:errcheck // see above
		AcceptedOutputModes: []string{"text/plain", "application/json", "image/svg+xml"},
	})
	ask(send("multi-turn start"), a2a.SendMessage, a2a.GetTask, a2a.ListTasks, a2a.SendStreamingMessage,
		a2a.CreatePushConfig,
		a2a.GetPushConfig, a2a.ListPushConfigs, a2a.DeletePushConfig, a2a.CancelTask, a2a.CancelTask,
		a2a.SubscribeToTask)
	if streams {
		stream(ctx, c, "streaming please", "task-lifecycle please", "message-only please")
		follow(ctx, c)
	}
	c.Get(ctx, "no-such-task", new(1))               //nolint:errcheck // see above
	c.Cancel(ctx, "no-such-task", nil)               //nolint:errcheck // see above
	c.GetPush(ctx, "no-such-task", "no-such-config") //nolint:errcheck // see above
	if page, err := c.List(ctx, client.ListOptions{PageSize: 2}); err == nil && page.NextPageToken != "" {
		c.List(ctx, client.ListOptions{PageSize: 2, PageToken: page.NextPageToken}) //nolint:errcheck // see above
	}
	c.List(ctx, client.ListOptions{HistoryLength: new(int)}) //nolint:errcheck // see above
})

// over returns a talk over one connection, limited to a minute.
func over(say func(ctx context.Context, c *client.Client)) talk {
	return func(ctx context.Context, tapURL string, p client.Protocol, o client.Options) {
		ctx, cancel := context.WithTimeout(ctx, time.Minute)
		defer cancel()
		if c := connectOver(ctx, tapURL, p, o); c != nil {
			defer c.Close()
			say(ctx, c)
		}
	}
}

// connectOver returns a client that has read the card, or one without a card if it cannot be read; nil if neither
// works.
func connectOver(ctx context.Context, tapURL string, p client.Protocol, o client.Options) *client.Client {
	o.Prefer = []client.Protocol{p}
	c, err := client.Connect(ctx, tapURL, o)
	if err == nil {
		return c
	}
	broken := o.Break != nil
	o.Break = nil
	if c, err = client.New(client.Interface{URL: tapURL, Protocol: p}, o); err != nil || broken {
		return nil
	}
	return c
}

// stray uses operations that the card does not offer, and continues a task that has ended.
var stray = over(func(ctx context.Context, c *client.Client) {
	if task := sent(c.Send(ctx, client.Text("multi-turn start"), client.SendOptions{})); task != nil {
		m := client.Text("more")
		m.TaskID, m.ContextID = task.ID, "of-another-task"
		c.Send(ctx, m, client.SendOptions{}) //nolint:errcheck // see tour
		c.Ask(ctx, a2a.CancelTask, task)     //nolint:errcheck // see tour
		c.Ask(ctx, a2a.SendMessage, task)    //nolint:errcheck // see tour
	}
	stream(ctx, c, "message-only please")
	c.ExtendedCard(ctx) //nolint:errcheck // see tour
})

// askIn performs an operation, and abandons it if a fault makes it hang.
func askIn(ctx context.Context, c *client.Client, op a2a.Operation, task *client.Task) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	c.Ask(ctx, op, task) //nolint:errcheck // see tour
}

// stream sends each text, reads the answering stream, and then the task.
func stream(ctx context.Context, c *client.Client, texts ...string) {
	for _, text := range texts {
		id := ""
		for e, err := range c.Stream(ctx, client.Text(text), client.SendOptions{}) {
			if err != nil {
				break
			}
			id = cmp.Or(id, taskOf(e))
		}
		if id != "" {
			c.Get(ctx, id, nil) //nolint:errcheck // see tour
		}
	}
}

// strangers are a client with the right credentials, one with others, one with none, and some that use features that
// an agent may not know.
func strangers(ctx context.Context, tapURL string, p client.Protocol, o client.Options) {
	o.Prefer, o.Break = []client.Protocol{p}, nil
	var task *client.Task
	text := "tck-auth-required"
	if p.Version == "0.1" {
		text = "task-lifecycle please" // it has no such state
	}
	for _, token := range []string{o.Token, "somebody-else", ""} {
		o.Token = token
		c, err := client.Connect(ctx, tapURL, o)
		if err != nil {
			return
		}
		if task != nil {
			c.Ask(ctx, a2a.GetTask, task)     //nolint:errcheck // see tour
			c.List(ctx, client.ListOptions{}) //nolint:errcheck // see tour
		}
		task = sent(c.Send(ctx, client.Text(text), client.SendOptions{}))
		for _, err := range c.Stream(ctx, client.Text(text), client.SendOptions{}) {
			if err != nil {
				break
			}
		}
		c.ExtendedCard(ctx) //nolint:errcheck // see tour
		c.Close()
	}
	for name, value := range headersOf[p.Version] {
		o.Edit = func(out *client.Outgoing) { out.Header.Set(name, value) }
		if c, err := client.Connect(ctx, tapURL, o); err == nil {
			for range 2 { // before the first one the card may not have been recorded
				c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{}) //nolint:errcheck // see tour
			}
			c.Close()
		}
	}
}

// headersOf lists header values by version that clients may send and agents may not know.
var headersOf = map[string]map[string]string{
	"0.3": {"X-A2A-Extensions": "https://a2atap.example/extensions/seats/v1"},
	"1.0": {"A2A-Extensions": "https://a2atap.example/extensions/seats/v1", "A2A-Version": "9.9"},
}

func sent(r *client.Result, err error) *client.Task {
	if err != nil {
		return nil
	}
	return r.Task
}

// follow starts a task in a stream, subscribes to it as well, and cancels it.
func follow(ctx context.Context, c *client.Client) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	followed := make(chan struct{})
	begun := false
	for e, err := range c.Stream(ctx, client.Text("task-cancel please"), client.SendOptions{}) {
		if err != nil {
			break
		}
		if id := taskOf(e); e.State() == client.Working && !begun {
			begun = true
			go func() {
				defer close(followed)
				cancel := sync.OnceFunc(func() { c.Cancel(ctx, id, nil) }) //nolint:errcheck // see tour
				for _, err := range c.Subscribe(ctx, id) {
					if err != nil {
						break
					}
					cancel()
				}
				cancel() // also if subscribing fails: the first stream would stay open
			}()
		}
	}
	if begun {
		<-followed
	}
}

// cross makes the same requests over all bindings of an agent: for a task that has ended, and for one that never
// existed.
//
// Shown only by transcripts: transport-https and transport-hsts, since all traffic here is on loopback and without
// TLS.
func cross(ctx context.Context, tapURL string, p client.Protocol, o client.Options) {
	for _, first := range []client.Protocol{client.REST10, client.JSONRPC10} {
		var task *client.Task
		for _, q := range []client.Protocol{first, client.JSONRPC10, client.REST10} {
			if p.Version != q.Version {
				continue
			}
			o.Prefer = []client.Protocol{q}
			c, err := client.Connect(ctx, tapURL, o)
			if err != nil {
				return
			}
			if task == nil {
				task = sent(c.Send(ctx, client.Text("task-lifecycle please"), client.SendOptions{}))
			}
			if task != nil {
				c.Get(ctx, task.ID, nil) //nolint:errcheck // see tour
			}
			c.Cancel(ctx, "never-was-"+first.Binding, nil) //nolint:errcheck // see tour
			c.Close()
		}
	}
}

// probe sends requests that no faithful client would send: the agent must still answer them correctly.
func probe(ctx context.Context, tapURL string, p client.Protocol, _ client.Options) {
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for _, r := range probes[p.Binding] {
		verb, path, _ := strings.Cut(r.line, " ")
		req, err := http.NewRequestWithContext(ctx, verb, strings.TrimRight(tapURL, "/")+path,
			strings.NewReader(strings.ReplaceAll(r.body, "GetTask", method(p))))
		if err != nil {
			panic(err)
		}
		if r.body == "" {
			req.Body = http.NoBody
		} else {
			req.Header.Set("Content-Type", "application/json")
		}
		if p.Version != "0.3" {
			req.Header.Set("A2A-Version", p.Version)
		}
		res, err := transport.RoundTrip(req)
		if err != nil {
			continue
		}
		io.Copy(io.Discard, res.Body) //nolint:errcheck // see tour
		res.Body.Close()
	}
}

func method(p client.Protocol) string {
	if p.Version == "1.0" {
		return "GetTask"
	}
	return "tasks/get"
}

var probes = map[string][]struct{ line, body string }{
	"JSONRPC": {
		{"POST ", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"`},
		{"POST ", `{"jsonrpc":"2.0","id":2,"method":"NoSuchMethod","params":{}}`},
		{"POST ", `{"jsonrpc":"2.0","id":3,"method":"GetTask","params":{}}`},
		{"POST ", `{"jsonrpc":"2.0","id":4,"params":{}}`},
		{"POST ", `{"jsonrpc":"2.0","id":null,"method":"GetTask","params":{"id":"no-such-task"}}`},
		{
			"POST ",
			`[{"jsonrpc":"2.0","id":5,"method":"GetTask","params":{"id":"no-such-task"}},{"jsonrpc":"2.0","id":6,"method":"GetTask","params":{"id":"no-such-task"}}]`,
		},
		{"POST ", `[]`},
		{"POST ", `{"jsonrpc":"2.0","method":"GetTask","params":{"id":"no-such-task"}}`},
	},
	"HTTP+JSON": {
		{"POST /message:send", `{"message":`},
		{"POST /message:send", `{}`},
		{"GET /tasks/no-such-task", ""},
		{"POST /tasks/no-such-task:cancel", `{}`},
		{"GET /tasks?pageSize=-1", ""},
	},
}
