package main

import (
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"a2atap/analyzer"
	"a2atap/proxy/capture"
)

// curlPrinter prints requests as commands for a POSIX shell. Secrets are shown as they were recorded: as placeholders,
// unless they were kept.
type curlPrinter struct{ w io.Writer }

func (p *curlPrinter) print(x *capture.Exchange, _ analyzer.Facts) error {
	command, err := curl(x)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.w, command)
	return err
}

func (p *curlPrinter) end() error { return nil }

func curl(x *capture.Exchange) (string, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, _ := x.Request.Body.Decode(&head)
	parts := []string{"curl", "-sS", "-X", quote(head.Method)}
	for _, f := range head.Fields {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "connection", "expect", "content-encoding":
			continue
		}
		parts = append(parts, "-H", quote(f.Name+": "+f.Value))
	}
	if len(body) > 0 {
		if !utf8.Valid(body) || strings.ContainsRune(string(body), 0) {
			return "", fmt.Errorf("exchange %d: the body is not text, so a command cannot hold it; use --format json", x.Seq)
		}
		parts = append(parts, "--data-raw", quote(string(body)))
	}
	return strings.Join(append(parts, quote(address(x, &head))), " "), nil
}

// address returns the URL that the request was sent to.
func address(x *capture.Exchange, head *capture.Head) string {
	if u, err := url.Parse(head.Target); err == nil && u.Host != "" {
		return head.Target
	}
	u, err := url.Parse(x.Agent.URL)
	if err != nil || u.Host == "" {
		return "http://" + head.Fields.Get("Host") + head.Target
	}
	return u.Scheme + "://" + u.Host + head.Target
}

// quote quotes a word for a POSIX shell.
func quote(word string) string {
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
