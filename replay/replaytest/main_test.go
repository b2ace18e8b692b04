package replaytest_test

import (
	"fmt"
	"runtime"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"a2atap/replay/client"
	"a2atap/replay/internal/agenttest"
	"a2atap/replay/refagent"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A spy is a test under observation: it records its errors and logs, and can fail.
type spy struct {
	testing.TB // of which only the name, the context and what is not used below is left

	mu       sync.Mutex
	errors   []string
	logs     []string
	fatal    string
	skipped  bool
	cleanups []func()
}

// watch runs a test under observation to its end, cleanups included.
func watch(t *testing.T, test func(t testing.TB)) *spy {
	t.Helper()
	s := &spy{TB: t}
	done := make(chan struct{})
	go func() { // Fatalf ends it
		defer close(done)
		defer func() {
			for i := len(s.cleanups) - 1; i >= 0; i-- {
				s.cleanups[i]()
			}
		}()
		test(s)
	}()
	<-done
	return s
}

func (s *spy) Helper()          {}
func (s *spy) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }
func (s *spy) Skipped() bool    { return s.skipped }
func (s *spy) Failed() bool     { return len(s.errors) > 0 || s.fatal != "" }

func (s *spy) Errorf(format string, args ...any) { s.add(&s.errors, fmt.Sprintf(format, args...)) }
func (s *spy) Logf(format string, args ...any)   { s.add(&s.logs, fmt.Sprintf(format, args...)) }

func (s *spy) Fatalf(format string, args ...any) {
	s.fatal = fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (s *spy) add(list *[]string, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	*list = append(*list, text)
}

// wantErrors fails the test unless these are the errors, one for each, each of which holds the text.
func (s *spy) wantErrors(t *testing.T, want ...string) {
	t.Helper()
	if s.fatal != "" {
		t.Fatalf("the test ended at once: %s", s.fatal)
	}
	ok := len(s.errors) == len(want)
	for i := 0; ok && i < len(want); i++ {
		ok = strings.Contains(s.errors[i], want[i])
	}
	if !ok {
		t.Errorf("got the errors\n  %s\nwant\n  %s\nlogged\n  %s",
			strings.Join(s.errors, "\n  "), strings.Join(want, "\n  "), strings.Join(s.logs, "\n  "))
	}
}

// wantLog fails the test unless a line of the log holds the text.
func (s *spy) wantLog(t *testing.T, text string) {
	t.Helper()
	if !strings.Contains(strings.Join(s.logs, "\n"), text) {
		t.Errorf("got the log\n  %s\nwant in it %q", strings.Join(s.logs, "\n  "), text)
	}
}

// startBooker starts the agent under test, here the reference agent, and returns its URL.
func startBooker(t testing.TB) string {
	t.Helper()
	return agenttest.Start(t, "spec", refagent.Options{})
}

// askForTickets is a client: it reads the agent's card, and sends a message.
func askForTickets(t testing.TB, url string) {
	t.Helper()
	ask(t, url, "task-lifecycle four tickets to Osaka")
}

func ask(t testing.TB, url, text string) {
	t.Helper()
	c, err := client.Connect(t.Context(), url, client.Options{})
	if err != nil {
		t.Errorf("connect: %v", err)
		return
	}
	defer c.Close()
	if _, err := c.Send(t.Context(), client.Text(text), client.SendOptions{}); err != nil {
		t.Errorf("send: %v", err)
	}
}
