package analyzer

import "a2atap/proxy/a2a"

// maxTokens bounds the tokens of webhooks that are remembered.
const maxTokens = 20_000

// A TokenUse is a push notification config with a token.
type TokenUse struct {
	Place Place // of the config

	task, url, config, message string
}

// TokenElsewhere returns an earlier config of the same client that has the token of the config in the request at hand, if
// it is surely another one: for another task, or another config of the task with another URL. A message that is sent again
// brings its config again. The task is that of the request, or the one that the message has started.
func (s *Session) TokenElsewhere(x *Exchange, taskID string) *TokenUse {
	now, key, ok := s.tokenUse(x, taskID)
	if !ok {
		return nil
	}
	earlier, ok := s.tokens.get(key)
	if !ok || earlier.Place.Exchange == x.Seq || now.message != "" && earlier.message == now.message {
		return nil
	}
	if earlier.task == taskID && (earlier.url == now.url || earlier.config == "" || now.config == "" || earlier.config == now.config) {
		return nil
	}
	return earlier
}

// usedToken remembers the token of the config in a request, now that its task is known.
func (s *Session) usedToken(x *Exchange, taskID string) {
	if now, key, ok := s.tokenUse(x, taskID); ok {
		if _, known := s.tokens.get(key); !known {
			s.tokens.put(key, now)
		}
	}
}

func (s *Session) tokenUse(x *Exchange, taskID string) (use *TokenUse, key uint64, ok bool) {
	config := x.Call.PushConfig
	token := config.Token()
	if token == "" || taskID == "" || x.Dialects != a2a.Of(a2a.V1_0) {
		return nil, 0, false
	}
	return &TokenUse{
		Place: x.RequestPlace().Body().At(config.Config().Pointer()),
		task:  taskID, url: config.URL(), config: x.Call.ConfigID, message: x.Call.MessageID,
	}, s.hash(x.Link.Client + "\x00" + token), true
}
