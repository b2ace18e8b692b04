package engine

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/model"
)

// An engine forgets the oldest task that has ended, never an unfinished one.
func TestForget(t *testing.T) {
	e := newTestEngine(t)
	busy := start(t, e, Order{Skill: keyword("task-cancel")}).First.ID
	var ended []string
	for range maxTasks + 1 {
		turn := start(t, e, Order{Skill: Scripts["reject-task"]})
		var err error
		for ev := (model.Event{}); !ev.Terminal(); {
			if ev, turn.Events, err = turn.Events.Wait(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		ended = append(ended, turn.First.ID)
	}
	for id, known := range map[string]bool{
		busy: true, ended[0]: false, ended[1]: false, ended[2]: true,
		ended[maxTasks]: true,
	} {
		if _, f := e.Get(id); (f == nil) != known {
			t.Errorf("task %s: known %v, want %v", id, f == nil, known)
		}
	}
	if got := e.List(model.Listing{PageSize: 1}).Total; got != maxTasks {
		t.Errorf("got %d tasks, want %d", got, maxTasks)
	}
}

// Calls on a closed engine neither run nor block.
func TestClosedEngine(t *testing.T) {
	e := newTestEngine(t)
	e.Close()
	task := start(t, e,
		Order{Skill: keyword("streaming"), Push: &model.PushConfig{
			ID: "p", URL: "http://127.0.0.1:1/",
			Dialect: dialect.V10{},
		}},
	)
	if f := e.DeleteConfig(task.First.ID, "p"); f != nil {
		t.Error(f.Message)
	}
	if got, _ := e.Get(task.First.ID); got.Status.State != model.Submitted {
		t.Errorf("state %s, want the task untouched", got.Status.State)
	}
	e.Close()
}

func newTestEngine(t *testing.T) *Engine {
	t.Helper()
	e := New(context.Background(), Options{
		CancelWait: time.Hour, Log: func(string) {}, Now: time.Now, NewID: uuid.NewString,
	})
	t.Cleanup(e.Close)
	return e
}

func start(t *testing.T, e *Engine, o Order) Turn {
	t.Helper()
	begun, f := e.Start(o)
	if f != nil {
		t.Fatal(f.Message)
	}
	return begun
}

func TestPositionTokens(t *testing.T) {
	for _, p := range []model.Position{{At: 1, Revision: 2}, {At: -1}, {At: 1 << 60, Revision: 1 << 63}} {
		if got, err := model.ParsePosition(p.Token()); err != nil || got != p {
			t.Errorf("%v: got %v, %v", p, got, err)
		}
	}
}
