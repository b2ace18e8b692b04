package judgment_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

var link = analysis.Link{Client: "planner", Agent: "booker"}

// call returns a call that is over.
func call(op a2a.Operation, task string) summary.Summary {
	return summary.Summary{
		Link: link, Asked: op.String(), Operation: op, Binding: a2a.JSONRPC, Call: true, Judged: true,
		Life: capture.StateClosed, Task: task, Tasks: []string{task}, Outcome: analysis.Outcome{Succeeded: true},
	}
}

func failing(s summary.Summary, name a2a.ErrorName, text string) summary.Summary {
	s.Outcome = analysis.Outcome{Failure: name.String()}
	s.Errors = []summary.ErrorSeen{{Name: name, Message: text}}
	return s
}

func stream(state a2a.State, task string) summary.Summary {
	s := call(a2a.SendStreamingMessage, task)
	s.Stream, s.State, s.States = true, state, []a2a.State{state}
	return s
}

// take returns the counts of the link, and what failed or was refused, in words.
func take(list ...summary.Summary) (judgment.Calls, []string) {
	var a judgment.Account
	var sum judgment.Calls
	for i := range list {
		list[i].Seq = uint64(i + 1)
		c := a.Take(&list[i])
		sum.Merge(&c)
		for _, c := range a.Changed() {
			sum.Merge(&c)
		}
	}
	for _, c := range a.Close() {
		sum.Merge(&c)
	}
	var words []string
	for _, f := range a.Failed() {
		how := "failed: "
		if f.Refused {
			how = "refused: "
		}
		words = append(words, how+f.String())
	}
	return sum, words
}

// Well-formed refusals are distinguished from failures: an agent may deny a task that it never showed, but not one that
// it has shown.
func TestRefusedOrFailed(t *testing.T) {
	get, send := a2a.GetTask, a2a.SendMessage
	for _, test := range []struct {
		name string
		list []summary.Summary
		want string
	}{
		{"never shown", []summary.Summary{failing(call(get, "t9"), a2a.TaskNotFound, "")}, "refused"},
		{"shown before", []summary.Summary{call(send, "t1"), failing(call(get, "t1"), a2a.TaskNotFound, "")}, "failed"},
		{"no task was named", []summary.Summary{failing(call(send, ""), a2a.TaskNotFound, "")}, "failed"},
		{"cancel", []summary.Summary{failing(call(a2a.CancelTask, "t1"), a2a.TaskNotCancelable, "")}, "refused"},
		{"not a cancel", []summary.Summary{failing(call(send, ""), a2a.TaskNotCancelable, "")}, "failed"},
		{"message to an ended task", []summary.Summary{failing(call(send, "t1"), a2a.UnsupportedOperation, "")}, "refused"},
		{"a first message", []summary.Summary{failing(call(send, ""), a2a.UnsupportedOperation, "")}, "failed"},
		{"internal", []summary.Summary{failing(call(get, "t9"), a2a.InternalError, "")}, "failed"},
	} {
		if _, words := take(test.list...); len(words) != 1 || !strings.HasPrefix(words[0], test.want+": ") {
			t.Errorf("%s: %q, want one that was %s", test.name, words, test.want)
		}
	}
}

// Each call of a batch is classified by its own operation and task, independently of the others.
func TestRefusedInBatch(t *testing.T) {
	failed := func(op a2a.Operation, task string, err a2a.ErrorName) summary.Member {
		return summary.Member{
			Asked: op.String(), Operation: op, Task: task, Error: err, Outcome: analysis.Outcome{Failure: err.String()},
		}
	}
	batch := call(a2a.NoOperation, "")
	batch.Tasks = []string{"t8", "t9"}
	batch.Batch = []summary.Member{
		{Asked: "SendMessage", Operation: a2a.SendMessage, Outcome: analysis.Outcome{Succeeded: true}},
		{Asked: "GetTask", Operation: a2a.GetTask, Task: "t8", Outcome: analysis.Outcome{Succeeded: true}},
		failed(a2a.GetTask, "t9", a2a.TaskNotFound),
		failed(a2a.SendMessage, "", a2a.UnsupportedOperation),
	}
	sum, words := take(batch, failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, ""), failing(call(a2a.GetTask, "t8"), a2a.TaskNotFound, ""))
	want := []string{
		"failed: 1 SendMessage UnsupportedOperationError", "refused: 1 GetTask TaskNotFoundError (and 1 more)",
		"failed: 3 GetTask TaskNotFoundError",
	}
	if diff := cmp.Diff(want, words); diff != "" || sum.Made != 6 || sum.Succeeded != 2 || sum.Failed != 2 || sum.Refused != 2 {
		t.Errorf("%+v (-want +got):\n%s", sum, diff)
	}
}

