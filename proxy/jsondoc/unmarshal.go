package jsondoc

import (
	"bytes"
	"encoding/json"
	"errors"
)

// Unmarshal reads one JSON value as encoding/json does, but numbers become json.Number, as they are written.
func Unmarshal(text []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return err
	}
	if d.More() {
		return errors.New("something follows the JSON value")
	}
	return nil
}
