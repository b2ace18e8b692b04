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
	maxRefused = 10_000 // tasks of which refusals are told apart
	maxAnswers = 10     // with which the same is refused
	persistent = 3      // times that a client asks the same of one task, is told the same, and has not listened
)

// refusals are what agents have refused of one task, as long as they did not grant it. A client that is told goes on:
// what it asks again and again, and never gets, is no expected refusal but a call that does not work.
type refusals struct {
	list *recent.Map[request, []refusal]
}

// A refusal is calls that were refused the same.
type refusal struct {
	FailedCalls
	missing bool // there was no such task
}

// A request is what a client asks of one task.
type request struct {
	link      analysis.Link
	operation a2a.Operation
	task      string
	text      string // of a message that was refused for its credentials: its retry has no other key
	challenge bool   // it was refused for its credentials
}

func requestOf(s *summary.Summary, m *summary.Member) request {
	return request{link: s.Link, operation: m.Operation, task: m.Task}
}

// challengeOf returns what a call asks that is refused for its credentials, or succeeds after that. Messages without text
// are not told apart: no retry of them is known.
func challengeOf(s *summary.Summary, m *summary.Member) request {
	r := request{link: s.Link, operation: m.Operation, challenge: true}
	if m.Operation.Sends() { // its task may be known only from the answer
		r.text, r.challenge = s.Text, s.Text != ""
	} else {
		r.task = m.Task
	}
	return r
}

// refusesCredentials reports whether a call was refused for its credentials, or for want of any.
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

// add takes a call that was refused; missing says that it was told there is no such task. It reports whether it keeps
// it.
func (r *refusals) add(of request, f FailedCalls, missing bool) bool {
	if of.task == "" && !of.challenge {
		return false
	}
	if r.list == nil {
		r.list = recent.New[request, []refusal](maxRefused)
	}
	calls, known := r.list.Get(of)
	for i := range calls {
		if g := &calls[i]; g.Error == f.Error && withoutNumbers(g.Text) == withoutNumbers(f.Text) {
			g.join(&f)
			return true
		}
	}
	if !known && r.list.Len() == maxRefused || len(calls) == maxAnswers {
		return false
	}
	r.list.Put(of, append(calls, refusal{f, missing}))
	return true
}

// granted returns what was refused before a request succeeded, and forgets it.
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

// all calls f with all that was refused, and with whether the client has not listened; shown tells which tasks have
// appeared after all.
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