// A stream that ends while its task is at work has failed, unless a client later learns more about the task.
func TestStreamLeftAtWork(t *testing.T) {
	cut := stream(a2a.Working, "t1")
	cut.Cut = true
	unheard := stream(a2a.Working, "t1")
	unheard.NotHeard = true
	over := stream(a2a.Working, "t1")
	over.States = []a2a.State{a2a.Completed, a2a.Working}
	for _, test := range []struct {
		name   string
		list   []summary.Summary
		failed int
	}{
		{"left", []summary.Summary{stream(a2a.Working, "t1")}, 1},
		{"another task is asked for", []summary.Summary{stream(a2a.Working, "t1"), call(a2a.GetTask, "t2")}, 1},
		{"asked for", []summary.Summary{stream(a2a.Working, "t1"), call(a2a.GetTask, "t1")}, 0},
		{"asked for in vain", []summary.Summary{stream(a2a.Working, "t1"), failing(call(a2a.GetTask, "t1"), a2a.TaskNotFound, "")}, 2},
		{"resumed", []summary.Summary{stream(a2a.Working, "t1"), stream(a2a.Completed, "t1")}, 0},
		{"waits for the client", []summary.Summary{stream(a2a.InputRequired, "t1")}, 0},
		{"ended before", []summary.Summary{over}, 0},
		{"not all was recorded", []summary.Summary{cut}, 0},
		{"notifications passed unseen", []summary.Summary{unheard}, 0},
	} {
		sum, words := take(test.list...)
		if sum.Failed != test.failed || sum.Succeeded != len(test.list)-test.failed || len(words) != test.failed {
			t.Errorf("%s: %+v, %q; want %d failed", test.name, sum, words, test.failed)
		}
	}
}

// If the record ends inside a call, or the call was redirected, its outcome is unknown. The verdict gives the reason
// and is not clean.
func TestOutcomeNotKnown(t *testing.T) {
	openStream, openCall := stream(a2a.Working, "t1"), call(a2a.SendMessage, "")
	openStream.Fault, openStream.Cut = &capture.TransportFault{Kind: "shutdown", Side: "proxy"}, true
	openCall.Outcome, openCall.Life = analysis.Outcome{}, capture.StateOpen
	led := call(a2a.SendMessage, "")
	led.Outcome, led.Status, led.Said = analysis.Outcome{}, 307, "https://elsewhere.example/"
	whole := openStream
	whole.State, whole.States = a2a.Completed, []a2a.State{a2a.Working, a2a.Completed}
	over := call(a2a.GetTask, "t1")
	over.State = a2a.Completed
	extra := summary.Summary{Link: link, Judged: true, Fault: &capture.TransportFault{Kind: "unsolicited", Side: "agent"}}
	left := stream(a2a.Working, "t1")
	left.Fault, left.LeftEarly = &capture.TransportFault{Kind: "client-left", Side: "client"}, true
	late := left
	late.State, late.States = a2a.Completed, []a2a.State{a2a.Working, a2a.Completed} // which came after the client had left
	enough := stream(a2a.Completed, "t1")
	enough.Fault = left.Fault
	unknown := stream(a2a.Working, "t1")
	unknown.LeftEarly, unknown.Fault = true, &capture.TransportFault{Kind: "reset", Side: "client"}
	const streamWhy = "its stream was open when the recording ended, and its task active"
	for _, test := range []struct {
		name    string
		list    []summary.Summary
		unknown int
		why     string
	}{
		{"a stream", []summary.Summary{openStream}, 1, streamWhy},
		{"a stream, and another task is asked for", []summary.Summary{openStream, call(a2a.GetTask, "t2")}, 1, streamWhy},
		{"a stream, and its task is asked for", []summary.Summary{openStream, call(a2a.GetTask, "t1")}, 0, ""},
		{"a stream, and its task was seen to end before", []summary.Summary{over, openStream}, 0, ""},
		{"a stream, and its task was seen at work before", []summary.Summary{call(a2a.GetTask, "t1"), openStream}, 1, streamWhy},
		{"a stream that had told all", []summary.Summary{whole}, 0, ""},
		{"a stream that the client left at work", []summary.Summary{left}, 1, judgment.LeftEarly},
		{"a stream that the client reset at work", []summary.Summary{unknown}, 1, judgment.LeftEarly},
		{"a stream that the client left before its end", []summary.Summary{late}, 1, judgment.LeftEarly},
		{"a stream that the client left, and another task is asked for", []summary.Summary{left, call(a2a.GetTask, "t2")}, 1, judgment.LeftEarly},
		{"a stream that the client left, and its task is asked for", []summary.Summary{left, call(a2a.GetTask, "t1")}, 0, ""},
		{"a stream that the client left, and resumed", []summary.Summary{left, stream(a2a.Completed, "t1")}, 0, ""},
		{"a stream that the client left after its end", []summary.Summary{enough}, 0, ""},
		{"a stream that the client left, and its task was seen to end before", []summary.Summary{over, left}, 0, ""},
		{"a call", []summary.Summary{openCall}, 1, "it was open when the recording ended"},
		{"an answer too many", []summary.Summary{call(a2a.SendMessage, "t1"), extra}, 0, "the agent sent data that answers no request"},
		{"a redirect", []summary.Summary{led}, 1, "status 307 redirects its client elsewhere: https://elsewhere.example/"},
	} {
		r := &judgment.Result{}
		r.Count(test.list...)
		v := r.Verdict(analysis.Error)
		var why string
		for _, n := range v.NotSeen {
			why += n.Why
		}
		if v.Calls.Unknown() != test.unknown || why != test.why || (v.Status == judgment.StatusClean) != (test.why == "") {
			t.Errorf("%s: %s, because of %q; want %d without a known outcome, because of %q", test.name, v, why, test.unknown, test.why)
		}
	}
}

