package replay_test

import (
	"bufio"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/replay"
	"a2atap/replay/compare"
)

// A stage is a step of an agent that others can wait for.
type stage struct {
	mu      sync.Mutex
	passed  map[string]bool
	changed chan struct{}
}

func newStage() *stage { return &stage{passed: map[string]bool{}, changed: make(chan struct{})} }

// pass marks a step as done.
func (s *stage) pass(what string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.passed[what] = true
	close(s.changed)
	s.changed = make(chan struct{})
}

func (s *stage) has(what string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.passed[what]
}

// await waits for a step. It returns false if the client left before.
func (s *stage) await(r *http.Request, what string) bool {
	for {
		s.mu.Lock()
		there, changed := s.passed[what], s.changed
		s.mu.Unlock()
		if there {
			return true
		}
		select {
		case <-changed:
		case <-r.Context().Done():
			return false
		}
	}
}

// aTask writes the only task of these tests with the given end of its id, and JSON about the task.
func aTask(end, text string) string {
	return strings.NewReplacer("task-00000001", "task-0000000"+end, "ctx-00000001", "ctx-0000000"+end).Replace(text)
}

// dataLines reads the given number of events of a stream and passes them on, by number.
func dataLines(t testing.TB, res *http.Response, name string, s *stage, more func(n int)) {
	t.Helper()
	n := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "data:") {
			n++
			s.pass(fmt.Sprintf("%s has seen %d", name, n))
			if more != nil {
				more(n)
			}
		}
	}
}

// The streams of two clients overlap in the replay as in the recording: the second begins after an event of the
// first, and the first continues only after the second has begun. Either may end first.
func TestReplayOverlapsClients(t *testing.T) {
	t.Parallel()
	say := func(text string) string { return strings.Replace(hello, "hello", text, 1) }
	for _, first := range []string{"A", "B"} { // to end
		t.Run(first+" ends first", func(t *testing.T) {
			t.Parallel()
			agent := func() string {
				s := newStage()
				return startScript(t, script{"SendStreamingMessage": func(q *said) {
					me, other := "A", "B"
					if strings.Contains(q.body, "I am B") {
						me, other = "B", "A"
					}
					if me == "A" && s.has("B is there") {
						t.Error("B came before A had its first event")
					}
					s.pass(me + " is there")
					q.event(aTask(me, snapshot("SUBMITTED")))
					if !s.await(q.r, other+" is there") || me != first && !s.await(q.r, first+" is over") {
						return
					}
					q.event(aTask(me, status("WORKING")), aTask(me, status("COMPLETED")))
					s.pass(me + " is over")
				}})
			}
			src := record(t, agent(), func(tapURL string) {
				var group sync.WaitGroup
				s := newStage()
				a := call(t, tapURL, "SendStreamingMessage", say("I am A"))
				defer a.Body.Close()
				group.Go(func() { dataLines(t, a, "A", s, nil) })
				if !s.await(a.Request, "A has seen 1") {
					t.Error("A has seen nothing")
				}
				b := call(t, tapURL, "SendStreamingMessage", say("I am B"))
				defer b.Body.Close()
				group.Go(func() { dataLines(t, b, "B", s, nil) })
				group.Wait()
			})
			wantSame(t, within(t, src, agent(), replay.Options{Timeout: time.Hour}))
		})
	}
}

// A task is canceled in the middle of its stream, which the client reads to its end. The replay cancels it at the
// same event. If that event never comes, the replay still cancels the task, but late.
func TestReplayCancelsInTheMiddle(t *testing.T) {
	t.Parallel()
	agent := func(works bool) string {
		s := newStage()
		return startScript(t, script{
			"SendStreamingMessage": func(q *said) {
				q.event(snapshot("SUBMITTED"))
				if works && s.has("canceled") {
					t.Error("canceled before it worked")
				}
				if works {
					q.event(status("WORKING"))
				}
				if s.await(q.r, "canceled") {
					q.event(status("CANCELED"))
				}
			},
			"CancelTask": func(q *said) {
				s.pass("canceled")
				q.result(taskIn("CANCELED", ""))
			},
		})
	}
	src := record(t, agent(true), func(tapURL string) {
		res := call(t, tapURL, "SendStreamingMessage", hello)
		defer res.Body.Close()
		dataLines(t, res, "client", newStage(), func(n int) {
			if n == 2 {
				ask(t, tapURL, "CancelTask", theID)
			}
		})
	})
	r := within(t, src, agent(true), replay.Options{Timeout: time.Hour})
	if wantSame(t, r); len(r.Notes) > 0 {
		t.Errorf("notes %q; want none", r.Notes)
	}
	r = within(t, src, agent(false), replay.Options{Timeout: 300 * time.Millisecond})
	const late = "exchange 2 was sent late: the event of exchange 1 for which its client had waited did not arrive"
	if !slices.Contains(r.Notes, late) || r.Sent != 2 || r.Same() {
		t.Errorf("an agent that never works: %s, notes %q; want %q", r.Verdict(), r.Notes, late)
	}
}

