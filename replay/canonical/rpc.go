package canonical

import (
	"bytes"

	"a2atap/proxy/jsondoc"
)

// IDs translate the ids and the progress tokens of recorded JSON-RPC requests to those of live ones.
type IDs struct{ ids, tokens map[string][]byte }

// NewIDs pairs the requests in a recorded body with those in a live one, in order.
func NewIDs(recorded, live []byte) *IDs {
	t := &IDs{ids: map[string][]byte{}, tokens: map[string][]byte{}}
	was, now := messages(jsondoc.Parse(recorded).Root), messages(jsondoc.Parse(live).Root)
	for i := range min(len(was), len(now)) {
		pair(t.ids, was[i].Get("id"), now[i].Get("id"))
		pair(t.tokens, progressToken(was[i]), progressToken(now[i]))
	}
	return t
}

func progressToken(m jsondoc.Value) jsondoc.Value {
	return m.Get("params").Get("_meta").Get("progressToken")
}

func pair(to map[string][]byte, was, now jsondoc.Value) {
	if was.Exists() && now.Exists() {
		to[string(was.Raw())] = now.Raw()
	}
}

// Rewrite returns a message or a batch of the server with the live ids. All other bytes stay unchanged; a text that is
// not JSON is returned as it is.
func (t *IDs) Rewrite(text []byte) []byte {
	doc := jsondoc.Parse(text)
	if doc.Err != nil {
		return text
	}
	var out []byte
	done := 0
	put := func(at jsondoc.Value, now []byte) {
		out = append(append(out, text[done:at.Offset()]...), now...)
		done = at.Offset() + len(at.Raw())
	}
	for _, m := range messages(doc.Root) {
		id, token := m.Get("id"), m.Get("params").Get("progressToken")
		switch {
		case m.Has("method"):
			if now, ok := t.tokens[string(token.Raw())]; ok && token.Exists() {
				put(token, now)
			}
		case id.Exists():
			if now, ok := t.ids[string(id.Raw())]; ok && !bytes.Equal(now, id.Raw()) {
				put(id, now)
			}
		}
	}
	if done == 0 {
		return text
	}
	return append(out, text[done:]...)
}
