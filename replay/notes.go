package replay

import (
	"fmt"
	"sync"
)

// notes are remarks in the order in which they were made. Of those of a kind the first is kept, and how many more there
// were: a load of a hundred thousand calls can need the same one a hundred thousand times. It may be used by several
// goroutines.
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

// add makes a remark. One with the text of the first of its kind is that one again.
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

// once makes a remark, once.
func (n *notes) once(text string) { n.add(text, text) }

// texts returns the remarks in words.
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
