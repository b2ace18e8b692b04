package program

import (
	"bytes"
	"fmt"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/proxy"
	"a2atap/proxy/hostname"
)

// A baseURL is a variable with the address of a model's API, as SDKs read it.
type baseURL struct {
	variable string
	vendor   string   // the name of the tap in front of the SDKs' default; empty if SDKs differ in it
	address  string   // that default
	port     string   // added to an address without scheme and port
	rivals   []string // variables for another address, with which the default would be wrong
	folder   string   // of a package that reads the variable in another form
}

// baseURLs are the variables, as in the sources of the SDKs for Python and JavaScript and of LiteLLM and LangChain. A
// variable with a default that its SDK ignores, or that means something else to another program, is set only if the user
// has set it.
var baseURLs = []baseURL{
	// The SDK for Azure in JavaScript reads this variable too, and prefers it.
	{variable: "OPENAI_BASE_URL", vendor: "openai", address: "https://api.openai.com/v1", rivals: []string{
		"OPENAI_API_BASE", "AZURE_OPENAI_ENDPOINT", "AZURE_OPENAI_API_KEY",
	}},
	// The Vercel AI SDK expects /v1 at the end, and Anthropic's own SDKs add it.
	{
		variable: "ANTHROPIC_BASE_URL", vendor: "anthropic", address: "https://api.anthropic.com",
		rivals: []string{"ANTHROPIC_API_BASE"}, folder: "node_modules/@ai-sdk/anthropic",
	},
	{variable: "GOOGLE_GEMINI_BASE_URL", vendor: "gemini", address: "https://generativelanguage.googleapis.com"},
	{variable: "OLLAMA_HOST", vendor: "ollama", address: "http://127.0.0.1:11434", port: "11434"},
	{variable: "GROQ_BASE_URL", vendor: "groq", address: "https://api.groq.com"},
	{variable: "CEREBRAS_BASE_URL", vendor: "cerebras", address: "https://api.cerebras.ai"},
	{variable: "OPENAI_API_BASE"},
	{variable: "AZURE_OPENAI_ENDPOINT"},
	{variable: "AZURE_API_BASE"},
	{variable: "ANTHROPIC_API_BASE"},
	{variable: "GOOGLE_VERTEX_BASE_URL"},
	{variable: "GEMINI_API_BASE"},
	{variable: "OLLAMA_API_BASE"},
	{variable: "TOGETHER_BASE_URL"},
	{variable: "CO_API_URL"},
	{variable: "LITELLM_PROXY_API_BASE"},
	{variable: "HOSTED_VLLM_API_BASE"},
	{variable: "DEEPSEEK_API_BASE"},
	{variable: "XAI_API_BASE"},
}

// BaseURLHelp lists the variables for a help text.
func BaseURLHelp() string {
	var always, others []string
	for _, b := range baseURLs {
		if b.vendor != "" {
			always = append(always, b.variable)
		} else {
			others = append(others, b.variable)
		}
	}
	return `run opens taps for model calls, and sets the variables from which SDKs read a model's address. So model
calls need neither the proxy nor the authority. Each tap forwards to the previous value of its variable, or else to the
vendor. For other programs, record --agent llm=https://api.openai.com opens such a tap. The variables are:

` + indented(always) + `

and, only if they have a value:

` + indented(others)
}

// indented returns words as indented lines.
func indented(words []string) string {
	lines, width := []string{"  "}, 110
	for i, word := range words {
		if i < len(words)-1 {
			word += ", "
		}
		if last := &lines[len(lines)-1]; len(*last)+len(word) > width {
			lines = append(lines, "  "+word)
		} else {
			*last += word
		}
	}
	return strings.Join(lines, "\n")
}

// Models are taps in front of the APIs of language models, for a program that reads their addresses from variables.
type Models struct {
	Taps      []proxy.TapSpec // to open in addition to the user's
	Skipped   []string        // variables that are not changed although they could be, with the reason
	addresses []modelAddress
}

