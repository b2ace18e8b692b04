package program

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// The tests change the working directory, so they do not run in parallel.
func TestModels(t *testing.T) {
	for name, c := range map[string]struct {
		env     map[string]string
		files   map[string]string
		program string
		taps    []string
		want    string // the taps of the variables
		skipped string
	}{
		"the vendors' addresses": {
			want: "openai=https://api.openai.com/v1 anthropic=https://api.anthropic.com " +
				"gemini=https://generativelanguage.googleapis.com ollama=http://127.0.0.1:11434 groq=https://api.groq.com " +
				"cerebras=https://api.cerebras.ai",
		},
		"addresses that the variables had": {
			env: map[string]string{
				"OPENAI_BASE_URL": "http://localhost:8000/v1", "ANTHROPIC_BASE_URL": "http://localhost:8000", "OLLAMA_HOST": "0.0.0.0:1",
				"GOOGLE_GEMINI_BASE_URL": "https://g.example/", "GROQ_BASE_URL": "https://g.example", "CEREBRAS_BASE_URL": "https://g.example",
				"TOGETHER_BASE_URL": "https://t.example/v1",
			},
			want: "localhost:8000=http://localhost:8000/v1 g.example:443=https://g.example/ 127.0.0.1:1=http://127.0.0.1:1 " +
				"t.example:443=https://t.example/v1",
		},
		"an agent of the user": {
			env: all("https://m.example"), taps: []string{"llm=https://m.example/v2"}, want: "",
		},
		"the variable of another address": {
			env:  withOut(all("https://m.example"), "OPENAI_BASE_URL", "AZURE_OPENAI_ENDPOINT=https://a.example"),
			want: "m.example:443=https://m.example a.example:443=https://a.example",
		},
		"a file .env": {
			env: withOut(all("https://m.example"), "OPENAI_BASE_URL"), files: map[string]string{".env.local": "OPENAI_BASE_URL=x"},
			want: "m.example:443=https://m.example", skipped: "OPENAI_BASE_URL is not changed: a file .env has it",
		},
		"a package that expects another form": {
			env: withOut(all("https://m.example"), "ANTHROPIC_BASE_URL"), files: map[string]string{"../node_modules/@ai-sdk/anthropic/x": ""},
			want: "m.example:443=https://m.example", skipped: "ANTHROPIC_BASE_URL is not changed: node_modules/@ai-sdk/anthropic expects another form",
		},
		"a server": {
			env: withOut(all("https://m.example"), "OLLAMA_HOST"), program: "/bin/ollama", want: "m.example:443=https://m.example",
		},
		"a value that is no URL": {
			env: withOut(all("https://m.example"), "GROQ_BASE_URL", "GROQ_BASE_URL=ftp://x"), want: "m.example:443=https://m.example",
			skipped: "GROQ_BASE_URL is not changed: its value is not the URL of an HTTP server",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "a", "b")
			must.Do(t, os.MkdirAll(dir, 0o700))
			t.Chdir(dir)
			for file, text := range c.files {
				must.Do(t, os.MkdirAll(filepath.Dir(file), 0o700))
				must.Do(t, os.WriteFile(file, []byte(text), 0o600))
			}
			var taps []proxy.TapSpec
			for _, tap := range c.taps {
				taps = append(taps, must.Get(proxy.ParseTap(tap))(t))
			}
			m := NewModels(c.program, func(name string) string { return c.env[name] }, taps)
			var got []string
			for _, tap := range m.Taps {
				got = append(got, tap.Name+"="+tap.Agent.String())
			}
			expect.Equal(t, "taps", c.want, strings.Join(got, " "))
			expect.Equal(t, "skipped", c.skipped, strings.Join(m.Skipped, ", "))
		})
	}
}

// all returns an environment in which each variable with a default leads to an address.
func all(address string) map[string]string {
	env := make(map[string]string)
	for _, b := range baseURLs {
		if b.vendor != "" {
			env[b.variable] = address
		}
	}
	return env
}

// withOut returns an environment without a variable, and with others.
func withOut(env map[string]string, name string, others ...string) map[string]string {
	delete(env, name)
	for _, other := range others {
		name, value, _ := strings.Cut(other, "=")
		env[name] = value
	}
	return env
}
