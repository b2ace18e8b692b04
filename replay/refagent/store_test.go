package refagent_test

import (
	"errors"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

// A memory is a store for tests that can be made to fail.
type memory struct {
	mu     sync.Mutex
	values map[[2]string]string
	full   bool
}

var errFull = errors.New("no space left on device")

func newMemory() *memory { return &memory{values: make(map[[2]string]string)} }

func (m *memory) Each(owner string, f func(key string, value []byte) error) error {
	m.mu.Lock()
	values := maps.Clone(m.values)
	m.mu.Unlock()
	for at, value := range values {
		if at[0] != owner {
			continue
		}
		if err := f(at[1], []byte(value)); err != nil {
			return err
		}
	}
	return nil
}

func (m *memory) Put(owner, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.full {
		return errFull
	}
	m.values[[2]string{owner, key}] = string(value)
	return nil
}

func (m *memory) Delete(owner, key string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.values, [2]string{owner, key})
	return nil
}

func (m *memory) fill(full bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.full = full
}

func (m *memory) keys() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	var keys []string
	for at := range m.values {
		keys = append(keys, at[0]+" "+at[1])
	}
	slices.Sort(keys)
	return keys
}

// A run is an agent that can be closed before its test ends.
type run struct {
	origin string
	end    func()
}

func start(t *testing.T, agent string, o refagent.Options) run {
	t.Helper()
	if o.StepTime == 0 {
		o.StepTime = time.Millisecond
	}
	a := must.Get(refagent.New(agent, o))(t)
	s := agenttest.Serve(a)
	end := sync.OnceFunc(func() { a.Close(); s.Close() })
	t.Cleanup(end)
	return run{s.URL, end}
}

// Tasks survive the agent: finished ones are unchanged, waiting ones continue, and tasks in progress have failed with
// a reason.
func TestTasksOutliveTheAgent(t *testing.T) {
	for _, l := range specLinks {
		t.Run(l.String(), func(t *testing.T) {
			store := newMemory()
			options := client.Options{ProtoJSON: l.agent == "spec03-proto"}
			one := start(t, l.agent, l.with(refagent.Options{Store: store, CancelWait: time.Hour}))
			c := agenttest.Connect(t, one.origin+"/"+l.agent, l.protocol, options)
			ended := send(t, c, client.Text("data-types x")).ID
			waits := send(t, c, client.Text("multi-turn x")).ID
			tck := send(t, c, client.Text("tck-input-required x")).ID
			working := begin(t, c, "task-cancel x").ID
			before := []*client.Task{get(t, c, ended), get(t, c, waits)}
			one.end()

			two := start(t, l.agent, l.with(refagent.Options{Store: store}))
			c = agenttest.Connect(t, two.origin+"/"+l.agent, l.protocol, options)
			expect.Same(t, "after a restart", before, []*client.Task{get(t, c, ended), get(t, c, waits)})
			failed := get(t, c, working)
			if failed.Status.State != client.Failed || failed.Status.Message == nil ||
				failed.Status.Message.Text() != "[task-cancel] The agent ended while it worked on this task." {
				t.Errorf("the task that was worked on is %+v", failed.Status)
			}
			for _, id := range []string{waits, tck} {
				m := client.Text("done")
				m.TaskID = id
				expect.Equal(t, "the task that waited", client.Completed, send(t, c, m).Status.State)
			}
			two.end()

			three := start(t, l.agent, l.with(refagent.Options{Store: store}))
			c = agenttest.Connect(t, three.origin+"/"+l.agent, l.protocol, options)
			if task := get(t, c, waits); task.Status.State != client.Completed || len(task.History) != 3 {
				t.Errorf("after the second restart: %+v", task)
			}
			expect.Same(t, "the task that failed has changed", failed, get(t, c, working))
		})
	}
}

