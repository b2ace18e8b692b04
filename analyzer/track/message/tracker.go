// Package message tracks the contents of messages, as digests, to distinguish a retry from another message with the
// same id.
package message

import (
	"strings"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/internal/digest"
	"a2atap/analyzer/internal/recent"
	"a2atap/proxy/a2a"
)

// maxMessages bounds the remembered messages; the least recently used ones are forgotten.
const maxMessages = 10_000

// Tracker remembers the contents of messages in requests.
var Tracker = &analysis.Tracker{
	Name: "message",
	Doc:  "digests of the messages that clients have sent",
	On:   analysis.RequestDone,
	New: func(*analysis.Setup) analysis.State {
		return &Memory{messages: recent.NewHashed[digest.Digest, summary](maxMessages, digest.Digest.Low)}
	},
}

// Of returns the Memory of messages.
func Of(p *analysis.Pass) *Memory { return p.State(Tracker).(*Memory) }

// Memory remembers messages.
type Memory struct {
	messages *recent.Map[digest.Digest, summary]
	of       *analysis.Exchange // whose key was asked for last
	key      digest.Digest      // the same
	keyed    bool               // it has one
}

// A summary has digests of a message's contents. It leaves out ids, metadata and media types, and the queries of URLs:
// a signed link differs each time.
type summary struct {
	exchange uint64 // that sent it
	role     a2a.Role
	content  digest.Content
	files    digest.Digest // URLs, in their order
}

func digestOf(x *analysis.Exchange) summary {
	m := a2a.Message{Value: x.Call.Message}
	s := summary{exchange: x.Seq, role: m.Role(), content: x.Sent(), files: digest.Empty}
	for _, part := range m.Parts().All() {
		if part.PartKind() == a2a.URLPart {
			url, _, _ := strings.Cut(part.URI().Text(), "?")
			s.files = s.files.Text(url).Byte(' ')
		}
	}
	return s
}

func (s *summary) same(other *summary) bool {
	return s.role == other.role && s.content == other.content && s.files == other.files
}

// Other returns the place of an earlier request in which the same client, for the same credentials, sent the agent
// another message under the id of this one; ok is false if there was none. To send a message again is no other message.
func (m *Memory) Other(x *analysis.Exchange) (earlier analysis.Place, ok bool) {
	key, ok := m.keyOf(x)
	if !ok {
		return analysis.Place{}, false
	}
	first, known := m.messages.Get(key)
	if !known {
		return analysis.Place{}, false
	}
	now := digestOf(x)
	return analysis.Place{Exchange: first.exchange}.Body(), !now.same(&first)
}

// Take implements analysis.State: it remembers the message of a request.
func (m *Memory) Take(p *analysis.Pass) {
	key, ok := m.keyOf(p.Exchange)
	m.of = nil // it may be another exchange soon
	if !ok {
		return
	}
	if first, known := m.messages.At(key); !known {
		*first = digestOf(p.Exchange)
	}
}

// Forgotten implements analysis.State. Messages are not counted.
func (m *Memory) Forgotten() int { return 0 }

// keyOf returns the key of the message of an exchange, which the rule asks for before the tracker does.
func (m *Memory) keyOf(x *analysis.Exchange) (digest.Digest, bool) {
	if m.of != x {
		m.of = x
		m.key, m.keyed = keyOf(x)
	}
	return m.key, m.keyed
}

func keyOf(x *analysis.Exchange) (digest.Digest, bool) {
	if !x.Call.Operation.Sends() || x.Call.MessageID == "" || !x.CredentialsKept() ||
		(a2a.Message{Value: x.Call.Message}).Parts().Kind() != a2a.Array { // no agent could read it
		return 0, false
	}
	agent := digest.Empty.Text(x.Agent).Byte(0).Text(x.Tenant).Byte(0)
	return agent.Text(x.Call.MessageID).Byte(0).Number(x.Caller()), true
}
