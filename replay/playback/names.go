package playback

import (
	"slices"
	"sync"

	"a2atap/proxy/a2a"
	"a2atap/replay/compare"
)

// names translates ids that clients create. Several live ids may correspond to one recorded id, since a workflow can be
// played more than once; an answer uses the latest one from before the answer began. The Player's lock guards it.
type names struct {
	ids      map[string]maker  // makers of the recorded ids, by role and text
	free     bool              // a context may be named where the recording has none, and the reverse
	recorded map[string]string // by live id

	mu       sync.RWMutex       // guards the fields below: answers continue without the Player's lock
	revision int                // counts the answers that began
	live     map[string][]named // by recorded id, in the order in which they came
	configs  map[string][]named // of push configs: the live client's values, by their recorded counterparts
}

// A maker is the side that used an id first; 0 means unknown.
type maker uint8

const (
	clientMade maker = 1 + iota
	agentMade
)

// A named is a live text that corresponds to a recorded one since a revision.
type named struct {
	since int
	text  string
}

func newNames(ids map[string]maker, free bool) names {
	return names{
		ids: ids, free: free,
		recorded: map[string]string{}, live: map[string][]named{}, configs: map[string][]named{},
	}
}

// made returns the side that first named a recorded id.
func (n *names) made(role, id string) maker { return n.ids[roleKey(role, id)] }

// means reports whether a live id can correspond to a recorded one.
func (n *names) means(role, live, recorded string) bool {
	if live == recorded {
		return true
	}
	if role == "context" && n.free && (live == "" || recorded == "") {
		_, named := n.recorded[roleKey(role, live)]
		return live == "" && n.made(role, recorded) == clientMade || recorded == "" && !named && n.made(role, live) == 0
	}
	if live == "" || recorded == "" || n.made(role, recorded) != clientMade {
		return false
	}
	is, known := n.recorded[roleKey(role, live)]
	return !known && replaceable(role) || is == recorded
}

// replaceable reports whether clients choose ids of that role freely. A task id that only the client has used is
// unknown to the agent, and a request with another unknown id is a different request.
func replaceable(role string) bool { return role == "context" }

// mayName reports whether a new live task id can correspond to a recorded one that the client created: in 0.1 clients
// choose the ids of tasks (0.1 §6.1), and all ids that the agent did not know are equivalent.
func (n *names) mayName(live, recorded string) bool {
	_, named := n.recorded[roleKey("task", live)]
	return live != "" && !named && n.made("task", live) == 0 && n.made("task", recorded) == clientMade
}

// begins reports whether a call has a new task id, so that it can only be the first call about a task.
func (n *names) begins(call *a2a.Call) bool {
	_, named := n.recorded[roleKey("task", call.TaskID)]
	return call.TaskID != "" && !named && n.made("task", call.TaskID) == 0
}

// learn notes which live ids correspond to which recorded ones in a matched request.
func (n *names) learn(live *a2a.Call, a *exchange) {
	was, is := a.form.ctx, contextOf(live)
	n.pair("context", is, was)
	if n.free && is != "" && was == "" && a.ctx != "" {
		n.recorded[roleKey("context", is)] = a.ctx
		n.name(n.live, roleKey("context", a.ctx), is)
	}
	n.pair("message", live.MessageID, a.message)
	if a.dialects == a2a.Of(a2a.V0_1) {
		n.pair("task", live.TaskID, a.form.task) // 0.1 §6.1: the client makes it
	}
}

// given notes the values of a live push config that differ from the recorded one: its URL and its secrets, for which
// the recording may have placeholders.
func (n *names) given(recorded *pushed, live a2a.PushConfig) {
	for was, now := range map[string]string{
		recorded.url: live.URL(), recorded.token: live.Token(), recorded.credentials: live.Credentials(),
	} {
		if was != "" && now != "" {
			n.name(n.configs, was, now)
		}
	}
}

func (n *names) pair(role, live, recorded string) {
	if live == "" || recorded == "" || role != "message" && n.made(role, recorded) != clientMade {
		return
	}
	if role != "message" {
		n.recorded[roleKey(role, live)] = recorded
	}
	n.name(n.live, roleKey(role, recorded), live)
}

// name makes a text correspond to a recorded one from now on.
func (n *names) name(in map[string][]named, recorded, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if list := in[recorded]; len(list) == 0 || list[len(list)-1].text != text {
		in[recorded] = append(list, named{n.revision, text})
	}
}

// A naming is the state of names when an answer began. It may be used without the Player's lock.
type naming struct {
	*names
	revision int
}

// now returns the naming for an answer that begins.
func (n *names) now() naming {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.revision++
	return naming{n, n.revision - 1}
}

// of returns the live text for a recorded one.
func (n naming) of(in map[string][]named, recorded string) (string, bool) {
	n.mu.RLock()
	defer n.mu.RUnlock()
	for _, one := range slices.Backward(in[recorded]) {
		if one.since <= n.revision {
			return one.text, true
		}
	}
	return "", false
}

// substitute returns a function that replaces the ids of a recorded answer with live ones. The map of URLs redirects
// those of cards to the player. An answer without its request's id does not get the live request's id.
func (n naming) substitute(live, recorded *a2a.Call, urls map[string]string) compare.Substitute {
	return func(role compare.Role, text string) (string, bool) {
		switch role {
		case compare.RequestID:
			return string(live.ID.Raw()), live.ID.Exists() && text == string(recorded.ID.Raw())
		case compare.ContextID:
			return n.of(n.live, roleKey("context", text))
		case compare.MessageID:
			return n.of(n.live, roleKey("message", text))
		case compare.TaskID:
			return n.of(n.live, roleKey("task", text))
		case compare.NoRole:
			if url, ok := urls[text]; ok {
				return url, true
			}
			return n.of(n.configs, text)
		}
		return "", false
	}
}