// artifacts are three artifacts of a run, each with an id unique to the run.
func artifacts(run string) (updates, shown []string) {
	for i := range 3 {
		a := fmt.Sprintf(`{"artifactId":"artifact-%s-%d0000","name":"part %d","parts":[{"text":"%d"}]}`, run, i, i, i)
		shown = append(shown, a)
		updates = append(updates,
			`{"artifactUpdate":{"taskId":"task-00000001","contextId":"ctx-00000001","lastChunk":true,`+
				`"artifact":`+a+`}}`)
	}
	return updates, shown
}

// Two streams of one task: the second begins at an arbitrary point, during the first or after the client left it.
// Artifacts are equal under all profiles, wherever a subscription begins.
func TestReplayOfParallelStreams(t *testing.T) {
	t.Parallel()
	// In each run the subscriptions begin after the given number of artifacts.
	agent := func(run string, at int) string {
		updates, shown := artifacts(run)
		s := newStage()
		return startScript(t, script{
			"SendStreamingMessage": func(q *said) {
				q.event(snapshot("WORKING"))
				q.event(updates...)
				if s.await(q.r, "subscribed") {
					q.event(status("COMPLETED"))
				}
			},
			"SubscribeToTask": func(q *said) {
				s.pass("subscribed")
				q.event(`{"task":` + taskIn("WORKING", strings.Join(shown[:at], ",")) + `}`)
				q.event(append(slices.Clone(updates[at:]), status("COMPLETED"))...)
			},
		})
	}
	ways := map[string]func(tapURL string){
		"beside": func(tapURL string) {
			res := call(t, tapURL, "SendStreamingMessage", hello)
			defer res.Body.Close()
			dataLines(t, res, "client", newStage(), func(n int) {
				if n == 1 {
					ask(t, tapURL, "SubscribeToTask", theID)
				}
			})
		},
		"afterwards": func(tapURL string) {
			readAndLeave(t, tapURL, "SendStreamingMessage", hello, 2)
			ask(t, tapURL, "SubscribeToTask", theID)
		},
	}
	for way, talk := range ways {
		for recorded := range 3 {
			src := record(t, agent("was", recorded), talk)
			for now := range 3 {
				for _, profile := range []compare.Profile{compare.Protocol, compare.Exact} {
					r := within(t, src, agent("now", now), replay.Options{Profile: profile, Timeout: time.Hour})
					if !r.Same() {
						t.Errorf("%s, recorded after %d artifacts, now after %d, %s: %s %v", way, recorded, now, profile,
							r.Verdict(),
							r.Differences)
					}
				}
			}
		}
	}
}

// A subscription to an ended task is not a difference if the agent reports the recorded end: the agent was faster. An
// agent that refuses a subscription to a working task is not excused.
func TestReplayOfLateSubscriptions(t *testing.T) {
	t.Parallel()
	refused := func(q *said) {
		q.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(q, `{"jsonrpc":"2.0","id":%s,"error":{"code":-32004,"message":"no"}}`, q.id)
	}
	agent := func(state string, subscribe func(q *said)) string {
		return startScript(t, script{
			"SendMessage":     func(q *said) { q.result(snapshot("WORKING")) },
			"SubscribeToTask": subscribe,
			"GetTask": func(q *said) {
				if q.r.Header.Get("Accept") == "text/event-stream" {
					t.Error("a task was asked for as a stream")
				}
				q.result(taskIn(state, ""))
			},
		})
	}
	recorded := agent("COMPLETED", func(q *said) { q.event(snapshot("WORKING"), status("COMPLETED")) })
	src := record(t, recorded, func(tapURL string) {
		ask(t, tapURL, "SendMessage", strings.Replace(hello, `}}`, `},"configuration":{"returnImmediately":true}}`, 1))
		ask(t, tapURL, "SubscribeToTask", theID)
	})
	r := within(t, src, agent("COMPLETED", refused), replay.Options{Timeout: time.Hour})
	if wantSame(t, r); r.Lines[1].Requests != 2 {
		t.Errorf("sent %d requests, want the subscription and one for the task", r.Lines[1].Requests)
	}
	for _, state := range []string{"WORKING", "FAILED"} {
		r := within(t, src, agent(state, refused), replay.Options{Timeout: time.Hour})
		if len(r.Differences) != 1 || r.Differences[0].Kind != compare.DifferentOutcome {
			t.Errorf("%s: %s %v; want another outcome", state, r.Verdict(), r.Differences)
		}
	}
}
