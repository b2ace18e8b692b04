package client

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"a2atap/proxy/jsondoc"
)

// mergePatch returns parameters with a JSON merge patch applied (RFC 7396).
func mergePatch(text, patch []byte) ([]byte, error) {
	var target, p any
	if err := jsondoc.Unmarshal(text, &target); err != nil {
		return nil, err
	}
	if err := jsondoc.Unmarshal(patch, &p); err != nil {
		return nil, fmt.Errorf("read the patch: %w", err)
	}
	if _, ok := p.(map[string]any); !ok {
		return nil, fmt.Errorf("read the patch: it is not a JSON object")
	}
	var out bytes.Buffer
	encoder := stdjson.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(merged(target, p))
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
