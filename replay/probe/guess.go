package probe

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/uuid"

	"a2atap/replay/client"
)

// generations are the protocols that one URL may speak, newest first; an agent that speaks a newer one is not asked in
// an older one unless its card says so.
var generations = [][]client.Protocol{
	{client.JSONRPC10, client.REST10, client.GRPC10},
	{client.JSONRPC03, client.REST03, client.GRPC03},
	{client.JSONRPC01},
	{client.Early},
}

// lacking returns why no card says what is spoken where; nil if one does.
func (t *target) lacking() error {
	if t.card != nil && len(t.card.Interfaces) == 0 {
		return errors.New("the card names no address")
	}
	return t.noCard
}

// guess finds out by calls what is spoken at the URL, where no card says it: one that cannot be read, or that names no
// address. Only an answer that no other protocol has is taken for a sign, so that nobody is held to what he does not
// speak. The note says what is asked, and why.
func (t *target) guess(ctx context.Context) {
	lacking := t.lacking()
	for _, generation := range generations {
		var found []string
		for _, p := range generation {
			at := endpoint{client.Interface{URL: t.url, Protocol: p}, p.Version}
			if t.opts.wants(at) && t.answersAs(ctx, at.Interface) {
				t.endpoints, found = append(t.endpoints, at), append(found, p.String())
			}
		}
		if found != nil {
			t.notes = append(t.notes, fmt.Sprintf("%v; asked at %s itself, where the agent speaks %s", lacking, t.url,
				strings.Join(found, " and ")))
			return
		}
	}
	t.notes = append(t.notes, fmt.Sprintf("%v, and nothing that is known answers at %s", lacking, t.url))
}

// answersAs reports whether an interface says of a task that nobody made what its protocol says, and knows what sets
// that protocol apart from those that have the same words for it.
func (t *target) answersAs(ctx context.Context, at client.Interface) bool {
	c := t.client(at, t.options(nil))
	defer c.Close()
	_, err := c.Get(ctx, uuid.NewString(), nil)
	var refused *client.Error
	if !errors.As(err, &refused) || refused.Reason != "TASK_NOT_FOUND" {
		return false
	}
	switch at.Protocol {
	case client.JSONRPC03:
		m := client.Text("hello")
		m.TaskID = uuid.NewString()
		_, err = c.Send(ctx, m, client.SendOptions{})
		return errors.As(err, &refused) && refused.Reason == "TASK_NOT_FOUND"
	case client.JSONRPC01: // before it, streams have a path of their own
		_, code := t.asks(ctx, at.URL, "tasks/sendSubscribe")
		return code == -32602 || code == -32004
	case client.Early:
		status, _ := t.asks(ctx, strings.TrimSuffix(at.URL, "/")+"/subscribe", "tasks/get")
		return status == http.StatusBadRequest
	}
	return true
}

// asks calls a method without parameters, and returns the HTTP status and the code of the refusal; zeros if none came.
func (t *target) asks(ctx context.Context, url, method string) (status, code int) {
	s := &Session{target: t}
	answer, err := s.Ask(ctx, http.MethodPost, url, http.Header{"Content-Type": {"application/json"}},
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"`+method+`","params":{}}`))
	if err != nil {
		return 0, 0
	}
	n, _ := answer.JSON().Get("error").Get("code").Int()
	return answer.Status, int(n)
}
