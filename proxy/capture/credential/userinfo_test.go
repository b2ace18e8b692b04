package credential_test

import (
	"strings"
	"testing"

	"a2atap/proxy/capture/credential"
	"a2atap/proxy/expect"
)

func TestWithoutUserinfo(t *testing.T) {
	for text, want := range map[string]string{
		"": "",
		"dial http://booker.example:9001/a@b: no": "dial http://booker.example:9001/a@b: no",
		"dial http://alice:s3cret@booker:9001/a":  "dial http://…@booker:9001/a",
		`"https://token@booker" and ws://u:p@q@b`: `"https://…@booker" and ws://…@b`,
		`{"url":"http:\/\/alice:s3cret@booker"}`:  `{"url":"http:\/\/…@booker"}`,
		"http://booker?mail=a@b":                  "http://booker?mail=a@b",
		"mail a@b, see http://booker":             "mail a@b, see http://booker",
		"(HTTP://alice:s%40c@[::1]:80)":           "(HTTP://…@[::1]:80)",
	} {
		expect.Equal(t, text+" became", want, credential.WithoutUserinfo(text))
	}
}

func FuzzWithoutUserinfo(f *testing.F) {
	f.Add("see ", "alice:s3cret", "booker/a")
	f.Fuzz(func(t *testing.T, before, user, host string) {
		if user == "" || strings.ContainsAny(user, "…/?#\"'<>`@:\\") || strings.TrimSpace(user) != user ||
			len(strings.Fields(user)) != 1 {
			return
		}
		secret := user + "\x01secret"
		if strings.Contains(before+host, secret) {
			return
		}
		if got := credential.WithoutUserinfo(before + "http://" + secret + "@" + host); strings.Contains(got, secret) {
			t.Errorf("got %q", got)
		}
	})
}
