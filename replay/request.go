package replay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/grpc"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// An outgoing request is ready to be sent.
type outgoing struct {
	at     address
	method string
	head   []byte
	body   []byte
	call   *a2a.Call // the call: as recorded, or as translated
	lacks  uint64    // recorded exchange whose missing answer prevents sending; 0 for another reason
}

// live returns the call that is recorded in an entry.
func (out *outgoing) live(log *live.Entry) *live.Call {
	return &live.Call{
		Log: log, Secure: out.at.scheme == "https", Host: out.at.host, GRPC: out.call.Binding == a2a.GRPC,
		Head: out.head, Body: out.body,
	}
}

// prepare makes the live request for a recorded one, and also returns the recorded call. If it returns a reason, the
// request cannot be made.
func (p *player) prepare(
	ctx context.Context, e *entry, x *capture.Exchange,
) (out outgoing, recorded *a2a.Call, reason string) {
	target := capture.ParseRequestHead(x.Request.Head).Target
	call, head, body := compare.ReadCall(x, p.plan.reader.Known(x.Agent.URL, target))
	t := p.targets[e.agent]
	secrets, err := t.secretsFor(ctx, &head)
	if err != nil {
		return out, &call, err.Error()
	}
	if call.Binding == a2a.GRPC && call.Doc.Root.Exists() { // its JSON is carried, and encoded as a message at the end
		body = call.Doc.Root.Raw()
	}
	w := wording{call: &call, head: head, body: body, at: func(target string) address {
		return t.endpoints.locate(x.Agent.URL, target)
	}}
	if p.translated() {
		if reason = p.translate(t, e, &w); reason != "" {
			return out, &call, reason
		}
	}
	c := carrier{player: p, target: t, entry: e, call: w.call}
	if c.push(); c.reason != "" {
		return out, &call, c.reason
	}
	if c.dropPush {
		w.body = withoutPushConfig(w.body, w.call)
	}
	out.method = w.head.Method
	out.body = compare.RewriteJSON(w.body, w.call, c.substitute)
	out.at = w.at(compare.RewriteTarget(p.withSecrets(w.head.Target, secrets), w.call, c.substitute))
	if out.call = w.call; w.known != nil {
		out.call = w.read(out.at.target, out.body)
	}
	if c.reason == "" {
		c.reason = c.orphan(&call, x)
	}
	if out.call.Binding == a2a.GRPC {
		if out.body, err = message(out.call, out.body); err != nil {
			return out, &call, "it cannot be encoded as a message: " + err.Error()
		}
	}
	out.head, out.lacks = p.head(t, &w.head, out, secrets), c.lacks
	return out, &call, c.reason
}

// message converts JSON to the message that gRPC carries.
func message(call *a2a.Call, text []byte) ([]byte, error) {
	doc := a2a.Parse(text)
	codec := grpc.Codec{Type: call.RPC.Request}
	return codec.Write(doc.Root)
}

// A carrier substitutes the values of one request.
type carrier struct {
	*player
	*target
	entry    *entry
	call     *a2a.Call
	hook     string // the webhook URL that the request names, as recorded
	receiver string // its replacement
	dropPush bool   // the request goes without its push config
	reason   string // why the request cannot be sent
	lacks    uint64 // see outgoing
}

// substitute implements compare.Substitute.
func (c *carrier) substitute(role compare.Role, text string) (string, bool) {
	if role == compare.NoRole && c.hook != "" && text == c.hook {
		return c.receiver, true
	}
	if live, ok := c.values.LiveFor(role, c.entry.task, text); ok {
		return live, true
	}
	b := c.plan.origins[valueKey{role: role, text: text}]
	if b != nil && b.byAgent {
		switch role {
		case compare.TaskID, compare.ContextID, compare.PageToken, compare.ConfigID:
			c.lacks = b.at.seq
			c.reason = fmt.Sprintf("it needs the %s from the answer to exchange %d, but the live agent's answer had none", role,
				b.at.seq)
		}
		return "", false
	}
	switch role {
	case compare.MessageID, compare.RequestID, compare.ContextID:
		return c.values.Renew(role, text), true
	case compare.TaskID:
		if d, ok := c.call.Dialects.Single(); ok && d == a2a.V0_1 { // 0.1 §6.1: the client creates it
			return c.values.Renew(role, text), true
		}
	}
	return "", false
}

