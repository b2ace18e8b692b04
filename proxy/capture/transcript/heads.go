package transcript

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// heads are the heads that have a name. docs/CONTRIBUTING.md lists them.
var heads = map[string]map[string]string{
	"request": {
		"rpc":     "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\n",
		"rpc-1.0": "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\nA2A-Version: 1.0\n",
		"rpc-sse": "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\n" +
			"Accept: text/event-stream\n",
		"rpc-sse-1.0": "POST /rpc HTTP/1.1\nHost: booker.example:9001\nContent-Type: application/json\n" +
			"Accept: text/event-stream\nA2A-Version: 1.0\n",
		"card":     "GET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\n",
		"card-1.0": "GET /.well-known/agent-card.json HTTP/1.1\nHost: booker.example:9001\nA2A-Version: 1.0\n",
		"card-0.2": "GET /.well-known/agent.json HTTP/1.1\nHost: booker.example:9001\n",
	},
	"response": {
		"json":         "HTTP/1.1 200 OK\nContent-Type: application/json\n",
		"json-400":     "HTTP/1.1 400 Bad Request\nContent-Type: application/json\n",
		"json-404":     "HTTP/1.1 404 Not Found\nContent-Type: application/json\n",
		"card":         "HTTP/1.1 200 OK\nContent-Type: application/json\nCache-Control: max-age=60\nETag: \"1\"\n",
		"sse":          "HTTP/1.1 200 OK\nContent-Type: text/event-stream\n",
		"sse-no-cache": "HTTP/1.1 200 OK\nContent-Type: text/event-stream\nCache-Control: no-cache\n",
		"grpc":         "HTTP/2 200\ncontent-type: application/grpc\n",
		"empty":        "HTTP/1.1 204 No Content\n",
	},
}

// withHead returns the content of a section with its head, if the head is given by name.
func withHead(kind, name string, content []byte) ([]byte, error) {
	if name == "" {
		return content, nil
	}
	known := heads[kind]
	if known == nil {
		return nil, errSection
	}
	head, ok := known[name]
	if !ok {
		return nil, fmt.Errorf("unknown head %q; use %s, or write the head", name,
			strings.Join(slices.Sorted(maps.Keys(known)), ", "))
	}
	return slices.Concat([]byte(head), []byte("\n"), content), nil
}
