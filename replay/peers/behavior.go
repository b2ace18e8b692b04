package peers

import (
	"context"
	"errors"
	"strings"
	"sync"
)

// An agent's behavior is a list of moves, the same in every SDK. The first word of the message selects the list.
//
// The programs under testdata hold the same table, one in each language.
type move struct {
	do     action
	text   string
	append bool // of an artifact's chunk
	last   bool // of an artifact's chunk
}

// An action is one kind of move.
type action int

const (
	say           action = iota // answer a message instead of a task
	open                        // make the task, submitted
	work                        // report that it works
	produce                     // send an artifact, or a chunk of one
	pause                       // wait at the gate until the client releases the task
	hold                        // wait until the client cancels
	inputRequired               // ask back, and end this turn
	complete                    // end well
	fail                        // end badly
)

// moves returns an agent's moves for a text. A task that waits for input accepts any text as the answer.
func moves(text string, answered bool) []move {
	if answered {
		return []move{{do: produce, text: "colour: " + text, last: true}, {do: complete}}
	}
	keyword, _, _ := strings.Cut(text, " ")
	switch keyword {
	case "work":
		return []move{{do: open}, {do: work}, {do: produce, text: "done", last: true}, {do: complete}}
	case "stream":
		return []move{
			{do: open},
			{do: work},
			{do: produce, text: "one"},
			{do: pause},
			{do: produce, text: " two", append: true},
			{do: pause},
			{do: produce, text: " three", append: true, last: true},
			{do: complete},
		}
	case "poll":
		return []move{{do: open}, {do: work}, {do: pause}, {do: produce, text: "polled", last: true}, {do: complete}}
	case "ask":
		return []move{{do: open}, {do: inputRequired, text: "which colour?"}}
	case "wait":
		return []move{{do: open}, {do: work}, {do: hold}}
	case "fail":
		return []move{{do: open}, {do: work}, {do: fail, text: "out of paint"}}
	case "release":
		return []move{{do: say, text: "released"}}
	default:
		return []move{{do: say, text: "you said " + text}}
	}
}

// gates hold tasks until a client releases them. The zero value is ready for use, by several goroutines.
type gates struct {
	mu     sync.Mutex
	byTask map[string]chan struct{}
	ended  <-chan struct{} // closed when the agent ends; nil if it ends by itself
}

// hold waits until the context or the agent ends. It reports whether the agent ended, whose task then has failed.
func (g *gates) hold(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-g.ended:
		return true
	}
}

// tooLate is the last move of an agent that ends in the middle of a task.
var tooLate = move{do: fail, text: "the agent has ended"}

// pass waits until the task is released, once for each release.
func (g *gates) pass(ctx context.Context, task string) error {
	select {
	case <-g.gate(task):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-g.ended:
		return errors.New("the agent has ended")
	}
}

// open releases the task that a text of the form "release TASK" names; other texts release nothing.
func (g *gates) open(text string) {
	if task, ok := strings.CutPrefix(text, "release "); ok {
		g.gate(task) <- struct{}{}
	}
}

func (g *gates) gate(task string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.byTask == nil {
		g.byTask = map[string]chan struct{}{}
	}
	if g.byTask[task] == nil {
		g.byTask[task] = make(chan struct{}, 16) // more than any script releases in advance
	}
	return g.byTask[task]
}
