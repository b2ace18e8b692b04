package replay

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"

	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
)

// notes collects remarks in order. It keeps the first of each kind and a count, since a load of a hundred thousand
// calls may cause the same remark a hundred thousand times. It is safe for concurrent use.
type notes struct {
	mu   sync.Mutex
	list []remark
	at   map[string]int // where the remark of a kind is in the list
}

// A remark is the first of its kind.
type remark struct {
	text string
	more int // others of its kind
}

// add adds a remark of a kind. A remark with the same text as the first of its kind counts as a repetition of it.
func (n *notes) add(kind, text string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if i, known := n.at[kind]; known {
		if n.list[i].text != text {
			n.list[i].more++
		}
		return
	}
	if n.at == nil {
		n.at = make(map[string]int)
	}
	n.at[kind] = len(n.list)
	n.list = append(n.list, remark{text: text})
}

// once adds a remark unless it was added before.
func (n *notes) once(text string) { n.add(text, text) }

// texts returns the remarks as text.
func (n *notes) texts() []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var list []string
	for _, r := range n.list {
		if r.more > 0 {
			r.text += fmt.Sprintf(" (and %d more of this kind)", r.more)
		}
		list = append(list, r.text)
	}
	return list
}

// maxTaps bounds the number of a recording's taps that are remembered.
const maxTaps = 100

// taps are the taps of a recording: the agent behind each, by the host:port that clients used.
type taps map[string]string

// note records the tap that received a recorded request. Clients of a forward proxy name the agent itself.
func (t taps) note(agent string, x *capture.Exchange, head *capture.Head) {
	asked := head.Fields.Get("Host")
	at, err := url.Parse(x.Agent.URL)
	named, hostErr := url.Parse("http://" + asked)
	if err != nil || hostErr != nil || at.Host == "" || named.Port() == "" || len(t) >= maxTaps ||
		hostname.OriginOf(at) == hostname.OriginOf(named) {
		return
	}
	t[asked] = agent
}

// closed returns the tap that refused a connection according to a text: an error, or an answer that quotes one.
func (t taps) closed(text string) (address string, found bool) {
	failed := strings.ToLower(text)
	if !slices.ContainsFunc([]string{"refused", "connect call failed", "cannot connect", "failed to connect"},
		func(words string) bool { return strings.Contains(failed, words) }) {
		return "", false
	}
	for _, address := range slices.Sorted(maps.Keys(t)) {
		host, port, _ := net.SplitHostPort(address)
		if hasAddress(text, address) || strings.Contains(text, "'"+host+"', "+port+")") {
			return address, true
		}
	}
	return "", false
}

// hasAddress reports whether a text contains host:port, and not another port that begins with the same digits.
func hasAddress(text, address string) bool {
	for {
		_, after, found := strings.Cut(text, address)
		if !found {
			return false
		}
		if after == "" || after[0] < '0' || after[0] > '9' {
			return true
		}
		text = after
	}
}

// remarkOn remarks that an exchange with an agent failed at one of the taps, which are closed while it is replayed.
func (t taps) remarkOn(n *notes, agent string, x *capture.Exchange) {
	const most = 64 << 10
	var texts []string
	if x.Fault != nil {
		texts = append(texts, x.Fault.Detail)
	}
	if x.Response != nil {
		texts = append(texts, string(x.Response.Body.Data[:min(len(x.Response.Body.Data), most)]))
		for i := range x.Response.Events {
			data := x.Response.Events[i].Fields().Data
			texts = append(texts, string(data[:min(len(data), most)]))
		}
	}
	for _, text := range texts {
		if address, found := t.closed(text); found {
			n.add("tap "+address, fmt.Sprintf("%s was the tap of %s in this recording, and nothing listens there now: "+
				"agent %s could not connect to it; configure it with the address of %s, or replay while a tap listens at that port",
				address, t[address], agent, t[address]))
			return
		}
	}
}
