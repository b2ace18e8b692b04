package client

import (
	"encoding/base64"
	stdjson "encoding/json"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The objects that the client writes, in 1.0. Package translate writes them in the client's protocol.
type (
	outSend struct {
		Message       outMessage         `json:"message"`
		Configuration outConfiguration   `json:"configuration,omitzero"`
		Metadata      stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outMessage struct {
		MessageID  string             `json:"messageId"`
		ContextID  string             `json:"contextId,omitzero"`
		TaskID     string             `json:"taskId,omitzero"`
		Role       string             `json:"role"`
		Parts      []outPart          `json:"parts"`
		References []string           `json:"referenceTaskIds,omitzero"`
		Extensions []string           `json:"extensions,omitzero"`
		Metadata   stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outPart struct {
		Text      *string            `json:"text,omitzero"`
		Raw       *string            `json:"raw,omitzero"`
		URL       string             `json:"url,omitzero"`
		Data      stdjson.RawMessage `json:"data,omitzero"`
		Filename  string             `json:"filename,omitzero"`
		MediaType string             `json:"mediaType,omitzero"`
		Metadata  stdjson.RawMessage `json:"metadata,omitzero"`
	}
	outConfiguration struct {
		AcceptedOutputModes []string    `json:"acceptedOutputModes,omitzero"`
		HistoryLength       *int        `json:"historyLength,omitzero"`
		ReturnImmediately   bool        `json:"returnImmediately,omitzero"`
		Push                *pushConfig `json:"taskPushNotificationConfig,omitzero"`
	}
)

// marshal writes JSON with the members in their order. An error means that a raw value of the caller is not JSON.
func marshal(v any) ([]byte, error) {
	return json.Marshal(v, json.Deterministic(true), jsontext.AllowInvalidUTF8(true), jsontext.AllowDuplicateNames(true))
}

// send returns the parameters of a send; streams never block.
func (p Protocol) send(m Message, o SendOptions, streams bool) outSend {
	out := outSend{
		Message: outMessage{
			MessageID: m.ID, ContextID: m.ContextID, TaskID: m.TaskID, Role: "ROLE_" + strings.ToUpper(string(m.Role)),
			Parts: []outPart{}, References: m.References, Extensions: m.Extensions, Metadata: m.Metadata,
		},
		Configuration: outConfiguration{
			AcceptedOutputModes: o.AcceptedOutputModes, HistoryLength: o.HistoryLength,
			ReturnImmediately: o.ReturnImmediately && !streams,
		},
		Metadata: o.Metadata,
	}
	for _, part := range m.Parts {
		out.Message.Parts = append(out.Message.Parts, part.encode())
	}
	if o.Push != nil {
		out.Configuration.Push = new(p.pushConfig(*o.Push))
		out.Configuration.Push.TaskID = "" // the task does not exist yet, A2A 1.0 §4.3.1
	}
	return out
}

// encode returns a part as A2A 1.0 §4.1.6.
func (p Part) encode() outPart {
	out := outPart{Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
	switch {
	case p.Bytes != nil:
		out.Raw = new(base64.StdEncoding.EncodeToString(p.Bytes))
	case p.URL != "":
		out.URL = p.URL
	case p.Data != nil:
		out.Data = p.Data
	default:
		out.Text = &p.Text
	}
	return out
}

// encodeState spells a state as A2A 1.0 §4.1.3.
func encodeState(s State) string {
	return "TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))
}
