package client

import (
	"bytes"
	"cmp"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The objects of both dialects have one shape: the dialects never use one name for two things, so decoding does not depend
// on the dialect. Null is absent, and unknown members are skipped.

// lenient reads what other readers read: the last of repeated names, and text that is not quite UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func unmarshal(raw []byte, v any) error {
	err := json.Unmarshal(raw, v, lenient)
	if bad, ok := errors.AsType[*json.SemanticError](err); ok && bad.Err != nil {
		if err = bad.Err; bad.JSONPointer != "" {
			err = fmt.Errorf("%s: %w", bad.JSONPointer, err)
		}
	}
	return err
}

// present reports whether a member exists and is not null.
func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// decodeEvent reads a StreamResponse of 1.0 or an object of 0.3 that names its kind. It also reads results of a send:
// those are events with a task or a message.
func decodeEvent(result []byte) (Event, error) {
	var u struct { // 1.0's wrapper, or the member that distinguishes 0.3's objects
		Kind           string         `json:"kind"`
		Task           jsontext.Value `json:"task"`
		Message        jsontext.Value `json:"message"`
		StatusUpdate   jsontext.Value `json:"statusUpdate"`
		ArtifactUpdate jsontext.Value `json:"artifactUpdate"`
	}
	if err := unmarshal(result, &u); err != nil {
		return Event{}, err
	}
	body := jsontext.Value(result)
	switch {
	case present(u.Task):
		u.Kind, body = "task", u.Task
	case present(u.StatusUpdate):
		u.Kind, body = "status-update", u.StatusUpdate
	case present(u.ArtifactUpdate):
		u.Kind, body = "artifact-update", u.ArtifactUpdate
	case u.Kind == "" && present(u.Message):
		u.Kind, body = "message", u.Message
	}
	return decodeKind(u.Kind, body)
}

func decodeKind(kind string, body []byte) (e Event, err error) {
	switch kind {
	case "task":
		e.Task, err = ReadTask(body)
	case "message":
		e.Message = &Message{}
		err = unmarshal(body, e.Message)
	case "status-update":
		e.Status = &StatusUpdate{Raw: body}
		err = unmarshal(body, e.Status)
	case "artifact-update":
		e.Artifact = &ArtifactUpdate{Raw: body}
		err = unmarshal(body, e.Artifact)
	default:
		err = errors.New("is not a task, message, status update or artifact update")
	}
	return e, err
}

func decodeResult(result []byte) (*Result, error) {
	e, err := decodeEvent(result)
	if err == nil && e.Task == nil && e.Message == nil {
		err = errors.New("is neither a task nor a message")
	}
	if err != nil {
		return nil, err
	}
	return &Result{Task: e.Task, Message: e.Message, Raw: result}, nil
}

