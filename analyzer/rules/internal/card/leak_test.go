package card

import (
	"regexp"
	"testing"
)

// leaking is what mayLeak looks for.
var leaking = regexp.MustCompile(`PRIVATE KEY-----|://[^/?#"\s]*@|\bAKIA|\bgh[pousr]_|\bgithub_pat_|\bAIza|\bxox[abpr]-|` +
	`\bsk-|[cC]lient_?[sS]ecret|[aA]ccess_?[tT]oken|[rR]efresh_?[tT]oken|[pP]rivate_?[kK]ey|assword"`)

func TestMayLeak(t *testing.T) {
	for _, text := range []string{
		"", "AKIA", `"AKIA`, "xAKIA", "_AKIA AKIA", "ghp_", "ghq_", "Lghs_", "-ghr_", "github_pat_", "agithub_pat_",
		"AIza", "9AIza", "xoxb-", "xoxc-", "task-lifecycle", "a sk-1", "ask-1, task-1, \xc3\xa9sk-", "sk-",
		"https://a.example/b@c", "https://a.example?@", "https://user@a.example", "https://u:p@a", "://@", "https://a b@c",
		`"https://a","x@y"`, "://a://b@c", "https://a\n@",
		"client_secret", "clientSecret", "ClientSecret", "clientsecret", "client__secret", "client secret", "lient_secret",
		"CLIENT_SECRET",
		"access_token", "accessToken", "access a token", "Accesstoken", "ccess_token", "access_", "access",
		"refresh_Token", "refreshed",
		"private_key", "privateKey", "private key", "private_keX", "-----BEGIN PRIVATE KEY-----", "PRIVATE KEY----",
		`"password"`, `"Password":`, "password", "tokenUrl authorizationUrl access refresh client private",
	} {
		if got, want := mayLeak([]byte(text)), leaking.MatchString(text); got != want {
			t.Errorf("%q: got %v, want %v", text, got, want)
		}
	}
}

// Cards are public, untrusted input: whatever a card has, the quick check finds all that the slow one finds.
func FuzzMayLeak(f *testing.F) {
	f.Add([]byte(`{"url":"https://u@a.example","clientSecret":"x","skill":"task-1"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		if got, want := mayLeak(raw), leaking.Match(raw); got != want {
			t.Errorf("%q: got %v, want %v", raw, got, want)
		}
	})
}
