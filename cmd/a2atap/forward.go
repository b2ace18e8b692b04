package main

import (
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy"
	"a2atap/proxy/ca"
)

// forwardHelp is the part of the help that describes the forward proxy.
const forwardHelp = `With --forward it also opens an HTTP proxy: clients that are configured to use it reach any agent
through it, no URL has to change, and agent cards stay as they are. TLS is intercepted with certificates of the user's
own authority, created on first use; clients must trust it (see a2atap ca env). A user name in the proxy's URL names
the client in the capture: http://planner@127.0.0.1:7080. Many clients, among them all Go programs, use no proxy for
localhost and 127.0.0.1: use a tap for such an agent, or another name of this machine. Connections that use HTTP/2
only (gRPC) or that --tunnel names are passed on encrypted, and the capture says so. Of exchanges that show no sign of
A2A, such as what a program asks a language model, heads and sizes are recorded, and no bodies (--all-traffic).`

// reachHelp is the part of the help that says how agents are reached.
const reachHelp = `Agents on TLS are verified by the system's authorities and those of --agent-ca; --client-cert is
shown to those that ask for a certificate. --insecure verifies nobody: it is said at the start and the end, and the
capture says so for ever. With --upstream-proxy agents are reached through that proxy, by CONNECT or SOCKS, and those on
this machine directly. The variables HTTPS_PROXY, HTTP_PROXY and NO_PROXY are not read, since they may lead back to this
very recorder, but for --upstream-proxy env. Where an agent cannot be reached, the answer to the client, which has the
status 502, and a message here say which of these flags helps.`

// forwardSpec turns flags into what a forward proxy takes, nil for none. It reads the secret of --proxy-auth from where
// that says.
func (o *recordOptions) forwardSpec(e cli.Env) (*proxy.ForwardSpec, error) {
	if o.forward == "" {
		if len(o.tunnel) > 0 || o.proxyAuth != "" {
			return nil, cli.Usage("--tunnel and --proxy-auth configure the forward proxy; add --forward [HOST:]PORT")
		}
		return nil, nil
	}
	spec := proxy.ForwardSpec{OnlyA2A: !o.allTraffic}
	var err error
	if spec.Listen, err = proxy.ParseForward(o.forward); err != nil {
		return nil, cli.Usage("%w", err)
	}
	for _, flag := range o.tunnel {
		pattern, err := proxy.ParseHostPattern(flag)
		if err != nil {
			return nil, cli.Usage("%w", err)
		}
		spec.Tunnel = append(spec.Tunnel, pattern)
	}
	if o.proxyAuth, err = e.Secret("--proxy-auth", o.proxyAuth); err != nil {
		return nil, err
	}
	if o.proxyAuth != "" {
		if spec.Auth, err = proxy.ParseCredentials(o.proxyAuth); err != nil {
			return nil, cli.Usage("%w", err)
		}
	}
	authority, err := openAuthority(e)
	if err != nil {
		return nil, err
	}
	spec.Leaf = authority.Leaf
	return &spec, nil
}

// openAuthority opens the user's certificate authority, and prints a message if it was just created.
func openAuthority(e cli.Env) (*ca.Authority, error) {
	dir, err := ca.DefaultDir(e.Getenv)
	if err != nil {
		return nil, err
	}
	authority, err := ca.Open(dir)
	if err == nil && authority.Made() {
		e.Tell("created a certificate authority; TLS clients of --forward must trust %s", authority.CertificateFile())
	}
	return authority, err
}

// A setting is a variable of the environment.
type setting struct{ name, value string }

