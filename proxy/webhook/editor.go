package webhook

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"a2atap/proxy/a2a"
	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
	"a2atap/proxy/hostname"
	"a2atap/proxy/internal/card"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/recording"
	"a2atap/proxy/relay"
)

const (
	maxHookBody    = 1 << 20 // maximum held bytes of a request or an answer
	maxDecodedHook = 4 << 20 // bytes of an answer that came compressed

	maxWatched        = 64 << 10  // examined bytes of a request that is not held
	maxDecodedWatched = 256 << 10 // of them, if they are compressed
)

// An exchangeHooks has a link's facts about an exchange with push notification configs, or whose answer may have one of
// the tap's addresses.
type exchangeHooks struct {
	client string      // the client's name; may be empty
	asks   atomic.Bool // the request is about configs

	// Of the request's side.
	head     capture.Head
	start    []byte       // its first line
	method   *grpc.Method // the called gRPC method, if any
	unseen   string       // why the URLs in the request pass unmodified; empty if they need not
	watched  bool         // the beginning of its body is kept until it is known whether it has any
	body     []byte       // the part that has arrived, if so
	overflow bool         // the body was longer
	size     int          // of what has come
	request  *restorer
	room     *budget.Share // for body, and for what is kept of the answer's messages

	// Of the answer's side.
	holds  bool         // it is held for the webhooks
	answer relay.Change // for the record; nil if nothing is to be put back
}

// An Editor is a card.Editor that also leads webhooks through the tap: the relay.Editor of one connection. It must
// learn of the connection's requests: see ObserveRequest. It runs in the two goroutines of the connection.
type Editor struct {
	*card.Editor
	site    *Site
	record  *recording.Conn
	reached string // host:port at which the client has reached the tap

	mu         sync.Mutex
	hooked     map[int]*exchangeHooks // exchanges that are about webhooks, or may be
	deliveries map[int]bool           // exchanges that are notifications on their way to a webhook
	anyHooks   atomic.Bool            // hooked was not always empty
}

var (
	_ relay.RequestEditor = (*Editor)(nil)
	_ relay.ContentEditor = (*Editor)(nil)
)

// ObserveRequest begins the recording of a notification to the tap, and reports whether the request is one. It is
// recorded as sent by the agent to the webhook, as if no tap were between them. Other requests are not recorded here.
func (l *Editor) ObserveRequest(x int, head []byte) bool {
	hooks := l.site.hooks
	if l.site.Leaves() {
		l.watch(x, head)
		return false
	}
	target, ok := relay.RouteTarget(head, hookPrefix)
	if !ok {
		return false
	}
	d, err := hooks.seals.deliver(target)
	if err != nil { // it is refused
		l.record.RequestTo(x, head, capture.Peer{Name: "webhook", URL: "http://" + l.reached}, "")
		return true
	}
	l.mu.Lock()
	if l.deliveries == nil {
		l.deliveries = make(map[int]bool)
	}
	l.deliveries[x] = true
	l.mu.Unlock()
	l.record.Deliver(x, d.head(head), hooks.receiver(&d), d.agent)
	return true
}

// watch keeps the beginning of a request that may configure a webhook and whose URL stays unmodified.
func (l *Editor) watch(x int, head []byte) {
	if !bytes.HasPrefix(head, postMethod) {
		return
	}
	if method := card.MethodOf(head); method != nil {
		l.holdMessage(x, head, method)
	} else if rawhead.IsJSON(capture.MediaType(string(rawhead.Value(head, "Content-Type")))) {
		h := l.hooksFor(x, head)
		h.watched, h.unseen = true, l.site.hooks.Leave
	}
}

// isDelivery reports whether an exchange is a notification on its way to a webhook.
func (l *Editor) isDelivery(x int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.deliveries[x]
}

// hookBase returns the scheme and authority that replace a webhook's. Otherwise it returns why the URL passes
// unmodified, or "" if notifications are seen anyway.
func (s *Site) hookBase(u *url.URL) (base, why string) {
	at := hostname.OriginOf(u)
	switch to := s.hooks.URL; {
	case s.hooks.Tapped(at):
		return "", ""
	case at == s.origin:
		return "", "the webhook is the agent itself"
	case to != nil:
		return to.Scheme + "://" + to.Host, ""
	case !s.mayReplace():
		return "", s.whyNot()
	case u.Scheme != "http":
		return "", "the webhook is not on plain HTTP" + toHaveThem
	case at.Host != hostname.Loopback && !hostname.IsLoopback(at.Host):
		return "", "the webhook is not on this machine" + toHaveThem
	}
	return "http://" + s.address, ""
}

