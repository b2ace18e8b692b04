package analyzer

import (
	"strings"

	"a2atap/proxy/a2a"
)

// maxSayings bounds the messages that are remembered to tell a retry from another message.
const maxSayings = 50_000

// A saying is what a message says, as digests. Ids, metadata and media types are left out, and so are the queries of URLs:
// a signed link is another one each time.
type saying struct {
	role    a2a.Role
	content Content
	files   digest // URLs, in their order
	place   Place  // of the request's body
}

func sayingOf(x *Exchange) saying {
	m := a2a.Message{Value: x.Call.Message}
	said := saying{role: m.Role(), content: noContent, files: noDigest, place: x.RequestPlace().Body()}
	said.content.add(m.Parts())
	for _, part := range m.Parts().All() {
		if part.PartKind() == a2a.URLPart {
			url, _, _ := strings.Cut(part.URI().Text(), "?")
			said.files = said.files.string(url).byte(' ')
		}
	}
	return said
}

func (s *saying) same(other *saying) bool {
	return s.role == other.role && s.content == other.content && s.files == other.files
}

// SaidOtherwise returns the place of an earlier request in which the same client, for the same credentials, sent the agent
// another message under the id of this one; ok is false if there was none. To send a message again is no other message.
func (s *Session) SaidOtherwise(x *Exchange) (earlier Place, ok bool) {
	key, ok := s.sayingKey(x)
	if !ok {
		return Place{}, false
	}
	first, known := s.sayings.get(key)
	if !known {
		return Place{}, false
	}
	now := sayingOf(x)
	return first.place, !now.same(&first)
}

// said remembers what a request says.
func (s *Session) said(x *Exchange) {
	key, ok := s.sayingKey(x)
	if !ok {
		return
	}
	if _, known := s.sayings.get(key); !known {
		s.sayings.put(key, sayingOf(x))
	}
}

func (s *Session) sayingKey(x *Exchange) (digest, bool) {
	if !x.Call.Operation.Sends() || x.Call.MessageID == "" || !x.HeadersKept() {
		return 0, false
	}
	return noDigest.string(x.agent).byte(0).string(x.tenant).byte(0).string(x.Call.MessageID).byte(0).number(s.caller(x)), true
}
