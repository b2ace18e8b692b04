package refagent

import (
	"errors"
	"fmt"
	"strconv"
)

// What a store keeps of a task is JSON. Messages, artifacts and statuses are written as in A2A 1.0, which loses nothing
// that any dialect has; the rest is this package's own.

// storedFormat is the version of that.
const storedFormat = 1

// storedTask returns what is kept of a task and these configs.
func storedTask(r *record, configs []pushConfig) object {
	var d v10
	message := func(m message) any { return d.message(m) }
	return object{
		{"format", storedFormat},
		{"number", strconv.FormatUint(r.number, 10)},
		{"revision", strconv.FormatUint(r.revision, 10)},
		{"skill", r.skill.name},
		{"turns", r.turns},
		{"id", r.task.id},
		{"contextId", r.task.contextID},
		{"status", d.status(r.task.status)},
	}.
		list("statuses", values(r.task.statuses, d.status)).
		list("artifacts", values(r.task.artifacts, d.artifact)).
		list("history", values(r.task.history, message)).
		nested("metadata", r.task.metadata).
		list("configs", values(configs, storedConfig))
}

// storedConfig returns what is kept of a config: all of it, secrets included, since they have to be sent.
func storedConfig(c pushConfig) any {
	o := object{{"id", c.id}, {"url", c.url}, {"dialect", dialectName(c.dialect)}}
	if c.retries > 0 {
		o = append(o, member{"retries", c.retries})
	}
	return o.optional("tenant", c.tenant).
		optional("token", c.token).
		list("schemes", texts(c.schemes...)).
		optional("credentials", c.credentials).
		list("events", texts(c.events...)).
		flag("endsByFailure", c.endsByFailure).
		flag("alone", c.alone)
}

// The dialects in which notifications are written.
var storedDialects = map[string]dialect{"1.0": v10{}, "0.3": v03{}, "0.1": v01{}, "legacy": legacy{}}

func dialectName(d dialect) string {
	for name, known := range storedDialects {
		if d == known {
			return name
		}
	}
	panic(fmt.Sprintf("refagent: notifications are not written as %T", d))
}

// readStored reads what storedTask wrote. The record has a skill with nothing but its name.
func readStored(value []byte) (*record, []pushConfig, error) {
	v, err := parseJSON(value)
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.(object)
	if !ok {
		return nil, nil, errors.New("it is not a JSON object")
	}
	f := readFields(o)
	f.exact = true
	if format := f.integer("format"); format == nil || *format != storedFormat {
		return nil, nil, fmt.Errorf("its format is not %d; it was written by another version of this program", storedFormat)
	}
	status, _ := f.nested("status")
	r := &record{
		number: f.unsigned("number"), revision: f.unsigned("revision"), skill: &skill{name: f.text("skill")},
		tail: newFeed(),
		task: task{
			id: f.required("id"), contextID: f.text("contextId"), status: readStatus(status), metadata: f.free("metadata"),
		},
	}
	if n := f.count("turns"); n != nil {
		r.turns = *n
	}
	for s := range f.each("statuses") {
		r.task.statuses = append(r.task.statuses, readStatus(s))
	}
	for a := range f.each("artifacts") {
		r.task.artifacts = append(r.task.artifacts, readArtifact(a))
	}
	for m := range f.each("history") {
		r.task.history = append(r.task.history, readMessage(m))
	}
	var configs []pushConfig
	for c := range f.each("configs") {
		configs = append(configs, readConfig(c, r.task.id))
	}
	if bad := f.failure(); bad != nil {
		return nil, nil, errors.New(bad.message)
	}
	return r, configs, nil
}

func readStatus(f fields) status {
	s := status{state: v10{}.readState(f.text("state")), at: f.time("timestamp")}
	if s.state == "" {
		f.complain("state", "is not a state of a task")
	}
	if m, ok := f.nested("message"); ok {
		message := readMessage(m)
		s.message = &message
	}
	return s
}

// readMessage reads a message, in which a dialect before 1.0 may have left out what 1.0 requires.
func readMessage(f fields) message {
	f.bad = new([]violation)
	return v10{}.readMessage(f)
}

func readArtifact(f fields) artifact {
	a := artifact{id: f.text("artifactId"), name: f.text("name"), description: f.text("description")}
	for p := range f.each("parts") {
		a.parts = append(a.parts, v10{}.readPart(p))
	}
	return a
}

func readConfig(f fields, task string) pushConfig {
	c := pushConfig{
		id: f.required("id"), taskID: task, tenant: f.text("tenant"), url: f.required("url"), token: f.text("token"),
		schemes: f.texts("schemes"), credentials: f.text("credentials"), events: f.texts("events"),
		endsByFailure: f.boolean("endsByFailure"), alone: f.boolean("alone"),
	}
	if n := f.count("retries"); n != nil {
		c.retries = *n
	}
	var ok bool
	if c.dialect, ok = storedDialects[f.text("dialect")]; !ok {
		f.complain("dialect", "is not one in which notifications are written")
	}
	return c
}

// unsigned returns a number that is written as text.
func (f fields) unsigned(name string) uint64 {
	n, err := strconv.ParseUint(f.text(name), 10, 64)
	if err != nil {
		f.complain(name, "must be a number")
	}
	return n
}