// replace returns the URL that replaces a webhook's, and the client's original URL, which differs if the webhook's is
// already a tap's address. Otherwise it returns why not, or "" if no reason is needed.
func (s *Site) replace(text, client string) (to, was, why string) {
	if h, ok := s.hooks.seals.ours(text); ok {
		text = h.url
	}
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
		return "", text, "the webhook has no http or https URL"
	}
	if _, _, _, err := relay.ParseTarget(text); len(text) > maxHookURL || strings.Contains(text, "\x00") ||
		err != nil && u.User == nil && u.Fragment == "" {
		return "", text, "the URL of the webhook is too long, or cannot be called"
	}
	base, why := s.hookBase(u)
	if base == "" {
		return "", text, why
	}
	if u.User != nil { // the agent makes credentials of it
		base = strings.Replace(base, "://", "://"+u.User.String()+"@", 1)
	}
	return base + hookPrefix + s.hooks.seals.seal(hook{s.name, client, text}), text, ""
}

// Request implements relay.Editor. The answer to a request about configs must be readable.
func (l *Editor) Request(x int, head []byte) []byte {
	head = l.Editor.Request(x, head)
	if !targetMentionsPush(head) || l.isDelivery(x) {
		return head
	}
	l.hooksFor(x, head).asks.Store(true)
	return l.readably(x, head)
}

// readably asks for an answer without content coding.
func (l *Editor) readably(x int, head []byte) []byte {
	if rawhead.Value(head, "Accept-Encoding") == nil {
		return head
	}
	edit := rawhead.NewEdit(head)
	rewrites := rawhead.Rewrite("request", "Accept-Encoding", edit.Set("Accept-Encoding", "identity"), "identity")
	if len(rewrites) == 0 {
		return head
	}
	l.record.Fact(x, capture.Fact{Rewrites: rewrites})
	return edit.Bytes()
}

// HoldRequest implements relay.RequestEditor. Requests that are not about configs pass at once: most bodies arrive
// together with their head, or show it in their first bytes.
func (l *Editor) HoldRequest(x int, head, begun []byte, whole bool) (limit int, patience time.Duration) {
	if !bytes.HasPrefix(head, postMethod) || l.isDelivery(x) {
		return 0, 0
	}
	if method := card.MethodOf(head); method != nil {
		return l.holdMessage(x, head, method)
	}
	if !rawhead.IsJSON(capture.MediaType(string(rawhead.Value(head, "Content-Type")))) {
		return 0, 0
	}
	coded := rawhead.IsCoded(head)
	switch {
	case coded, targetMentionsPush(head):
	case whole && !mentionsPush(begun), !whole && !mayConfigure(rawhead.StartLine(head), begun):
		return 0, 0
	}
	h := l.hooksFor(x, head)
	h.watched = true
	length, err := strconv.Atoi(string(rawhead.Value(head, "Content-Length")))
	switch {
	case !l.site.mayReplace():
		h.unseen = l.site.whyNot()
	case coded:
		h.unseen = "the request that configures the webhook is compressed"
	case rawhead.Value(head, "Expect") != nil:
		h.unseen = "the request that configures the webhook waits for 100 (Expect)"
	case err == nil && length > maxHookBody:
		h.unseen = requestTooLarge
	case rawhead.HasDigest(head):
		h.unseen = "the request that configures the webhook has a digest of its body, which would not match another URL"
	default:
		h.watched = !whole // it may grow too large, or take too long
		return maxHookBody, hookPatience
	}
	return 0, 0
}

// KeepRequest implements relay.RequestEditor.
func (l *Editor) KeepRequest(x int, body []byte) bool {
	h := l.hooks(x)
	if h != nil && h.method != nil {
		return h.keepsMessage(body)
	}
	if h == nil || h.asks.Load() || len(body) > maxOperation || mayConfigure(h.start, body) {
		return h != nil
	}
	h.stopWatching()
	return false
}

// RequestTooSlow implements relay.RequestEditor.
func (l *Editor) RequestTooSlow(x int) {
	if h := l.hooks(x); h != nil && h.unseen == "" {
		h.unseen = "the request that configures the webhook took longer than " + hookPatience.String() + ", or too many were held"
	}
}

var requestTooLarge = fmt.Sprintf("the request that configures the webhook has more than %d bytes", maxHookBody)

// mayReplace reports whether any webhook can be led through the tap.
func (s *Site) mayReplace() bool {
	host := hostname.Normal(s.agent.Hostname())
	return !s.Leaves() && (s.hooks.URL != nil || hostname.IsLoopback(host) || hostname.IsLoopbackSpelling(host))
}

