package webhook

import (
	"a2atap/proxy/budget"
	"a2atap/proxy/grpc"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// A frameRestorer restores the URLs of webhooks in gRPC messages that arrive in pieces. It passes on each message when
// it is complete, since incomplete messages cannot be read.
type frameRestorer struct {
	seals    *sealer
	of       *grpc.Type
	encoding string                    // grpc-encoding
	found    func(ours string, h hook) // called for each address; may be nil
	kept     []byte                    // the message at hand
	passes   bool                      // one is too large: the rest passes unmodified
	room     *budget.Share             // for what is kept
}

var _ relay.Change = (*frameRestorer)(nil)

// Next implements relay.Change.
func (r *frameRestorer) Next(p []byte, last bool) []byte {
	if r.passes {
		return p
	}
	r.room.Give(len(r.kept))
	text := append(r.kept, p...)
	r.kept = nil
	var out []byte
	for {
		frame, rest, ok := grpc.Cut(text)
		if r.passes = ok && frame.Length > maxHookBody; r.passes || last && (!ok || !frame.Whole()) {
			return append(out, text...)
		}
		if !ok || !frame.Whole() {
			if r.passes = !r.room.Take(len(text)); r.passes {
				return append(out, text...)
			}
			r.kept = text
			return out
		}
		out = append(out, r.restored(&frame, text[:len(text)-len(rest)])...)
		text = rest
	}
}

// restored returns a frame with restored URLs in its message, or raw if the message has none to restore.
func (r *frameRestorer) restored(frame *grpc.Frame, raw []byte) []byte {
	message, err := frame.PlainHeld(r.encoding)
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
		seals: l.site.hooks.seals, of: h.method.Answer, found: found, room: h.room,
		encoding: string(rawhead.Value(head, "Grpc-Encoding")),
	}
}
