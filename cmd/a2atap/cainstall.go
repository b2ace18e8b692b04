package main

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
	"a2atap/proxy/ca"
)

// An installation is what makes one kind of client use the forward proxy and trust its authority.
type installation struct {
	word  string
	what  string                     // for people
	lines func(p placement) []string // commands for POSIX shells; those that begin with # explain
}

// A placement is what the commands of an installation name. All but host and port are quoted for a shell.
type placement struct {
	cert   string // the file of the authority
	bundle string // that of the system's authorities and ours
	store  string // that of Java's
	url    string // of the forward proxy
	host   string
	port   string
}

var installations = []installation{
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
	{"python", "Python: requests, httpx, and what uses ssl", func(p placement) []string {
		return []string{
			"export REQUESTS_CA_BUNDLE=" + p.bundle + " SSL_CERT_FILE=" + p.bundle + " HTTPS_PROXY=" + p.url +
				" HTTP_PROXY=" + p.url,
			"# aiohttp reads the proxy only in ClientSession(trust_env=True)",
		}
	}},
	{"java", "Java: a trust store of its own, and the flags that name it", func(p placement) []string {
		return []string{
			"keytool -importcert -noprompt -alias a2atap -file " + p.cert + " -keystore " + p.store +
				" -storetype PKCS12 -storepass " + ca.TrustStorePassword,
			`export JAVA_TOOL_OPTIONS="-Djavax.net.ssl.trustStore=\""` + p.store +
				`"\" -Djavax.net.ssl.trustStorePassword=` + ca.TrustStorePassword + ` -Dhttps.proxyHost=` + p.host +
				` -Dhttps.proxyPort=` + p.port + ` -Dhttp.proxyHost=` + p.host + ` -Dhttp.proxyPort=` + p.port +
				` -Dhttp.nonProxyHosts="`,
			"# it trusts nobody else then, which the forward proxy makes up for; for hosts of --tunnel import into a copy",
			"# of $JAVA_HOME/lib/security/cacerts instead",
		}
	}},
	{"curl", "curl, and programs with its library", func(p placement) []string {
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

func installWords() []string {
	words := make([]string, 0, len(installations))
	for _, i := range installations {
		words = append(words, i.word)
	}
	return words
}

func newCAInstall(e cli.Env) *cobra.Command {
	forward := ""
	cmd := &cobra.Command{
		Use:   "install [CLIENT...]",
		Short: "Print the commands that make clients trust the authority",
		Long: `Install prints, for each kind of client, the commands with which it uses the forward proxy and trusts its
authority: for a shell, or for the system's store. It runs none of them, and changes nothing but the bundle of
authorities that some of them name, which it writes beside the authority. run sets all of this for its program by
itself.

CLIENT is ` + strings.Join(installWords(), ", ") + `; without one, all are printed.

Who has the key of the authority (see ca show) can pretend to be any host to those that trust it: prefer the settings of
a single program to the system's store, and undo that afterwards.`,
		Example: `  a2atap ca install
  a2atap ca install node --forward 7080
  eval "$(a2atap ca install python)" && python planner.py`,
		RunE: func(_ *cobra.Command, args []string) error {
			listen, err := proxy.ParseForward(forward)
			if err != nil {
				return cli.Usage("%w", err)
			}
			for _, word := range args {
				if err := cli.Choose("client", word, installWords()...); err != nil {
					return err
				}
			}
			return withAuthority(e, func(e cli.Env, a *ca.Authority) error { return printInstallations(e, a, listen, args) })
		},
	}
	cmd.Flags().StringVar(&forward, "forward", "7080", "address that record --forward listens on: `[HOST:]PORT`")
	return withArgs(cmd, 0, len(installations))
}

// printInstallations prints the commands for some kinds of clients, or for all.
func printInstallations(e cli.Env, a *ca.Authority, listen string, words []string) error {
	files, err := shellTrust(e, a)
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(listen)
	if err != nil {
		return err
	}
	p := placement{
		cert: cli.ShellQuote(a.CertificateFile()), bundle: cli.ShellQuote(files.bundle), store: cli.ShellQuote(trustStore(a)),
		url: cli.ShellQuote("http://" + listen), host: host, port: port,
	}
	for _, i := range installations {
		if len(words) > 0 && !slices.Contains(words, i.word) {
			continue
		}
		if _, err := fmt.Fprintf(e.Out, "# %s\n%s\n", i.what, strings.Join(i.lines(p), "\n")); err != nil {
			return err
		}
	}
	return nil
}
