package filter

import (
	"slices"
	"strings"
)

// The keys, in the order of the help.
var keySpecs = []*keySpec{
	numberKey("n", "number of the exchange in its capture", "n:3..9", readInteger, (*subject).number),
	idKey("id", "id of the exchange", "id:0190*", "", func(s *subject) []string { return []string{s.x.ID.String()} }),
	{Key: Key{"time", "when the request began, UTC", "time:>=12:30:00"}, parse: parseTimeTest},
	wordKey("kind", "kind of the call", "kind:mcp", "a2a", "mcp", "model", "other"),
	factKey("op", "operation, in the spelling of any dialect or binding", "op:SendMessage", "operation"),
	factKey("tool", "tool that was called, or that a model asked for", "tool:weather", ""),
	factKey("model", "model that was asked", "model:gpt-*", ""),
	numberKey("tokens", "tokens that a model read and wrote", "tokens:>1000", readInteger, numbersOf("tokens")),
	nameKey("method", "HTTP method", "method:POST", nameLike,
		func(s *subject) []string { return []string{s.request().Method} }),
	nameKey("path", "path of the request target, with or without its query", "path:/rpc", pathLike, (*subject).paths),
	nameKey("host", "requested host, or the agent's, with or without its port", "host:localhost", nameLike,
		(*subject).hosts),
	nameKey("agent", "name of the agent, which sends notifications", "agent:booker", nameLike, (*subject).agent),
	nameKey("client", "name of the client, which receives notifications", "client:planner", nameLike, (*subject).client),
	{Key: Key{"link", "who sent the request, and to whom", "link:planner->booker"}, parse: parseLinkTest, texts: (*subject).link},
	factKey("dialect", "version of A2A in use", "dialect:0.3", ""),
	factKey("binding", "jsonrpc, http+json or grpc", "binding:jsonrpc", ""),
	factIDKey("task", "id of a task", "task:t-1", "task"),
	factIDKey("context", "id of a context", "context:c-1", "context"),
	factIDKey("message", "id of a message", "message:m-1", ""),
	factKey("state", "state of a task, in the spelling of any dialect", "state:failed", ""),
	factKey("role", "role of a message, in the spelling of any dialect", "role:agent", ""),
	{
		Key:   Key{"event", "kind of an event: from its data, or from its event field", "event:artifact*"},
		parse: parseNameTest, texts: (*subject).eventKinds, asks: true,
	},
	numberKey("status", "HTTP status of the answer", "status:>=400", readStatus, (*subject).status),
	{
		Key: Key{"code", "code or name of an error", "code:-32001"}, parse: parseCodeTest, texts: facts("code"),
		asks: true,
	},
	factKey("rule", "id of a broken rule", "rule:stream-*", ""),
	wordKey("severity", "severity of a finding", "severity:error", "error", "warning", "note"),
	wordKey("side", "the side that broke a rule", "side:agent", "client", "agent", "receiver"),
	{
		Key:   Key{"header", "a header of the request or the answer", "header:Content-Type=application/json*"},
		parse: parseHeaderTest,
	},
	{
		Key:   Key{"json", "a value in a body or an event, by JSON Pointer", "json:/params/message/role=user"},
		parse: parseJSONTest,
	},
	numberKey("dur", "time from the first byte to the end", "dur:>2s", readDuration, (*subject).duration),
	numberKey("gap", "the longest pause", "gap:>5s", readDuration, (*subject).gap),
	numberKey("size", "bytes of the request's or the answer's body on the wire", "size:>1MB", readSize,
		(*subject).sizes),
	idKey("trace", "trace id of the request or the answer", "trace:4bf9*", "", (*subject).traces),
	numberKey("workflow", "number of the exchange that began the workflow", "workflow:3", readInteger,
		numbersOf("workflow")),
	{Key: Key{"is", "a property: " + strings.Join(isWords, " "), "is:open"}, parse: parseIsTest},
}

var keyNames = func() []string {
	names := make([]string, len(keySpecs))
	for i, k := range keySpecs {
		names[i] = k.Name
	}
	return names
}()

// Keys returns the keys of the filter language, in the order for a help text.
func Keys() []Key {
	keys := make([]Key, len(keySpecs))
	for i, k := range keySpecs {
		keys[i] = k.Key
	}
	return keys
}

// Values returns the possible values of a key for completion, or nil if they are not a few fixed words.
func Values(key string) []string {
	switch key {
	case "kind":
		return []string{"a2a", "mcp", "model", "other"}
	case "is":
		return slices.Clone(isWords)
	case "binding":
		return []string{"jsonrpc", "http+json", "grpc"}
	case "role":
		return []string{"user", "agent"}
	case "side":
		return []string{"client", "agent", "receiver"}
	}
	return nil
}

func nameKey(name, help, example string, place patternPlace, texts func(*subject) []string) *keySpec {
	return &keySpec{Key: Key{name, help, example}, parse: parseNameTest, texts: texts, place: place}
}

func idKey(name, help, example, index string, texts func(*subject) []string) *keySpec {
	return &keySpec{Key: Key{name, help, example}, parse: parseNameTest, texts: texts, index: index, exact: true}
}

func factKey(name, help, example, index string) *keySpec {
	return &keySpec{Key: Key{name, help, example}, parse: parseNameTest, texts: facts(name), index: index, asks: true}
}

func wordKey(name, help, example string, words ...string) *keySpec {
	k := factKey(name, help, example, "")
	k.words = words
	return k
}

func factIDKey(name, help, example, index string) *keySpec {
	return idKey(name, help, example, index, facts(name))
}

func numberKey(name, help, example string, read func(string) (bound[int64], error),
	numbers func(*subject) []int64,
) *keySpec {
	parse := func(p *parser, key *keySpec) (test, error) {
		c, err := parseNumber(p, key, read)
		return numberTest{key, c}, err
	}
	return &keySpec{Key: Key{name, help, example}, parse: parse, numbers: numbers}
}

func findKey(name string) *keySpec {
	for _, k := range keySpecs {
		if k.Name == name {
			return k
		}
	}
	return nil
}
