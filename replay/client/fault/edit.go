package fault

import (
	"encoding/json"
	"net/url"
	"slices"

	"a2atap/proxy/a2a"
	"a2atap/proxy/jsondoc"
	"a2atap/replay/client"
)

// onEach makes a fault edit every request of the operations. Without operations, it edits all but the card's fetch.
func onEach(edit func(*client.Outgoing), ops ...a2a.Operation) func() func(*client.Outgoing) {
	return func() func(*client.Outgoing) {
		return func(out *client.Outgoing) {
			if out.Operation != a2a.GetCard && len(ops) == 0 || slices.Contains(ops, out.Operation) {
				edit(out)
			}
		}
	}
}

// onBody makes a fault edit the body of every request of the operations that has a JSON object as body: over JSON-RPC
// the envelope.
func onBody(edit func(body map[string]any), ops ...a2a.Operation) func() func(*client.Outgoing) {
	return onEach(func(out *client.Outgoing) { editBody(out, edit) }, ops...)
}

// onParams makes a fault edit the parameters of the operations: the member params over JSON-RPC, else the body.
func onParams(edit func(params map[string]any), ops ...a2a.Operation) func() func(*client.Outgoing) {
	return onBody(func(body map[string]any) {
		if body["jsonrpc"] == nil {
			edit(body)
		} else if params, ok := body["params"].(map[string]any); ok {
			edit(params)
		}
	}, ops...)
}

// onMessage makes a fault edit every message that is sent.
func onMessage(edit func(message map[string]any)) func() func(*client.Outgoing) {
	return onParams(func(params map[string]any) {
		if m, ok := params["message"].(map[string]any); ok {
			edit(m)
		}
	}, a2a.SendMessage, a2a.SendStreamingMessage)
}

// onQuery makes a fault edit the query of the operations.
func onQuery(edit func(q url.Values), ops ...a2a.Operation) func() func(*client.Outgoing) {
	return onEach(func(out *client.Outgoing) {
		u, err := url.Parse(out.URL)
		if err != nil {
			return
		}
		q := u.Query()
		edit(q)
		u.RawQuery = q.Encode()
		out.URL = u.String()
	}, ops...)
}

// editBody edits the JSON object in the body; it leaves any other body unchanged.
func editBody(o *client.Outgoing, edit func(body map[string]any)) {
	var body map[string]any
	if jsondoc.Unmarshal(o.Body, &body) != nil || body == nil {
		return
	}
	edit(body)
	if text, err := json.Marshal(body); err == nil {
		o.Body = text
	}
}
