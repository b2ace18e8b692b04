package playback_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/expect"
	"a2atap/proxy/injection"
	"a2atap/proxy/must"
	"a2atap/replay/client"
	"a2atap/replay/playback"
)

func TestParseFaults(t *testing.T) {
	notFound := &playback.Error{Name: a2a.TaskNotFound, Code: -32001}
	tests := []struct {
		parse func(string) (playback.Disruption, error)
		text  string
		want  playback.Disruption
		says  string
	}{
		{playback.ParseDelay, "2s", playback.Disruption{Delay: 2 * time.Second}, "each request: answered 2s later"},
		{
			playback.ParseDelay, "message/send=5ms@3",
			playback.Disruption{When: injection.When{Operation: a2a.SendMessage, First: 3, Last: 3}, Delay: 5 * time.Millisecond},
			"SendMessage, request 3: answered 5ms later",
		},
		{
			playback.ParseError, "GetTask=-32001",
			playback.Disruption{When: injection.When{Operation: a2a.GetTask}, Error: notFound},
			"each GetTask: answered with TaskNotFoundError (-32001)",
		},
		{
			playback.ParseError, "tasks/get=TaskNotFound@1",
			playback.Disruption{When: injection.When{Operation: a2a.GetTask, First: 1, Last: 1}, Error: notFound},
			"GetTask, request 1: answered with TaskNotFoundError (-32001)",
		},
		{
			playback.ParseError, "gettask=TASK_NOT_FOUND",
			playback.Disruption{When: injection.When{Operation: a2a.GetTask}, Error: notFound},
			"each GetTask: answered with TaskNotFoundError (-32001)",
		},
		{
			playback.ParseError, "*=503@2",
			playback.Disruption{When: injection.When{First: 2, Last: 2}, Error: &playback.Error{Status: 503}},
			"request 2: answered with HTTP 503",
		},
		{
			playback.ParseError, "SendMessage=-32050",
			playback.Disruption{When: injection.When{Operation: a2a.SendMessage}, Error: &playback.Error{Name: a2a.OtherError, Code: -32050}},
			"each SendMessage: answered with error -32050",
		},
		{
			playback.ParseDrop, "ListTasks@2..4",
			playback.Disruption{When: injection.When{Operation: a2a.ListTasks, First: 2, Last: 4}, Drop: true},
			"ListTasks, requests 2 to 4: the connection is closed without an answer",
		},
		{
			playback.ParseDrop, "*@#2..",
			playback.Disruption{When: injection.When{First: 2}, Drop: true},
			"requests from 2 on: the connection is closed without an answer",
		},
		{
			playback.ParseDrop, "*@..2",
			playback.Disruption{When: injection.When{Last: 2}, Drop: true},
			"requests 1 to 2: the connection is closed without an answer",
		},
		{
			playback.ParseDrop, "GetAgentCard",
			playback.Disruption{When: injection.When{Operation: a2a.GetCard}, Drop: true},
			"each GetAgentCard: the connection is closed without an answer",
		},
	}
	for _, test := range tests {
		got, err := test.parse(test.text)
		if diff := cmp.Diff(test.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v (-want +got):\n%s", test.text, err, diff)
		}
		expect.Equal(t, test.text, test.says, got.String())
	}
}

func TestParseFaultsRefuses(t *testing.T) {
	tests := []struct {
		parse func(string) (playback.Disruption, error)
		text  string
		want  string
	}{
		{playback.ParseDelay, "", "not a delay"},
		{playback.ParseDelay, "-2s", "not a delay"},
		{playback.ParseDelay, "GetTask=", "not a delay"},
		{playback.ParseDelay, "GetTsk=2s", "did you mean \"GetTask\"?"},
		{playback.ParseDelay, "2s@0", "calls are numbered from 1"},
		{playback.ParseError, "GetTask", "OPERATION=CODE"},
		{playback.ParseError, "GetTask=200", "not an error"},
		{playback.ParseError, "GetTask=600", "not an error"},
		{playback.ParseError, "GetTask=TaskNotFondError", "did you mean \"TaskNotFoundError\""},
		{playback.ParseError, "GetTask=x", "unknown error"},
		{playback.ParseError, "=503", "unknown operation"},
		{playback.ParseDrop, "PushNotification", "not into notifications"},
		{playback.ParseDrop, "GetTask@x", "after @"},
		{playback.ParseDrop, "GetTask@", "after @"},
		{playback.ParseDrop, "GetTask@..", "#.. names no call"},
		{playback.ParseDrop, "GetTask@GetTask", "after @"},
		{playback.ParseDrop, "GetTask@2..x", "after @"},
		{playback.ParseDrop, "GetTask@3..2", "#3..2 ends before it begins"},
	}
	for _, test := range tests {
		if f, err := test.parse(test.text); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: %v, %v; want an error with %q", test.text, f, err, test.want)
		}
	}
}

