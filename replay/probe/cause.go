package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"a2atap/proxy/grpc"
	"a2atap/replay/client"
)

// A cause that affects many cases is reported once: by a note of the run, or by the case that ran first. The cases
// that it blocks are inconclusive because of it.

// shuts tests an interface once, and notes it if the agent rejects the available credentials: it then refuses both to
// read a task and to accept a message. shuts sends a message only if reading is refused.
func (t *target) shuts(ctx context.Context, at endpoint, c *client.Client) {
	_, err := c.Get(ctx, uuid.NewString(), nil)
	if !unauthorized(err) {
		return
	}
	m := client.Text("hello")
	if at.Protocol == client.JSONRPC01 || at.Protocol == client.Early {
		m.TaskID, m.ContextID = uuid.NewString(), uuid.NewString()
	}
	_, err = c.Send(ctx, m, client.SendOptions{ReturnImmediately: true})
	if !unauthorized(err) {
		return
	}
	what, advice := "credentials are needed", "; give them with --auth"
	if o := &t.opts.Client; o.Token != "" || o.Authorize != nil {
		what, advice = "the credentials do not give access", ""
	}
	refused, _ := errors.AsType[*client.Error](err)
	if t.shut == nil {
		t.shut = make(map[client.Interface]string)
	}
	t.shut[at.Interface] = what + advice
	t.notes = append(t.notes, fmt.Sprintf("%s at %s: %s: %s%s", at.Protocol, at.URL, what, Describe(refused), advice))
}

// unauthorized reports whether a call was refused because of missing or wrong credentials.
func unauthorized(err error) bool {
	var refused *client.Error
	return errors.As(err, &refused) && refused.Unauthorized()
}

// follows returns the cause of a case's failure if it is reported elsewhere; empty if the failure is news.
func (t *target) follows(c *probeCase, s *Session, err error) string {
	if full := s.full(); full != "" {
		return "the agent refuses further requests for now: " + full
	}
	base := t.base[c.at.Interface]
	if base == nil || c.scenario.First {
		return ""
	}
	why := fmt.Sprintf("it fails like %s: %v", base.test, base.err)
	var failure *Failure
	var refused, first *client.Error
	switch {
	case errors.As(base.err, &first) && errors.As(err, &refused):
		if first.HTTPStatus == refused.HTTPStatus && first.Code == refused.Code && first.Status == refused.Status {
			return why
		}
	case first != nil && errors.As(err, &failure):
		// The agent gives the same answer to every request.
		if first.HTTPStatus >= http.StatusInternalServerError && s.Last().Status == first.HTTPStatus {
			return why
		}
	case first == nil && !errors.As(err, &failure) &&
		(err.Error() == base.err.Error() || unconnected(err) && unconnected(base.err)):
		return why
	}
	return ""
}

// unconnected reports whether a request failed because no connection could be made.
func unconnected(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "dial"
}

// A baseFailure is the reason why the first case failed.
type baseFailure struct {
	test string
	err  error
}

// setBase notes how the first case on an interface failed. Parallel cases run afterwards.
func (t *target) setBase(c *probeCase, err error) {
	var failure *Failure
	var skip *Skip
	if err == nil || errors.As(err, &failure) || errors.As(err, &skip) {
		return
	}
	if unclear, ok := errors.AsType[*Inconclusive](err); ok {
		if err = unclear.Cause; err == nil {
			return
		}
	}
	if t.base == nil {
		t.base = make(map[client.Interface]*baseFailure)
	}
	t.base[c.at.Interface] = &baseFailure{c.name(), err}
}

// full returns the first answer to the case that says that the agent is at capacity; empty if none does.
func (s *Session) full() string {
	for n := range s.Asks() {
		a := s.AnswerTo(n)
		switch {
		case a.GRPC != nil && a.GRPC.Code == grpc.ResourceExhausted:
			return a.GRPC.Code.String()
		case a.Status == http.StatusTooManyRequests,
			a.Status == http.StatusServiceUnavailable && a.Header.Has("Retry-After"):
			return fmt.Sprintf("HTTP %d", a.Status)
		case s.Protocol() == client.Early && strings.Contains(string(a.Body), "-32003"):
			if code, _ := a.JSON().Get("error").Get("code").Int(); code == -32003 {
				return "error -32003"
			}
		}
	}
	return ""
}
