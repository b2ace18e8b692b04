package redact

import (
	"slices"
	"strconv"

	"a2atap/proxy/capture"
)

// A placeSet is the places of the secrets in a text, those of the user included.
type placeSet struct {
	named []string      // by the Describer, as it named them
	list  []secretPlace // of those
	tree  placeTree     // of all
}

// A placeTree has places by the names that lead to them, so that a walk through a text minds only those that may lie in
// the value at hand.
type placeTree struct {
	names []string // next ones; AnyName matches any name
	below []*placeTree
	hide  hiding // in the value at this place
}

func (t *placeTree) add(p secretPlace) {
	for _, name := range p.pointer.Names() {
		i := slices.Index(t.names, name)
		if i < 0 {
			i = len(t.names)
			t.names, t.below = append(t.names, name), append(t.below, &placeTree{})
		}
		t = t.below[i]
	}
	t.hide = max(t.hide, hideStrings)
	if p.numbers {
		t.hide = hideNumbers
	}
}

// named returns the set of the places that a Describer names. What is not a pointer points nowhere.
func (m *mask) named(pointers []string) *placeSet {
	var list []secretPlace
	for _, s := range pointers {
		if p, err := capture.ParsePointer(s); err == nil {
			list = append(list, secretPlace{pointer: p})
		}
	}
	set := m.placed(list)
	set.named = slices.Clone(pointers)
	return set
}

// placed returns the set of places, and of those of the mask's user.
func (m *mask) placed(list []secretPlace) *placeSet {
	set := &placeSet{list: list}
	for _, p := range slices.Concat(list, m.places) {
		set.tree.add(p)
	}
	return set
}

// maxPlaceSets bounds the sets that are remembered. A Describer names the same few again and again.
const maxPlaceSets = 1000

// described returns the places that a Describer names, and those of the user.
func (r *redactor) described(d capture.Description) *placeSet {
	if len(d.Secrets) == 0 {
		return r.userPlaces
	}
	first := &d.Secrets[0] // most likely the list is one that came before
	set := r.places[first]
	if set != nil && slices.Equal(set.named, d.Secrets) {
		return set
	}
	set = r.mask.named(d.Secrets)
	if r.places[first] != nil || len(r.places) < maxPlaceSets {
		r.places[first] = set
	}
	return set
}

// A placeWalk is room for the places that may lie in the values around the one at hand.
type placeWalk []*placeTree

// follow appends the places that continue with a name, and returns them.
func (w *placeWalk) follow(places []*placeTree, name []byte) []*placeTree {
	start := len(*w)
	for _, p := range places {
		for i, next := range p.names {
			if next == string(name) || next == capture.AnyName {
				*w = append(*w, p.below[i])
			}
		}
	}
	return (*w)[start:]
}

// followIndex is follow for an index.
func (w *placeWalk) followIndex(places []*placeTree, index int) []*placeTree {
	var digits [20]byte
	return w.follow(places, strconv.AppendInt(digits[:0], int64(index), 10))
}

// hiding says what is hidden in a value and all beneath.
type hiding uint8

const (
	hideNothing hiding = iota
	hideStrings
	hideNumbers // and strings
)