// Tasks before 0.2 also survive, with their statuses.
func TestOlderTasksOutliveTheAgent(t *testing.T) {
	for _, agent := range []string{"legacy", "spec01"} {
		t.Run(agent, func(t *testing.T) {
			store, endpoint := newMemory(), "/"+strings.TrimPrefix(agent, "legacy")
			one := start(t, agent, refagent.Options{Store: store, CancelWait: time.Hour})
			var sends sync.WaitGroup
			defer func() { one.end(); sends.Wait() }()
			task := func(origin, id, state string) string {
				for {
					body := bodyOf(t, origin, legacyCall(endpoint, "tasks/get", `{"id":"`+id+`"}`))
					if strings.Contains(body, `"status":{"state":"`+state+`"`) {
						return body
					}
					if strings.Contains(body, `"error"`) {
						t.Fatal(body)
					}
				}
			}
			for id, text := range map[string]string{"t1": "data-types", "t2": "multi-turn", "t3": "task-cancel"} {
				sends.Go(func() { // 0.1 answers when the agent ends
					resp, err := wireClient.Post(one.origin+endpoint, "application/json",
						strings.NewReader(rpc("1", "tasks/send", legacySend(id, text))))
					if err == nil {
						resp.Body.Close()
					}
				})
				for {
					body := bodyOf(t, one.origin, legacyCall(endpoint, "tasks/get", `{"id":"`+id+`"}`))
					if !strings.Contains(body, "Task not found") {
						break
					}
				}
			}
			before := []string{task(one.origin, "t1", "completed"), task(one.origin, "t2", "input-required")}
			task(one.origin, "t3", "working")
			one.end()
			two := start(t, agent, refagent.Options{Store: store})
			after := []string{task(two.origin, "t1", "completed"), task(two.origin, "t2", "input-required")}
			expect.Same(t, "after a restart", before, after)
			expect.Contains(t, "", "The agent ended while it worked on this task.", task(two.origin, "t3", "failed"))
			exchange(t, two.origin, legacyCall(endpoint, "tasks/send", legacySend("t2", "done")))
			task(two.origin, "t2", "completed")
		})
	}
}

// The list keeps its order and its pages, and push notifications continue, including those for tasks that failed
// meanwhile.
func TestListAndWebhooksOutliveTheAgent(t *testing.T) {
	failed, canceled := make(chan string, 64), make(chan string, 64)
	hook, roots := receiver(t, func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body) // a closing agent hangs up: its last delivery has no state
		switch {
		case strings.Contains(string(body), `"TASK_STATE_FAILED"`):
			failed <- r.URL.Path
		case strings.Contains(string(body), `"TASK_STATE_CANCELED"`):
			canceled <- r.URL.Path
		}
	})
	store := newMemory()
	o := refagent.Options{
		Store: store, Push: true, WebhookRoots: roots, CancelWait: time.Hour, Tenants: []string{"acme", "b"},
	}
	one := start(t, "spec", o)
	call := func(r run, method, params string) string {
		body := bodyOf(t, r.origin, "POST /spec"+v10Header+rpc("1", method, params))
		return body
	}
	for range 3 {
		call(one, "SendMessage", `{"tenant":"acme","message":`+userMessage("", "task-lifecycle")+`}`)
	}
	call(one, "SendMessage", `{"tenant":"acme","message":`+userMessage("", "multi-turn")+`,"configuration":{`+
		`"taskPushNotificationConfig":{"id":"c","url":"`+hook+`/waits","token":"t0ken"}}}`)
	call(one, "SendMessage", `{"tenant":"acme","message":`+userMessage("", "task-cancel")+`,"configuration":{`+
		`"returnImmediately":true,"taskPushNotificationConfig":{"url":"`+hook+`/working"}}}`)
	waits := `"state":"TASK_STATE_INPUT_REQUIRED"`
	first := call(one, "ListTasks", `{"tenant":"acme","pageSize":2}`)
	for !strings.Contains(first, `"TASK_STATE_WORKING"`) || !strings.Contains(first, waits) {
		first = call(one, "ListTasks", `{"tenant":"acme","pageSize":2}`)
	}
	token := strings.Split(strings.SplitAfter(first, `"nextPageToken":"`)[1], `"`)[0]
	page := `{"tenant":"acme","pageSize":2,"pageToken":"` + token + `"}`
	before := call(one, "ListTasks", page)
	one.end()

	two := start(t, "spec", o)
	expect.Equal(t, "notified of the failure", "/working", <-failed)
	expect.Same(t, "the second page", before, call(two, "ListTasks", page))
	list := call(two, "ListTasks", `{"tenant":"acme","status":"TASK_STATE_INPUT_REQUIRED"}`)
	id := strings.Split(strings.SplitAfter(list, `{"id":"`)[1], `"`)[0]
	config := call(two, "GetTaskPushNotificationConfig", `{"tenant":"acme","taskId":"`+id+`","id":"c"}`)
	if !strings.Contains(config, hook+"/waits") || strings.Contains(config, "t0ken") {
		t.Errorf("got %s", config)
	}
	call(two, "CancelTask", `{"tenant":"acme","id":"`+id+`"}`)
	expect.Equal(t, "notified of the cancelation", "/waits", <-canceled)
	expect.Contains(t, "another tenant", "Task not found", call(two, "GetTask", `{"tenant":"b","id":"`+id+`"}`))
	two.end()
	for _, key := range store.keys() {
		if !strings.HasPrefix(key, "spec/acme ") {
			t.Errorf("kept: %s", key)
		}
	}
}

