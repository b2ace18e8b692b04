package webhook

import (
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// holdMessage is HoldRequest for a call of gRPC, of which only the whole message tells whether it carries a config.
func (l *Editor) holdMessage(x int, head []byte, method *grpc.Method) (limit int, patience time.Duration) {
	operation := a2a.OperationOf(method.Name)
	if !operation.Sends() && operation != a2a.CreatePushConfig {
		return 0, 0
	}
	h := l.hooksFor(x, head)
	h.watched = true
	if !l.site.mayReplace() {
		h.unseen = agentElsewhere
		return 0, 0
	}
	return maxHookBody, hookPatience
}

// keepsMessage is KeepRequest for a call of gRPC.
func (h *exchangeHooks) keepsMessage(body []byte) bool {
	if frame, _, ok := grpc.Cut(body); !ok || !frame.Whole() {
		return !ok || frame.Length <= maxHookBody
	}
	if _, urls := h.message(body); len(urls) > 0 {
		return true
	}
	h.watched, h.body = false, nil
	return false
}

// message returns the message of a request of gRPC, and the URLs of the configs that it carries.
func (h *exchangeHooks) message(body []byte) (message []byte, urls []card.URL) {
	frame, rest, ok := grpc.Cut(body)
	if !ok || len(rest) > 0 {
		return nil, nil
	}
	message, err := frame.Plain(h.head.Fields.Get("Grpc-Encoding"))
	if err != nil {
		return nil, nil
	}
	text, _, err := h.method.Request.ToJSON(message)
	if err != nil {
		return nil, nil
	}
	doc := a2a.Parse(text)
	return message, callConfigURLs(nil, &a2a.Call{Operation: a2a.OperationOf(h.method.Name), Params: doc.Root})
}

// heldMessage is HeldRequest for a call of gRPC: of the message only the URLs change, and what says how long they are.
func (l *Editor) heldMessage(x int, h *exchangeHooks, head, body, trailer []byte) []byte {
	message, urls := h.message(body)
	by := make(map[string]card.Replacement)
	for _, r := range l.replacements(x, h.client, urls) {
		by[r.Pointer] = r
	}
	if len(by) == 0 {
		return nil
	}
	message = h.method.Request.Replace(message, func(pointer, text string) (string, bool) {
		r, ok := by[pointer]
		return r.By, ok && r.Text == text
	})
	parsed := capture.ParseRequestHead(head)
	return rawhead.Frame(rawhead.NewEdit(head), &parsed, grpc.AppendFrame(nil, message), trailer)
}

// A frameRestorer puts the URLs of webhooks back in the place of ours, in messages of gRPC that come piece by piece. Each
// goes on when it is whole: before that nobody can read it.
type frameRestorer struct {
	seals    *sealer
	of       *grpc.Type
	encoding string                    // grpc-encoding
	found    func(ours string, h hook) // called for each address; may be nil
	kept     []byte                    // the message at hand
	passes   bool                      // one is too large: the rest passes as it came
}

var _ relay.Change = (*frameRestorer)(nil)

// Next implements relay.Change.
func (r *frameRestorer) Next(p []byte, last bool) []byte {
	if r.passes {
		return p
	}
	text := append(r.kept, p...)
	r.kept = nil
	var out []byte
	for {
		frame, rest, ok := grpc.Cut(text)
		if r.passes = ok && frame.Length > maxHookBody; r.passes || last && (!ok || !frame.Whole()) {
			return append(out, text...)
		}
		if !ok || !frame.Whole() {
			r.kept = text
			return out
		}
		out = append(out, r.restored(&frame, text[:len(text)-len(rest)])...)
		text = rest
	}
}

// restored returns a frame with the URLs in its message put back: as it came, if there are none.
func (r *frameRestorer) restored(frame *grpc.Frame, raw []byte) []byte {
	message, err := frame.Plain(r.encoding)
	if err != nil || !isAddress(message) {
		return raw
	}
	return grpc.AppendFrame(nil, r.of.Replace(message, func(_, text string) (string, bool) {
		h, ok := r.seals.ours(text)
		if ok && r.found != nil {
			r.found(text, h)
		}
		return h.url, ok
	}))
}

// restorerOf returns what puts the URLs of webhooks back in an answer with a head.
func (l *Editor) restorerOf(h *exchangeHooks, head []byte, found func(ours string, h hook)) relay.Change {
	if h.method == nil {
		return &restorer{seals: l.site.hooks.seals, found: found}
	}
	return &frameRestorer{
		seals: l.site.hooks.seals, of: h.method.Answer, encoding: string(rawhead.Value(head, "Grpc-Encoding")), found: found,
	}
}