// orphan returns a reason if the request is about a task from before the recording, which cannot be created again.
func (c *carrier) orphan(recorded *a2a.Call, x *capture.Exchange) string {
	if c.entry.task == "" || c.call.Dialects == a2a.Of(a2a.V0_1) {
		return ""
	}
	b := c.plan.origins[valueKey{role: compare.TaskID, text: c.entry.task}]
	if b == nil || b.byAgent || compare.ReadReply(recorded, x).Failed() {
		return ""
	}
	return fmt.Sprintf("it is about task %q, which was created before the recording began", c.entry.task)
}

// push decides where notifications go that the request asks for.
func (c *carrier) push() {
	if !c.call.PushConfig.Exists() && !c.call.Operation.Push() {
		return
	}
	if c.hooks.reach(c.target) {
		if c.hook = c.call.PushConfig.URL(); c.hook != "" {
			c.receiver = c.hooks.address(c.target, c.hook)
			c.missing()
		}
		return
	}
	if c.call.Operation.Push() {
		c.reason = unreachable
		return
	}
	c.dropPush = true
	c.notes.once("push configs were removed from messages: " + unreachable)
}

// missing reports the secrets of the push config that the recording lacks. Their placeholders are sent, which are
// sufficient for the local receiver.
func (c *carrier) missing() {
	for _, secret := range []struct{ what, text string }{
		{"token", c.call.PushConfig.Token()}, {"credentials", c.call.PushConfig.Credentials()},
	} {
		if credential.HasPlaceholder([]byte(secret.text)) {
			c.notes.add("redacted "+secret.what, fmt.Sprintf("the %s in the push config of exchange %d was redacted when it "+
				"was recorded: the agent got the placeholder instead", secret.what, c.entry.seq))
		}
	}
}

// withoutPushConfig takes the push config out of the parameters of a send.
func withoutPushConfig(body []byte, call *a2a.Call) []byte {
	config := call.PushConfig
	holder := call.Params.Get("configuration")
	if !holder.Exists() {
		holder = call.Params
	}
	var b bytes.Buffer
	b.WriteByte('{')
	for name, v := range holder.Members() {
		if v.Offset() == config.Offset() {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		b.Write(quote(name))
		b.WriteByte(':')
		b.Write(v.Raw())
	}
	b.WriteByte('}')
	start := holder.Offset()
	if start < 0 {
		return body
	}
	return bytes.Join([][]byte{body[:start], b.Bytes(), body[start+len(holder.Raw()):]}, nil)
}

// quote writes a string as JSON.
func quote(s string) []byte {
	b, err := json.Marshal(s)
	if err != nil {
		return []byte(`""`) // not reached: every string can be written
	}
	return b
}

// head makes the head of the live request: the recorded fields in their order and spelling, except for those that
// belong to the recorded connection.
func (p *player) head(t *target, recorded *capture.Head, out outgoing, secrets *secrets) []byte {
	return headOf(out.method, out.at, out.call.Binding == a2a.GRPC, recorded.Fields, len(out.body),
		func(f capture.Field) (string, bool) { return p.field(t.values, f, secrets) }, secrets)
}

// field returns the value of a field in the live request, and whether it is sent.
func (p *player) field(values *compare.Values, f capture.Field, secrets *secrets) (string, bool) {
	if credential.HasPlaceholder([]byte(f.Value)) {
		if value, ok := secrets.field(f.Name); ok {
			return value, true
		}
		p.notes.once(secrets.unsent("header " + f.Name))
		return "", false
	}
	if strings.EqualFold(f.Name, "If-None-Match") {
		if live, ok := values.LiveFor(compare.NoRole, "", f.Value); ok {
			return live, true
		}
	}
	return f.Value, true
}