// ReadTask reads a task of any dialect, such as one assembled from the events of a stream.
func ReadTask(body []byte) (*Task, error) {
	t := &Task{Raw: body}
	w := struct {
		*Task
		SessionID string           `json:"sessionId"` // up to 0.1
		History   []jsontext.Value `json:"history"`
	}{Task: t}
	if err := unmarshal(body, &w); err != nil {
		return nil, err
	}
	if t.ID == "" {
		return nil, errors.New("is not a task: it has no id")
	}
	t.ContextID = cmp.Or(t.ContextID, w.SessionID)
	for _, h := range w.History {
		if err := t.remember(h); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// remember reads an entry of the history: a message or, before 0.1, a status.
func (t *Task) remember(entry []byte) error {
	var w struct {
		Status
		Role    jsontext.Value `json:"role"`
		Parts   jsontext.Value `json:"parts"`
		Content jsontext.Value `json:"content"`
	}
	if err := unmarshal(entry, &w); w.State != "" && len(w.Role)+len(w.Parts)+len(w.Content) == 0 {
		t.Statuses = append(t.Statuses, w.Status)
		return err
	}
	var m Message
	err := unmarshal(entry, &m)
	if err == nil {
		t.History = append(t.History, m)
	}
	return err
}

// UnmarshalJSONFrom reads a message of any dialect.
func (m *Message) UnmarshalJSONFrom(d *jsontext.Decoder) error {
	body, err := d.ReadValue()
	if err != nil {
		return err
	}
	type plain Message
	w := struct {
		*plain
		Content []Part `json:"content"` // the proto JSON of 0.3
	}{plain: (*plain)(m)}
	*m = Message{Raw: bytes.Clone(body)}
	err = unmarshal(m.Raw, &w)
	m.Parts = append(m.Parts, w.Content...)
	return err
}

// UnmarshalText reads the spellings of both dialects.
func (r *Role) UnmarshalText(text []byte) error {
	*r = Role(strings.ToLower(strings.TrimPrefix(string(text), "ROLE_")))
	return nil
}

// UnmarshalText reads the spellings of both dialects.
func (s *State) UnmarshalText(text []byte) error {
	switch name, ok := strings.CutPrefix(string(text), "TASK_STATE_"); {
	case !ok:
		*s = State(text)
	case name == "CANCELLED": // as the proto JSON of 0.3 spells it
		*s = Canceled
	default:
		*s = State(strings.ToLower(strings.ReplaceAll(name, "_", "-")))
	}
	return nil
}

// A wirePart is a part as it is read and, without a File, written.
type wirePart struct {
	Text      *string            `json:"text,omitzero"`
	Raw       *string            `json:"raw,omitzero"`
	URL       string             `json:"url,omitzero"`
	Data      stdjson.RawMessage `json:"data,omitzero"`
	Filename  string             `json:"filename,omitzero"`
	MediaType string             `json:"mediaType,omitzero"`
	Metadata  stdjson.RawMessage `json:"metadata,omitzero"`
	File      *struct {          // 0.3
		Name     string  `json:"name"`
		MIMEType string  `json:"mimeType"`
		Bytes    *string `json:"bytes"`
		URI      string  `json:"uri"`
		// The proto JSON of 0.3 has other names.
		WithBytes *string `json:"fileWithBytes"`
		WithURI   string  `json:"fileWithUri"`
	} `json:"file,omitzero"`
}

// UnmarshalJSONFrom reads a part of any dialect.
func (p *Part) UnmarshalJSONFrom(d *jsontext.Decoder) (err error) {
	var w wirePart
	if err := json.UnmarshalDecode(d, &w); err != nil {
		return err
	}
	*p = Part{URL: w.URL, Data: w.Data, MediaType: w.MediaType, Filename: w.Filename, Metadata: w.Metadata}
	if w.Text != nil {
		p.Text = *w.Text
	}
	if w.File != nil {
		p.Filename, p.MediaType, p.URL = w.File.Name, w.File.MIMEType, cmp.Or(w.URL, w.File.URI, w.File.WithURI)
		w.Raw = cmp.Or(w.File.Bytes, w.File.WithBytes)
	}
	if w.Raw != nil {
		p.Bytes, err = decodeBase64(*w.Raw)
	}
	return err
}

// decodeBase64 reads either alphabet, padded or not, as ProtoJSON parsers do. The result is never nil.
func decodeBase64(s string) ([]byte, error) {
	s = strings.TrimRight(strings.NewReplacer("-", "+", "_", "/").Replace(s), "=")
	b, err := base64.RawStdEncoding.DecodeString(s)
	if err != nil {
		return nil, fmt.Errorf("not base64: %w", err)
	}
	return b, nil
}

// decodePage reads 1.0's page, or 0.3's array of all tasks.
func decodePage(body []byte) (*Page, error) {
	p := &Page{Raw: body}
	w := struct {
		*Page
		Tasks []jsontext.Value `json:"tasks"`
	}{Page: p}
	var err error
	if jsontext.Value(body).Kind() == '[' {
		err = unmarshal(body, &w.Tasks)
		p.PageSize, p.TotalSize = len(w.Tasks), len(w.Tasks)
	} else {
		err = unmarshal(body, &w)
	}
	if err != nil {
		return nil, err
	}
	for _, t := range w.Tasks {
		task, err := ReadTask(t)
		if err != nil {
			return nil, err
		}
		p.Tasks = append(p.Tasks, *task)
	}
	return p, nil
}
