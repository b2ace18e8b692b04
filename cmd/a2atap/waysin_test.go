package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"a2atap/replay/refagent"
)

// A privateCA is an authority that no system trusts.
type privateCA struct {
	key  *ecdsa.PrivateKey
	cert *x509.Certificate
}

func newPrivateCA(ts *testscript.TestScript) *privateCA {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a private authority"},
		NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	ts.Check(err)
	cert, err := x509.ParseCertificate(der)
	ts.Check(err)
	return &privateCA{key, cert}
}

// issue returns a certificate and its key, in PEM, that holds until a time. A client's names no host.
func (a *privateCA) issue(ts *testscript.TestScript, until time.Time, hosts ...string) (cert, key []byte) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "one of them"},
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: until, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	if len(hosts) == 0 {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	}
	for _, host := range hosts {
		if ip := net.ParseIP(host); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, host)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	ts.Check(err)
	secret, err := x509.MarshalPKCS8PrivateKey(k)
	ts.Check(err)
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret})
}

// authority writes ca.pem, and with it client.pem (certificate and key), client-cert.pem and client-key.pem (the same
// apart), expired.pem and stranger.pem (of another authority), unless they are there.
func authorityOf(ts *testscript.TestScript) *privateCA {
	if known, ok := authorities.Load(ts.MkAbs(".")); ok {
		return known.(*privateCA)
	}
	a := newPrivateCA(ts)
	authorities.Store(ts.MkAbs("."), a)
	write := func(name string, texts ...[]byte) {
		var all []byte
		for _, text := range texts {
			all = append(all, text...)
		}
		ts.Check(os.WriteFile(ts.MkAbs(name), all, 0o600))
	}
	write("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.cert.Raw}))
	cert, key := a.issue(ts, time.Now().Add(time.Hour))
	write("client.pem", cert, key)
	write("client-cert.pem", cert)
	write("client-key.pem", key)
	old, oldKey := a.issue(ts, time.Now().Add(-time.Hour))
	write("expired.pem", old, oldKey)
	strange, strangeKey := newPrivateCA(ts).issue(ts, time.Now().Add(time.Hour))
	write("stranger.pem", strange, strangeKey)
	return a
}

var authorities sync.Map // by the folder of a script

// privateagent NAME KIND starts the reference agent spec on TLS, with a certificate of a private authority for
// 127.0.0.1 and agent.example, and sets NAME to its URL, and NAME_PORT. KIND is good; elsewhere or expired for a
// certificate that is for another host or out of date; mutual or mutual12 where clients need one, too, by TLS 1.3 or
// 1.2; or plain, without TLS. The files of authority are written.
func scriptPrivateAgent(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: privateagent NAME KIND")
	}
	a := authorityOf(ts)
	until, hosts := time.Now().Add(time.Hour), []string{"127.0.0.1", "agent.example"}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	switch args[1] {
	case "elsewhere":
		hosts = []string{"elsewhere.example"}
	case "expired":
		until = time.Now().Add(-time.Hour)
	case "mutual", "mutual12":
		config.ClientAuth, config.ClientCAs = tls.RequireAndVerifyClientCert, x509.NewCertPool()
		config.ClientCAs.AddCert(a.cert)
		if args[1] == "mutual12" {
			config.MaxVersion = tls.VersionTLS12
		}
	}
	pair, err := tls.X509KeyPair(a.issue(ts, until, hosts...))
	ts.Check(err)
	config.Certificates = []tls.Certificate{pair}
	agent, err := refagent.New("spec", refagent.Options{StepTime: 1})
	ts.Check(err)
	server := httptest.NewUnstartedServer(agent)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.TLS = config
	if args[1] == "plain" {
		server.Start()
	} else {
		server.StartTLS()
	}
	ts.Defer(func() {
		server.Close()
		agent.Close()
	})
	_, port, err := net.SplitHostPort(server.Listener.Addr().String())
	ts.Check(err)
	ts.Setenv(args[0]+"_PORT", port)
	ts.Setenv(args[0], server.URL+agent.Path())
}

