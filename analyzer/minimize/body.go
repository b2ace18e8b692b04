package minimize

import (
	"bytes"
	"slices"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/jsondoc"
)

// cutBodies removes members and elements of JSON, and lines of other text.
func (j *judge) cutBodies() {
	for i := range j.now {
		for _, t := range textsOf(j.now[i]) {
			t.cut(j, i)
		}
	}
}

// A text locates a body or an event's data in an exchange.
type text struct {
	get func(*capture.Exchange) []byte
	set func(*capture.Exchange, []byte) bool // reports whether it can be written
}

// textsOf returns the texts of an exchange that can be changed.
func textsOf(x *capture.Exchange) []text {
	list := []text{{asked.text, asked.set}}
	if x.Response == nil {
		return list
	}
	if !x.Response.Stream {
		return append(list, text{answered.text, answered.set})
	}
	for k := range x.Response.Events {
		list = append(list, text{
			func(x *capture.Exchange) []byte { data, _ := eventData(&x.Response.Events[k]); return data },
			func(x *capture.Exchange, data []byte) bool { return setEventData(x.Response, k, data) },
		})
	}
	return list
}

// eventData returns an event's data and its position in the block if it is on one line, otherwise nil. For a gRPC
// message it returns the JSON, which has no position.
func eventData(e *capture.Event) (data []byte, at int) {
	fields := e.Fields()
	if e.K == 0 || e.Dropped > 0 || fields.DataLines != 1 || len(fields.Data) == 0 {
		return nil, 0
	}
	return fields.Data, bytes.Index(e.Raw, fields.Data)
}

// setEventData replaces the data of an event, and reports whether it can: see side.set.
func setEventData(r *capture.Response, k int, data []byte) bool {
	events := r.Events
	old, at := eventData(&events[k])
	raw := events[k].Raw
	if as := events[k].As; as != nil {
		frame, err := as.Write(jsondoc.Parse(data).Root)
		if err != nil {
			return false
		}
		events[k].Raw = frame
	} else {
		events[k].Raw = slices.Concat(raw[:at], data, raw[at+len(old):])
	}
	setEvents(r, events)
	return true
}

// cut removes as much as possible of the text in exchange i.
func (t text) cut(j *judge, i int) {
	body := t.get(j.now[i])
	replace := func(with []byte) bool {
		return t.set(j.now[i].Copy(), with) && j.replace(i, func(x *capture.Exchange) { t.set(x, with) })
	}
	if doc := jsondoc.Parse(body); doc.Err == nil {
		cutJSON(body, replace)
		return
	}
	if !utf8.Valid(body) {
		return
	}
	lines := slices.Collect(bytes.Lines(body))
	shrink(len(lines), func(from, to int) bool {
		less := slices.Concat(lines[:from], lines[to:])
		if !replace(append([]byte{}, bytes.Join(less, nil)...)) {
			return false
		}
		lines = less
		return true
	})
}

// cutJSON removes members and elements, outer ones first. The rest of the text keeps its spelling.
func cutJSON(text []byte, try func([]byte) bool) {
	for queue := [][]int{nil}; len(queue) > 0; queue = queue[1:] {
		path := queue[0]
		doc := jsondoc.Parse(text)
		children := childrenOf(at(doc.Root, path))
		n := len(children)
		shrink(n, func(from, to int) bool {
			doc := jsondoc.Parse(text)
			less := without(text, childrenOf(at(doc.Root, path)), from, to)
			if !try(less) {
				return false
			}
			text, n = less, n-(to-from)
			return true
		})
		for i := range n {
			queue = append(queue, append(slices.Clip(path), i))
		}
	}
}

// A child is a member or an element: its start in the text, including its name, its end, and its value.
type child struct {
	start, end int
	value      jsondoc.Value
}

func childrenOf(v jsondoc.Value) []child {
	var list []child
	end := func(v jsondoc.Value) int { return v.Offset() + len(v.Raw()) }
	for name, value := range v.Pairs() {
		list = append(list, child{name.Offset(), end(value), value})
	}
	for _, value := range v.Elems() {
		list = append(list, child{value.Offset(), end(value), value})
	}
	return list
}

// at returns the value at a path of positions.
func at(v jsondoc.Value, path []int) jsondoc.Value {
	for _, i := range path {
		v = childrenOf(v)[i].value
	}
	return v
}

// without returns the text without the children from (included) to to (excluded) of an object or array.
func without(text []byte, children []child, from, to int) []byte {
	start, end := children[from].start, children[to-1].end
	switch {
	case to < len(children):
		end = children[to].start
	case from > 0:
		start = children[from-1].end
	}
	return slices.Concat(text[:start], text[end:])
}
