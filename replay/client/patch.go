package client

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// mergePatch returns parameters with a JSON merge patch applied (RFC 7396).
func mergePatch(params any, patch []byte) (jsontext.Value, error) {
	text, err := marshal(params)
	if err != nil {
		return nil, err
	}
	target, err := readAny(text)
	if err != nil {
		return nil, err
	}
	p, err := readAny(patch)
	if err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	if _, ok := p.(map[string]any); !ok {
		return nil, fmt.Errorf("read the patch: it is not a JSON object")
	}
	var out bytes.Buffer
	encoder := stdjson.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err = encoder.Encode(merged(target, p))
	return bytes.TrimSpace(out.Bytes()), err
}

func merged(target, patch any) any {
	changes, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	object, ok := target.(map[string]any)
	if !ok {
		object = make(map[string]any)
	}
	for name, value := range changes {
		if value == nil {
			delete(object, name)
		} else {
			object[name] = merged(object[name], value)
		}
	}
	return object
}

// readAny reads one JSON value, with numbers as they are written.
func readAny(text []byte) (any, error) {
	decoder := stdjson.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	var v any
	if err := decoder.Decode(&v); err != nil {
		return nil, err
	}
	if decoder.More() {
		return nil, fmt.Errorf("something follows the JSON value")
	}
	return v, nil
}
