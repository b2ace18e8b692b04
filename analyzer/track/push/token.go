package push

import (
	"hash/maphash"

	"a2atap/analyzer/analysis"
	"a2atap/proxy/a2a"
)

// A TokenUse is a push notification config with a token.
type TokenUse struct {
	Place analysis.Place // of the config

	task, url, config, message string
}

// TokenElsewhere returns an earlier config of the same client that has the token of the config in the current request,
// if it is certainly another one: for another task, or another config of the task with another URL. A resent message
// has its config again. The task is the request's, or the one that the message has started.
func (m *Memory) TokenElsewhere(x *analysis.Exchange, taskID string) *TokenUse {
	now, key, ok := m.tokenUse(x, taskID)
	if !ok {
		return nil
	}
	earlier, ok := m.tokens.Get(key)
	if !ok || earlier.Place.Exchange == x.Seq || now.message != "" && earlier.message == now.message {
		return nil
	}
	differ := earlier.config != "" && now.config != "" && earlier.config != now.config
	if earlier.task == taskID && (earlier.url == now.url || !differ) {
		return nil
	}
	return earlier
}

// usedToken remembers the token of the config in a request, now that its task is known.
func (m *Memory) usedToken(x *analysis.Exchange, taskID string) {
	if now, key, ok := m.tokenUse(x, taskID); ok {
		if _, known := m.tokens.Get(key); !known {
			m.tokens.Put(key, now)
		}
	}
}

func (m *Memory) tokenUse(x *analysis.Exchange, taskID string) (use *TokenUse, key uint64, ok bool) {
	config := x.Call.PushConfig
	token := config.Token()
	if token == "" || config.URL() == "" || taskID == "" || x.Dialects != a2a.Of(a2a.V1_0) {
		return nil, 0, false
	}
	return &TokenUse{
		Place: x.RequestPlace().Body().At(config.Config().Pointer()),
		task:  taskID, url: config.URL(), config: x.Call.ConfigID, message: x.Call.MessageID,
	}, maphash.String(m.seed, x.Link.Client+"\x00"+token), true
}
