package analyzertest

import (
	"flag"
	"fmt"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/replay/refagent"
)

var _ = flag.Bool("update", false, "rewrite the want sections to what is found now")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// A spy stands for a user's test: it can fail, and records its outcome.
type spy struct {
	testing.TB // provides only the name and the methods that are unused below

	mu       sync.Mutex
	errors   []string
	logs     []string
	fatal    string
	skipped  bool
	cleanups []func()
}

// watch runs a user's test to its end, cleanups included.
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

func (s *spy) Error(args ...any)                 { s.add(&s.errors, fmt.Sprint(args...)) }
func (s *spy) Errorf(format string, args ...any) { s.add(&s.errors, fmt.Sprintf(format, args...)) }
func (s *spy) Log(args ...any)                   { s.add(&s.logs, fmt.Sprint(args...)) }
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

// logged reports whether a line of the log holds all of these.
func (s *spy) logged(parts ...string) bool { return holds(s.logs, parts...) }

func holds(lines []string, parts ...string) bool {
	for _, line := range lines {
		all := true
		for _, p := range parts {
			all = all && strings.Contains(line, p)
		}
		if all {
			return true
		}
	}
	return false
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

// startAgent runs a reference agent until the test ends, and returns its URL.
func startAgent(t *testing.T, o refagent.Options) string {
	t.Helper()
	o.StepTime = time.Millisecond
	agent, err := refagent.New("spec", o)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(agent)
	t.Cleanup(func() {
		agent.Close()
		server.Close()
	})
	return server.URL + agent.Path()
}
