package probe

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/client"
	"a2atap/replay/live"
)

// A suspect is a case after which the agent did not respond.
type suspect struct {
	*probeCase
	reach
}

// A reach is the progress of a case.
type reach struct {
	level int    // 0 if no request reached the agent; 1 if the last one that did was answered, 2 in part, 3 not at all
	last  uint64 // that request
	kind  string // of that request
}

// reached returns the progress of a session's case, and the kinds of its requests that were answered.
func reached(s *Session) (r reach, answered []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, e := range slices.Backward(s.exchanges) {
		x := e.Recorded()
		level := 1
		switch {
		case x.Fault != nil && x.Fault.Kind == "unreachable":
			continue
		case x.Response == nil:
			level = 3
		case x.Fault != nil && x.Fault.Side == "agent":
			level = 2
		default:
			answered = append(answered, kindOf(x))
		}
		if r.level == 0 {
			r = reach{level, e.Seq(), kindOf(x)}
		}
	}
	return r, answered
}

var idInPath = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f-]{27}`)

// kindOf returns the common properties of similar requests: method, path without ids, JSON-RPC method, and the names
// of all members of the body.
func kindOf(x *capture.Exchange) string {
	kind := []string{idInPath.ReplaceAllString(capture.ParseRequestHead(x.Request.Head).Line, "ID")}
	doc := a2a.Parse(x.Request.Body.Data)
	kind = append(kind, doc.Root.Get("method").Text())
	var names []string
	var walk func(v a2a.Value)
	walk = func(v a2a.Value) {
		for name, m := range v.Members() {
			names = append(names, name)
			walk(m)
		}
		for _, m := range v.Elems() {
			walk(m)
		}
	}
	walk(doc.Root)
	slices.Sort(names)
	return strings.Join(append(kind, slices.Compact(names)...), " ")
}

// suspicion orders reaches: the one that more likely crashed the agent comes first. A request of a kind that the
// agent has answered before seldom crashes it. Crashes are usually quick, so of two requests without an answer the
// later one is to blame. A partial answer may be a stream in progress.
func (r *runner) suspicion(a, b reach) int {
	isNew := func(x reach) int {
		if x.level > 1 && !r.answered[x.kind] {
			return 1
		}
		return 0
	}
	return cmp.Or(cmp.Compare(isNew(b), isNew(a)), cmp.Compare(b.level, a.level), cmp.Compare(b.last, a.last))
}

// survived remembers the latest case after which the agent responded; nil for none.
func (r *runner) survived(c *probeCase) {
	if r.previous != nil {
		r.previous.result.forget()
	}
	r.previous = c
}

// blame marks the case critical that crashed the agent: the one that got furthest of those that ran in parallel, or
// the previous one if none of their requests reached the agent. The others are inconclusive.
func (r *runner) blame() {
	if len(r.suspects) == 0 {
		return
	}
	slices.SortStableFunc(r.suspects, func(a, b suspect) int { return r.suspicion(a.reach, b.reach) })
	var others []string
	culprit := r.previous
	for _, s := range r.suspects {
		switch {
		case culprit == r.previous && (s.level > 0 || culprit == nil):
			culprit = s.probeCase
			continue
		case s.level > 0:
			others = append(others, s.name())
		}
		if s.result.Status != Skipped {
			s.result.Status, s.result.Message = Unproved, "not completed: the agent stopped answering"
		}
		s.result.forget()
	}
	culprit.crashed(others)
	r.suspects = nil
}

// crashed marks the case critical; others are those that may have crashed the agent as well.
func (c *probeCase) crashed(others []string) {
	x := &c.result
	message := "the agent stopped answering"
	if len(others) > 0 {
		message += " (in progress: " + strings.Join(others, ", ") + "; --parallel 1 shows which one it was)"
	}
	if x.Bad() {
		message += "; " + x.Message
	} else {
		x.Expected, x.Seen = "an agent that continues to answer", "no answer to a request for its card after the last request"
	}
	x.Status, x.Message = Critical, message
}

// healthy reports whether the agent answers within two seconds. Any answer counts, except a gateway's error instead
// of a card that was available before. The request is not recorded.
func (t *target) healthy(ctx context.Context) bool {
	deadline := time.Now().Add(2 * time.Second)
	for pause := 20 * time.Millisecond; ; pause *= 2 {
		_, err := t.readCard(ctx, t.options(nil))
		if err == nil || answered(err) && !(t.card != nil && broken(err)) || ctx.Err() != nil {
			return true
		}
		if !time.Now().Before(deadline) || !live.Sleep(ctx, pause) {
			return false
		}
	}
}

// broken reports whether a gateway says that the server behind it does not answer.
func broken(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && slices.Contains(
		[]int{http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout}, refused.HTTPStatus)
}
