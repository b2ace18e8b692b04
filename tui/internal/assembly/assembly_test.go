package assembly_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/tui/internal/assembly"
)

// event returns an event with the data given.
func event(k int, data string) *capture.Event {
	return &capture.Event{K: k, At: time.Duration(k) * time.Millisecond, Raw: []byte("data: " + data + "\n\n")}
}

// told returns what an assembly says, in lines.
func told(a *assembly.Assembly) []string {
	var lines []string
	for _, b := range a.Blocks {
		words := fmt.Sprintf("%s %s", [...]string{"artifact", "status", "message", "failure", "other"}[b.Kind], b.Name)
		for i, r := range b.Runs {
			if i == 0 {
				words += " "
			}
			words += "|" + r.Text
		}
		switch {
		case b.Whole:
			words += " (whole)"
		case b.Middle:
			words += " (middle)"
		}
		if b.Again > 0 {
			words += fmt.Sprintf(" (again %d)", b.Again)
		}
		if b.Chunks > 1 {
			words += fmt.Sprintf(" (%d)", b.Chunks)
		}
		lines = append(lines, words)
	}
	return lines
}

// update1 returns an update of 1.0 that brings a chunk of an artifact.
func update1(id, chunk, flags string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c",`+
		`"artifact":{"artifactId":%q,"parts":[{"text":%q}]}%s}}}`, id, chunk, flags)
}