// A redirect and the exchange that follows it are one call; a redirect that leads back and is not followed is a failure.
func TestRedirects(t *testing.T) {
	led := func(seq uint64, location string) summary.Summary {
		s := call(a2a.SendMessage, "")
		s.Seq, s.Outcome, s.Status, s.Said = seq, analysis.Outcome{}, 308, location
		s.Method, s.Target, s.AgentURL, s.Host = "POST", "/a2a", "http://127.0.0.1:9001", "127.0.0.1:8001"
		return s
	}
	came := func(seq uint64, method string) summary.Summary {
		s := call(a2a.SendMessage, "")
		s.Seq, s.Method, s.Target, s.AgentURL = seq, method, "/a2a/", "http://localhost:9001"
		s.Call = method == "POST"
		return s
	}
	other := came(2, "POST")
	other.Link.Client = "else"
	for name, test := range map[string]struct {
		list                    []summary.Summary
		made, succeeded, failed int
		gap                     string
	}{
		"not followed":           {[]summary.Summary{led(1, "/a2a/"), led(2, "/a2a/")}, 2, 0, 2, ""},
		"followed":               {[]summary.Summary{led(1, "/a2a/"), came(2, "POST")}, 1, 1, 0, ""},
		"followed once of twice": {[]summary.Summary{led(1, "/a2a/"), led(2, "/a2a/"), came(3, "POST")}, 2, 1, 1, ""},
		"followed to the tap":    {[]summary.Summary{led(1, "http://127.0.0.1:8001/a2a/"), came(2, "POST")}, 1, 1, 0, ""},
		"not followed to it":     {[]summary.Summary{led(1, "http://localhost:8001/a2a/")}, 1, 0, 1, ""},
		"followed with GET":      {[]summary.Summary{led(1, "/a2a/"), came(2, "GET")}, 1, 0, 1, ""},
		"by another client":      {[]summary.Summary{led(1, "/a2a/"), other}, 2, 1, 1, ""},
		"an exchange before":     {[]summary.Summary{led(3, "/a2a/"), came(2, "POST")}, 2, 1, 1, ""},
		"past the tap":           {[]summary.Summary{led(1, "http://127.0.0.1:9001/a2a/")}, 1, 0, 0, "status 308 redirects its client bypassing the recorder: http://127.0.0.1:9001/a2a/"},
		"past it, and seen":      {[]summary.Summary{led(1, "http://127.0.0.1:9001/a2a/"), came(2, "POST")}, 1, 1, 0, ""},
		"elsewhere":              {[]summary.Summary{led(1, "https://else.example/a2a")}, 1, 0, 0, "status 308 redirects its client elsewhere: https://else.example/a2a"},
	} {
		r := &judgment.Result{}
		r.Count(test.list...)
		v := r.Verdict(analysis.Error)
		var gap string
		for _, n := range v.NotSeen {
			gap += n.Why
		}
		if c := v.Calls; c.Made != test.made || c.Succeeded != test.succeeded || c.Failed != test.failed || gap != test.gap {
			t.Errorf("%s: %s, not seen %q; want %d of %d succeeded, %d failed, not seen %q", name, c.String(), gap,
				test.succeeded, test.made, test.failed, test.gap)
		}
	}
}

