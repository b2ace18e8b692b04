package client

import (
	"encoding/base64"
	stdjson "encoding/json"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// What the client writes. The members of a dialect that is not spoken stay empty and are left out.
type (
	outMessage struct {
		Kind       string             `json:"kind,omitzero"` // 0.3
		MessageID  string             `json:"messageId"`
		ContextID  string             `json:"contextId,omitzero"`
		TaskID     string             `json:"taskId,omitzero"`
		Role       string             `json:"role"`
		Parts      []outPart          `json:"parts,omitzero"`
		Content    []outPart          `json:"content,omitzero"` // the proto JSON of 0.3, in place of parts
		References []string           `json:"referenceTaskIds,omitzero"`
		Extensions []string           `json:"extensions,omitzero"`
		Metadata   stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outPart struct {
		Type      string             `json:"type,omitzero"` // 0.1
		Kind      string             `json:"kind,omitzero"` // 0.3
		Text      *string            `json:"text,omitzero"`
		Raw       *string            `json:"raw,omitzero"`
		URL       string             `json:"url,omitzero"`
		Data      stdjson.RawMessage `json:"data,omitzero"`
		File      *outFile           `json:"file,omitzero"` // 0.3
		Filename  string             `json:"filename,omitzero"`
		MediaType string             `json:"mediaType,omitzero"`
		Metadata  stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outFile struct {
		Name string `json:"name,omitzero"`
		// The proto JSON of 0.3 has other names.
		WithURI   string  `json:"fileWithUri,omitzero"`
		WithBytes *string `json:"fileWithBytes,omitzero"`

		MIMEType string  `json:"mimeType,omitzero"`
		Bytes    *string `json:"bytes,omitzero"`
		URI      string  `json:"uri,omitzero"`
	}
	outSend struct {
		Message       outMessage         `json:"message"`
		Configuration *outConfiguration  `json:"configuration,omitzero"`
		Metadata      stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outConfiguration struct {
		AcceptedOutputModes []string         `json:"acceptedOutputModes,omitzero"`
		HistoryLength       *int             `json:"historyLength,omitzero"`
		ReturnImmediately   bool             `json:"returnImmediately,omitzero"`          // 1.0
		Push10              *wirePushConfig  `json:"taskPushNotificationConfig,omitzero"` // 1.0
		Blocking            *bool            `json:"blocking,omitzero"`                   // 0.3
		Push03              *wireInnerConfig `json:"pushNotificationConfig,omitzero"`     // 0.3
		PushProto           *wireInnerConfig `json:"pushNotification,omitzero"`           // the proto JSON of 0.3
	}
)

// marshal writes JSON with the members in their order. An error means that a raw value of the caller is not JSON.
func marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// send writes the parameters of a send; streams never block.
func (p Protocol) send(m Message, o SendOptions, streams bool) outSend {
	out := outSend{Message: p.message(m), Metadata: o.Metadata}
	c := outConfiguration{AcceptedOutputModes: o.AcceptedOutputModes, HistoryLength: o.HistoryLength}
	if p.Version != "1.0" {
		if !streams {
			c.Blocking = new(!o.ReturnImmediately)
		}
		if o.Push != nil {
			c.Push03 = o.Push.encode03()
		}
	} else {
		c.ReturnImmediately = o.ReturnImmediately && !streams
		if o.Push != nil {
			push := o.Push.encode10()
			push.TaskID = "" // the task does not exist yet, A2A 1.0 §4.3.1
			c.Push10 = &push
		}
	}
	if c.AcceptedOutputModes != nil || c.HistoryLength != nil || c.ReturnImmediately || c.Blocking != nil ||
		c.Push10 != nil || c.Push03 != nil {
		out.Configuration = &c
	}
	return out
}

func (p Protocol) message(m Message) outMessage {
	out := outMessage{
		MessageID: m.ID, ContextID: m.ContextID, TaskID: m.TaskID, Parts: []outPart{},
		References: m.References, Extensions: m.Extensions, Metadata: m.Metadata,
	}
	if p.Version != "1.0" {
		out.Kind, out.Role = "message", string(m.Role)
	} else {
		out.Role = "ROLE_" + strings.ToUpper(string(m.Role))
	}
	for _, part := range m.Parts {
		if p.Version != "1.0" {
			out.Parts = append(out.Parts, part.encode03())
		} else {
			out.Parts = append(out.Parts, part.encode10())
		}
	}
	return out
}

// encode10 writes a part as A2A 1.0 §4.1.6.
func (p Part) encode10() outPart {
	out := outPart{Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
	switch {
	case p.Bytes != nil:
		out.Raw = inBase64(p.Bytes)
	case p.URL != "":
		out.URL = p.URL
	case p.Data != nil:
		out.Data = p.Data
	default:
		out.Text = &p.Text
	}
	return out
}

// encode03 writes a part as A2A 0.3 §6.5.
func (p Part) encode03() outPart {
	out := outPart{Metadata: p.Metadata}
	switch {
	case p.Bytes != nil:
		out.Kind, out.File = "file", &outFile{Name: p.Filename, MIMEType: p.MediaType, Bytes: inBase64(p.Bytes)}
	case p.URL != "":
		out.Kind, out.File = "file", &outFile{Name: p.Filename, MIMEType: p.MediaType, URI: p.URL}
	case p.Data != nil:
		out.Kind, out.Data = "data", p.Data
	default:
		out.Kind, out.Text = "text", &p.Text
	}
	return out
}

func inBase64(b []byte) *string { return new(base64.StdEncoding.EncodeToString(b)) }

// encodeState spells a state as A2A 1.0 §4.1.3.
func encodeState(s State) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}
