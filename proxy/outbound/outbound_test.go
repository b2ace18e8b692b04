package outbound

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/scheme"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestParseProxy(t *testing.T) {
	getenv := func(string) string { return "" }
	for value, want := range map[string]string{
		"http://proxy.example:3128": "http://proxy.example:3128", "https://user:secret@p": "https://p",
		"socks5://p:1": "socks5://p:1", "socks5h://[::1]:1/": "socks5h://[::1]:1",
	} {
		expect.Equal(t, value, want, must.Get(ParseProxy(value, getenv))(t).String())
	}
	for _, value := range []string{
		"", "proxy.example:3128", "ftp://user:secret@p", "http://", "http://user:secret@p/path", "http://p?x=secret",
		"http://user:sec ret@p", "env",
	} {
		if p, err := ParseProxy(value, getenv); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: got %v, %v", value, p, err)
		}
	}
}

func TestProxyOf(t *testing.T) {
	fixed := must.Get(ParseProxy("http://p:1", os.Getenv))(t)
	env, err := ParseProxy("env", func(name string) string {
		return map[string]string{
			"HTTPS_PROXY": "http://s:2", "all_proxy": "socks5://a:3", "no_proxy": "inside.example,127.0.0.1",
		}[name]
	})
	must.Do(t, err)
	for _, test := range []struct {
		proxy   *Proxy
		address string
		secure  bool
		want    string
	}{
		{nil, "a.example:443", true, ""},
		{fixed, "a.example:443", true, "http://p:1"},
		{fixed, "10.0.0.1:80", false, "http://p:1"},
		{fixed, "localhost:80", false, ""},
		{fixed, "127.0.0.2:80", false, ""},
		{fixed, "[::1]:80", true, ""},
		{env, "a.example:443", true, "http://s:2"},
		{env, "a.example:80", false, "socks5://a:3"},
		{env, "b.inside.example:443", true, ""},
	} {
		u, err := test.proxy.of(test.address, test.secure)
		got := ""
		if u != nil {
			got = u.String()
		}
		if got != test.want || err != nil {
			t.Errorf("%v for %s: got %s, %v; want %s", test.proxy, test.address, got, err, test.want)
		}
	}
}

// What follows the head of the proxy's answer is the agent's.
func TestReadConnectedReadsNoFurther(t *testing.T) {
	for head, want := range map[string]int{
		"HTTP/1.1 200 OK\r\n\r\n":                                      200,
		"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.0 200 Go\r\nX: y\r\n\r\n": 200,
		"HTTP/1.1 407 Who?\r\nProxy-Authenticate: Basic\r\n\r\n":       407,
		"HTTP/1.1 204 No Content\n\n":                                  204,
	} {
		in := strings.NewReader(head + "the agent's")
		status, err := readConnected(in)
		rest, _ := io.ReadAll(in)
		if status != want || err != nil || string(rest) != "the agent's" {
			t.Errorf("%q: got %d, %v, and left %q", head, status, err, rest)
		}
	}
}

func FuzzReadConnected(f *testing.F) {
	for _, s := range []string{
		"HTTP/1.1 200 OK\r\n\r\nx", "HTTP/1.1 100 C\r\n\r\nHTTP/1.1 403 N\r\n\r\n", "SSH-2.0\r\n\r\n", "\n\n", "",
		"HTTP/1.1 101 S\r\n\r\n", "HTTP/1.1 999999999999999999999 x\r\n\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		in := bytes.NewReader(b)
		status, err := readConnected(in)
		read := b[:len(b)-in.Len()]
		switch {
		case err == nil && (status < 101 || status > 999):
			t.Errorf("%q: status %d", b, status)
		case err == nil && !bytes.HasSuffix(read, []byte("\n\r\n")) && !bytes.HasSuffix(read, []byte("\n\n")):
			t.Errorf("%q: it read %q", b, read)
		case len(read) > maxConnectHead:
			t.Errorf("it read %d bytes", len(read))
		}
	})
}

// A proxy that never answers is given up with the context, and said to be slow.
func TestSilentProxy(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	for _, scheme := range []string{"http", "https", "socks5"} {
		p, err := ParseProxy(scheme+"://u:s3cret@"+listener.Addr().String(), os.Getenv)
		must.Do(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		_, err = (&Dialer{Proxy: p}).Dial(ctx, "a.example:80", false, "", nil)
		cancel()
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: got %v", scheme, err)
		}
	}
}

