package recording

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"unicode/utf8"

	"a2atap/proxy/capture"
	"a2atap/proxy/internal/rawhead"
	"a2atap/proxy/spelling"
)

// A ClientPattern names the clients that match it. Create one with ParseClient.
type ClientPattern struct {
	Name string // of the client

	kind   string // one of clientKinds
	field  string // of kind header: its name
	glob   string // in lower case, with * for any text
	prefix netip.Prefix
}

// The kinds of patterns.
const (
	kindUserAgent = "user-agent"
	kindHeader    = "header"
	kindAddr      = "addr"
	kindCert      = "cert"
)

var clientKinds = []string{kindUserAgent, kindHeader, kindAddr, kindCert}

// clientForms explains the format of a pattern.
const clientForms = "write user-agent:TEXT=NAME, header:FIELD=TEXT=NAME, addr:ADDRESS=NAME or cert:CN=TEXT=NAME, " +
	"where * in TEXT matches anything"

// ParseClient reads the value of the flag --client, PATTERN=NAME. PATTERN is one of
//
//	user-agent:TEXT        the User-Agent; without * also its first product, regardless of version
//	header:FIELD=TEXT      a field of the request's header
//	addr:ADDRESS           the client's address, or a prefix such as 10.0.0.0/8
//	cert:CN=TEXT           the name in the client's certificate, if requested
//	TEXT                   as user-agent:TEXT
//
// TEXT is compared case-insensitively, and * in it matches any text. The last = begins the name. Errors name the
// invalid value and the problem, without the header's expected contents, and suggest what to write instead.
func ParseClient(flag string) (ClientPattern, error) {
	at := strings.LastIndexByte(flag, '=')
	if at < 0 {
		return ClientPattern{}, fmt.Errorf("--client %q: the name is missing; write PATTERN=NAME, such as "+
			"--client '%s=planner'", flag, flag)
	}
	pattern, name := flag[:at], flag[at+1:]
	p := ClientPattern{Name: name}
	text := pattern
	if kind, rest, found := strings.Cut(pattern, ":"); found && isWord(kind) {
		p.kind, text = strings.ToLower(kind), strings.TrimSpace(rest)
	} else {
		p.kind = kindUserAgent
	}
	if err := p.parse(text); err != nil {
		return ClientPattern{}, fmt.Errorf("--client %q: %w", p.shown(flag), err)
	}
	if !ValidName(name) || len(name) > 64 {
		return ClientPattern{}, fmt.Errorf("--client %q: what comes after the last = is not a name of up to 64 letters, "+
			"digits, '.', '_' and '-'; write PATTERN=NAME", p.shown(flag))
	}
	return p, nil
}

// shown returns the part of a flag that an error may show: the expected contents of a field may be a credential.
func (p *ClientPattern) shown(flag string) string {
	if field, _, found := strings.Cut(flag, "="); found && p.kind == kindHeader {
		return field + "=…"
	}
	return flag
}

// parse reads what comes after the kind.
func (p *ClientPattern) parse(text string) error {
	p.glob = strings.ToLower(text)
	switch p.kind {
	case kindUserAgent:
	case kindHeader:
		field, value, found := strings.Cut(text, "=")
		if !found || !capture.IsToken(field) {
			return errors.New("what the field contains is missing; write header:FIELD=TEXT=NAME, such as " +
				"header:X-Agent=planner*=planner")
		}
		p.field, p.glob = field, strings.ToLower(value)
	case kindAddr:
		prefix, err := netip.ParsePrefix(text)
		if ip, bad := netip.ParseAddr(strings.Trim(text, "[]")); bad == nil {
			ip = ip.Unmap().WithZone("")
			prefix, err = netip.PrefixFrom(ip, ip.BitLen()), nil
		}
		if err != nil {
			return fmt.Errorf("%q is not an address; write addr:10.1.2.3=NAME, or addr:10.0.0.0/8=NAME for a network", text)
		}
		p.prefix = prefix.Masked()
		return nil
	case kindCert:
		attribute, value, found := strings.Cut(text, "=")
		if !found || !strings.EqualFold(attribute, "CN") {
			return errors.New("clients are identified by the common name of a certificate; write cert:CN=TEXT=NAME")
		}
		p.glob = strings.ToLower(value)
	default:
		return fmt.Errorf("unknown kind of pattern %q; %s%s", p.kind, clientForms, spelling.Hint(p.kind, clientKinds))
	}
	if p.glob == "" {
		return fmt.Errorf("the pattern is empty; %s", clientForms)
	}
	return nil
}

