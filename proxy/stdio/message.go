package stdio

import (
	"bytes"
	"encoding/json"
	"regexp"
)

// A message is what the recorder needs to know about a line.
type message struct {
	text    []byte
	dropped int64    // bytes that follow text and were not kept
	ids     []string // of its requests, or of the requests that it answers, as JSON
	asks    bool     // it has a method: it is a request, or a notification if it has no id
	client  string   // NAME/VERSION of the client, in the request initialize
}

// trailingID finds the id at the end of a long message whose rest is unknown. Some SDKs write the result first.
var trailingID = regexp.MustCompile(`"id"\s*:\s*("(?:[^"\\]|\\.)*"|-?\d+)\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*$`)

// readMessage reads a line without its end. tail is the end of a line of which some bytes were dropped. It returns false
// if the line is not JSON-RPC.
func readMessage(line []byte, dropped int64, tail []byte) (message, bool) {
	m := message{text: line, dropped: dropped}
	if dropped == 0 && len(line) > 0 && line[0] == '[' {
		var batch []json.RawMessage
		if json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
			return m, false
		}
		for _, one := range batch {
			if !m.read(one) {
				return m, false
			}
		}
		return m, true
	}
	ok := m.read(line)
	if id := trailingID.FindSubmatch(tail); dropped > 0 && len(m.ids) == 0 && id != nil {
		m.ids = append(m.ids, string(id[1]))
	}
	return m, ok
}

// read adds the members of one message. It reads a message that is cut off as far as it goes, unless it is complete.
func (m *message) read(text []byte) bool {
	var rpc, response bool
	var id, method string
	var params json.RawMessage
	in := json.NewDecoder(bytes.NewReader(text))
	if open, err := in.Token(); err != nil || open != json.Delim('{') {
		return false
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			break
		}
		var value json.RawMessage
		err = in.Decode(&value)
		switch name {
		case "jsonrpc":
			rpc = true
		case "id":
			if id = string(value); id == "null" {
				id = ""
			}
		case "method":
			json.Unmarshal(value, &method) //nolint:errcheck // it is empty then
			m.asks = true
		case "params":
			params = value
		case "result", "error":
			response = true
		}
		if err != nil {
			break
		}
	}
	if m.dropped == 0 {
		if end, err := in.Token(); err != nil || end != json.Delim('}') || len(bytes.TrimSpace(text[in.InputOffset():])) > 0 {
			return false
		}
	}
	if id != "" {
		m.ids = append(m.ids, id)
	}
	if method == "initialize" {
		m.client = clientOf(params)
	}
	return rpc || m.dropped > 0 && (m.asks || response)
}

// clientOf returns the name and version of a client, in the form of a product in User-Agent.
func clientOf(params []byte) string {
	var p struct {
		ClientInfo struct{ Name, Version string }
	}
	if json.Unmarshal(params, &p) != nil || p.ClientInfo.Name == "" {
		return ""
	}
	product := token(p.ClientInfo.Name)
	if version := p.ClientInfo.Version; version != "" {
		product += "/" + token(version)
	}
	return product
}

// token replaces the bytes that a token in a header field cannot have, and shortens the text.
func token(s string) string {
	text := []byte(s[:min(len(s), 64)])
	for i, c := range text {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			text[i] = '-'
		}
	}
	return string(text)
}
