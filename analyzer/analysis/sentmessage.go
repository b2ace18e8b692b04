package analysis

import (
	"strings"

	"a2atap/analyzer/internal/digest"
	"a2atap/proxy/a2a"
)

// A SentMessage is the stored digest of a message that a client has sent.
type SentMessage struct {
	ID      string
	role    string
	right   bool // the message has no error that an agent could have repeated
	content digest.Content
}

// SentMessageOf returns the stored form of an exchange's message.
func SentMessageOf(x *Exchange) *SentMessage {
	m := a2a.Message{Value: x.Call.Message}
	s := &SentMessage{ID: x.Call.MessageID, role: m.RoleText(), content: x.Sent()}
	modern := x.Dialects == a2a.Of(a2a.V1_0)
	s.right = m.Role() == a2a.UserRole && modern == strings.HasPrefix(s.role, "ROLE_") && m.Parts().Len() > 0
	for _, part := range m.Parts().All() {
		s.right = s.right && part.PartKind() != a2a.UnknownPart && !(modern && (part.Has("kind") || part.Has("type")))
	}
	return s
}

// ChangedIn reports whether a correct message is repeated in a changed form.
func (s *SentMessage) ChangedIn(m a2a.Message) bool {
	return s.right && (s.role != m.RoleText() || s.content != digest.ContentOf(m.Parts()))
}