// isWord reports whether s can be meant as the kind of a pattern.
func isWord(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool { return c != '-' && (c|0x20 < 'a' || c|0x20 > 'z') })
}

// how describes in the record how the client was named. It omits the contents of the field, which may be a credential.
func (p *ClientPattern) how() string {
	switch p.kind {
	case kindHeader:
		return "--client " + kindHeader + ":" + p.field
	case kindAddr:
		return "--client " + kindAddr + ":" + p.prefix.String()
	}
	return "--client " + p.kind
}

// fits reports whether a request with this head is by a matching client, given the client's address and the common name
// of its certificate, if any.
func (p *ClientPattern) fits(head []byte, address, certificate string) bool {
	switch p.kind {
	case kindUserAgent:
		value := rawhead.Value(head, "User-Agent")
		product, how := ClientName(head)
		return value != nil && globMatches(p.glob, string(bytes.ToLower(value))) ||
			how == byUserAgent && strings.EqualFold(p.glob, product)
	case kindHeader:
		value := rawhead.Value(head, p.field)
		return value != nil && globMatches(p.glob, string(bytes.ToLower(value)))
	case kindAddr:
		at, err := netip.ParseAddrPort(address)
		return err == nil && p.prefix.Contains(at.Addr().Unmap().WithZone(""))
	case kindCert:
		return certificate != "" && globMatches(p.glob, strings.ToLower(certificate))
	}
	return false
}

// globMatches reports whether a text matches a pattern, in which * matches any text. Its time is at most proportional
// to the product of their lengths.
func globMatches(pattern, text string) bool {
	first, rest, wild := strings.Cut(pattern, "*")
	if !wild {
		return pattern == text
	}
	text, begins := strings.CutPrefix(text, first)
	if !begins {
		return false
	}
	for {
		part, more, further := strings.Cut(rest, "*")
		if !further {
			return strings.HasSuffix(text, part)
		}
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text, rest = text[at+len(part):], more
	}
}

// ValidName reports whether a name consists of letters, digits, '.', '_' and '-', as names of clients and agents must.
func ValidName(name string) bool {
	for _, c := range []byte(name) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return name != ""
}

// ToName makes a name of any text: up to 64 letters, digits, '.', '_' and '-'. It is empty if the text has no letter and
// no digit.
func ToName(text string) string {
	name := strings.Trim(strings.Map(func(c rune) rune {
		if c < utf8.RuneSelf && ValidName(string(c)) {
			return c
		}
		return '-'
	}, text[:min(len(text), 64)]), "-")
	if strings.Trim(name, "._-") == "" {
		return ""
	}
	return name
}

// The sources of a client's name.
const (
	byProxyUser = "proxy-user"
	byUserAgent = "user-agent"
	byDefault   = "default"
	byUnseen    = capture.ByUnseen
)

// unnamed is the name of an unknown client.
const unnamed = "client"

// ClientName names the client after the first product of its User-Agent, without the version: RFC 9110 section 10.1.5.
// A text that is not a product, or only a number (it may be a process id or a port), gives no name.
func ClientName(head []byte) (name, how string) {
	product := rawhead.Value(head, "User-Agent")
	if end := bytes.IndexFunc(product, func(c rune) bool { return !capture.IsToken(string(c)) }); end >= 0 {
		product = product[:end]
	}
	if len(bytes.Trim(product, "0123456789.-_")) == 0 || len(product) > 64 {
		return unnamed, byDefault
	}
	return string(product), byUserAgent
}

// byWebhook means that a client was recognized because it used the address that it was given for a webhook.
const byWebhook = "webhook"
