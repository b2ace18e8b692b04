package client

import (
	"cmp"
	"encoding/base64"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The objects of both dialects in one shape: the dialects never use one name for two things, so decoding does not
// depend on the dialect. Null counts as absent, and unknown members are skipped.
type (
	wirePart struct {
		Text      *string        `json:"text"`
		Raw       *string        `json:"raw"`
		URL       *string        `json:"url"`
		Data      jsontext.Value `json:"data"`
		MediaType string         `json:"mediaType"`
		Filename  string         `json:"filename"`
		File      *wireFile      `json:"file"` // 0.3
		Metadata  jsontext.Value `json:"metadata"`
	}
	wireFile struct {
		Name     string  `json:"name"`
		MIMEType string  `json:"mimeType"`
		Bytes    *string `json:"bytes"`
		URI      string  `json:"uri"`
		// The proto JSON of 0.3 has other names.
		WithBytes *string `json:"fileWithBytes"`
		WithURI   string  `json:"fileWithUri"`
	}
	wireMessage struct {
		MessageID  string         `json:"messageId"`
		ContextID  string         `json:"contextId"`
		TaskID     string         `json:"taskId"`
		Role       string         `json:"role"`
		Parts      []wirePart     `json:"parts"`
		Content    []wirePart     `json:"content"` // the proto JSON of 0.3
		References []string       `json:"referenceTaskIds"`
		Extensions []string       `json:"extensions"`
		Metadata   jsontext.Value `json:"metadata"`
	}
	wireStatus struct {
		State     string         `json:"state"`
		Message   jsontext.Value `json:"message"`
		Timestamp string         `json:"timestamp"`
	}
	wireArtifact struct {
		ArtifactID  string         `json:"artifactId"`
		Name        string         `json:"name"`
		Description string         `json:"description"`
		Parts       []wirePart     `json:"parts"`
		Metadata    jsontext.Value `json:"metadata"`
	}
	wireTask struct {
		ID        string           `json:"id"`
		ContextID string           `json:"contextId"`
		SessionID string           `json:"sessionId"` // up to 0.1
		Status    wireStatus       `json:"status"`
		Artifacts []wireArtifact   `json:"artifacts"`
		History   []jsontext.Value `json:"history"`
		Metadata  jsontext.Value   `json:"metadata"`
	}
	wireUpdate struct { // a status update or an artifact update
		TaskID    string         `json:"taskId"`
		ContextID string         `json:"contextId"`
		Status    wireStatus     `json:"status"`
		Final     bool           `json:"final"`
		Artifact  wireArtifact   `json:"artifact"`
		Append    bool           `json:"append"`
		LastChunk bool           `json:"lastChunk"`
		Metadata  jsontext.Value `json:"metadata"`
	}
	wirePage struct {
		Tasks         []jsontext.Value `json:"tasks"`
		NextPageToken string           `json:"nextPageToken"`
		PageSize      int              `json:"pageSize"`
		TotalSize     int              `json:"totalSize"`
	}
	// wireUnion is 1.0's wrapper, or the member that distinguishes 0.3's objects.
	wireUnion struct {
		Kind           string         `json:"kind"`
		Task           jsontext.Value `json:"task"`
		Message        jsontext.Value `json:"message"`
		StatusUpdate   jsontext.Value `json:"statusUpdate"`
		ArtifactUpdate jsontext.Value `json:"artifactUpdate"`
	}
)

// lenient accepts the same input as other readers: the last of repeated names, and invalid UTF-8.
var lenient = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

func unmarshal(raw []byte, v any) error { return json.Unmarshal(raw, v, lenient) }

// present reports whether a member exists and is not null.
func present(v jsontext.Value) bool { return len(v) > 0 && v.Kind() != 'n' }

// raw returns a copy of a member, or nil if it is absent.
func raw(v jsontext.Value) stdjson.RawMessage { return append(stdjson.RawMessage(nil), v...) }

// decodeEvent reads a StreamResponse of 1.0 or an object of 0.3 that names its kind. It also reads results of a send:
// those are events with a task or a message.
func decodeEvent(result []byte) (Event, error) {
	var u wireUnion
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
		e.Message, err = decodeMessage(body)
	case "status-update", "artifact-update":
		var u wireUpdate
		if err = unmarshal(body, &u); err != nil {
			return e, err
		}
		if kind == "status-update" {
			e.Status, err = u.status()
			e.Status.Raw = body
		} else {
			e.Artifact, err = u.artifact()
			e.Artifact.Raw = body
		}
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
	var w wireTask
	if err := unmarshal(body, &w); err != nil {
		return nil, err
	}
	if w.ID == "" {
		return nil, errors.New("is not a task: it has no id")
	}
	t := &Task{ID: w.ID, ContextID: cmp.Or(w.ContextID, w.SessionID), Metadata: raw(w.Metadata), Raw: body}
	var err error
	if t.Status, err = w.Status.decode(); err != nil {
		return nil, err
	}
	for _, a := range w.Artifacts {
		artifact, err := a.decode()
		if err != nil {
			return nil, err
		}
		t.Artifacts = append(t.Artifacts, artifact)
	}
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
		wireStatus
		Role    jsontext.Value `json:"role"`
		Parts   jsontext.Value `json:"parts"`
		Content jsontext.Value `json:"content"`
	}
	if err := unmarshal(entry, &w); err == nil && w.State != "" && len(w.Role)+len(w.Parts)+len(w.Content) == 0 {
		s, err := w.wireStatus.decode()
		t.Statuses = append(t.Statuses, s)
		return err
	}
	m, err := decodeMessage(entry)
	if err == nil {
		t.History = append(t.History, *m)
	}
	return err
}

