package engine

import (
	"errors"
	"fmt"
	"strconv"

	"a2atap/replay/refagent/internal/dialect"
	"a2atap/replay/refagent/internal/jsonvalue"
	"a2atap/replay/refagent/internal/model"
)

// Stored tasks are JSON. Messages, artifacts and statuses are written as in A2A 1.0, which can represent everything
// that other dialects have; the rest is specific to this package.

// storedFormat is the version of that.
const storedFormat = 1

// storedTask returns the stored form of a task and these configs.
func storedTask(r *record, configs []model.PushConfig) jsonvalue.Object {
	var d dialect.V10
	message := func(m model.Message) any { return d.Message(m) }
	return jsonvalue.Object{
		{"format", storedFormat},
		{"number", strconv.FormatUint(r.number, 10)},
		{"revision", strconv.FormatUint(r.revision, 10)},
		{"skill", r.skill.Name},
		{"turns", r.turns},
		{"id", r.Task.ID},
		{"contextId", r.Task.ContextID},
		{"status", d.Status(r.Task.Status)},
	}.
		List("statuses", jsonvalue.Values(r.Task.Statuses, d.Status)).
		List("artifacts", jsonvalue.Values(r.Task.Artifacts, d.Artifact)).
		List("history", jsonvalue.Values(r.Task.History, message)).
		Nested("metadata", r.Task.Metadata).
		List("configs", jsonvalue.Values(configs, storedConfig))
}

// storedConfig returns the stored form of a config: all of it, including secrets, since notifications need them.
func storedConfig(c model.PushConfig) any {
	o := jsonvalue.Object{{"id", c.ID}, {"url", c.URL}, {"dialect", dialectName(c.Dialect)}}
	if c.Retries > 0 {
		o = append(o, jsonvalue.Member{"retries", c.Retries})
	}
	return o.Optional("tenant", c.Tenant).
		Optional("token", c.Token).
		List("schemes", jsonvalue.Texts(c.Schemes...)).
		Optional("credentials", c.Credentials).
		List("events", jsonvalue.Texts(c.Events...)).
		Flag("endsByFailure", c.EndsByFailure).
		Flag("alone", c.Alone)
}

// The dialects in which notifications are written.
var storedDialects = map[string]model.Dialect{
	"1.0": dialect.V10{}, "0.3": dialect.V03{}, "0.1": dialect.V01{},
	"legacy": dialect.Legacy{},
}

func dialectName(d model.Dialect) string {
	for name, known := range storedDialects {
		if d == known {
			return name
		}
	}
	panic(fmt.Sprintf("refagent: notifications are not written as %T", d))
}

// readStored reads what storedTask wrote. The record has a skill with nothing but its name.
func readStored(value []byte) (*record, []model.PushConfig, error) {
	v, err := jsonvalue.Parse(value)
	if err != nil {
		return nil, nil, err
	}
	o, ok := v.(jsonvalue.Object)
	if !ok {
		return nil, nil, errors.New("it is not a JSON object")
	}
	f := model.ReadFields(o)
	f.Exact = true
	if format := f.Integer("format"); format == nil || *format != storedFormat {
		return nil, nil, fmt.Errorf("its format is not %d; it was written by another version of this program", storedFormat)
	}
	status, _ := f.Nested("status")
	r := &record{
		number: unsigned(f, "number"), revision: unsigned(f, "revision"), skill: &Skill{Name: f.Text("skill")},
		Tail: model.NewFeed(),
		Task: model.Task{
			ID: f.Required("id"), ContextID: f.Text("contextId"), Status: readStatus(status), Metadata: f.Free("metadata"),
		},
	}
	if n := f.Count("turns"); n != nil {
		r.turns = *n
	}
	for s := range f.Each("statuses") {
		r.Task.Statuses = append(r.Task.Statuses, readStatus(s))
	}
	for a := range f.Each("artifacts") {
		r.Task.Artifacts = append(r.Task.Artifacts, readArtifact(a))
	}
	for m := range f.Each("history") {
		r.Task.History = append(r.Task.History, readMessage(m))
	}
	var configs []model.PushConfig
	for c := range f.Each("configs") {
		configs = append(configs, readConfig(c, r.Task.ID))
	}
	if bad := f.Failure(); bad != nil {
		return nil, nil, errors.New(bad.Message)
	}
	return r, configs, nil
}

func readStatus(f model.Fields) model.Status {
	s := model.Status{State: dialect.V10{}.ReadState(f.Text("state")), At: f.Time("timestamp")}
	if s.State == "" {
		f.Complain("state", "is not a state of a task")
	}
	if m, ok := f.Nested("message"); ok {
		s.Message = new(readMessage(m))
	}
	return s
}

// readMessage reads a message, in which a dialect before 1.0 may have left out what 1.0 requires.
func readMessage(f model.Fields) model.Message {
	f.Bad = new([]model.Violation)
	return dialect.V10{}.ReadMessage(f)
}

func readArtifact(f model.Fields) model.Artifact {
	a := model.Artifact{ID: f.Text("artifactId"), Name: f.Text("name"), Description: f.Text("description")}
	for p := range f.Each("parts") {
		a.Parts = append(a.Parts, dialect.V10{}.ReadPart(p))
	}
	return a
}

func readConfig(f model.Fields, task string) model.PushConfig {
	c := model.PushConfig{
		ID: f.Required("id"), TaskID: task, Tenant: f.Text("tenant"), URL: f.Required("url"), Token: f.Text("token"),
		Schemes: f.Texts("schemes"), Credentials: f.Text("credentials"), Events: f.Texts("events"),
		EndsByFailure: f.Boolean("endsByFailure"), Alone: f.Boolean("alone"),
	}
	if n := f.Count("retries"); n != nil {
		c.Retries = *n
	}
	var ok bool
	if c.Dialect, ok = storedDialects[f.Text("dialect")]; !ok {
		f.Complain("dialect", "is not one in which notifications are written")
	}
	return c
}

// unsigned returns a number that is written as text.
func unsigned(f model.Fields, name string) uint64 {
	n, err := strconv.ParseUint(f.Text(name), 10, 64)
	if err != nil {
		f.Complain(name, "must be a number")
	}
	return n
}
