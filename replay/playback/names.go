package playback

import (
	"a2atap/proxy/a2a"
	"a2atap/replay"
)

// names translates the ids that clients make. Several live ones may stand for a recorded one, since a workflow can be
// played more than once; answers name the one that was used last. It is guarded by the Player's lock.
type names struct {
	clientMade map[string]bool   // recorded ids, by role and text
	recorded   map[string]string // by live id
	live       map[string]string // by recorded id
}

// means reports whether a live id can stand for a recorded one.
func (n *names) means(role, live, recorded string) bool {
	if live == recorded {
		return true
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

// learn notes which live ids stand for which recorded ones in a request that matched.
func (n *names) learn(live, recorded *a2a.Call) {
	n.pair("context", live.ContextID, recorded.ContextID)
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
func (n *names) substitute(live *a2a.Call, urls map[string]string) replay.Substitute {
	// The pairs are copied: a stream goes on without the lock.
	pairs := make(map[string]string, len(n.live))
	for k, v := range n.live {
		pairs[k] = v
	}
	return func(role replay.Role, text string) (string, bool) {
		switch role {
		case replay.RequestID:
			return string(live.ID.Raw()), live.ID.Exists()
		case replay.ContextID:
			text, ok := pairs[roleKey("context", text)]
			return text, ok
		case replay.MessageID:
			text, ok := pairs[roleKey("message", text)]
			return text, ok
		case replay.TaskID:
			text, ok := pairs[roleKey("task", text)]
			return text, ok
		case replay.NoRole:
			text, ok := urls[text]
			return text, ok
		}
		return "", false
	}
}
