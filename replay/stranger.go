package replay

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/client"
	"a2atap/replay/compare"
)

// ErrNoAgent is wrapped by the error of Run if a server answers, but no answer is one of A2A.
var ErrNoAgent = errors.New("not an A2A agent")

// noteAnswer notes whether an answer shows that the target is an agent. Calls that were recorded with an error, or without
// an object of A2A in their answers, show nothing, nor do requests without an answer.
func (t *target) noteAnswer(rec *compare.Recorded, now *compare.Reply, live *capture.Exchange) {
	if first := rec.First(); first.Kind == a2a.NoPayload || first.Err != nil || live.Response == nil || live.Response.Head == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if head := capture.ParseResponseHead(live.Response.Head); ofAgent(now.First(), &head) {
		t.isAgent = true
	} else {
		t.foreign, t.status = t.foreign+1, head.Status
	}
}

// ofAgent reports whether an agent may have given an answer: it has an object or an error of A2A, its status says that the
// agent refuses or fails, or it is a success with JSON or a stream.
func ofAgent(first compare.Item, head *capture.Head) bool {
	switch status := head.Status; {
	case first.Kind != a2a.NoPayload && first.Err == nil, first.Answer.IsEnvelope, first.Err != nil && first.Err.Value.Exists():
		return true
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusTooManyRequests:
		return true
	case status < http.StatusMultipleChoices:
		media := head.Fields.MediaType()
		return strings.HasSuffix(media, "json") || media == "text/event-stream" || capture.IsGRPC(media)
	default:
		return status >= http.StatusInternalServerError
	}
}

// strangers returns an error if a target is not an agent: it has answered, never as one, and has no card.
func strangers(ctx context.Context, targets []*target, o *Options) error {
	for _, t := range targets {
		t.mu.Lock()
		suspect, foreign, status := t.foreign > 0 && !t.isAgent, t.foreign, t.status
		t.mu.Unlock()
		if !suspect {
			continue
		}
		_, err := client.Discover(ctx, t.url, client.Options{Dialer: o.Dialer, Authorize: t.authorize, Timeout: o.Timeout})
		refused, _ := errors.AsType[*client.Error](err)
		if errors.Is(err, client.ErrNotACard) || refused != nil && !refused.Unauthorized() {
			return fmt.Errorf("%w: %s has no card, and no answer to %s is one of A2A (HTTP %d); give the URL of an agent",
				ErrNoAgent, t.url, analysis.Plural(foreign, "request"), status)
		}
	}
	return nil
}