// A change that cannot be stored is refused, and changes nothing. The agent logs this once, and continues when it
// can.
func TestStoreIsFull(t *testing.T) {
	store, logged := newMemory(), make(chan string, 64)
	r := start(t, "spec", refagent.Options{
		Store: store, Push: true, CancelWait: time.Hour, Log: func(text string) { logged <- text },
	})
	call := func(method, params string) string {
		body := bodyOf(t, r.origin, "POST /spec"+v10Header+rpc("1", method, params))
		return body
	}
	message := func(ids, text string) string { return `{"message":` + userMessage(ids, text) + `}` }
	id := strings.Split(strings.SplitAfter(call("SendMessage", message("", "multi-turn")), `"task":{"id":"`)[1], `"`)[0]
	before := call("GetTask", `{"id":"`+id+`"}`)
	keys := len(store.keys())
	store.fill(true)
	for method, params := range map[string]string{
		"SendMessage":                      message("", "task-lifecycle"),
		"SendStreamingMessage":             message(`"taskId":"`+id+`",`, "more"),
		"CancelTask":                       `{"id":"` + id + `","metadata":{"a":1}}`,
		"CreateTaskPushNotificationConfig": `{"taskId":"` + id + `","url":"https://127.0.0.1:1/"}`,
	} {
		want := `"code":-32603,"message":"Internal error: the agent cannot store the task"`
		expect.Contains(t, method, want, call(method, params))
	}
	text, want := <-logged, "could not be stored: no space left on device; new work is refused"
	if !strings.Contains(text, want) || len(logged) > 0 {
		t.Errorf("logged %q and %d more", text, len(logged))
	}
	if diff := cmp.Diff(before, call("GetTask", `{"id":"`+id+`"}`)); diff != "" || len(store.keys()) != keys {
		t.Errorf("the task has changed (-before +after):\n%s", diff)
	}
	expect.Contains(t, "", `"totalSize":1`, call("ListTasks", `{}`))
	store.fill(false)
	expect.Contains(t, "when there is room again",
		"COMPLETED", call("SendMessage", message(`"taskId":"`+id+`",`, "done")))
}

// An invalid value, or one whose skill no longer exists, has a clear error.
func TestStoredTasksThatCannotBe(t *testing.T) {
	numbered := func(number, id, state string) string {
		return `{"format":1,"number":"` + number + `","revision":"1","id":"` + id + `","status":{"state":"` + state + `"}}`
	}
	for value, want := range map[string]string{
		`{`:                                      `the stored task "t" of agent spec: unexpected`,
		`[]`:                                     `it is not a JSON object`,
		`{"format":2}`:                           `its format is not 1; it was written by another version`,
		numbered("1", "u", "TASK_STATE_WORKING"): `it is kept as task "t"`,
		numbered("1", "t", "BUSY"):               `status.state is not a state of a task`,
		numbered("x", "t", "TASK_STATE_WORKING"): `number must be a number`,
	} {
		store := newMemory()
		store.values[[2]string{"spec", "t"}] = value
		_, err := refagent.New("spec", refagent.Options{Store: store})
		if wrong := new(refagent.StoreError); !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", value, err, want)
		}
	}
	store := newMemory()
	store.values[[2]string{"spec", "t"}] = `{"format":1,"number":"1","revision":"1","skill":"juggling","id":"t",` +
		`"status":{"state":"TASK_STATE_INPUT_REQUIRED","timestamp":"2026-03-01T10:00:00.000Z"}}`
	r := start(t, "spec", refagent.Options{Store: store})
	body := bodyOf(t, r.origin, "GET /spec/tasks/t")
	if !strings.Contains(body, "TASK_STATE_FAILED") ||
		!strings.Contains(body, "[juggling] The agent was started again without this skill.") {
		t.Errorf("got %s", body)
	}
}

// FuzzStored gives agents any data for a stored task: it is rejected, or restored.
func FuzzStored(f *testing.F) {
	f.Add([]byte(`{"format":1,"number":"1","revision":"1","skill":"multi-turn","turns":1,"id":"t","contextId":"c",` +
		`"status":{"state":"TASK_STATE_INPUT_REQUIRED","message":{"parts":[{"text":"x"}]},"timestamp":"2026-03-01T10:00:00.000Z"},` +
		`"artifacts":[{"artifactId":"a","parts":[{"raw":"eA=="}]}],` +
		`"configs":[{"id":"c","url":"http://127.0.0.1:1/","dialect":"1.0"}]}`))
	f.Fuzz(func(t *testing.T, value []byte) {
		store := newMemory()
		store.values[[2]string{"spec", "t"}] = string(value)
		a, err := refagent.New("spec", refagent.Options{Store: store})
		if err != nil {
			return
		}
		defer a.Close()
		w := httptest.NewRecorder()
		a.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/spec/tasks/t", nil))
		if w.Code != 200 {
			t.Errorf("got %d %s", w.Code, w.Body)
		}
	})
}
