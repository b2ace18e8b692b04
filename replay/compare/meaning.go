package compare

import (
	"fmt"
	"slices"

	"a2atap/proxy/a2a"
)

// A passage is content at one place of an item, independent of the dialect's names. It has the parts of all chunks.
type passage struct {
	name  string // for people: "the message", "artifact 1"
	role  a2a.Role
	lists []located // of parts
}

const statusMessage = "the message of the status"

// passagesOf returns the passages of an item. It omits the history, since an agent may show any part of it.
func passagesOf(it Item) []passage {
	v := it.Answer.Payload.Value
	switch it.Kind {
	case a2a.MessagePayload:
		return said("the message", a2a.Message{Value: v}, it.Event)
	case a2a.TaskPayload:
		return taskPassages(a2a.Task{Value: v}, it.Event)
	case a2a.StatusPayload:
		return said(statusMessage, a2a.StatusUpdate{Value: v}.Status().Message(), it.Event)
	case a2a.ArtifactPayload:
		p := passage{name: "the artifact"}
		p.add(a2a.ArtifactUpdate{Value: v}.Artifact().Parts(), it.Event)
		for _, c := range it.chunks {
			p.add(a2a.ArtifactUpdate{Value: c.answer.Payload.Value}.Artifact().Parts(), c.event)
		}
		return []passage{p}
	}
	return nil
}

// taskPassages returns the passages of a snapshot of a task.
func taskPassages(t a2a.Task, event int) []passage {
	all := said(statusMessage, t.StatusMessage(), event)
	for i, a := range t.Artifacts() {
		p := passage{name: fmt.Sprintf("artifact %d", i+1)}
		p.add(a.Parts(), event)
		all = append(all, p)
	}
	return all
}

// said returns the passage of a message, if it exists.
func said(name string, m a2a.Message, event int) []passage {
	if m.Kind() != a2a.Object {
		return nil
	}
	p := passage{name: name, role: m.Role()}
	p.add(m.Parts(), event)
	return []passage{p}
}

func (p *passage) add(parts a2a.Parts, event int) {
	if parts.Kind() == a2a.Array {
		p.lists = append(p.lists, located{parts.Value, event})
	}
}

// meanings compares two items of the same kind in different dialects: roles, kinds of parts, media types of files,
// the form of data, and, if exact, the texts.
func (f *forms) meanings(was, now []passage) {
	for _, p := range was {
		i := slices.IndexFunc(now, func(q passage) bool { return q.name == p.name })
		if i < 0 {
			if !f.active && len(p.lists) > 0 {
				f.missing(p.lists[0], p.name)
			}
			continue
		}
		f.passage(p, now[i])
	}
	for _, q := range now {
		known := slices.ContainsFunc(was, func(p passage) bool { return q.name == p.name })
		if !known && !f.active && len(q.lists) > 0 {
			f.new(q.lists[0], q.name)
		}
	}
}

// passage compares the content at one place. In an unfinished task, the amount of content depends on timing.
func (f *forms) passage(was, now passage) {
	if f.active || len(was.lists) == 0 || len(now.lists) == 0 {
		return
	}
	at, live := was.lists[0], now.lists[0]
	if was.role != now.role {
		f.find(DifferentContent, at, live,
			fmt.Sprintf("the role in %s is %q, recorded %q", was.name, now.role, was.role))
		return
	}
	if a, b := partKinds(was.lists), partKinds(now.lists); !slices.Equal(a, b) {
		f.find(DifferentPart, at, live, fmt.Sprintf("the parts of %s are %v, recorded %v", was.name, b, a))
		return
	}
	if a, b := was.mediaTypes(), now.mediaTypes(); !slices.Equal(a, b) {
		f.find(DifferentMediaType, at, live,
			fmt.Sprintf("the files in %s are %q, recorded %q", was.name, b, a))
		return
	}
	f.compare("data", was.data(), now.data())
	if a, b := was.texts(), now.texts(); f.exact && len(f.founds) == 0 && a != b {
		f.find(DifferentValue, at, live, fmt.Sprintf("the text of %s differs", was.name))
	}
}

// wordings compares the texts of passages, except for ids and times.
func (f *forms) wordings(was, now []passage) {
	for _, p := range was {
		i := slices.IndexFunc(now, func(q passage) bool { return q.name == p.name })
		if i < 0 || len(p.lists) == 0 || len(now[i].lists) == 0 {
			continue
		}
		if a, b := p.texts(), now[i].texts(); a != b {
			f.find(DifferentValue, p.lists[0], now[i].lists[0], fmt.Sprintf("the text of %s differs", p.name))
		}
	}
}

// all yields the parts of a passage.
func (p passage) all(yield func(part a2a.Part, event int) bool) {
	for _, l := range p.lists {
		for _, part := range (a2a.Parts{Value: l.Value}).All() {
			if !yield(part, l.event) {
				return
			}
		}
	}
}

// mediaTypes returns the media types of files, each once, in a fixed order. Before 1.0 other parts have none.
func (p passage) mediaTypes() []string {
	var types []string
	for part := range p.all {
		switch part.PartKind() {
		case a2a.RawPart, a2a.URLPart, a2a.FilePart:
			types = append(types, part.MediaType())
		}
	}
	slices.Sort(types)
	return slices.Compact(types)
}

func (p passage) data() []located {
	var all []located
	for part, event := range p.all {
		if part.PartKind() == a2a.DataPart {
			all = append(all, located{part.Data(), event})
		}
	}
	return all
}

// texts returns the texts of a passage, without ids and times.
func (p passage) texts() string {
	var text string
	for part := range p.all {
		text += part.Text()
	}
	return withoutIDs(text)
}