// What a check refuses is the check's error, also where a proxy is on the way.
func TestCheckRefuses(t *testing.T) {
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer listener.Close()
	p := must.Get(ParseProxy("http://"+listener.Addr().String(), os.Getenv))(t)
	loop := errors.New("a loop")
	for _, d := range []*Dialer{{}, {Proxy: p}} {
		address := listener.Addr().String()
		if d.Proxy != nil {
			address = "a.example:80"
		}
		if _, err := d.Dial(t.Context(), address, false, "", func(net.Conn) error { return loop }); !errors.Is(err, loop) {
			t.Errorf("got %v", err)
		}
	}
}

func TestAdvice(t *testing.T) {
	refused := &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
	alert := func(text string) error {
		return &net.OpError{Op: "remote error", Err: errors.New("tls: " + text)}
	}
	malformed := func(came string) error { return fmt.Errorf("malformed HTTP response %q", came) }
	via := must.Get(ParseProxy("http://p:1", os.Getenv))(t)
	direct, certified := &Dialer{}, &Dialer{Certificate: &tls.Certificate{}}
	cert := &x509.Certificate{DNSNames: []string{"a.example", "b\x1b.example", "c", "d"}, NotAfter: time.Unix(0, 0)}
	for _, test := range []struct {
		name    string
		d       *Dialer
		err     error
		address string
		want    string // "" for no advice
	}{
		{"unknown authority", direct, x509.UnknownAuthorityError{}, "a:443", "--agent-ca FILE"},
		{"another host", direct, x509.HostnameError{Certificate: cert}, "a:443", `("a.example", "b\x1b.example", "c", …)`},
		{
			"a certificate for nothing", direct,
			x509.HostnameError{Certificate: &x509.Certificate{}},
			"a:443",
			"it names none",
		},
		{"expired", direct, x509.CertificateInvalidError{Cert: cert, Reason: x509.Expired}, "a:443", "to 1 January 1970"},
		{
			"not for servers", direct,
			x509.CertificateInvalidError{Cert: cert, Reason: x509.IncompatibleUsage},
			"a:443",
			"a server certificate",
		},
		{"no TLS", direct, tls.RecordHeaderError{}, "a:443", scheme.SpeaksPlainHTTP},
		{"no TLS, by package http", direct, http.ErrSchemeMismatch, "a:443", scheme.SpeaksPlainHTTP},
		{"TLS", direct, malformed("\x15\x03\x01\x00\x02\x02"), "a:80", scheme.SpeaksTLS},
		{"neither", direct, malformed("SSH-2.0-x"), "a:80", ""},
		{"certificate wanted", direct, &askedError{alert("bad certificate")}, "a:443", "--client-cert FILE"},
		{"certificate wanted late", direct, alert("certificate required"), "a:443", "--client-cert FILE"},
		{"certificate refused", certified, alert("unknown certificate authority"), "a:443", "does not accept"},
		{"old TLS", direct, alert("protocol version not supported"), "a:443", "TLS 1.2"},
		{"alert", direct, alert("internal error"), "a:443", ""},
		{"refused", direct, refused, "a.example:443", "--upstream-proxy URL"},
		{"refused here", direct, refused, "127.0.0.1:443", ""},
		{"refused by way of a proxy", &Dialer{Proxy: via}, refused, "a.example:443", ""},
		{"a loop", direct, errors.New("which would be a loop"), "a.example:443", ""},
		{"proxy down", direct, proxyError(&url.URL{Host: "p:1"}, "connect", refused), "a:443", "--upstream-proxy runs"},
		{"proxy asks", direct, &ProxyError{Status: http.StatusProxyAuthRequired}, "a:443", "--upstream-proxy @FILE"},
		{"proxy refuses", direct, &ProxyError{Status: 403}, "a:443", "log"},
	} {
		if got := test.d.Advice(test.err, test.address); !strings.Contains(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: got %q", test.name, got)
		}
	}
}

// What is wrong with a proxy is not taken for what is wrong with the agent.
func TestErrorsOfProxiesAreNotTheAgents(t *testing.T) {
	err := proxyError(&url.URL{Host: "p:1"}, "TLS", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}})
	if _, ok := errors.AsType[x509.UnknownAuthorityError](error(err)); ok {
		t.Error("what the proxy shows is taken for the agent's certificate")
	}
	expect.Contains(t, "advice", "the proxy's certificate", (&Dialer{}).Advice(err, "a:443"))
}

