package task

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/analyzer"
	"a2atap/analyzer/recent"
	"a2atap/proxy/a2a"
)

// Who forgot a task knows nothing of it, and says so.
func TestForgottenTasks(t *testing.T) {
	m := &Memory{tasks: recent.New[analyzer.TaskKey, *Task](3)}
	x := &analyzer.Exchange{Seq: 1, Agent: "http://booker/rpc"}
	for i := range 5 {
		m.see(x, &analyzer.TaskObservation{TaskID: fmt.Sprint("t", i), State: a2a.Completed, ContextID: "c"})
	}
	if m.Get(x, "t0") != nil || m.Get(x, "t1") != nil || m.Get(x, "t4") == nil {
		t.Error("other tasks are kept than those that were seen last")
	}
	if got := m.Forgotten(); got != 2 {
		t.Errorf("forgotten is %d, want 2", got)
	}
}

// What a long stream sends again and again is not gathered.
func TestSentIsBounded(t *testing.T) {
	var task Task
	for range 100 {
		task.remember("m1")
	}
	task.remember("")
	if diff := cmp.Diff([]string{"m1"}, task.sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for i := range 2 * maxMessages {
		task.remember(fmt.Sprint(i))
	}
	if len(task.sent) != maxMessages || task.WasSent("m1") || !task.WasSent(fmt.Sprint(2*maxMessages-1)) {
		t.Errorf("sent holds %d ids, want the last %d", len(task.sent), maxMessages)
	}
	if task.WasSent("") {
		t.Error("a message without an id was sent before")
	}
}
