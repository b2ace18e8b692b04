package trust

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
)

// An installation makes one kind of client use the forward proxy and trust its authority.
type installation struct {
	word  string
	what  string                     // for people
	lines func(p placement) []string // commands for POSIX shells; lines that begin with # are comments
}

// A placement holds the values in an installation's commands. All but host and port are quoted for a shell.
type placement struct {
	cert   string // the file of the authority
	bundle string // the file of the system's authorities and a2atap's
	store  string // the file of Java's and a2atap's
	url    string // of the forward proxy
	host   string
	port   string
}

// Installations are the kinds of clients, in printing order.
var Installations = []installation{
	{"go", "Go programs (Linux; on macOS and Windows use the system's store)", func(p placement) []string {
		return []string{
			"export HTTPS_PROXY=" + p.url + " HTTP_PROXY=" + p.url + " SSL_CERT_FILE=" + p.bundle,
			"# Go uses no proxy for localhost and 127.0.0.1: use a tap for agents there",
		}
	}},
	{"node", "Node.js", func(p placement) []string {
		return []string{
			"export NODE_EXTRA_CA_CERTS=" + p.cert + " NODE_USE_ENV_PROXY=1 HTTPS_PROXY=" + p.url + " HTTP_PROXY=" + p.url,
			"# Node.js before 22.21 and 24 trusts the file, but ignores the proxy: there use a tap, or a ProxyAgent of undici",
		}
	}},
	{"python", "Python: requests, httpx, and programs that use ssl", func(p placement) []string {
		return []string{
			"export REQUESTS_CA_BUNDLE=" + p.bundle + " SSL_CERT_FILE=" + p.bundle + " HTTPS_PROXY=" + p.url +
				" HTTP_PROXY=" + p.url,
			"# aiohttp reads the proxy only in ClientSession(trust_env=True)",
		}
	}},
	{"java", "Java: a separate trust store, and the flags that name it", func(p placement) []string {
		return []string{
			"keytool -importcert -noprompt -alias a2atap -file " + p.cert + " -keystore " + p.store +
				" -storetype PKCS12 -storepass " + ca.TrustStorePassword,
			`export JAVA_TOOL_OPTIONS="-Djavax.net.ssl.trustStore=\""` + p.store +
				`"\" -Djavax.net.ssl.trustStorePassword=` + ca.TrustStorePassword + ` -Dhttps.proxyHost=` + p.host +
				` -Dhttps.proxyPort=` + p.port + ` -Dhttp.proxyHost=` + p.host + ` -Dhttp.proxyPort=` + p.port +
				` -Dhttp.nonProxyHosts="`,
			"# this store has no other authority, which is enough behind the forward proxy; for hosts of --tunnel import into a copy",
			"# of $JAVA_HOME/lib/security/cacerts instead",
		}
	}},
	{"curl", "curl, and programs that use libcurl", func(p placement) []string {
		return []string{
			"export CURL_CA_BUNDLE=" + p.bundle + " HTTPS_PROXY=" + p.url + " http_proxy=" + p.url,
			"# or for one call: curl --proxy " + p.url + " --cacert " + p.cert + " URL",
		}
	}},
	{"debian", "system, Debian, Ubuntu and Alpine", func(p placement) []string {
		return []string{
			"sudo cp " + p.cert + " /usr/local/share/ca-certificates/a2atap.crt && sudo update-ca-certificates",
			"# undo: sudo rm /usr/local/share/ca-certificates/a2atap.crt && sudo update-ca-certificates --fresh",
		}
	}},
	{"fedora", "system, Fedora, Red Hat and CentOS", func(p placement) []string {
		return []string{
			"sudo cp " + p.cert + " /etc/pki/ca-trust/source/anchors/a2atap.pem && sudo update-ca-trust",
			"# undo: sudo rm /etc/pki/ca-trust/source/anchors/a2atap.pem && sudo update-ca-trust",
		}
	}},
	{"suse", "system, openSUSE", func(p placement) []string {
		return []string{
			"sudo cp " + p.cert + " /etc/pki/trust/anchors/a2atap.pem && sudo update-ca-certificates",
			"# undo: sudo rm /etc/pki/trust/anchors/a2atap.pem && sudo update-ca-certificates",
		}
	}},
	{"arch", "system, Arch", func(p placement) []string {
		return []string{
			"sudo trust anchor --store " + p.cert,
			"# undo: sudo trust anchor --remove " + p.cert,
		}
	}},
	{"macos", "system, macOS", func(p placement) []string {
		return []string{
			"sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain " + p.cert,
			"# undo: sudo security remove-trusted-cert -d " + p.cert,
		}
	}},
}

// InstallWords returns the names of the kinds of clients.
func InstallWords() []string {
	words := make([]string, 0, len(Installations))
	for _, i := range Installations {
		words = append(words, i.word)
	}
	return words
}

// PrintInstallations prints the commands for some kinds of clients, or for all.
func PrintInstallations(e cli.Env, a *ca.Authority, listen string, words []string) error {
	files, err := shellTrust(e, a)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	p := placement{
		cert: cli.Quote(a.CertificateFile()), bundle: cli.Quote(files.bundle), store: cli.Quote(trustStore(a)),
		url: cli.Quote("http://" + listen), host: host, port: port,
	}
	for _, i := range Installations {
		if len(words) > 0 && !slices.Contains(words, i.word) {
			continue
		}
		if _, err := fmt.Fprintf(e.Out, "# %s\n%s\n", i.what, strings.Join(i.lines(p), "\n")); err != nil {
			return err
		}
	}
	return nil
}