// The text that an agent sends instead of an answer is shown with the failure.
func TestFailureText(t *testing.T) {
	bare := call(a2a.SendMessage, "")
	bare.Outcome, bare.Status, bare.Said = analysis.Outcome{Failure: "HTTP 429"}, 429, "slow down"
	late := failing(call(a2a.SendMessage, ""), a2a.InternalError, "the model is slow")
	late.Outcome.Failure = analysis.ClientLeft
	late.Fault = &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "client left after 1.0 s"}
	for _, test := range []struct {
		of   summary.Summary
		want string
	}{
		{bare, "failed: 1 SendMessage HTTP 429: slow down"},
		{late, "failed: 1 SendMessage client left: client left after 1.0 s"}, // whatever the agent answered afterwards
	} {
		if _, words := take(test.of); len(words) != 1 || words[0] != test.want {
			t.Errorf("%q, want %q", words, test.want)
		}
	}
}

// Calls that failed alike are told once, whatever ids their errors name, in bounded memory.
func TestFailedAlike(t *testing.T) {
	var list []summary.Summary
	for i := range 5000 {
		list = append(list, failing(call(a2a.SendMessage, ""), a2a.InternalError, fmt.Sprintf("job %d: database is down", i)))
	}
	list = append(list, failing(call(a2a.SendMessage, ""), a2a.InternalError, "disk is full"))
	sum, words := take(list...)
	want := []string{
		"failed: 1 SendMessage InternalError: job 0: database is down (and 4999 more)",
		"failed: 5001 SendMessage InternalError: disk is full",
	}
	if diff := cmp.Diff(want, words); diff != "" || sum.Failed != 5001 {
		t.Errorf("%d failed (-want +got):\n%s", sum.Failed, diff)
	}
	const long = "the backend at https://backend.internal.example/v2/seats could not be reached from here, which is a host in another network, "
	list = list[:0]
	for i := range 10 { // the beginning decides; the text of the first is whole
		list = append(list, failing(call(a2a.SendMessage, ""), a2a.InternalError, long+strings.Repeat("x", i)+" cause"))
	}
	if _, words := take(list...); len(words) != 1 || !strings.Contains(words[0], "network,  cause (and 9 more)") {
		t.Errorf("%q", words)
	}
	list = list[:0]
	for i := range 3000 {
		list = append(list, failing(call(a2a.SendMessage, ""), a2a.InternalError, string(rune('一'+i))+" is down"))
	}
	if sum, words := take(list...); sum.Failed != 3000 || len(words) != 1000 {
		t.Errorf("%d failed, in %d groups; want 3000 in 1000", sum.Failed, len(words))
	}
}

// A notification has failed if its receiver never accepts it. One that is repeated and then accepted has not, and
// neither has one that is refused after it was accepted.
func TestRefusedNotifications(t *testing.T) {
	notify := func(task, outcome string) summary.Summary {
		s := call(a2a.Webhook, task)
		s.Call, s.Push, s.Outcome = false, true, analysis.Outcome{Failure: outcome, Succeeded: outcome == ""}
		return s
	}
	unknown := notify("t1", "")
	unknown.Outcome = analysis.Outcome{}
	for _, test := range []struct {
		name         string
		list         []summary.Summary
		made, failed int
		groups       int
	}{
		{"all refused", []summary.Summary{notify("t1", "HTTP 401"), notify("t1", "HTTP 503"), notify("t1", "HTTP 401")}, 3, 3, 2},
		{"repeated", []summary.Summary{notify("t1", "HTTP 503"), notify("t1", "reset"), notify("t1", "")}, 0, 0, 0},
		{"refused after it was accepted", []summary.Summary{notify("t1", ""), notify("t1", "HTTP 410")}, 0, 0, 0},
		{"another one accepted", []summary.Summary{notify("t1", "truncated"), notify("t2", "")}, 2, 1, 1},
		{"accepted", []summary.Summary{notify("t1", ""), notify("t2", "")}, 0, 0, 0},
		{"without a known outcome", []summary.Summary{unknown}, 0, 0, 0},
	} {
		counted, failed := take(test.list...)
		if counted.Made != test.made || counted.Failed != test.failed || len(failed) != test.groups {
			t.Errorf("%s: %d of %d failed, in %q; want %d of %d, in %d groups", test.name, counted.Failed, counted.Made, failed,
				test.failed, test.made, test.groups)
		}
	}
}

