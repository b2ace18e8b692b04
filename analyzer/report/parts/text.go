package parts

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

// A text is a string that JSON keeps as it is: one that is not UTF-8 is written as its bytes, in base64.
type text string

// MarshalJSON implements json.Marshaler.
func (t text) MarshalJSON() ([]byte, error) {
	if !utf8.ValidString(string(t)) {
		return json.Marshal(struct {
			Bytes []byte `json:"bytes"`
		}{[]byte(t)})
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(string(t))
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *text) UnmarshalJSON(data []byte) error {
	if !bytes.HasPrefix(data, []byte("{")) {
		return json.Unmarshal(data, (*string)(t))
	}
	var raw struct {
		Bytes []byte `json:"bytes"`
	}
	err := json.Unmarshal(data, &raw)
	*t = text(raw.Bytes)
	return err
}