func status1(state, said string) string {
	message := ""
	if said != "" {
		message = fmt.Sprintf(`,"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":%q}]}`, said)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"result":{"statusUpdate":{"taskId":"t","contextId":"c",`+
		`"status":{"state":"TASK_STATE_%s"%s}}}}`, state, message)
}

const call1 = `{"jsonrpc":"2.0","id":1,"method":"SendStreamingMessage","params":{"message":` +
	`{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}}}`

const (
	more = `,"append":true`
	last = `,"append":true,"lastChunk":true`
)

func TestStreams(t *testing.T) {
	call3 := strings.ReplaceAll(strings.ReplaceAll(call1, "SendStreamingMessage", "message/stream"), "ROLE_USER", "user")
	call01 := `{"jsonrpc":"2.0","id":1,"method":"tasks/sendSubscribe","params":{"id":"t","message":` +
		`{"role":"user","parts":[{"type":"text","text":"go"}]}}}`
	for _, c := range []struct {
		name    string
		request string
		version string
		events  []string
		want    []string
		brings  []string // nil if that is not looked at
	}{
		{
			"chunks, and what is said between them", call1, "1.0",
			[]string{
				status1("SUBMITTED", ""), status1("WORKING", "Asking"), update1("a", "Car 7, ", ""), status1("WORKING", ""),
				update1("a", "seat 3", more), update1("a", "A", last), status1("COMPLETED", "Done"),
			},
			[]string{
				"status submitted", "status working |Asking", "artifact a |Car 7, |seat 3|A (whole) (3)", "status working",
				"status completed |Done",
			},
			[]string{
				"status submitted", `status working "Asking"`, `a "Car 7, "`, "status working", `+ a "seat 3"`, `+ a "A", last`,
				`status completed "Done"`,
			},
		},
		{
			"two artifacts, a chunk of each in turn", call1, "1.0",
			[]string{update1("a", "1", ""), update1("b", "2", ""), update1("a", "3", more), update1("b", "4", last)},
			[]string{"artifact a |1|3 (2)", "artifact b |2|4 (whole) (2)"},
			nil,
		},
		{
			"an artifact that is begun again", call1, "1.0",
			[]string{update1("a", "bad", ""), update1("a", "worse", more), update1("a", "good", "")},
			[]string{"artifact a |good (again 1)"},
			nil,
		},
		{
			"an artifact that began before", call1, "1.0",
			[]string{update1("a", "the rest", more)},
			[]string{"artifact a |the rest (middle)"},
			nil,
		},
		{
			"chunks that do not name the task", call1, "1.0",
			[]string{
				status1("WORKING", ""),
				strings.Replace(update1("a", "x", ""), `"taskId":"t",`, "", 1),
				`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","artifacts":[` +
					`{"artifactId":"a","parts":[{"text":"x"}]}],"status":{"state":"TASK_STATE_COMPLETED"}}}}`,
			},
			[]string{"status working", "artifact a |x (whole)", "status completed"},
			nil,
		},
		{
			"the same said over and over", call1, "1.0",
			[]string{status1("WORKING", ""), status1("WORKING", ""), status1("WORKING", ""), status1("COMPLETED", "")},
			[]string{"status working (3)", "status completed"},
			nil,
		},
		{
			"a task that repeats the artifact, and one that shows another", call1, "1.0",
			[]string{
				update1("a", "x", ""), update1("a", "y", more),
				`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","artifacts":[` +
					`{"artifactId":"a","parts":[{"text":"xy"}]},{"artifactId":"b","parts":[{"data":{"n":1}}]}],` +
					`"status":{"state":"TASK_STATE_WORKING"}}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t","contextId":"c","artifacts":[` +
					`{"artifactId":"a","parts":[{"text":"z"}]}],"status":{"state":"TASK_STATE_COMPLETED"}}}}`,
			},
			[]string{
				`artifact a |z (whole) (again 1)`, `artifact b |{"n":1} (whole)`, "status working", "status completed",
			},
			nil,
		},
		{
			"files and data", call1, "1.0",
			[]string{`{"jsonrpc":"2.0","id":1,"result":{"artifactUpdate":{"taskId":"t","contextId":"c","artifact":` +
				`{"artifactId":"a","parts":[{"raw":"AAE=","filename":"x.bin","mediaType":"application/octet-stream"},` +
				`{"url":"https://x.example/y","filename":"y"},{"data":[1,2]},{"thing":1}]}}}}`},
			[]string{
				`artifact a |x.bin, application/octet-stream, 4 bytes in base64|y, https://x.example/y|[1,2]|{"thing":1}`,
			},
			nil,
		},
		{
			"an error, and what is not of A2A", call1, "1.0",
			[]string{
				`{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"out of paper"}}`,
				`{"jsonrpc":"2.0","id":1,"result":[3]}`, `not JSON`,
			},
			[]string{"failure InternalError (-32603) |out of paper", "other unknown object |[3]"},
			[]string{"InternalError (-32603)", "unknown object", "not JSON"},
		},
		{
			"0.3", call3, "",
			[]string{
				`{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","contextId":"c","append":false,` +
					`"artifact":{"artifactId":"a","name":"Poem","parts":[{"kind":"text","text":"Once"}]}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"kind":"artifact-update","taskId":"t","contextId":"c","append":true,` +
					`"lastChunk":true,"artifact":{"artifactId":"a","parts":[{"kind":"text","text":" upon"}]}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"kind":"message","messageId":"m2","role":"agent",` +
					`"parts":[{"kind":"text","text":"Hello"}]}}`,
			},
			[]string{"artifact a |Once| upon (whole) (2)", "message agent |Hello"},
			nil,
		},
		{
			"0.1, where an index is the id", call01, "",
			[]string{
				`{"jsonrpc":"2.0","id":1,"result":{"id":"t","artifact":{"index":0,"append":false,` +
					`"parts":[{"type":"text","text":"Once"}]}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"id":"t","artifact":{"index":1,` +
					`"parts":[{"type":"text","text":"Two"}]}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"id":"t","artifact":{"append":true,"lastChunk":true,` +
					`"parts":[{"type":"text","text":" upon"}]}}}`,
				`{"jsonrpc":"2.0","id":1,"result":{"id":"t","status":{"state":"completed"},"final":true}}`,
			},
			[]string{"artifact #0 |Once| upon (whole) (2)", "artifact #1 |Two", "status completed"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			call := a2a.DecodeRequest(a2a.Request{
				Method: "POST", Target: "/", Body: []byte(c.request),
				Header: func(name string) string { return map[string]string{"A2A-Version": c.version}[name] },
			}, a2a.Known{})
			var a assembly.Assembly
			for i, data := range c.events {
				a.AddEvent(&call, event(i+1, data))
			}
			expect.Same(t, "", c.want, told(&a))
			var brings []string
			for _, e := range a.Events {
				brings = append(brings, e.Words)
			}
			if diff := cmp.Diff(c.brings, brings); c.brings != nil && diff != "" {
				t.Errorf("the events bring, -want +got:\n%s", diff)
			}
		})
	}
}