func decodeMessage(body []byte) (*Message, error) {
	var w wireMessage
	if err := unmarshal(body, &w); err != nil {
		return nil, err
	}
	parts, err := decodeParts(append(w.Parts, w.Content...))
	if err != nil {
		return nil, fmt.Errorf("message %q: %w", w.MessageID, err)
	}
	return &Message{
		ID: w.MessageID, ContextID: w.ContextID, TaskID: w.TaskID,
		Role:  Role(strings.ToLower(strings.TrimPrefix(w.Role, "ROLE_"))),
		Parts: parts, References: w.References, Extensions: w.Extensions, Metadata: raw(w.Metadata), Raw: body,
	}, nil
}

func (w wireStatus) decode() (Status, error) {
	s := Status{State: decodeState(w.State), Timestamp: w.Timestamp}
	if !present(w.Message) {
		return s, nil
	}
	m, err := decodeMessage(w.Message)
	s.Message = m
	return s, err
}

// decodeState reads the spellings of both dialects.
func decodeState(s string) State {
	name, ok := strings.CutPrefix(s, "TASK_STATE_")
	if !ok {
		return State(s)
	}
	if name == "CANCELLED" { // as the proto JSON of 0.3 spells it
		return Canceled
	}
	return State(strings.ToLower(strings.ReplaceAll(name, "_", "-")))
}

func (w wireArtifact) decode() (Artifact, error) {
	parts, err := decodeParts(w.Parts)
	if err != nil {
		return Artifact{}, fmt.Errorf("artifact %q: %w", w.ArtifactID, err)
	}
	return Artifact{
		ID: w.ArtifactID, Name: w.Name, Description: w.Description, Parts: parts,
		Metadata: raw(w.Metadata),
	}, nil
}

func (w wireUpdate) status() (*StatusUpdate, error) {
	s, err := w.Status.decode()
	return &StatusUpdate{
		TaskID: w.TaskID, ContextID: w.ContextID, Status: s, Final: w.Final,
		Metadata: raw(w.Metadata),
	}, err
}

func (w wireUpdate) artifact() (*ArtifactUpdate, error) {
	a, err := w.Artifact.decode()
	return &ArtifactUpdate{
		TaskID: w.TaskID, ContextID: w.ContextID, Artifact: a,
		Append: w.Append, LastChunk: w.LastChunk, Metadata: raw(w.Metadata),
	}, err
}

func decodeParts(in []wirePart) ([]Part, error) {
	var out []Part
	for i, w := range in {
		p, err := w.decode()
		if err != nil {
			return nil, fmt.Errorf("part %d: %w", i, err)
		}
		out = append(out, p)
	}
	return out, nil
}

func (w wirePart) decode() (p Part, err error) {
	p = Part{MediaType: w.MediaType, Filename: w.Filename, Metadata: raw(w.Metadata), Data: raw(w.Data)}
	if w.File != nil {
		p.Filename, p.MediaType, p.URL = w.File.Name, w.File.MIMEType, w.File.URI
		if w.Raw = w.File.Bytes; w.Raw == nil {
			w.Raw = w.File.WithBytes
		}
		p.URL = cmp.Or(p.URL, w.File.WithURI)
	}
	if w.Text != nil {
		p.Text = *w.Text
	}
	if w.URL != nil {
		p.URL = *w.URL
	}
	if w.Raw != nil {
		p.Bytes, err = decodeBase64(*w.Raw)
	}
	return p, err
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
	var w wirePage
	var err error
	if jsontext.Value(body).Kind() == '[' {
		err = unmarshal(body, &w.Tasks)
		w.PageSize, w.TotalSize = len(w.Tasks), len(w.Tasks)
	} else {
		err = unmarshal(body, &w)
	}
	if err != nil {
		return nil, err
	}
	p := &Page{NextPageToken: w.NextPageToken, PageSize: w.PageSize, TotalSize: w.TotalSize, Raw: body}
	for _, t := range w.Tasks {
		task, err := ReadTask(t)
		if err != nil {
			return nil, err
		}
		p.Tasks = append(p.Tasks, *task)
	}
	return p, nil
}
