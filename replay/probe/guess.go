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

// generations are the protocols that one URL may support, newest first. If an agent supports a newer one, older ones
// are not tried unless its card lists them.
var generations = [][]client.Protocol{
	{client.JSONRPC10, client.REST10, client.GRPC10},
	{client.JSONRPC03, client.REST03, client.GRPC03},
	{client.JSONRPC01},
	{client.Early},
}

// lacking returns why no card states the protocols and addresses; nil if one does.
func (t *target) lacking() error {
	if t.card != nil && len(t.card.Interfaces) == 0 {
		return errors.New("the card names no address")
	}
	return t.noCard
}

// guess determines the protocol at the URL by calls, if the card is unreadable or names no address. Only an answer
// that no other protocol has counts as evidence, so that the agent is not tested against a protocol that it does not
// support. The note describes the choice and its reason.
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
			t.notes = append(t.notes, fmt.Sprintf("%v; tested at %s itself, where the agent uses %s", lacking, t.url,
				strings.Join(found, " and ")))
			return
		}
	}
	t.notes = append(t.notes, fmt.Sprintf("%v, and no A2A endpoint answers at %s", lacking, t.url))
}

// reconsider tries the address of a card without a version, and takes the version that the agent supports instead of
// the version that the card suggests: an incomplete card from before 0.1 looks like one of 0.3.
func (t *target) reconsider(ctx context.Context) {
	if t.card == nil || len(t.card.Possible) == 0 || len(t.endpoints) != 1 || t.answersAs(ctx, t.endpoints[0].Interface) {
		return
	}
	for _, i := range t.card.Possible {
		e := endpoint{i, i.Protocol.Version}
		if i.URL != t.endpoints[0].URL || !t.opts.wants(e) || !t.answersAs(ctx, i) {
			continue
		}
		t.notes = append(t.notes, fmt.Sprintf("the card does not name its version; tested in %s, which the agent uses",
			i.Protocol))
		t.endpoints[0] = e
		return
	}
}

// answersAs reports whether an interface answers a lookup of an unknown task as its protocol specifies, and supports
// a feature that distinguishes the protocol from others with the same answer.
func (t *target) answersAs(ctx context.Context, at client.Interface) bool {
	c := t.client(at, t.options(nil))
	defer c.Close()
	_, err := c.Get(ctx, uuid.NewString(), nil)
	var refused *client.Error
	t.spoke = t.spoke || err == nil || errors.As(err, &refused) &&
		(refused.Code != 0 || refused.Reason != "" || refused.Status != "" || refused.Unauthorized())
	if !errors.As(err, &refused) || refused.Reason != "TASK_NOT_FOUND" {
		return false
	}
	switch at.Protocol {
	case client.JSONRPC03:
		m := client.Text("hello")
		m.TaskID = uuid.NewString()
		_, err = c.Send(ctx, m, client.SendOptions{})
		return errors.As(err, &refused) && refused.Reason == "TASK_NOT_FOUND"
	case client.JSONRPC01: // before 0.1, streams have a separate path
		_, code := t.asks(ctx, at, "", "tasks/sendSubscribe")
		return code == -32602 || code == -32004
	case client.Early:
		status, _ := t.asks(ctx, at, "/subscribe", "tasks/get")
		return status == http.StatusBadRequest
	}
	return true
}

// asks calls a method without parameters at a path below a JSON-RPC interface, and returns the HTTP status and the
// code of the refusal; zeros if no answer came.
func (t *target) asks(ctx context.Context, at client.Interface, path, method string) (status, code int) {
	o := t.options(nil)
	o.Edit = func(out *client.Outgoing) {
		out.URL = strings.TrimSuffix(at.URL, "/") + path
		out.Body = []byte(`{"jsonrpc":"2.0","id":1,"method":"` + method + `","params":{}}`)
	}
	c := t.client(at, o)
	defer c.Close()
	_, err := c.Get(ctx, uuid.NewString(), nil)
	if refused, ok := errors.AsType[*client.Error](err); ok {
		return refused.HTTPStatus, refused.Code
	}
	return 0, 0
}
