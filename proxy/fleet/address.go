package fleet

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strings"
)

// Port is the port of a NATS server if the address has none.
const Port = "4222"

// An Address locates the stream of a fleet.
type Address struct {
	server   string // as nats.go takes it, without credentials: nats://HOST:PORT or tls://HOST:PORT
	stream   string
	user     string
	password string // or a token, if there is no user
}

// streamName matches valid names of streams. JetStream forbids full stops, blanks, wildcards and path separators; the
// name is also a token of subjects and a folder on the server.
var streamName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// ParseAddress reads nats://[USER:PASSWORD@|TOKEN@]HOST[:PORT]/NAME; tls:// requires TLS, which the server may expect
// from the first byte. Errors do not repeat credentials.
func ParseAddress(text string) (Address, error) {
	u, err := url.Parse(text)
	if err == nil && strings.Contains(u.Host, ",") {
		return Address{}, errors.New("it names several servers; name only one, which provides the others of its cluster")
	}
	if err != nil {
		return Address{}, errors.New("it cannot be read as a URL; write nats://HOST:PORT/NAME, such as " +
			"nats://127.0.0.1:4222/traffic")
	}
	a := Address{stream: strings.Trim(u.Path, "/")}
	switch {
	case u.Scheme != "nats" && u.Scheme != "tls":
		return Address{}, fmt.Errorf("its scheme is %q; write nats://HOST:PORT/NAME", u.Scheme)
	case u.Hostname() == "":
		return Address{}, errors.New("it names no host; write nats://HOST:PORT/NAME")
	case a.stream == "":
		return Address{}, errors.New("it names no stream; write nats://HOST:PORT/NAME, with a NAME of your choice")
	case strings.Contains(a.stream, "@"): // the text before it belongs to a password
		return Address{}, errors.New("the part before @ contains a slash; write %2F instead")
	case !streamName.MatchString(a.stream):
		return Address{}, fmt.Errorf("%q is not a valid stream name: a name has up to 64 letters, digits, '_' "+
			"and '-'", a.stream)
	case u.RawQuery != "" || u.Fragment != "":
		return Address{}, errors.New("nothing may follow the name of the stream; write nats://HOST:PORT/NAME")
	}
	port := u.Port()
	if port == "" {
		port = Port
	}
	a.server = u.Scheme + "://" + net.JoinHostPort(u.Hostname(), port)
	a.user = u.User.Username()
	password, both := u.User.Password()
	if a.password = password; !both {
		a.user, a.password = "", a.user
	}
	return a, nil
}

// IsAddress reports whether a text begins like an Address.
func IsAddress(text string) bool {
	scheme, _, ok := strings.Cut(text, "://")
	return ok && (scheme == "nats" || scheme == "tls")
}

// Stream returns the name of the stream.
func (a Address) Stream() string { return a.stream }

// HasCredentials reports whether the address has a user or a token in it.
func (a Address) HasCredentials() bool { return a.user != "" || a.password != "" }

// String returns the address without credentials.
func (a Address) String() string { return a.server + "/" + a.stream }
