package playback

import (
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

// mayName reports whether a live task id that nobody has named before can stand for a recorded one that the client made:
// in 0.1 clients name the tasks that they send (0.1 §6.1).
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
	n.pair("context", live.ContextID, recorded.ContextID)
	if n.free && live.ContextID != "" && recorded.ContextID == "" && a.ctx != "" {
		n.recorded[roleKey("context", live.ContextID)] = a.ctx
		n.live[roleKey("context", a.ctx)] = live.ContextID
	}
	n.pair("message", live.MessageID, recorded.MessageID)
	if recorded.Dialects == a2a.Of(a2a.V0_1) {
		n.pair("task", live.TaskID, recorded.TaskID) // 0.1 §6.1: the client makes it
	}
}

func (n *names) pair(role, live, recorded string) {
	if live == "" || recorded == "" || role != "message" && !n.clientMade[roleKey(role, recorded)] {
		return
	}
	n.recorded[roleKey(role, live)] = recorded
	n.live[roleKey(role, recorded)] = live
}

// substitute returns what puts live ids into a recorded answer. The map of URLs moves those of cards to the player.
func (n *names) substitute(live *a2a.Call, urls map[string]string) compare.Substitute {
	// The pairs are copied: a stream goes on without the lock.
	pairs := make(map[string]string, len(n.live))
	for k, v := range n.live {
		pairs[k] = v
	}
	return func(role compare.Role, text string) (string, bool) {
		switch role {
		case compare.RequestID:
			return string(live.ID.Raw()), live.ID.Exists()
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
			text, ok := urls[text]
			return text, ok
		}
		return "", false
	}
}