// A modelAddress is the value that a variable would have without a2atap.
type modelAddress struct {
	variable string
	url      *url.URL
}

// NewModels returns the taps for a program, in addition to those of the user.
func NewModels(program string, getenv func(string) string, taps []proxy.TapSpec) Models {
	var m Models
	set := func(variable string) bool { return getenv(variable) != "" }
	for _, b := range baseURLs {
		value := getenv(b.variable)
		why := ""
		switch {
		case value != "":
		case b.vendor == "" || slices.ContainsFunc(b.rivals, set):
			continue
		case b.variable == "OLLAMA_HOST" && strings.HasPrefix(filepath.Base(program), "ollama"):
			continue // the server listens there
		case b.folder != "" && above(func(dir string) bool { return exists(filepath.Join(dir, b.folder)) }):
			why = b.folder + " expects another form"
		case above(func(dir string) bool { return mentions(dir, b.variable) }):
			why = "a file .env has it"
		}
		if why != "" {
			m.Skipped = append(m.Skipped, b.variable+" is not changed: "+why)
			continue
		}
		name := ""
		if value == "" {
			name, value = b.vendor+"=", b.address
		}
		spec, err := proxy.ParseTap(name + b.withScheme(value) + "@0")
		if err != nil {
			m.Skipped = append(m.Skipped, b.variable+" is not changed: its value is not the URL of an HTTP server")
			continue
		}
		m.addresses = append(m.addresses, modelAddress{b.variable, spec.Agent})
		same := func(t proxy.TapSpec) bool {
			return t.Name == spec.Name || hostname.OriginOf(t.Agent) == hostname.OriginOf(spec.Agent)
		}
		if !slices.ContainsFunc(taps, same) && !slices.ContainsFunc(m.Taps, same) {
			m.Taps = append(m.Taps, spec)
		}
	}
	return m
}

// withScheme returns a value as a URL. Some variables may have only a host, which may be the one on which a server
// listens.
func (b *baseURL) withScheme(value string) string {
	if b.port == "" || strings.Contains(value, "://") {
		return value
	}
	authority, path, slash := strings.Cut(value, "/")
	host, port, err := net.SplitHostPort(authority)
	if err != nil {
		host, port = strings.Trim(authority, "[]"), b.port
	}
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	if value = "http://" + net.JoinHostPort(host, port); slash {
		value += "/" + path
	}
	return value
}

// Environ returns the variables, NAME=VALUE, that lead to the taps of a recording.
func (m *Models) Environ(taps []*proxy.Tap) []string {
	var all []string
	for _, a := range m.addresses {
		for _, t := range taps {
			if hostname.OriginOf(t.Agent()) == hostname.OriginOf(a.url) {
				u := *a.url
				u.Scheme, u.Host = "http", t.Addr()
				all = append(all, fmt.Sprintf("%s=%s", a.variable, &u))
				break
			}
		}
	}
	return all
}

// Tapped reports whether a tap is one of the taps for models.
func (m *Models) Tapped(t *proxy.Tap) bool {
	return slices.ContainsFunc(m.Taps, func(s proxy.TapSpec) bool { return s.Name == t.Name() })
}

// above reports whether a condition holds for the working directory or one above it.
func above(holds func(dir string) bool) bool {
	dir, err := os.Getwd()
	for err == nil {
		if holds(dir) {
			return true
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// mentions reports whether a file .env of a folder mentions a variable. Programs do not let such a file replace a
// variable that is already set.
func mentions(dir, variable string) bool {
	files, _ := filepath.Glob(filepath.Join(dir, ".env*"))
	return slices.ContainsFunc(files, func(name string) bool {
		info, err := os.Stat(name)
		if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
			return false
		}
		text, err := os.ReadFile(name)
		return err == nil && bytes.Contains(text, []byte(variable))
	})
}