// whyNot returns why no webhook can be led through the tap.
func (s *Site) whyNot() string { return cmp.Or(s.hooks.Leave, agentElsewhere) }

// Why webhooks are not led through a tap.
const (
	toHaveThem     = "; set --webhook-url to a URL at which the agent can reach this tap"
	agentElsewhere = "the agent is not on this machine" + toHaveThem
)

var postMethod = []byte("POST ")

// HeldRequest implements relay.RequestEditor: it replaces the URLs of webhooks, and no other byte of the body.
func (l *Editor) HeldRequest(x int, head, body, trailer []byte) []byte {
	h := l.hooks(x)
	if h != nil && h.method != nil {
		return l.heldMessage(x, h, head, body, trailer)
	}
	if h == nil || !mentionsPush(body) && !targetMentionsPush(head) {
		return nil
	}
	h.asks.Store(true)
	parsed := capture.ParseRequestHead(head)
	replacements := l.replacements(x, h.client, configURLs(&parsed, body))
	edited := l.readably(x, head)
	if len(replacements) == 0 && len(edited) == len(head) {
		return nil
	}
	return rawhead.Frame(rawhead.NewEdit(edited), &parsed, card.Apply(body, replacements), trailer)
}

// replacements returns what takes the place of the URLs of webhooks, and records it.
func (l *Editor) replacements(x int, client string, urls []card.URL) []card.Replacement {
	var replacements []card.Replacement
	var fact capture.Fact
	for _, u := range urls {
		to, was, why := l.site.replace(u.Text, client)
		if why != "" {
			l.unseenWebhook(x, client, why)
		}
		if to == "" {
			continue
		}
		replacements = append(replacements, card.Replacement{URL: u, By: to})
		fact.Rewrites = append(fact.Rewrites, capture.Rewrite{Place: "request.body#" + u.Pointer, Was: was, Now: to})
	}
	if len(replacements) > 0 {
		l.site.replaced.Store(true)
		l.record.Fact(x, fact)
	}
	return replacements
}

// holdMessage is HoldRequest for a gRPC call, where only the complete message shows whether it has a config.
func (l *Editor) holdMessage(x int, head []byte, method *grpc.Method) (limit int, patience time.Duration) {
	operation := a2a.OperationOf(method.Name)
	if !operation.Sends() && operation != a2a.CreatePushConfig {
		return 0, 0
	}
	h := l.hooksFor(x, head)
	h.watched = true
	if !l.site.mayReplace() {
		h.unseen = l.site.whyNot()
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
	if h.unseen == "" {
		h.stopWatching()
	}
	return false
}

// maxMentions is how deep a gRPC request is searched for configs before it is decoded: they are in its configuration.
const maxMentions = 2

// stopWatching forgets the beginning of the request's body.
func (h *exchangeHooks) stopWatching() {
	h.room.Give(cap(h.body))
	h.watched, h.body = false, nil
}

// message returns the message of a gRPC request, and the URLs of its configs. If the message is too expensive to
// decode, it returns that as the reason why its webhooks are not observed.
func (h *exchangeHooks) message(body []byte) (message []byte, urls []card.URL) {
	if _, rest, ok := grpc.Cut(body); !ok || len(rest) > 0 {
		return nil, nil
	}
	as := grpc.Codec{Type: h.method.Request, Encoding: h.head.Fields.Get("Grpc-Encoding")}
	operation := a2a.OperationOf(h.method.Name)
	message, read := as.ReadHeld(body, func(message []byte) bool {
		return operation == a2a.CreatePushConfig || as.Type.Mentions(message, maxMentions, func(name string) (found, within bool) {
			return mentionsPush([]byte(name)), name == "configuration"
		})
	})
	switch {
	case read == nil:
		return nil, nil
	case read.Err == nil:
		return message, callConfigURLs(nil, &a2a.Call{Operation: operation, Params: read.Doc.Root})
	case read.Limit():
		h.overflow = true
		h.unseen = cmp.Or(h.unseen, "the message that may configure the webhook could not be read: "+read.Err.Error())
	}
	return nil, nil
}

// heldMessage is HeldRequest for a call of gRPC: only the URLs in its message change, and their lengths.
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

// unseenWebhook notes that the notifications of a webhook bypass the tap.
func (l *Editor) unseenWebhook(x int, client, why string) {
	l.record.Fact(x, capture.Fact{Note: capture.WebhooksNotObserved + why})
	if client == "" {
		client = "client"
	}
	l.site.hooks.Notice(fmt.Sprintf("%s → %s: %s%s", client, l.site.name, capture.WebhooksNotObserved, why))
}
