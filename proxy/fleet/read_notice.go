package fleet

import (
	"fmt"

	"a2atap/proxy/jsondoc"
)

// tell says something to the user.
func (r *Reader) tell(notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	r.options.OnNotice(jsondoc.Plain(notice))
}

// once says something unless that was said before.
func (r *Reader) once(key, notice string) {
	r.telling.Lock()
	defer r.telling.Unlock()
	if !r.said[key] {
		r.said[key] = true
		r.options.OnNotice(jsondoc.Plain(notice))
	}
}

// strangeNotices is how many subjects are named that have messages of others.
const strangeNotices = 20

// foreign says that a message on a subject is none of its recorder.
func (r *Reader) foreign(subject string, err error) {
	r.telling.Lock()
	named := r.said["foreign "+subject]
	if !named {
		r.strange++
	}
	more := r.strange > strangeNotices
	r.telling.Unlock()
	switch {
	case named:
	case more:
		r.once("foreign", "messages on other subjects are not from recorders either, and are left out")
	default:
		r.once("foreign "+subject, fmt.Sprintf("on %s: %v; it is left out", nameOf(subject), err))
	}
}
