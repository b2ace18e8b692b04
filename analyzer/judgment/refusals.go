package judgment

import (
	"net/http"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/recent"
	"a2atap/analyzer/summary"
	"a2atap/proxy/a2a"
	"a2atap/proxy/grpc"
)

const (
	maxRefused = 10_000 // tasks whose refusals are distinguished
	maxAnswers = 10     // different refusals of one request
	maxTexts   = 100    // of them keep the whole text of the error
	persistent = 3      // times that a client repeats a request about a task, gets the same refusal, and asks again
)

// refusals tracks what agents refused about tasks and have not granted since. A client is expected to act on a refusal.
// If it repeats a request that never succeeds, the call counts as failing, not as an expected refusal.
type refusals struct {
	list *recent.Map[request, []refusal]
}

// A refusal is a group of calls that were refused alike.
type refusal struct {
	FailedCalls
	missing bool // the task did not exist
}

// A request identifies a client's request about one task.
type request struct {
	link      analysis.Link
	operation a2a.Operation
	task      string
	text      string // the key of a message that was refused for its credentials, since its retry has no other key
	challenge bool   // it was refused for its credentials
}

func requestOf(s *summary.Summary, m *summary.Member) request {
	return request{link: s.Link, operation: m.Operation, task: m.Task}
}

// challengeOf returns the request of a call that is refused because of its credentials, or succeeds after such a
// refusal. Messages without text are not distinguished, so their retries are not recognized.
func challengeOf(s *summary.Summary, m *summary.Member) request {
	r := request{link: s.Link, operation: m.Operation, challenge: true}
	if m.Operation.Sends() { // its task may be known only from the answer
		r.text, r.challenge = s.Text, s.Text != ""
	} else {
		r.task = m.Task
	}
	return r
}

// refusesCredentials reports whether a call was refused because of wrong or missing credentials.
func refusesCredentials(s *summary.Summary, m *summary.Member) bool {
	if len(s.Batch) > 0 || m.Outcome.Failure == "" {
		return false
	}
	switch m.Error {
	case a2a.AuthenticationRequired, a2a.AuthorizationFailed:
		return true
	}
	switch s.Status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired:
		return true
	}
	return s.Credentials != summary.CredentialsNotKnown || m.Outcome.Failure == grpc.Unauthenticated.String() ||
		m.Outcome.Failure == grpc.PermissionDenied.String()
}

// add adds a refused call; missing means that the answer said that the task does not exist. It reports whether the call
// is stored.
func (r *refusals) add(of request, f FailedCalls, missing bool) bool {
	if of.task == "" && !of.challenge {
		return false
	}
	if r.list == nil {
		r.list = recent.New[request, []refusal](maxRefused)
	}
	calls, known := r.list.Get(of)
	for i := range calls {
		if g := &calls[i]; g.Error == f.Error && g.sameText(&f) {
			g.join(&f)
			return true
		}
	}
	if !known && r.list.Len() == maxRefused || len(calls) == maxAnswers {
		return false
	}
	if r.list.Len() >= maxTexts {
		f.Text = analysis.Clip(f.Text)
	}
	r.list.Put(of, append(calls, refusal{f, missing}))
	return true
}

// granted returns the refusals before a request succeeded, and forgets them.
func (r *refusals) granted(of request) []refusal {
	if r.list == nil || of.task == "" && !of.challenge {
		return nil
	}
	calls, known := r.list.Get(of)
	if known {
		r.list.Delete(of)
	}
	return calls
}

// all calls f with every refusal, and whether the client ignored it. shown reports which tasks have appeared after all.
func (r *refusals) all(shown func(agent, task string) bool, f func(calls FailedCalls, unheeded bool)) {
	if r.list == nil {
		return
	}
	for of, list := range r.list.All() {
		for _, g := range list {
			f(g.FailedCalls, g.Count >= persistent && !(g.missing && shown(of.link.Agent, of.task)))
		}
	}
}