// settings returns the variables that make programs use the proxy at a URL and trust the authority, with the files that
// writeTrust has written.
//
// NO_PROXY becomes empty, since the proxy connects directly to whatever it names.
func settings(proxyURL string, authority *ca.Authority, files trustFiles, getenv func(string) string) []setting {
	bundle := files.bundle
	all := []setting{
		{"HTTP_PROXY", proxyURL},
		{"http_proxy", proxyURL},
		{"HTTPS_PROXY", proxyURL},
		{"https_proxy", proxyURL},
		{"ALL_PROXY", proxyURL},
		{"all_proxy", proxyURL},
		{"NO_PROXY", ""},
		{"no_proxy", ""},
		{"NODE_USE_ENV_PROXY", "1"}, // from Node.js 24 on its fetch reads the variables above
	}
	for _, name := range bundleVariables {
		all = append(all, setting{name, bundle})
	}
	for _, name := range ownVariables {
		if getenv(name) != "" {
			all = append(all, setting{name, bundle})
		}
	}
	extra := authority.CertificateFile()
	if getenv(extraVariable) != "" {
		extra = bundle // which holds what was there
	}
	all = append(all, setting{extraVariable, extra})
	if java := javaOptions(proxyURL, files.store, getenv(javaVariable)); java != "" {
		all = append(all, setting{javaVariable, java})
	}
	return all
}

// bundleVariables name a file of authorities that are trusted instead of the system's: by Go, OpenSSL and Ruby;
// Python's requests; curl; git; the AWS tools; Deno.
var bundleVariables = []string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT",
}

// ownVariables are such variables of single programs, which take precedence over those above where they are set.
var ownVariables = []string{
	"PIP_CERT", "HTTPLIB2_CA_CERTS", "NIX_SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
}

// extraVariable names a file of authorities that are trusted beside the built-in ones: by Node.js.
const extraVariable = "NODE_EXTRA_CA_CERTS"

// javaVariable holds options that every Java takes from its environment.
const javaVariable = "JAVA_TOOL_OPTIONS"

// javaOptions returns the options that make Java use the proxy and trust what is in the store, behind those that are
// there already; empty where the proxy asks for credentials, which Java takes from no option.
func javaOptions(proxyURL, store, there string) string {
	u, err := url.Parse(proxyURL)
	if err != nil || u.User != nil || strings.Contains(store, `"`) {
		return there
	}
	var options []string
	if there != "" {
		options = append(options, there)
	}
	if !strings.Contains(there, "-Djavax.net.ssl.trustStore=") { // else the user's is right
		options = append(options, `-Djavax.net.ssl.trustStore="`+store+`"`, "-Djavax.net.ssl.trustStoreType=JKS",
			"-Djavax.net.ssl.trustStorePassword="+ca.TrustStorePassword)
	}
	for _, scheme := range []string{"http", "https"} {
		options = append(options, "-D"+scheme+".proxyHost="+u.Hostname(), "-D"+scheme+".proxyPort="+u.Port())
	}
	return strings.Join(append(options, "-Dhttp.nonProxyHosts="), " ")
}

// trustFiles are files of authorities that programs trust in place of the system's: in PEM, and for Java.
type trustFiles struct{ bundle, store string }

// trustIn names the files in a folder.
func trustIn(dir string) trustFiles {
	return trustFiles{bundle: filepath.Join(dir, "bundle.pem"), store: filepath.Join(dir, "bundle.jks")}
}

// trustFor names the files for a shell, beside the authority.
func trustFor(authority *ca.Authority) trustFiles {
	return trustIn(filepath.Dir(authority.CertificateFile()))
}

// writeTrust writes the files: the system's authorities, those that the environment names already, ours, and those in
// further files. With ca.ErrNoRoots they are written.
func writeTrust(e cli.Env, authority *ca.Authority, files trustFiles, further ...string) error {
	for _, variable := range slices.Concat([]string{extraVariable}, bundleVariables, ownVariables) {
		if file := e.Getenv(variable); file != files.bundle {
			further = append(further, file)
		}
	}
	if err := authority.WriteTrustStore(files.store, further...); err != nil && !errors.Is(err, ca.ErrNoRoots) {
		return err
	}
	return authority.WriteBundle(files.bundle, further...)
}

// environ returns the environment of this process with the settings in place of what it says of them.
func environ(all []setting) []string {
	replaced := make(map[string]bool)
	for _, s := range all {
		replaced[s.name] = true
	}
	var out []string
	for _, entry := range os.Environ() {
		if name, _, _ := strings.Cut(entry, "="); !replaced[name] {
			out = append(out, entry)
		}
	}
	for _, s := range all {
		out = append(out, s.name+"="+s.value)
	}
	return out
}

// shellLine writes a setting as a line for POSIX shells.
func (s setting) shellLine() string {
	return "export " + s.name + "=" + cli.ShellQuote(s.value)
}
