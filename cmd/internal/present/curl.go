package present

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"net"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/grpc"
)

// CurlPrinter prints requests as shell commands. It shows secrets as recorded: as placeholders, unless they were kept.
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

// Curl returns a shell command that sends the request of an exchange: curl, or grpcurl for a gRPC call.
func Curl(x *capture.Exchange) (string, error) {
	head := capture.ParseRequestHead(x.Request.Head)
	if m, ok := head.GRPC(); ok {
		return grpcurl(x, &head, m)
	}
	body, _ := x.Request.Body.Decode(&head)
	if bytes.IndexByte(x.Request.Head, 0) >= 0 || bytes.IndexByte(body, 0) >= 0 {
		return "", fmt.Errorf("exchange %d: the request contains a zero byte, which a command cannot contain; use --format json",
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
			field = f.Name + ";" // with a colon, curl would omit the field
		}
		parts = append(parts, "-H", cli.Quote(field))
	}
	if len(body) > 0 {
		if !utf8.Valid(body) {
			return "", fmt.Errorf("exchange %d: the body is not text, so a command cannot contain it; use --format json", x.Seq)
		}
		parts = append(parts, "--data-raw", cli.Quote(string(body)))
	}
	// Without --globoff, curl takes brackets and braces in a URL for a list of URLs.
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

// grpcurl returns the command for a gRPC call, with its message as JSON. grpcurl learns the types of messages from the
// agent by reflection, or from the definition given with -proto.
func grpcurl(x *capture.Exchange, head *capture.Head, m grpc.Method) (string, error) {
	message, err := x.Request.Body.Decode(head)
	if err != nil {
		return "", fmt.Errorf("exchange %d: %w", x.Seq, err)
	}
	u, err := url.Parse(address(x, head))
	if err != nil {
		return "", fmt.Errorf("exchange %d: %w", x.Seq, err)
	}
	parts := []string{"grpcurl"}
	if u.Scheme == "http" {
		parts = append(parts, "-plaintext")
	}
	for _, f := range head.Fields {
		name := strings.ToLower(f.Name)
		switch {
		case name == grpc.TimeoutField:
			if d, ok := grpc.ParseTimeout(f.Value); ok {
				parts = append(parts, "-max-time", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
			}
		case name == "host", name == "te", name == "content-type", name == "content-length", name == "user-agent",
			strings.HasPrefix(name, "grpc-"), !capture.IsToken(f.Name):
		default:
			parts = append(parts, "-H", cli.Quote(f.Name+": "+f.Value))
		}
	}
	port := map[string]string{"http": "80", "https": "443"}[u.Scheme]
	at := net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
	return strings.Join(append(parts, "-d", cli.Quote(string(message)), cli.Quote(at), m.Service+"/"+m.Name), " "), nil
}
