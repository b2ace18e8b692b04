package playback

import (
	"maps"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// names translates the ids that clients make. Several live ones may stand for a recorded one, since a workflow can be
// played more than once; answers name the one that was used last. It is guarded by the Player's lock.
type names struct {
	clientMade map[string]bool   // recorded ids, by role and text
	known      map[string]bool   // all recorded ids, likewise
	free       bool              // a context may be named where none was recorded, and the other way round
	recorded   map[string]string // by live id
	live       map[string]string // by recorded id
	configs    map[string]string // of push configs: what the live client gives, by what is recorded in its place
}

// means reports whether a live id can stand for a recorded one.
func (n *names) means(role, live, recorded string) bool {
	if live == recorded {
		return true
	}
	if role == "context" && n.free && (live == "" || recorded == "") {
		_, named := n.recorded[roleKey(role, live)]
		return live == "" && n.clientMade[roleKey(role, recorded)] ||
			recorded == "" && !named && !n.known[roleKey(role, live)]
	}
	if live == "" || recorded == "" || !n.clientMade[roleKey(role, recorded)] {
		return false
	}
	is, known := n.recorded[roleKey(role, live)]
	return !known && replaceable(role) || is == recorded
}

// replaceable reports whether a client chooses ids of that role freely. A task that the client names and nobody made is
// unknown to the agent, and another unknown one is not the same request.
func replaceable(role string) bool { return role == "context" }

// mayName reports whether a live task id that nobody has named before can stand for a recorded one that the client
// made: in 0.1 clients name the tasks that they send (0.1 §6.1), and one that the agent did not know is as unknown as
// another.
func (n *names) mayName(live, recorded string) bool {
	_, named := n.recorded[roleKey("task", live)]
	return live != "" && !named && !n.known[roleKey("task", live)] && n.clientMade[roleKey("task", recorded)]
}

// begins reports whether a call names a task that nobody has named before: it can only be the first about a task.
func (n *names) begins(call *a2a.Call) bool {
	_, named := n.recorded[roleKey("task", call.TaskID)]
	return call.TaskID != "" && !named && !n.known[roleKey("task", call.TaskID)]
}

// learn notes which live ids stand for which recorded ones in a request that matched.
func (n *names) learn(live *a2a.Call, a *exchange) {
	recorded := &a.call
	was, is := contextOf(recorded), contextOf(live)
	n.pair("context", is, was)
	if n.free && is != "" && was == "" && a.ctx != "" {
		n.recorded[roleKey("context", is)] = a.ctx
		n.live[roleKey("context", a.ctx)] = is
	}
	n.pair("message", live.MessageID, recorded.MessageID)
	if recorded.Dialects == a2a.Of(a2a.V0_1) {
		n.pair("task", live.TaskID, recorded.TaskID) // 0.1 §6.1: the client makes it
	}
}

// given notes what a live push config has where the recorded one has something else: its URL, and secrets, in whose
// place the recording may have placeholders.
func (n *names) given(recorded, live a2a.PushConfig) {
	for was, now := range map[string]string{
		recorded.URL(): live.URL(), recorded.Token(): live.Token(), recorded.Credentials(): live.Credentials(),
	} {
		if was != "" && now != "" {
			n.configs[was] = now
		}
	}
}

func (n *names) pair(role, live, recorded string) {
	if live == "" || recorded == "" || role != "message" && !n.clientMade[roleKey(role, recorded)] {
		return
	}
	n.recorded[roleKey(role, live)] = recorded
	n.live[roleKey(role, recorded)] = live
}

// substitute returns what puts live ids into a recorded answer. The map of URLs moves those of cards to the player. An
// answer that did not have the id of its request does not get that of the live one.
func (n *names) substitute(live, recorded *a2a.Call, urls map[string]string) compare.Substitute {
	// What is known is copied: a stream goes on without the lock.
	pairs, texts := maps.Clone(n.live), maps.Clone(n.configs)
	maps.Copy(texts, urls)
	return func(role compare.Role, text string) (string, bool) {
		switch role {
		case compare.RequestID:
			return string(live.ID.Raw()), live.ID.Exists() && text == string(recorded.ID.Raw())
		case compare.ContextID:
			text, ok := pairs[roleKey("context", text)]
			return text, ok
		case compare.MessageID:
			text, ok := pairs[roleKey("message", text)]
			return text, ok
		case compare.TaskID:
			text, ok := pairs[roleKey("task", text)]
			return text, ok
		case compare.NoRole:
			text, ok := texts[text]
			return text, ok
		}
		return "", false
	}
}