// Valid texts are parsed, invalid ones are rejected with a reason; each parsed fault has an effect.
func FuzzParseFaults(f *testing.F) {
	for _, text := range []string{
		"2s", "GetTask=2s@1", "SendMessage=-32001", "*=503", "tasks/get", "a=b=c@@1", "@", "=@9",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, parse := range map[string]func(string) (playback.Disruption, error){
			"delay": playback.ParseDelay, "error": playback.ParseError, "drop": playback.ParseDrop,
		} {
			fault, err := parse(text)
			does := fault.Delay > 0 || fault.Error != nil || fault.Drop
			if err == nil && (!does || fault.First < 0 || fault.Last < 0 || fault.String() == "") {
				t.Errorf("%s %q is read as %+v", name, text, fault)
			}
			if err != nil && err.Error() == "" {
				t.Errorf("%s %q is refused without a reason", name, text)
			}
		}
	})
}

// lifecycle records a send and a read of one task.
func lifecycle(t *testing.T, w way) *capture.Memory {
	t.Helper()
	return record(t, w.start(t), func(tapURL string) {
		c := connect(t, tapURL, w.protocol)
		r := send(t, c, "task-lifecycle")
		must.Get(c.Get(t.Context(), r.ID, nil))(t)
	})
}

// An error has the form of the binding and dialect, and the next request gets the recorded answer.
func TestErrors(t *testing.T) {
	ways := append(ways[:len(ways):len(ways)], way{"spec01", client.JSONRPC01})
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			src := lifecycle(t, w)
			for _, test := range []struct {
				code         string
				rpc, rest    int // the code in the client's error
				status, http int // HTTP status, in JSON-RPC and in HTTP+JSON
			}{
				{"TaskNotFoundError", -32001, -32001, 200, 404},
				{"UnsupportedOperationError", -32004, -32004, 200, 400},
				{"-32603", -32603, 0, 200, 500},
				{"503", 0, 0, 503, 503},
			} {
				fault, err := playback.ParseError("SendMessage=" + test.code + "@1")
				must.Do(t, err)
				p, origin := perform(t, src, playback.Options{
					Faults: []playback.Disruption{fault}, OnMiss: func(m playback.Miss) { t.Error(m) },
				})
				c := connect(t, origin+"/"+w.agent, w.protocol)
				_, err = c.Send(t.Context(), client.Text("hello"), client.SendOptions{})
				code, status := test.rpc, test.status
				if rest := w.protocol == client.REST10 || w.protocol == client.REST03; rest {
					code, status = test.rest, test.http
				}
				if w.protocol == client.GRPC03 && code != -32001 { // which has no details
					code = 0
				} else if w.protocol == client.GRPC10 {
					code = test.rest
				}
				var refused *client.Error
				if !errors.As(err, &refused) || refused.HTTPStatus != status ||
					code != 0 && refused.Code != code {
					t.Errorf("%s: %#v; want code %d with HTTP %d", test.code, err, code, status)
				}
				r := send(t, c, "hello")
				if _, err := c.Get(t.Context(), r.ID, nil); err != nil {
					t.Errorf("%s: the task of the request after it: %v", test.code, err)
				}
				if r := p.Report(); r.Errors != 1 || r.Missed > 0 || len(r.Unused) > 0 ||
					!strings.Contains(r.Verdict(), "injected faults: 1 answered with an error") {
					t.Errorf("%s: %s", test.code, r.Verdict())
				}
			}
		})
	}
}

// A dropped request gets no answer, a delayed one the recorded one; both are marked before the client can see it.
func TestDropsAndDelays(t *testing.T) {
	for _, w := range ways {
		t.Run(w.agent+" "+w.protocol.String(), func(t *testing.T) {
			src := lifecycle(t, w)
			const delay = 20 * time.Millisecond
			m := &marks{}
			p, origin := perform(t, src, playback.Options{
				Faults: []playback.Disruption{
					{When: injection.When{Operation: a2a.SendMessage, First: 1, Last: 1}, Drop: true},
					{Delay: time.Millisecond},
					{When: injection.When{Operation: a2a.GetTask}, Delay: delay},
				},
				OnRequest: m.request,
			})
			c := connect(t, origin+"/"+w.agent, w.protocol)
			if r, err := c.Send(t.Context(), client.Text("hello"), client.SendOptions{}); err == nil {
				t.Errorf("a dropped request is answered with %v", r)
			}
			if got := m.take(); len(got) != 3 || got[2] != "fault made here: the connection was closed without an answer" {
				t.Errorf("marks %q", got)
			}
			r := send(t, c, "hello")
			begun := time.Now()
			if _, err := c.Get(t.Context(), r.ID, nil); err != nil || time.Since(begun) < delay {
				t.Errorf("%v after %s; want an answer after %s", err, time.Since(begun), delay)
			}
			want := []string{"fault made here: answered 1ms later", "fault made here: answered 20ms later"}
			expect.Same(t, "marks", want, m.take())
			if r := p.Report(); r.Dropped != 1 || r.Delayed != 4 || r.Missed > 0 {
				t.Errorf("%+v", r)
			}
		})
	}
}