// A client that fetches a card and calls no agent is named. If no other client called the agent, the verdict is
// incomplete. Card addresses that bypass the recorder are named, too.
func TestCardAlone(t *testing.T) {
	card := summary.Summary{
		Link: link, Operation: a2a.GetCard, Card: true, Judged: true, Life: capture.StateClosed, Status: 200,
		Notes: []string{"booker advertises 127.0.0.1:9362" + capture.NotTapped + " (for a reason)"},
	}
	signed := card
	signed.Notes = []string{"the card of booker" + capture.SignatureBroken + ": clients that verify it refuse it"}
	refused := card
	refused.Notes, refused.Status = nil, 403
	page := card
	page.Notes, page.Method = nil, "GET"
	other := call(a2a.SendMessage, "t1")
	other.Link.Client = "traveller"
	over := func(library string, s summary.Summary) summary.Summary {
		s.Link.Client = library
		return s
	}
	read := card
	read.Notes = nil
	touched := call(a2a.SendMessage, "t1")
	touched.FaultMade = "held=3.2s: the request"
	further := other
	further.Link.Agent, further.AgentURL = "booker:9362", "http://127.0.0.1:9362"
	read.Offers = []string{"localhost:9362", "localhost:9001"}
	spoken := other
	spoken.Binding = a2a.GRPC
	unread := summary.Summary{Link: link, Judged: true, Missing: "its request did not come whole"}
	for _, test := range []struct {
		name string
		list []summary.Summary
		want string
	}{
		{
			"alone",
			[]summary.Summary{card, card},
			"incomplete: not seen: traffic to 127.0.0.1:9362: the card of booker offers it, and it is not tapped (for a reason), " +
				"calls of planner → booker: the client fetched the card 2 times and never called; " +
				"0 errors, 0 warnings, 0 notes in 2 exchanges, 2 checked",
		},
		{
			"and a fault is made in its call",
			[]summary.Summary{read, touched},
			"incomplete: not seen: calls of planner → booker: each had an injected fault, or was held; " +
				"0 errors, 0 warnings, 0 notes in 2 exchanges, 2 checked, " +
				"1 exchange with injected faults, whose answers are not checked",
		},
		{
			"signed, and changed by the recorder",
			[]summary.Summary{signed},
			"incomplete: not seen: calls of planner → booker: the client fetched the card once and never called; " +
				"the card is signed, and a client that verifies it rejects the recorder's changes " +
				"(--no-rewrite, or the forward proxy); 0 errors, 0 warnings, 0 notes in 1 exchange, 1 checked",
		},
		{
			"refused",
			[]summary.Summary{signed, refused},
			"incomplete: not seen: calls of planner → booker: the client fetched the card 2 times and never called; " +
				"it got 403 Forbidden; 0 errors, 0 warnings, 0 notes in 2 exchanges, 2 checked",
		},
		{
			"no card",
			[]summary.Summary{page},
			"incomplete: not seen: calls of planner → booker: the client fetched the card once and never called; " +
				"it got something other than a card; 0 errors, 0 warnings, 0 notes in 1 exchange, 1 checked",
		},
		{
			"signed, and the client does not mind",
			[]summary.Summary{signed, call(a2a.SendMessage, "t1")},
			"clean: no violation in 2 exchanges; 1 of 1 call succeeded",
		},
		{
			"beside another client",
			[]summary.Summary{card, other},
			"no violation: 2 exchanges; 1 of 1 call succeeded; " +
				"not seen: traffic to 127.0.0.1:9362: the card of booker offers it, and it is not tapped (for a reason), " +
				"calls of planner → booker: the client fetched the card once and never called",
		},
		{
			"beside another client, which calls another port of the agent",
			[]summary.Summary{page, over("traveller", read), further},
			"no violation: 3 exchanges; 1 of 1 call succeeded; not seen: calls of planner → booker: " +
				"the client fetched the card once and never called; it got something other than a card",
		},
		{
			"by one library, and called by another",
			[]summary.Summary{read, over("grpc-go", spoken), over("grpc-go", further)},
			"clean: no violation in 3 exchanges; 2 of 2 calls succeeded",
		},
		{
			"by one library, and called by one that asked itself",
			[]summary.Summary{read, over("grpc-go", read), over("grpc-go", spoken)},
			"no violation: 3 exchanges; 1 of 1 call succeeded; not seen: calls of planner → booker: " +
				"the client fetched the card once and never called",
		},
		{
			"by one library, and called by two others",
			[]summary.Summary{read, over("grpc-go", spoken), over("grpc-node-js", further)},
			"no violation: 3 exchanges; 2 of 2 calls succeeded; not seen: calls of planner → booker: " +
				"the client fetched the card once and never called",
		},
		{
			"by two, and called by another",
			[]summary.Summary{read, over("browser", read), over("grpc-go", spoken)},
			"no violation: 3 exchanges; 1 of 1 call succeeded; not seen: calls of planner → booker: " +
				"the client fetched the card once and never called, calls of browser → booker: " +
				"the client fetched the card once and never called",
		},
		{
			"by one that could not use it, and called by another",
			[]summary.Summary{page, over("grpc-go", spoken)},
			"no violation: 2 exchanges; 1 of 1 call succeeded; not seen: calls of planner → booker: " +
				"the client fetched the card once and never called; it got something other than a card",
		},
		{
			"and a request of it does not come whole",
			[]summary.Summary{read, unread},
			"incomplete: not seen: 1 exchange: its request did not come whole, calls of planner → booker: the client asked for " +
				"the card once, and what else it sent is not seen; 0 errors, 0 warnings, 0 notes in 2 exchanges, 2 checked",
		},
		{
			"by one library, and a request of another does not come whole",
			[]summary.Summary{read, over("grpc-go", unread)},
			"incomplete: not seen: 1 exchange: its request did not come whole; 0 errors, 0 warnings, 0 notes in 2 exchanges, 2 checked",
		},
		{
			"and then it calls",
			[]summary.Summary{card, call(a2a.SendMessage, "t1")},
			"no violation: 2 exchanges; 1 of 1 call succeeded; " +
				"not seen: traffic to 127.0.0.1:9362: the card of booker offers it, and it is not tapped (for a reason)",
		},
	} {
		r := &judgment.Result{}
		r.Count(test.list...)
		if got := r.Verdict(analysis.Error).String(); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
	}
}