// upstream NAME KIND [USER:PASSWORD] starts a proxy that resolves only agent.example, to this machine. It sets NAME to
// its host:port. KIND is http, https (with a certificate of the private authority) or socks5.
func scriptUpstream(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: upstream NAME http|https|socks5 [USER:PASSWORD]")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	ts.Setenv(args[0], listener.Addr().String())
	u := &upstream{}
	if len(args) == 3 {
		u.credentials = args[2]
	}
	serve := u.http
	switch args[1] {
	case "https":
		pair, err := tls.X509KeyPair(authorityOf(ts).issue(ts, time.Now().Add(time.Hour), "127.0.0.1"))
		ts.Check(err)
		listener = tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}})
	case "socks5":
		serve = u.socks
	}
	var served sync.WaitGroup
	served.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			served.Go(func() {
				defer conn.Close()
				u.track(conn)
				serve(conn)
			})
		}
	})
	ts.Defer(func() {
		listener.Close()
		u.close()
		served.Wait()
	})
}

// An upstream is a proxy as a firewall has it.
type upstream struct {
	credentials string

	mu    sync.Mutex
	conns []net.Conn
}

func (u *upstream) track(c net.Conn) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.conns = append(u.conns, c)
}

func (u *upstream) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, c := range u.conns {
		c.Close()
	}
}

func (u *upstream) http(conn net.Conn) {
	in := bufio.NewReader(conn)
	r, err := http.ReadRequest(in)
	if err != nil {
		return
	}
	given, _ := strings.CutPrefix(r.Header.Get("Proxy-Authorization"), "Basic ")
	plain, _ := base64.StdEncoding.DecodeString(given)
	agent := net.Conn(nil)
	switch {
	case r.Method != http.MethodConnect:
		io.WriteString(conn, "HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n") //nolint:errcheck // the client sees it
	case u.credentials != "" && string(plain) != u.credentials:
		io.WriteString(conn, "HTTP/1.1 407 No\r\nContent-Length: 0\r\n\r\n") //nolint:errcheck // the client sees it
	default:
		if agent = u.dial(r.URL.Hostname(), r.URL.Port()); agent == nil {
			io.WriteString(conn, "HTTP/1.1 403 No\r\nContent-Length: 0\r\n\r\n") //nolint:errcheck // the client sees it
		}
	}
	if agent != nil {
		io.WriteString(conn, "HTTP/1.1 200 Go\r\nX-Via: upstream\r\n\r\n") //nolint:errcheck // the client sees it
		join(conn, agent)
	}
}

// dial connects to whom the proxy knows.
func (u *upstream) dial(host, port string) net.Conn {
	if host != "agent.example" {
		return nil
	}
	conn, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil
	}
	u.track(conn)
	return conn
}

func join(a, b net.Conn) {
	var both sync.WaitGroup
	pass := func(to, from net.Conn) {
		io.Copy(to, from) //nolint:errcheck // one of them has closed
		to.Close()
	}
	both.Go(func() { pass(a, b) })
	both.Go(func() { pass(b, a) })
	both.Wait()
}

// socks serves RFC 1928, with names as addresses and RFC 1929.
func (u *upstream) socks(conn net.Conn) {
	read := func(n int) []byte {
		b := make([]byte, n)
		if _, err := io.ReadFull(conn, b); err != nil {
			return make([]byte, n)
		}
		return b
	}
	read(int(read(2)[1]))
	method := byte(0)
	if u.credentials != "" {
		method = 2
	}
	conn.Write([]byte{5, method}) //nolint:errcheck // the client sees it
	if method == 2 {
		user := string(read(int(read(2)[1])))
		password := string(read(int(read(1)[0])))
		if user+":"+password != u.credentials {
			conn.Write([]byte{1, 1}) //nolint:errcheck // the client sees it
			return
		}
		conn.Write([]byte{1, 0}) //nolint:errcheck // the client sees it
	}
	head := read(5)
	if head[3] != 3 { // the name is not for the client to look up
		return
	}
	host, port := string(read(int(head[4]))), read(2)
	agent := u.dial(host, big.NewInt(0).SetBytes(port).String())
	status := byte(0)
	if agent == nil {
		status = 4
	}
	conn.Write([]byte{5, status, 0, 1, 0, 0, 0, 0, 0, 0}) //nolint:errcheck // the client sees it
	if agent != nil {
		join(conn, agent)
	}
}
