package webhook

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"strings"

	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/relay"
)

// hookPrefix begins the path of the addresses that agents receive instead of webhooks.
const hookPrefix = "/.a2atap/webhook/"

// maxHookURL is the maximum length of a webhook's URL in bytes; longer ones pass unmodified.
const maxHookURL = 2048

// A hook is a webhook that an agent was given through a tap.
type hook struct {
	agent  string // the tap's name
	client string // who configured it; empty if it has no name
	url    string // as the client wrote it
}

// A sealer converts hooks to addresses and back. The address of a hook is always the same, so that agents can identify
// webhooks by URL. Without the key, addresses can be neither made nor read, since the URL of a webhook may have
// secrets.
type sealer struct {
	aead cipher.AEAD
	mac  []byte
}

// newSealer derives its keys from a key that also serves other purposes.
func newSealer(key []byte) (*sealer, error) {
	block, err := aes.NewCipher(derive(key, "a2atap webhook: encryption"))
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCM(block)
	return &sealer{aead: aead, mac: derive(key, "a2atap webhook: nonce")}, err
}

func derive(key []byte, purpose string) []byte {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(purpose)) //nolint:errcheck // it never fails
	return h.Sum(nil)
}

// seal returns the last segment of a hook's address: characters of base64url.
//
// The nonce is a keyed digest of the sealed text: it is the same only if the text is the same.
func (s *sealer) seal(h hook) string {
	plain := []byte(strings.Join([]string{h.agent, h.client, h.url}, "\x00"))
	nonce := derive(s.mac, string(plain))[:s.aead.NonceSize()]
	return base64.RawURLEncoding.EncodeToString(s.aead.Seal(nonce, nonce, plain, []byte(hookPrefix)))
}

// open decrypts the result of seal. It returns false for anything else.
func (s *sealer) open(token string) (h hook, ok bool) {
	sealed, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(sealed) < s.aead.NonceSize() {
		return hook{}, false
	}
	nonce, sealed := sealed[:s.aead.NonceSize()], sealed[s.aead.NonceSize():]
	plain, err := s.aead.Open(nil, nonce, sealed, []byte(hookPrefix))
	if err != nil {
		return hook{}, false
	}
	parts := strings.SplitN(string(plain), "\x00", 3)
	if len(parts) != 3 {
		return hook{}, false
	}
	return hook{parts[0], parts[1], parts[2]}, true
}

// ours returns the hook for a URL that is one of the tap's addresses.
func (s *sealer) ours(u string) (h hook, ok bool) {
	_, token, found := strings.Cut(u, hookPrefix)
	if !found {
		return hook{}, false
	}
	return s.open(token)
}

// A delivery is a notification on its way to a webhook.
type delivery struct {
	hook
	to        relay.Target
	authority string // of the webhook, as its URL has it
	target    string // in origin form
}

var errForeignHook = errors.New("the address of the webhook was not created with the key of this recorder, or was " +
	"altered, so the webhook is unknown. Start the recorder with the --redaction-key of the recorder that created it, or " +
	"let the client configure its webhook again")

// deliver returns the destination of a request whose target begins with hookPrefix. A query that the agent has added,
// such as the validationToken of a challenge, is appended to the webhook's.
func (s *sealer) deliver(target string) (d delivery, err error) {
	token, added, _ := strings.Cut(strings.TrimPrefix(target, hookPrefix), "?")
	var ok bool
	if d.hook, ok = s.open(token); !ok {
		return delivery{}, errForeignHook
	}
	at, _, _ := strings.Cut(d.url, "#")
	if scheme, rest, found := strings.Cut(at, "://"); found {
		end := strings.IndexAny(rest, "/?")
		if end < 0 {
			end = len(rest)
		}
		at = scheme + "://" + rest[strings.LastIndexByte(rest[:end], '@')+1:]
	}
	if d.to, d.authority, d.target, err = relay.ParseTarget(at); err != nil {
		return delivery{}, err
	}
	if !strings.HasPrefix(d.target, "/") {
		d.target = "/" + d.target
	}
	switch {
	case added == "":
	case strings.Contains(d.target, "?"):
		d.target += "&" + added
	default:
		d.target += "?" + added
	}
	return d, nil
}

// head returns the head of a delivery as the agent would have sent it to the webhook itself.
func (d *delivery) head(raw []byte) []byte {
	edit := rawhead.NewEdit(raw)
	edit.SetTarget(d.target)
	edit.Each("Host", func(string) (string, bool) { return d.authority, true })
	return edit.Bytes()
}
