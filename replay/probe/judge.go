package probe

import (
	"context"
	"errors"
	"net/http"

	"a2atap/replay/client"
)

// judge says how a case came out.
func (r *runner) judge(ctx context.Context, c *probeCase, s *Session, err error, result *Result) {
	var failure *Failure
	var skip *Skip
	var unclear *Inconclusive
	var refused *client.Error
	switch {
	case err == nil:
		result.Status = Pass
		return
	case errors.As(err, &skip):
		result.Status, result.Message = Skipped, skip.Why
		return
	case errors.As(err, &unclear):
		result.Status, result.Message = Unproved, unclear.Why
		return
	case errors.As(err, &failure):
		result.Status, result.Message = Failed, failure.Error()
		result.Expected, result.Seen = failure.Expected, failure.Seen
	case errors.As(err, &refused):
		result.Status, result.Expected, result.Seen = Failed, "success", Describe(refused)
		result.Message = "expected success; seen " + result.Seen
	default:
		result.Status, result.Message, result.Seen = Failed, err.Error(), err.Error()
		result.Expected = "an answer that can be read"
	}
	if refused == nil && s.Last().Status < http.StatusInternalServerError && failure != nil {
		return
	}
	if !c.target.healthy(ctx) {
		result.Status, result.Message = Critical, "the agent does not answer any more; "+result.Message
		r.mu.Lock()
		r.gone = true
		r.mu.Unlock()
	}
}

// disclaims reports whether an agent says that it does not have what it was asked for.
func disclaims(refused *client.Error) bool {
	return refused.Reason == "PUSH_NOTIFICATION_NOT_SUPPORTED" || refused.Reason == "UNSUPPORTED_OPERATION" ||
		refused.Code == -32601
}
