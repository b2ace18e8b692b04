package compare

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/credential"
)

// contents compares two items of the same kind more closely, as the profile requires. It reports one difference, with
// all its places.
func (c *Comparison) contents(rec, live Item) {
	if c.Recorded.Status == 0 || c.Live.Status == 0 || c.ByMeaning() && rec.Err != nil {
		return // the names of errors in different protocols say enough
	}
	f := &forms{
		active:   rec.Kind == a2a.TaskPayload && (rec.State.Active() || live.State.Active()),
		canceled: rec.Kind == a2a.TaskPayload && rec.State == a2a.Canceled && live.State == rec.State,
		more:     c.Profile == Protocol && rec.Kind == a2a.CardPayload, // new members of a card break no client
		exact:    c.Profile == Exact,
	}
	named := c.wording() != otherNames && !otherCard(rec, live)
	switch {
	case rec.Kind == a2a.TaskListPayload:
		for was, now := range c.listed(rec, live) {
			if now.Exists() {
				f.active = was.State().Active() || now.State().Active()
				was.Value, now.Value = c.scope().inside(&rec.Answer, was.Value), c.scope().inside(&live.Answer, now.Value)
				if named {
					f.compare("", []located{{was.Value, rec.Event}}, []located{{now.Value, live.Event}})
				} else {
					f.meanings(taskPassages(was, rec.Event), taskPassages(now, live.Event))
				}
			}
		}
	case named:
		f.compare("", c.wording().texts(c.scope().without(rec)), c.wording().texts(c.scope().without(live)))
	default:
		f.meanings(passagesOf(c.scope().without(rec)), passagesOf(c.scope().without(live)))
	}
	if len(f.founds) == 0 && c.Texts && c.Profile != Exact && !f.active {
		f.wordings(passagesOf(c.scope().without(rec)), passagesOf(c.scope().without(live)))
	}
	if len(f.founds) == 0 {
		c.structure(rec, live, f.active || f.canceled, named)
		return
	}
	c.deviate(live, f.founds)
	if c.Closer {
		found := len(c.diffs)
		c.structure(rec, live, f.active, named)
		c.further = append(c.further, c.diffs[found:]...)
		c.diffs = c.diffs[:found]
	}
}

// structure makes the comparisons of the profiles shape and exact that go beyond forms.
func (c *Comparison) structure(rec, live Item, active, named bool) {
	switch {
	case rec.Kind == a2a.TaskListPayload: // the live agent may have other tasks
	case c.Profile == Shape && rec.Kind == a2a.ArtifactPayload: // the size of chunks is free
	case !named: // another dialect has another structure
	case c.Profile == Shape:
		c.differ(rec, live, DifferentStructure, sameShape(active))
	case c.Profile == Exact:
		c.differ(rec, live, DifferentValue, sameValue(active))
	}
}

// deviate adds one difference for all deviations of an item.
func (c *Comparison) deviate(live Item, founds []deviation) {
	first, d := founds[0], together(founds, c.limit(), "")
	d.Place = place(c.Recorded.Seq, first.at.event, first.at.Pointer())
	d.LivePlace = place(c.LiveSeq, live.Event, first.at.Pointer())
	if first.onlyNow {
		d.Place = place(c.LiveSeq, first.at.event, first.at.Pointer())
		d.LivePlace = d.Place
	}
	c.add(d)
}

// differ compares the texts of two items, chunk by chunk, and adds one difference.
func (c *Comparison) differ(rec, live Item, kind Kind, same func(string, a2a.Value, a2a.Value) bool) {
	was, now := c.scope().without(rec).answers(), live.answers()
	if len(was) != len(now) {
		c.add(Difference{
			Kind: kind, Place: c.place(rec), LivePlace: c.livePlace(live), Want: fmt.Sprint(len(was)),
			Got:     fmt.Sprint(len(now)),
			Message: fmt.Sprintf("the artifact comes in %d chunks, recorded %d", len(now), len(was)),
		})
		return
	}
	d := Difference{Kind: kind}
	for i := range was {
		at := rec
		if i > 0 {
			at.Event = rec.chunks[i-1].event
		}
		changes := diffUpTo(c.limit(), c.wording().text(&was[i]), c.renamed(live.Task, &now[i]), same)
		if len(changes) > 0 && d.Changes == nil {
			d.Place = place(c.Recorded.Seq, at.Event, c.wording().text(&was[i]).Pointer()+changes[0].Pointer)
			d.LivePlace = place(c.LiveSeq, live.Event, c.wording().text(&now[i]).Pointer()+changes[0].Pointer)
			d.Want, d.Got = changes[0].Was, changes[0].Now
			d.Message = fmt.Sprintf("%s is %s, recorded %s", changes[0].Pointer, cmp.Or(d.Got, "absent"),
				cmp.Or(d.Want, "absent"))
		}
		d.Changes = append(d.Changes, changes...)
	}
	if len(d.Changes) > 0 {
		d.Changes = d.Changes[:min(len(d.Changes), c.limit())]
		c.add(d)
	}
}

// sameShape reports whether two values are equal except for contents: values other than objects and arrays need only
// have the same type. Names of artifacts and media types count.
func sameShape(active bool) func(pointer string, was, now a2a.Value) bool {
	return func(pointer string, was, now a2a.Value) bool {
		if active && passing(pointer) {
			return true
		}
		switch was.Kind() {
		case a2a.Object, a2a.Array:
			return false
		case a2a.String:
			token := lastToken(pointer)
			if isMediaType(token) || token == "name" && strings.Contains(pointer, "/artifacts/") {
				return now.Kind() == a2a.String && was.Text() == now.Text()
			}
		}
		return was.Exists() && was.Kind() == now.Kind()
	}
}

// sameValue reports whether two values are equal but for ids, times, secrets and the addresses of agents.
func sameValue(active bool) func(pointer string, was, now a2a.Value) bool {
	return func(pointer string, was, now a2a.Value) bool {
		if active && (passing(pointer) || lastToken(pointer) == "state") {
			return true
		}
		if was.Kind() != a2a.String || now.Kind() != a2a.String {
			return false
		}
		a, b := was.Text(), now.Text()
		return a == b || credential.Fits(a, b) || isTime(a) && isTime(b) || sameURL(a, b) ||
			withoutIDs(a) == withoutIDs(b)
	}
}

// sameURL reports whether two URLs are equal except for the host, which differs between agents, and ids.
func sameURL(a, b string) bool {
	u, err := url.Parse(a)
	v, otherErr := url.Parse(b)
	if err != nil || otherErr != nil || u.Host == "" || v.Host == "" {
		return false
	}
	return segmentsWithoutIDs(u) == segmentsWithoutIDs(v)
}

// segmentsWithoutIDs returns the part of a URL after the host, with a star instead of each segment that is an id.
func segmentsWithoutIDs(u *url.URL) string {
	segments := strings.Split(strings.TrimRight(u.RequestURI(), "/"), "/")
	for i, s := range segments {
		if Opaque(s) {
			segments[i] = "*"
		}
	}
	return strings.Join(segments, "/")
}