// A filter leaves what the verdict states of a link as it is: calls by another name, how streams came out, what failed.
func TestChoosingAgents(t *testing.T) {
	const server, other = "http://127.0.0.1:9001", "http://127.0.0.1:9362"
	card := call(a2a.GetCard, "")
	card.Call, card.Card, card.AgentURL, card.CardSum = false, true, server, 1
	card.Offers = []string{"localhost:9362"}
	called := call(a2a.SendMessage, "t1")
	called.Link, called.AgentURL, called.Binding = analysis.Link{Client: "grpc-go", Agent: "booker-grpc"}, other, a2a.GRPC
	failed := called
	failed.Outcome, failed.Status = analysis.Outcome{Failure: "HTTP 500"}, 500
	working := shows(a2a.SendMessage, "t2", a2a.Working, "")
	ended := shows(a2a.GetTask, "t2", a2a.Completed, "")
	for _, test := range []struct {
		name, agent string
		list        []summary.Summary
		want        string
	}{
		{"who reads the card calls the other tap", "booker", []summary.Summary{card, called}, "clean: no violation in 1 exchange"},
		{"the other tap", "booker-grpc", []summary.Summary{card, called}, "clean: no violation in 1 exchange; 1 of 1 call succeeded"},
		{"nobody calls", "booker", []summary.Summary{card}, "incomplete: not seen: calls of planner → booker: " +
			"the client fetched the card once and never called; 0 errors, 0 warnings, 0 notes in 1 exchange, 1 checked"},
		{"another agent fails", "booker", []summary.Summary{call(a2a.SendMessage, "t1"), failed}, "clean: no violation in 1 exchange; 1 of 1 call succeeded"},
		{"another agent's task has no end", "booker-grpc", []summary.Summary{called, working}, "clean: no violation in 1 exchange; 1 of 1 call succeeded"},
		{"a task has no end", "booker", []summary.Summary{called, working}, "no violation: 1 exchange; 1 of 1 call succeeded; " +
			"not seen: the end of 1 task: active when last shown"},
		{"a task ends", "booker", []summary.Summary{called, working, ended}, "clean: no violation in 2 exchanges; 2 of 2 calls succeeded"},
	} {
		var all, counted judgment.Result
		var some []summary.Summary
		for i := range test.list {
			test.list[i].Seq, test.list[i].Judged = uint64(i+1), true
			if test.list[i].Link.Agent == test.agent {
				some = append(some, test.list[i])
			}
		}
		all.Count(test.list...)
		counted.Count(some...)
		all.Counts = counted.Counts
		all.Choose(counted.Calls, func(n uint64) bool { return test.list[n-1].Link.Agent == test.agent })
		v := all.Verdict(analysis.Error)
		if got := v.String(); got != test.want {
			t.Errorf("%s:\ngot  %s\nwant %s", test.name, got, test.want)
		}
		if len(v.Failed) > 0 {
			t.Errorf("%s: %d failed calls of others", test.name, len(v.Failed))
		}
	}
}

