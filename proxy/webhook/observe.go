package webhook

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"time"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// hooksFor returns the facts about an exchange, and creates them if necessary. head is its request's head, or nil.
func (l *Editor) hooksFor(x int, head []byte) *exchangeHooks {
	l.mu.Lock()
	defer l.mu.Unlock()
	h := l.hooked[x]
	if h == nil {
		h = &exchangeHooks{
			start: bytes.Clone(rawhead.StartLine(head)), head: capture.ParseRequestHead(head), room: budget.HeldRoom.Share(),
		}
		h.client = l.record.NameNow(head)
		if h.method = card.MethodOf(head); h.method == nil {
			h.request = &restorer{seals: l.site.hooks.seals, found: l.noted(x, "request.body")}
		}
		if l.hooked == nil {
			l.hooked = make(map[int]*exchangeHooks)
		}
		l.hooked[x] = h
		l.anyHooks.Store(true)
	}
	return h
}

// hooks returns the facts about an exchange, nil if it is not about webhooks.
func (l *Editor) hooks(x int) *exchangeHooks {
	if !l.anyHooks.Load() {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.hooked[x]
}

// noted returns what notes, in the record of an exchange, where URLs of webhooks were put back in it.
func (l *Editor) noted(x int, place string) func(ours string, h hook) {
	known := make(map[string]bool)
	return func(ours string, h hook) {
		if !known[ours] && len(known) < maxNotedAddresses {
			known[ours] = true
			l.record.Fact(x, capture.Fact{Rewrites: []capture.Rewrite{{Place: place, Was: ours, Now: h.url}}})
		}
	}
}

// maxNotedAddresses bounds how many addresses that were put back are noted of one message.
const maxNotedAddresses = 64

// ObserveRequestBody observes a piece of a request's body, and returns the piece to record.
func (l *Editor) ObserveRequestBody(x int, p []byte) []byte {
	h := l.hooks(x)
	if h == nil {
		return p
	}
	if h.watched && !h.overflow {
		room := maxWatched - len(h.body)
		if h.method != nil { // unknown before its end
			room = maxHookBody - len(h.body)
		}
		n := min(len(p), room)
		var ok bool
		if h.body, ok = h.room.Append(h.body, p[:n]); !ok {
			n = 0
			h.unseen = cmp.Or(h.unseen, "too much was held at once to examine the request that configures the webhook")
		}
		h.overflow = len(p) > n
	}
	if h.size += len(p); h.size > maxHookBody && h.unseen == "" {
		h.unseen = requestTooLarge
	}
	if h.request == nil {
		return p
	}
	return h.request.Next(p, false)
}

// ObserveRequestEnd ends a request's body. If the body was not held, it records that its webhooks are not observed. It
// returns the remaining part to record.
func (l *Editor) ObserveRequestEnd(x int) []byte {
	h := l.hooks(x)
	if h == nil {
		return nil
	}
	if h.unseen != "" {
		l.passedUnseen(x, h)
	}
	h.stopWatching()
	if h.request == nil {
		return nil
	}
	return h.request.Next(nil, true)
}

// passedUnseen records for an unmodified request that its webhooks, if any, are not observed.
func (l *Editor) passedUnseen(x int, h *exchangeHooks) {
	if h.method != nil {
		var urls []card.URL
		if !h.overflow {
			_, urls = h.message(h.body)
		}
		if h.overflow || l.passesUnseen(urls) {
			l.unseenWebhook(x, h.client, h.unseen)
		}
		return
	}
	body, err := h.body, error(nil)
	if codings := h.head.Fields.Codings(); len(codings) > 0 {
		decoding := &l.site.hooks.decoding
		decoding.Lock() // a decoder may take megabytes
		body, err = capture.Decode(body, codings, maxDecodedWatched)
		decoding.Unlock()
	}
	switch about := mentionsPush(body) || mentionsPush([]byte(h.head.Target)); {
	case !about:
	case h.overflow || err != nil: // its end is not known
		l.unseenWebhook(x, h.client, h.unseen)
	case l.passesUnseen(configURLs(&h.head, body)):
		l.unseenWebhook(x, h.client, h.unseen)
	}
}

// passesUnseen reports whether the notifications of a webhook among urls go past all taps.
func (l *Editor) passesUnseen(urls []card.URL) bool {
	return slices.ContainsFunc(urls, func(to card.URL) bool {
		u, err := url.Parse(to.Text)
		return err != nil || !l.site.hooks.Tapped(hostname.OriginOf(u))
	})
}

// mayName reports whether an answer should be searched for the tap's addresses while it passes. If the request asks for
// configs, the answer's type matters little: some agents, including official SDKs of 0.3, send JSON as plain text or
// without a type.
func mayName(h *capture.Head, asked bool) bool {
	media := h.Fields.MediaType()
	return h.Status != 204 && h.Status != 304 &&
		(rawhead.IsJSON(media) || media == "text/event-stream" || asked && (media == "text/plain" || media == "" || capture.IsGRPC(media)))
}

// ObserveAnswer notes the head of an answer that may have the tap's addresses.
func (l *Editor) ObserveAnswer(x int, head []byte) {
	if h := l.answerHooks(x, head); h != nil && !rawhead.IsCoded(head) {
		h.answer = l.restorerOf(h, head, l.noted(x, "response.body"))
	}
}

// ObserveAnswerBody observes a piece of an answer's body, and returns the piece to record; nil with last is the end.
func (l *Editor) ObserveAnswerBody(x int, p []byte, last bool) []byte {
	h := l.hooks(x)
	if h == nil || h.answer == nil {
		return p
	}
	return h.answer.Next(p, last)
}

// Hold implements relay.Editor. An answer that declares its length must have arrived completely before its head can be
// sent.
func (l *Editor) Hold(x int, head []byte) int {
	if limit := l.Editor.Hold(x, head); limit > 0 {
		return limit
	}
	h := l.answerHooks(x, head)
	if h == nil {
		return 0
	}
	if !rawhead.IsCoded(head) && (rawhead.Value(head, "Content-Length") == nil || rawhead.Value(head, "Transfer-Encoding") != nil) {
		return 0 // see Change
	}
	if rawhead.IsCoded(head) && !h.asks.Load() {
		return 0
	}
	h.holds = true
	return maxHookBody
}

// answerHooks returns the facts about an exchange whose answer may have the tap's addresses, otherwise nil.
func (l *Editor) answerHooks(x int, head []byte) *exchangeHooks {
	if l.isDelivery(x) {
		return nil
	}
	h := l.hooks(x)
	asked := h != nil && h.asks.Load()
	if !asked && !l.site.replaced.Load() {
		return nil
	}
	parsed := capture.ParseResponseHead(head)
	if !mayName(&parsed, asked) {
		return nil
	}
	return l.hooksFor(x, nil)
}

// Change implements relay.ContentEditor.
func (l *Editor) Change(x int, head []byte) relay.Change {
	h := l.answerHooks(x, head)
	if h == nil || rawhead.IsCoded(head) {
		return nil
	}
	return l.restorerOf(h, head, nil)
}

// Answer implements relay.Editor.
func (l *Editor) Answer(x int, head, body, trailer []byte) []byte {
	h := l.hooks(x)
	if h == nil || !h.holds {
		return l.Editor.Answer(x, head, body, trailer)
	}
	parsed := capture.ParseResponseHead(head)
	if h.method != nil {
		return rawhead.Frame(rawhead.NewEdit(head), &parsed, l.restorerOf(h, head, nil).Next(body, true), trailer)
	}
	text, err := capture.Decode(body, parsed.Fields.Codings(), maxDecodedHook)
	if err != nil {
		return nil
	}
	text, changed := l.site.hooks.seals.restored(text)
	if !changed {
		return nil
	}
	edit := rawhead.NewEdit(head)
	edit.Drop("Content-Encoding")
	rawhead.DropDigests(edit)
	return rawhead.Frame(edit, &parsed, text, rawhead.WithoutDigests(trailer))
}

// hookPatience is how long to hold an answer with a length to a request other than for configs: it rarely has webhooks,
// and its client may wait for its beginning. It is also how long to hold a request whose body comes in pieces: the
// agent may want to refuse it before it is complete.
const hookPatience = 500 * time.Millisecond

// Patience implements relay.DoubtfulEditor.
func (l *Editor) Patience(x int) time.Duration {
	if h := l.hooks(x); h != nil && h.holds && !h.asks.Load() {
		return hookPatience
	}
	return l.Editor.Patience(x)
}

// TooSlow implements relay.DoubtfulEditor.
func (l *Editor) TooSlow(x int, body []byte) {
	if h := l.hooks(x); h == nil || !h.holds {
		l.Editor.TooSlow(x, body)
		return
	}
	l.record.Fact(x, capture.Fact{Note: "the answer took longer than " + hookPatience.String() +
		" and was forwarded unchanged: it may contain addresses of this tap instead of webhooks"})
}

// TooLarge implements relay.Editor.
func (l *Editor) TooLarge(x int) {
	if h := l.hooks(x); h == nil || !h.holds {
		l.Editor.TooLarge(x)
		return
	}
	l.record.Fact(x, capture.Fact{Note: fmt.Sprintf(
		"the answer has more than %d bytes, or too much was held at once, and was forwarded unchanged: it may contain "+
			"addresses of this tap instead of webhooks",
		maxHookBody)})
}

// ObserveEnded is called at the end of an exchange.
func (l *Editor) ObserveEnded(x int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if h := l.hooked[x]; h != nil {
		h.room.Close()
	}
	delete(l.hooked, x)
	delete(l.deliveries, x)
}
