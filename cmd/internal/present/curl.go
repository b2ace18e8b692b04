package present

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
)

// CurlPrinter prints requests as commands for a shell. Secrets are shown as they were recorded: as placeholders, unless
// they were kept.
type CurlPrinter struct{ W io.Writer }

// Print implements Printer.
func (p *CurlPrinter) Print(one *Shown) error {
	command, err := Curl(one.X)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.W, command)
	return err
}

// End implements Printer.
func (p *CurlPrinter) End() error { return nil }

// Curl returns a command for a shell that sends the request of an exchange.
func Curl(x *capture.Exchange) (string, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	body, _ := x.Request.Body.Decode(&head)
	if bytes.IndexByte(x.Request.Head, 0) >= 0 || bytes.IndexByte(body, 0) >= 0 {
		return "", fmt.Errorf("exchange %d: there is a zero byte in it, so a command cannot hold it; use --format json",
			x.Seq)
	}
	parts := []string{"curl", "-sS", "-X", cli.Quote(head.Method)}
	for _, f := range head.Fields {
		switch strings.ToLower(f.Name) {
		case "host", "content-length", "transfer-encoding", "connection", "expect", "content-encoding":
			continue
		}
		if !capture.IsToken(f.Name) { // Curl would read a file for a name that begins with @
			continue
		}
		field := f.Name + ": " + f.Value
		if f.Value == "" {
			field = f.Name + ";" // with a colon curl would leave the field out
		}
		parts = append(parts, "-H", cli.Quote(field))
	}
	if len(body) > 0 {
		if !utf8.Valid(body) {
			return "", fmt.Errorf("exchange %d: the body is not text, so a command cannot hold it; use --format json", x.Seq)
		}
		parts = append(parts, "--data-raw", cli.Quote(string(body)))
	}
	// Without --globoff curl takes brackets and braces in a URL for a list of URLs.
	return strings.Join(append(parts, "--globoff", cli.Quote(address(x, &head))), " "), nil
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