// A card names the servers that its client may call. The tap of such a server belongs to the agent of the card, whatever
// the tap is called: a client that calls there has called. Which client that is shows its name, or where libraries name
// themselves, that one client reads and another one calls.
func TestCardJoinsTaps(t *testing.T) {
	const clean, seen, incomplete = judgment.StatusClean, judgment.StatusNoViolation, judgment.StatusIncomplete
	const names, lacks = true, false
	type caller struct{ name, how string }
	httpx, grpcgo := caller{"Go-http-client", "user-agent"}, caller{"grpc-go", "user-agent"}
	planner, courier := caller{"planner", "process"}, caller{"courier", "process"}
	for _, test := range []struct {
		named        bool // the card names the server of the other tap
		reads, calls caller
		where        string // the tap that is called; empty for none
		want         judgment.Status
	}{
		{names, httpx, httpx, "other", clean},
		{names, httpx, grpcgo, "other", clean},
		{names, planner, planner, "other", clean},
		{names, planner, courier, "other", seen}, // they are two programs, and one of them called
		{names, planner, grpcgo, "other", seen},
		{names, httpx, courier, "other", seen},
		{names, httpx, caller{}, "", incomplete},
		{names, planner, caller{}, "", incomplete},
		{lacks, httpx, httpx, "other", clean}, // a client that calls is seen, whom it calls is its own matter
		{lacks, planner, planner, "other", clean},
		{lacks, httpx, grpcgo, "other", incomplete},
		{lacks, planner, courier, "other", incomplete},
		{lacks, httpx, caller{}, "", incomplete},
		{names, httpx, grpcgo, "own", clean},
		{lacks, httpx, grpcgo, "own", clean},
	} {
		for _, binding := range []a2a.Binding{a2a.JSONRPC, a2a.HTTPJSON, a2a.GRPC} {
			for tap, url := range map[string]string{"go-grpc": "http://127.0.0.1:9362", "go:9362": "http://localhost:9362/"} {
				card := summary.Summary{
					Seq: 1, Link: analysis.Link{Client: test.reads.name, Agent: "go"}, How: test.reads.how, Judged: true,
					AgentURL: "http://127.0.0.1:9361", Operation: a2a.GetCard, Card: true, Status: 200, CardSum: 1,
					Method: "GET", Life: capture.StateClosed, Offers: []string{"localhost:9361", "localhost:4444"},
				}
				if test.named {
					card.Offers = append(card.Offers, "localhost:9362")
				}
				list := []summary.Summary{card}
				if test.where != "" {
					one := call(a2a.SendMessage, "t1")
					one.Link, one.How, one.Binding = analysis.Link{Client: test.calls.name, Agent: tap}, test.calls.how, binding
					one.AgentURL = url
					if test.where == "own" {
						one.Link.Agent, one.AgentURL, one.Binding = "go", card.AgentURL, a2a.GRPC
					}
					list = append(list, one)
				}
				r := &judgment.Result{}
				r.Count(list...)
				if v := r.Verdict(analysis.Error); v.Status != test.want {
					t.Errorf("%+v over %s by way of %s: %s", test, binding, tap, v)
				}
			}
		}
	}
}

