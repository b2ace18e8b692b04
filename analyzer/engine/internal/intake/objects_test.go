package intake_test

import (
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/enginetest"
	"a2atap/analyzer/track/task"
	"a2atap/proxy/a2a"
	"a2atap/proxy/expect"
)

// The objects of a message are observed one by one. What the client sent and the agent tells again was checked where it
// was sent; if that was not seen, it is a note, and where it comes otherwise than it was sent, it is the agent's.
func TestEntities(t *testing.T) {
	rule := enginetest.Rule("seen", analysis.EntitySeen,
		func(p *analysis.Pass) { p.Report(p.Here("x"), p.Entity.Type.String(), "expected") })
	rule.Either, rule.Needs = true, []*analysis.Tracker{task.Tracker}
	const first, last = `{"messageId":"m0","role":"ROLE_USER"},{"messageId":"m1","role":"ROLE_USER"`, `},{"messageId":"m2","role":"ROLE_AGENT"}`
	const history, changed = first + `,"parts":[{"text":"hi"}]` + last, first + last
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", enginetest.Send,
		`{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","status":{"state":"TASK_STATE_WORKING"},"history":[`+history+
			`]}}}`)
	c.Exchange("planner", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"id":"t1","history":[`+history+`]}}`)
	c.Exchange("planner", `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t1"}}`,
		`{"jsonrpc":"2.0","id":1,"result":{"id":"t1","history":[`+changed+`]}}`)
	_, found := c.Judge(rule)
	var got []string
	for _, f := range found {
		got = append(got, strings.Join([]string{f.Place.String(), f.Seen, f.Severity.String(), f.Side.String()}, " "))
	}
	want := []string{
		"1.request.body#/params/x parameters error client",
		"1.request.body#/params/message/x Message error client",
		"1.request.body#/params/message/parts/0/x Part error client",
		"1.response.body#/result/x response error agent",
		"1.response.body#/result/task/x Task error agent",
		"1.response.body#/result/task/status/x TaskStatus error agent",
		"1.response.body#/result/task/history/0/x Message note agent",
		"1.response.body#/result/task/history/2/x Message error agent",
		"2.request.body#/params/x parameters error client",
		"2.response.body#/result/x Task error agent",
		"2.response.body#/result/history/0/x Message note agent",
		"2.response.body#/result/history/2/x Message error agent",
		"3.request.body#/params/x parameters error client",
		"3.response.body#/result/x Task error agent",
		"3.response.body#/result/history/0/x Message note agent",
		"3.response.body#/result/history/1/x Message error agent",
		"3.response.body#/result/history/2/x Message error agent",
	}
	expect.Same(t, "findings", want, got)
}

// Each kind brings the types that it says, and no other.
func TestEntityKinds(t *testing.T) {
	const task = `{"jsonrpc":"2.0","id":1,"result":{"task":{"id":"t1","status":{"message":{"parts":[{"text":"a"}]}},"artifacts":[{"parts":[{"text":"b"}]}]}}}`
	for kind, want := range map[analysis.Kinds]string{
		analysis.SnapshotSeen: "Task", analysis.StatusSeen: "TaskStatus", analysis.MessageSeen: "Message Message",
		analysis.PartSeen:     "Part Part Part",
		analysis.ArtifactSeen: "Artifact", analysis.UpdateSeen: "", analysis.PushConfigSeen: "",
		analysis.FrameSeen: "parameters response",
	} {
		var got []string
		c := &enginetest.Conversation{T: t}
		c.Exchange("planner", enginetest.Send, task)
		c.Judge(enginetest.Rule("seen", kind, func(p *analysis.Pass) { got = append(got, p.Entity.Type.String()) }))
		if strings.Join(got, " ") != want {
			t.Errorf("kind %b brings %q, want %q", kind, got, want)
		}
	}
}

// Of a message in which everything is wrong alike a few findings are enough; all are counted.
func TestManyAlike(t *testing.T) {
	c := &enginetest.Conversation{T: t}
	c.Exchange("planner", strings.Replace(enginetest.Send, `{"text":"hi"}`, strings.Repeat(`{"text":"hi"},`, 999)+`{}`, 1),
		enginetest.Working)
	e, found := c.Judge(
		enginetest.Rule("seen", analysis.PartSeen,
			func(p *analysis.Pass) { p.Report(p.Here(), "seen", "expected", analysis.By(a2a.Client)) }),
	)
	if coverage := e.Coverage(); len(found) != 16 || len(coverage) != 1 || coverage[0].Broken != 1000 {
		t.Errorf("%d findings and coverage %+v", len(found), coverage)
	}
}
