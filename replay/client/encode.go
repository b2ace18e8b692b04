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
		Message       Message            `json:"message"`
		Configuration outConfiguration   `json:"configuration,omitzero"`
		Metadata      stdjson.RawMessage `json:"metadata,omitzero"`
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
		Message: m, Metadata: o.Metadata,
		Configuration: outConfiguration{
			AcceptedOutputModes: o.AcceptedOutputModes, HistoryLength: o.HistoryLength,
			ReturnImmediately: o.ReturnImmediately && !streams,
		},
	}
	if o.Push != nil {
		out.Configuration.Push = new(p.pushConfig(*o.Push))
		out.Configuration.Push.TaskID = "" // the task does not exist yet, A2A 1.0 §4.3.1
	}
	return out
}

// MarshalJSONTo writes a part as A2A 1.0 §4.1.6.
func (p Part) MarshalJSONTo(e *jsontext.Encoder) error {
	out := wirePart{Filename: p.Filename, MediaType: p.MediaType, Metadata: p.Metadata}
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
	return json.MarshalEncode(e, out)
}

// MarshalText spells a role as A2A 1.0 §4.1.5.
func (r Role) MarshalText() ([]byte, error) { return []byte("ROLE_" + strings.ToUpper(string(r))), nil }

// MarshalText spells a state as A2A 1.0 §4.1.3.
func (s State) MarshalText() ([]byte, error) {
	return []byte("TASK_STATE_" + strings.ToUpper(strings.ReplaceAll(string(s), "-", "_"))), nil
}