// What is accepted fails nothing by itself, and is counted all the same.
func TestAccepted(t *testing.T) {
	send := func(seq uint64, name a2a.ErrorName) summary.Summary {
		s := failing(call(a2a.SendMessage, ""), name, "")
		s.Seq = seq
		return s
	}
	get := failing(call(a2a.GetTask, "t9"), a2a.TaskNotFound, "")
	get.Seq = 3
	done := call(a2a.SendMessage, "t1")
	done.Seq = 4
	for _, test := range []struct {
		name string
		list []summary.Summary
		want judgment.Status
	}{
		{"all as accepted", []summary.Summary{send(1, a2a.InternalError), send(2, a2a.InternalError)}, judgment.StatusNoViolation},
		{"one is not", []summary.Summary{send(1, a2a.InternalError), send(2, a2a.InvalidParams)}, judgment.StatusFailing},
		{"a refusal beside it", []summary.Summary{send(1, a2a.InternalError), get}, judgment.StatusFailing},
		{"a success beside it", []summary.Summary{send(1, a2a.InternalError), done}, judgment.StatusNoViolation},
		{"a refusal and a success", []summary.Summary{send(1, a2a.InternalError), get, done}, judgment.StatusNoViolation},
	} {
		r := &judgment.Result{}
		r.Count(test.list...)
		r.Accept(func(f *judgment.FailedCalls) bool { return f.Error == a2a.InternalError.String() })
		if v := r.Verdict(analysis.Error); v.Status != test.want || len(v.Known) != 1 || v.Calls.Known < 1 {
			t.Errorf("%s: %s, want %s", test.name, v, test.want)
		}
	}
}

// What asks for health and reflection over gRPC is of a known protocol, however much of it there is.
func TestServicesOfGRPCAreKnown(t *testing.T) {
	for path, want := range map[string]string{
		"/grpc.health.v1.Health/Check":                                "clean",
		"/grpc.reflection.v1.ServerReflection/ServerReflectionInfo":   "clean",
		"/grpc.reflection.v1alpha.ServerReflection/ServerReflectionI": "clean",
		"/grpc.testing.TestService/UnaryCall":                         "incomplete",
	} {
		one := call(a2a.SendMessage, "t1")
		other := summary.Summary{Seq: 9, Link: one.Link, Method: "POST", Target: path, Status: 200}
		cut := other
		cut.Missing = "its request was incomplete"
		r := &judgment.Result{}
		r.Count(one, other, other, cut)
		if got := r.Verdict(analysis.Error).String(); !strings.HasPrefix(got, want+": ") {
			t.Errorf("%s: %s", path, got)
		}
	}
}

// A client that calls one agent and only reads the card of another may have chosen between them. If it could not use the
// card, the verdict gives the reason.
func TestCardsThatAreNotUsed(t *testing.T) {
	v03, v10 := a2a.Of(a2a.V0_3), a2a.Of(a2a.V1_0)
	for _, test := range []struct {
		name            string
		offered, spoken a2a.Dialects
		change          func(card *summary.Summary)
		want            string
	}{
		{"usable", v10, v10, nil, ""},
		{"usable in one of two versions", v03.Union(v10), v10, nil, ""},
		{"of an unknown version", 0, v10, nil, ""},
		{"the client does not tell", v03, 0, nil, ""},
		{"older", v03, v10, nil, "never called: with other agents it uses 1.0, the card offers only 0.3"},
		{"newer", v10, v03, nil, "never called: with other agents it uses 0.3, the card offers only 1.0"},
		{"of a client that tells", v03, v10, func(card *summary.Summary) {
			card.Unusable = "it uses 1.0 according to its A2A-Version 1.0, the card offers only 0.3"
		}, "never called: it uses 1.0 according to its A2A-Version 1.0, the card offers only 0.3"},
		{"missing", 0, v10, func(card *summary.Summary) { card.Status, card.CardSum = 404, 0 }, "never called; it got 404 Not Found"},
		{"used by way of another tap", v03, v10, func(card *summary.Summary) {
			card.Offers = []string{"localhost:9002"}
		}, ""},
	} {
		card := summary.Summary{
			Seq: 1, Link: analysis.Link{Client: "cli", Agent: "old"}, Judged: true, AgentURL: "http://127.0.0.1:9001",
			Operation: a2a.GetCard, Card: true, Status: 200, CardSum: 1, Method: "GET", Life: capture.StateClosed,
			Offered: test.offered,
		}
		if test.change != nil {
			test.change(&card)
		}
		sent := call(a2a.SendMessage, "t1")
		sent.Link, sent.AgentURL, sent.Dialects = analysis.Link{Client: "cli", Agent: "new"}, "http://localhost:9002", test.spoken
		r := &judgment.Result{}
		r.Count(card, sent)
		v := r.Verdict(analysis.Error)
		want := judgment.StatusClean
		if test.want != "" {
			want = judgment.StatusNoViolation
		}
		if v.Status != want || !strings.Contains(v.String(), test.want) {
			t.Errorf("%s: %s; want %s with %q", test.name, v, want, test.want)
		}
	}
}
