package replay

import (
	"bytes"
	"context"
	"fmt"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/replay/compare"
	"a2atap/replay/live"
)

// endedBefore reports whether a subscription failed because its task had ended by then in the state in which it ended,
// later, when it was recorded: that an agent is faster, or a request slower, is not a difference. The agent is asked
// for the task. One that refuses to be subscribed to while it works is not excused.
//
// Source: A2A 1.0 §3.1.6: a task that has ended cannot be subscribed to.
func (p *player) endedBefore(
	ctx context.Context, e *entry, x *capture.Exchange, out outgoing, rec *compare.Recorded, now *compare.Reply,
) bool {
	end, known := p.plan.ends[e.task]
	if e.op != a2a.SubscribeToTask || !known || !rec.Stream || rec.Failed() || now.First().Err == nil {
		return false
	}
	get, ok := getInstead(out)
	if !ok {
		return false
	}
	t := p.targets[e.agent]
	log := p.log.Open(capture.Peer{Name: "a2atap", How: "replay"}, t.agent, get.head)
	conn, err := dial(ctx, p.opts.Dialer, get.at, p.opts.Timeout)
	if err != nil {
		log.Close(&capture.Fault{Kind: "unreachable", Side: "agent", Detail: live.Cause(err).Error()})
		return false
	}
	v := &live.Call{Conn: conn, Log: log, Timeout: p.opts.Timeout}
	log.Close(v.Do(ctx, get.method, get.head, get.body))
	target := capture.ParseRequestHead(x.Request.Head).Target
	call, _, _ := compare.ReadCall(log.Recorded(), p.plan.reader.Known(x.Agent.URL, target))
	return compare.ReadReply(&call, log.Recorded()).First().State == end
}

// getInstead returns the request for a task in place of a subscription to it, in the same binding and dialect.
func getInstead(out outgoing) (outgoing, bool) {
	path, query, asked := strings.Cut(out.at.target, "?")
	if bare, is := strings.CutSuffix(path, ":subscribe"); is {
		out.method, out.body, out.at.target = "GET", nil, bare
		if asked {
			out.at.target += "?" + query
		}
	} else {
		method := a2a.Parse(out.body).Root.Get("method")
		get := map[string]string{"SubscribeToTask": `"GetTask"`, "tasks/resubscribe": `"tasks/get"`}[method.Text()]
		if get == "" {
			return out, false
		}
		begin := method.Offset()
		out.body = bytes.Join([][]byte{out.body[:begin], []byte(get), out.body[begin+len(method.Raw()):]}, nil)
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\n", out.method, out.at.target)
	for _, f := range capture.ParseRequestHead(out.head).Fields {
		switch strings.ToLower(f.Name) {
		case "content-length":
			continue
		case "content-type":
			if out.body == nil {
				continue
			}
		case "accept":
			f.Value = "application/json"
		}
		fmt.Fprintf(&b, "%s: %s\r\n", f.Name, f.Value)
	}
	if out.body != nil {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(out.body))
	}
	b.WriteString("\r\n")
	out.head = b.Bytes()
	return out, true
}
