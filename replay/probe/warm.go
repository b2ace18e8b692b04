package probe

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"a2atap/replay/client"
)

// warm asks each interface once before the first case, so that an agent that starts slowly has started, and finds out
// which JSON is spoken over HTTP+JSON of 0.3. What comes back is of no account: if something is wrong, cases tell.
func (t *target) warm(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, t.opts.Timeout)
	defer cancel()
	for _, at := range t.endpoints {
		o := t.options(nil)
		if at.Protocol == client.REST03 && !o.ProtoJSON {
			t.proto = t.speaksProto(ctx, at)
			continue
		}
		c := t.client(at.Interface, o)
		c.Get(ctx, uuid.NewString(), nil) //nolint:errcheck // see above
		c.Close()
	}
}

// speaksProto reports whether an agent of 0.3 over HTTP+JSON wants its messages as the proto definition has them. It is
// told something about a task that nobody made, in either form: only the one that it can read tells it so.
func (t *target) speaksProto(ctx context.Context, at endpoint) bool {
	reads := func(proto bool) bool {
		o := t.options(nil)
		o.ProtoJSON = proto
		c := t.client(at.Interface, o)
		defer c.Close()
		m := client.Text("hello")
		m.TaskID = uuid.NewString()
		_, err := c.Send(ctx, m, client.SendOptions{})
		var refused *client.Error
		return err == nil ||
			errors.As(err, &refused) && (refused.Reason == "TASK_NOT_FOUND" || refused.HTTPStatus == http.StatusNotFound)
	}
	return !reads(false) && reads(true)
}
