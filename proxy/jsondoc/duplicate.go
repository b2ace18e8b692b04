package jsondoc

import (
	"bytes"
	"slices"
)

// findDuplicates records the members of a frame's object that repeat a name.
func (p *parser) findDuplicates(f frame) {
	names := p.names[:0]
	for i, end := f.node+1, p.nodes[f.node].after; i < end; i = p.nodes[i+1].after {
		names = append(names, i)
	}
	p.names = names
	const few = 24
	if len(names) > few { // comparing all with all would take too long
		p.findAmongMany()
		return
	}
	for i, name := range names {
		for _, earlier := range names[:i] {
			if p.sameName(earlier, name) {
				p.duplicate(name)
				break
			}
		}
	}
}

func (p *parser) findAmongMany() {
	slices.SortStableFunc(p.names, func(a, b uint32) int { return bytes.Compare(p.name(a), p.name(b)) })
	for i := 1; i < len(p.names); i++ {
		if p.sameName(p.names[i-1], p.names[i]) {
			p.duplicate(p.names[i])
		}
	}
}

func (p *parser) sameName(i, j uint32) bool {
	a, b := &p.nodes[i], &p.nodes[j]
	if !a.escaped && !b.escaped && a.end-a.start != b.end-b.start {
		return false
	}
	return bytes.Equal(p.name(i), p.name(j))
}

func (p *parser) name(i uint32) []byte {
	n := &p.nodes[i]
	if !n.escaped {
		return p.data[n.start+1 : n.end-1]
	}
	t := tape{data: p.data}
	return t.unquote(n)
}

// duplicate remembers the member with the name node i, which is in the innermost open object.
func (p *parser) duplicate(i uint32) {
	if len(p.duplicates) >= maxDuplicates {
		return
	}
	pointer := ""
	for _, f := range p.open[:len(p.open)-1] {
		if p.nodes[f.node].kind == Object {
			pointer = Ptr(pointer, string(p.name(f.name)))
		} else {
			pointer = Ptr(pointer, f.count-1)
		}
	}
	name := string(p.name(i))
	p.duplicates = append(p.duplicates, Duplicate{Pointer: Ptr(pointer, name), Name: name})
}