// pair returns a certificate and its key in PEM.
func pair(t *testing.T, from, until time.Time) (cert, key []byte) {
	t.Helper()
	k := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: from, NotAfter: until}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, &k.PublicKey, k))(t)
	secret := must.Get(x509.MarshalPKCS8PrivateKey(k))(t)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

func TestReadCertificate(t *testing.T) {
	now := time.Now()
	cert, key := pair(t, now.Add(-time.Hour), now.Add(time.Hour))
	_, other := pair(t, now, now)
	encrypted := pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: []byte("x")})
	dir := t.TempDir()
	file := func(name string, texts ...[]byte) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, bytes.Join(texts, nil), 0o600))
		return path
	}
	both := file("both", key, cert)
	for _, test := range []struct {
		name, cert, key string
		now             time.Time
		want            string // of the error
	}{
		{"both in one", both, "", now, ""},
		{"apart", file("cert", cert), file("key", key), now, ""},
		{"no key", file("cert", cert), "", now, "contains no private key"},
		{"another's key", file("cert", cert), file("other", other), now, "do not match"},
		{"encrypted", file("cert", cert), file("encrypted", encrypted), now, "removes the passphrase"},
		{"not PEM", file("der", []byte{0x30, 0x82}), "", now, "inform der"},
		{"expired", both, "", now.Add(2 * time.Hour), "expired on"},
		{"not yet", both, "", now.Add(-2 * time.Hour), "is not valid before"},
		{"not there", filepath.Join(dir, "nowhere"), "", now, "no such file"},
		{"key not there", both, filepath.Join(dir, "nowhere"), now, "read the key"},
	} {
		_, err := ReadCertificate(test.cert, test.key, test.now)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: got %v", test.name, err)
		}
	}
}

func TestReadRoots(t *testing.T) {
	cert, key := pair(t, time.Now(), time.Now())
	again, _ := pair(t, time.Now(), time.Now())
	name := filepath.Join(t.TempDir(), "roots")
	for want, text := range map[string][]byte{
		"":                        append(append(bytes.Clone(cert), key...), again...),
		"contains no certificate": key,
		"certificate 2 cannot":    append(bytes.Clone(cert), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE"})...),
	} {
		must.Do(t, os.WriteFile(name, text, 0o600))
		roots, err := ReadRoots(name)
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("want %q, got %v", want, err)
		}
		if err == nil && roots.Equal(x509.NewCertPool()) {
			t.Error("the pool is empty")
		}
	}
}

// No text makes reading a certificate fail in another way than with an error, and none shows the key.
func FuzzParseCertificate(f *testing.F) {
	f.Add([]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
		[]byte("-----BEGIN PRIVATE KEY-----\nc2VjcmV0\n-----END PRIVATE KEY-----\n"))
	f.Add([]byte(""), []byte("-----BEGIN EC PRIVATE KEY-----\nDEK-Info: x\n\nAAAA\n-----END EC PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, cert, key []byte) {
		c, err := parseCertificate(cert, key)
		if (c == nil) == (err == nil) {
			t.Errorf("got %v, %v", c, err)
		}
		if block, _ := pem.Decode(key); err != nil && block != nil && len(block.Bytes) > 8 &&
			strings.Contains(err.Error(), string(block.Bytes)) {
			t.Errorf("the key is in %v", err)
		}
	})
}

// TestExplainSilence asks about agents that close a connection without an answer: one that speaks TLS, one that does not.
func TestExplainSilence(t *testing.T) {
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	defer secure.Close()
	mute := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer mute.Close()
	go func() {
		for conn, err := mute.Accept(); err == nil; conn, err = mute.Accept() {
			conn.Close()
		}
	}()
	for _, test := range []struct {
		address, scheme string
		err             error
		want            string
	}{
		{secure.Listener.Addr().String(), "http", io.EOF, "EOF; this agent speaks TLS; use https://"},
		{secure.Listener.Addr().String(), "https", io.EOF, "EOF"},
		{secure.Listener.Addr().String(), "http", io.ErrShortWrite, "short write"},
		{mute.Addr().String(), "http", io.EOF, "EOF"},
	} {
		err := (*Dialer)(nil).ExplainSilence(t.Context(), test.err, &url.URL{Scheme: test.scheme, Host: test.address})
		expect.Equal(t, test.scheme+" "+test.address, test.want, err.Error())
	}
}