// What was replaced says by what.
func TestReplaced(t *testing.T) {
	var a assembly.Assembly
	a.AddEvent(nil, event(1, update1("a", "bad", "")))
	a.AddEvent(nil, &capture.Event{Raw: []byte(": still here\n\n")})
	a.AddEvent(nil, event(2, update1("a", "good", "")))
	if len(a.Events) != 2 || a.Events[0].Replaced != 1 || a.Events[1].Replaced != -1 {
		t.Errorf("got %+v", a.Events)
	}
}

func TestAnswers(t *testing.T) {
	for _, c := range []struct {
		name   string
		status int
		body   string
		want   []string
	}{
		{
			"a task", 200, `{"id":"t","contextId":"c",` +
				`"history":[{"messageId":"m","role":"ROLE_USER","parts":[{"text":"go"}]}],"artifacts":[{"artifactId":"a","parts":[{"text":"there"}]}],"status":{"state":"TASK_STATE_COMPLETED"}}`,
			[]string{"message user |go", "artifact a |there (whole)", "status completed"},
		},
		{"an error", 404, `{"error":{"code":404,"message":"no such task"}}`, []string{
			"failure an unknown error (HTTP 404) |no such task",
		}},
		{"two tasks", 200, `{"tasks":[{"id":"t","artifacts":[{"artifactId":"a","parts":[{"text":"1"}]}]},` +
			`{"id":"u","artifacts":[{"artifactId":"a","parts":[{"text":"2"}]}]}],"nextPageToken":""}`, []string{
			"artifact a |1 (whole)", "artifact a |2 (whole)",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := "/tasks/t"
			if strings.Contains(c.body, `"tasks"`) {
				target = "/tasks"
			}
			call := a2a.DecodeRequest(a2a.Request{
				Method: "GET", Target: target,
				Header: func(name string) string { return map[string]string{"A2A-Version": "1.0"}[name] },
			}, a2a.Known{})
			answer := a2a.DecodeAnswer(&call, c.status, "application/json", []byte(c.body))
			var a assembly.Assembly
			a.AddAnswer(&answer)
			expect.Same(t, "", c.want, told(&a))
		})
	}
}

// However much comes, what is kept is bounded; what was replaced does not count.
func TestBounds(t *testing.T) {
	var a assembly.Assembly
	long := strings.Repeat("x", 10_000)
	for k := 1; k <= 300; k++ {
		a.AddEvent(nil, event(k, update1("a", long, "")))
	}
	if a.Full || len(a.Events) != 300 {
		t.Errorf("an artifact that is begun again and again fills it after %d events", len(a.Events))
	}
	for k := 301; k <= 600; k++ {
		a.AddEvent(nil, event(k, update1("a", long, more)))
	}
	kept := 0
	for _, r := range a.Blocks[0].Runs {
		kept += len(r.Text)
	}
	if !a.Full || kept > assembly.MaxBytes || kept < assembly.MaxBytes/2 || len(a.Events) > 550 {
		t.Errorf("of 3 MB %d bytes are kept, of %d events", kept, len(a.Events))
	}
	a = assembly.Assembly{}
	for k := 1; k <= assembly.MaxEvents+10; k++ {
		a.AddEvent(nil, event(k, `{"jsonrpc":"2.0","result":{}}`))
	}
	if !a.Full || len(a.Events) > assembly.MaxEvents {
		t.Errorf("%d events are kept", len(a.Events))
	}
}

func FuzzAssembly(f *testing.F) {
	f.Add([]byte(update1("a", "x", more)), []byte(status1("WORKING", "y")))
	f.Add([]byte(`{"result":{"task":{"id":"t","artifacts":[{"parts":[{"text":"\ud83d"}]}]}}}`),
		[]byte(update1("a", "", last)))
	f.Fuzz(func(t *testing.T, one, two []byte) {
		var a assembly.Assembly
		for k, data := range [][]byte{one, two, one} {
			a.AddEvent(nil, &capture.Event{K: k + 1, Raw: append(append([]byte("data: "), data...), "\n\n"...)})
		}
		answer := a2a.DecodeAnswer(nil, 200, "", two)
		a.AddAnswer(&answer)
		if len(a.Events) > 3 {
			t.Errorf("%d events of three", len(a.Events))
		}
		for _, b := range a.Blocks {
			for _, r := range b.Runs {
				if r.Event < -1 || r.Event >= len(a.Events) {
					t.Errorf("a run is of event %d", r.Event)
				}
			}
		}
	})
}
