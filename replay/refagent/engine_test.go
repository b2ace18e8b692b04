package refagent

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
)

// An engine forgets the oldest task that has ended, never one that is still worked on.
func TestForget(t *testing.T) {
	e := newTestEngine(t)
	busy := start(t, e, order{skill: keyword("task-cancel")}).first.id
	var ended []string
	for range maxTasks + 1 {
		turn := start(t, e, order{skill: scripts["reject-task"]})
		var err error
		for ev := (event{}); !ev.terminal(); {
			if ev, turn.events, err = turn.events.wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ended = append(ended, turn.first.id)
	}
	for id, known := range map[string]bool{
		busy: true, ended[0]: false, ended[1]: false, ended[2]: true,
		ended[maxTasks]: true,
	} {
		if _, f := e.get(id); (f == nil) != known {
			t.Errorf("task %s: known %v, want %v", id, f == nil, known)
		}
	}
	if got := e.list(listing{pageSize: 1}).total; got != maxTasks {
		t.Errorf("got %d tasks, want %d", got, maxTasks)
	}
}

// What a closed engine is still asked to do does not run and does not block.
func TestClosedEngine(t *testing.T) {
	e := newTestEngine(t)
	e.close()
	task := start(t, e,
		order{skill: keyword("streaming"), push: &pushConfig{id: "p", url: "http://127.0.0.1:1/", dialect: v10{}}},
	)
	if f := e.deleteConfig(task.first.id, "p"); f != nil {
		t.Error(f.message)
	}
	if got, _ := e.get(task.first.id); got.status.state != submitted {
		t.Errorf("state %s, want the task untouched", got.status.state)
	}
	e.close()
}

func newTestEngine(t *testing.T) *engine {
	t.Helper()
	e := newEngine(context.Background(), engineOptions{
		cancelWait: time.Hour, log: func(string) {}, now: time.Now, newID: uuid.NewString,
	})
	t.Cleanup(e.close)
	return e
}

func start(t *testing.T, e *engine, o order) turn {
	t.Helper()
	begun, f := e.start(o)
	if f != nil {
		t.Fatal(f.message)
	}
	return begun
}

func TestPositionTokens(t *testing.T) {
	for _, p := range []position{{1, 2}, {-1, 0}, {1 << 60, 1 << 63}} {
		if got, err := parsePosition(p.token()); err != nil || got != p {
			t.Errorf("%v: got %v, %v", p, got, err)
		}
	}
}
