package minimize

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"a2atap/proxy/capture"
	"a2atap/proxy/capture/credential"
	"a2atap/proxy/jsondoc"
)

// ownMembers are members whose strings are the protocol's own words.
var ownMembers = []string{
	"jsonrpc", "method", "kind", "state", "role", "type", "in", "protocolVersion", "protocolBinding", "transport",
	"preferredTransport", "version", "mimeType", "mediaType", "contentType", "defaultInputModes", "defaultOutputModes",
	"inputModes", "outputModes", "acceptedOutputModes", "timestamp", "createdAt", "lastModified", "updatedAt",
	"@type", "reason", "domain", "status", "scheme", "schemes", "bearerFormat", "authentication", "alg", "typ", "kty",
	"crv", "use", "protected", "signature",
}

var neutralWord = regexp.MustCompile(`^(text |name-|id-|value-|path-)[0-9]+$`)

// isNeutral reports whether a value identifies no one.
func isNeutral(value string) bool { return value == "" || neutralWord.MatchString(value) }

// word returns a neutral word that the exchanges do not contain.
func (j *judge) word(begin string) string {
	for {
		j.named++
		word := fmt.Sprintf("%s%d", begin, j.named)
		if !j.holds(word) {
			return word
		}
	}
}

// holds reports whether a word is anywhere in the exchanges.
func (j *judge) holds(word string) bool {
	return slices.ContainsFunc(j.now, func(x *capture.Exchange) bool {
		return slices.ContainsFunc(parts(x), func(p []byte) bool { return strings.Contains(string(p), word) })
	})
}

// neutralStrings replaces strings in JSON, and the same strings in paths and queries, with neutral words.
func (j *judge) neutralStrings() (kept []string) {
	names := make(map[string]string) // the first member that has a string
	list := j.values(func(name, value string) bool {
		if isNeutral(value) || slices.Contains(ownMembers, name) || isURL(value) || isResource(value) ||
			credential.HasPlaceholder([]byte(value)) {
			return false
		}
		names[value] = name
		return true
	})
	for _, value := range list {
		if was := names[value]; !j.exchangeString(value, j.neutral(was, value)) && j.ctx.Err() == nil {
			kept = append(kept, fmt.Sprintf("the %s %q", was, short(value)))
		}
	}
	for _, id := range j.resourceIDs() {
		if !j.exchangeString(id, j.word("id-")) && j.ctx.Err() == nil {
			kept = append(kept, fmt.Sprintf("the id %q in names", id))
		}
	}
	for _, id := range j.pathIDs() {
		if !j.replaceAll(id, j.word("id-")) && j.ctx.Err() == nil {
			kept = append(kept, fmt.Sprintf("the id %q in paths", id))
		}
	}
	return kept
}

var uuidInPath = regexp.MustCompile(`[0-9A-Fa-f]{8}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{4}-?[0-9A-Fa-f]{12}`)

// pathIDs returns the UUIDs that are left in paths.
func (j *judge) pathIDs() []string {
	var list []string
	for _, x := range j.now {
		head := capture.ParseRequestHead(x.Request.Head)
		for _, id := range uuidInPath.FindAllString(head.Target+" "+x.Agent.URL, -1) {
			if !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// resourceIDs returns the remaining ids in the names that 0.3 over gRPC has for tasks and push configs.
func (j *judge) resourceIDs() []string {
	var list []string
	for _, name := range j.values(func(_, value string) bool { return isResource(value) }) {
		for i, id := range strings.Split(name, "/") {
			if i%2 == 1 && !isNeutral(id) && !slices.Contains(list, id) {
				list = append(list, id)
			}
		}
	}
	return list
}

// replaceAll replaces one word with another everywhere.
func (j *judge) replaceAll(was, is string) bool {
	return j.rewrite(func(x *capture.Exchange) {
		x.Agent.URL = strings.ReplaceAll(x.Agent.URL, was, is)
		replaceInParts(x, was, is)
	})
}

func isURL(value string) bool {
	return strings.HasPrefix(value, "http://") || strings.HasPrefix(value, "https://")
}

// neutral returns the replacement for a member's value.
func (j *judge) neutral(name, value string) string {
	switch {
	case name == "bytes" || name == "raw":
		return base64.StdEncoding.EncodeToString([]byte(j.word("text ")))
	case name == "id" || strings.HasSuffix(name, "Id") || strings.HasSuffix(name, "Ids"):
		return j.word("id-")
	case name == "text" || name == "description" || name == "message" || strings.Contains(value, " "):
		return j.word("text ")
	case name == "name" || name == "title" || name == "organization":
		return j.word("name-")
	}
	return j.word("value-")
}

// exchangeString replaces one string with another in JSON, paths and queries.
func (j *judge) exchangeString(was, is string) bool {
	return j.rewrite(func(x *capture.Exchange) {
		replaceStrings(x, was, is)
		lines := headLines(x.Request.Head)
		if len(lines) == 0 {
			return
		}
		method, rest, _ := strings.Cut(string(lines[0]), " ")
		target, version, _ := strings.Cut(rest, " ")
		if changed := replaceInTarget(target, was, is); changed != target {
			first := []byte(method + " " + changed + " " + version)
			x.Request.Head = slices.Concat(first, x.Request.Head[len(lines[0]):])
		}
	})
}

// replaceInTarget replaces one word with another if it is a whole path segment, with or without a verb after a colon,
// or a query value.
func replaceInTarget(target, was, is string) string {
	path, query, hasQuery := strings.Cut(target, "?")
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		id, verb, hasVerb := strings.Cut(segment, ":")
		if plain, err := url.PathUnescape(id); err == nil && plain == was {
			segments[i] = url.PathEscape(is)
			if hasVerb {
				segments[i] += ":" + verb
			}
		}
	}
	out := strings.Join(segments, "/")
	if !hasQuery {
		return out
	}
	pairs := strings.Split(query, "&")
	for i, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		if plain, err := url.QueryUnescape(value); err == nil && plain == was {
			pairs[i] = name + "=" + url.QueryEscape(is)
		}
	}
	return out + "?" + strings.Join(pairs, "&")
}

func isJSON(text []byte) bool {
	doc := jsondoc.Parse(text)
	return doc.Err == nil
}
