package delegation

import (
	"slices"
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// shows records the contents of an object from an agent, for the work that its exchange asks for or names.
func (m *Memory) shows(p *analysis.Pass) {
	if p.Entity.Author != a2a.Agent || p.Entity.Echoed() {
		return
	}
	s, w := m.send.Of(p.Exchange), m.named.Of(p.Exchange)
	if s != nil {
		w = s.asks
	}
	if w == nil {
		return
	}
	said, ok := saidIn(p.Entity)
	if !ok {
		return
	}
	w.says(said, p.Arrival)
}

// says records content from the agent.
func (w *work) says(said digest.Digest, arrival uint64) {
	switch {
	case w.said(said):
	case len(w.contents) == maxContents:
		w.obscure = true
	case w.contents == nil:
		w.first[0] = content{said, arrival}
		w.contents = w.first[:]
	default:
		w.contents = append(w.contents, content{said, arrival})
	}
}

// said reports whether the agent has sent any content.
func (w *work) said(what digest.Digest) bool {
	return slices.ContainsFunc(w.contents, func(c content) bool { return c.digest == what })
}

// newsSince reports whether the agent may have sent anything new since then that does not come from a call that
// succeeded.
func (w *work) newsSince(arrival uint64) bool {
	return w.obscure || slices.ContainsFunc(w.contents, func(c content) bool {
		return c.arrival > arrival && !w.handsOn(c.digest)
	})
}

// handsOn reports whether content came from a successful callee, and from no failed callee.
func (w *work) handsOn(what digest.Digest) bool {
	found := false
	for _, s := range w.calls {
		if s.asks.said(what) {
			if s.failed() || s.asks.obscure {
				return false
			}
			found = true
		}
	}
	return found
}

// saidIn returns a digest of an object's own content, without the objects in it: the content of a part, and all members
// outside the protocol's frame. It returns false if there is no content.
func saidIn(o *a2a.Entity) (said digest.Digest, ok bool) {
	if o.Type == a2a.PartEntity {
		return partOf(digest.Empty, a2a.Part{Value: o.Value}), true
	}
	said = digest.Empty
	for name, v := range o.Pairs() {
		if !name.In(frame) && !v.IsNull() && (v.Kind() != a2a.Object || v.Len() > 0) {
			said, ok = said.JSONString(name).Bytes(v.Raw()), true
		}
	}
	return said, ok
}

// contentOf returns a digest of a message's parts.
func contentOf(m a2a.Message) digest.Digest {
	d := digest.Empty
	for _, part := range m.Parts().All() {
		d = partOf(d, part)
	}
	return d
}

// partOf adds a part to a digest: the text of one that is text, in any dialect, and else its bytes. These may be nested
// deeply, so they are not looked into.
func partOf(d digest.Digest, part a2a.Part) digest.Digest {
	if text := part.Get("text"); text.Kind() == a2a.String {
		return d.Byte('t').JSONString(text)
	}
	return d.Byte('o').Bytes(part.Raw())
}

// frame has the members that identify an object or give its state, or that have objects which are observed separately.
var frame = func() map[string]bool {
	const names = "id taskId task_id contextId context_id messageId message_id artifactId artifact_id " +
		"kind type role state status timestamp final append lastChunk last_chunk index " +
		"referenceTaskIds reference_task_ids message update parts artifact artifacts history task " +
		"statusUpdate status_update artifactUpdate artifact_update sessionId"
	set := make(map[string]bool)
	for name := range strings.FieldsSeq(names) {
		set[name] = true
	}
	return set
}()
