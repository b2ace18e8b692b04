package trust

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/ca"
)

// shellTrust writes the trust files for programs that run does not start.
func shellTrust(e cli.Env, a *ca.Authority) (trustFiles, error) {
	files := trustFor(a)
	err := Write(e, a, files)
	if errors.Is(err, ca.ErrNoRoots) {
		e.Tell("%v; programs that use it then trust no other authority", err)
		return files, nil
	}
	return files, err
}

// PrintSettings prints export commands for a shell whose programs should use the proxy at an address.
func PrintSettings(e cli.Env, a *ca.Authority, listen string) error {
	files, err := shellTrust(e, a)
	if err != nil {
		return err
	}
	for _, s := range Settings("http://"+listen, a, files, e.Getenv) {
		if _, err := fmt.Fprintln(e.Out, s.shellLine()); err != nil {
			return err
		}
	}
	return nil
}

// A setting is an environment variable.
type setting struct{ name, value string }

// Settings returns the environment variables that make programs use the proxy at a URL and trust the authority. files
// are the files that Write has written.
//
// NO_PROXY becomes empty, since the proxy connects directly to whatever it names.
func Settings(proxyURL string, authority *ca.Authority, files trustFiles, getenv func(string) string) []setting {
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
		{"NODE_USE_ENV_PROXY", "1"}, // from Node.js 24 on, its fetch reads the variables above
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
		extra = bundle // bundle includes its previous contents
	}
	all = append(all, setting{extraVariable, extra})
	if java := javaOptions(proxyURL, files.store, getenv(javaVariable)); java != "" {
		all = append(all, setting{javaVariable, java})
	}
	return all
}

// bundleVariables name a file of authorities that programs trust instead of the system's: Go, OpenSSL and Ruby;
// Python's requests; curl; git; the AWS tools; Deno.
var bundleVariables = []string{
	"SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GIT_SSL_CAINFO", "AWS_CA_BUNDLE", "DENO_CERT",
}

// ownVariables are such variables of single programs. If set, they take precedence over those above.
var ownVariables = []string{
	"PIP_CERT", "HTTPLIB2_CA_CERTS", "NIX_SSL_CERT_FILE", "CARGO_HTTP_CAINFO", "CLOUDSDK_CORE_CUSTOM_CA_CERTS_FILE",
	"GRPC_DEFAULT_SSL_ROOTS_FILE_PATH",
}

// extraVariable names a file of authorities that Node.js trusts in addition to the built-in ones.
const extraVariable = "NODE_EXTRA_CA_CERTS"

// javaVariable holds options that every Java runtime reads from its environment.
const javaVariable = "JAVA_TOOL_OPTIONS"

// javaOptions returns the options that make Java use the proxy and trust the store. It appends them to the existing
// options. It returns "" if the proxy requires credentials, since no Java option can pass them.
func javaOptions(proxyURL, store, there string) string {
	u, err := url.Parse(proxyURL)
	if err != nil || u.User != nil || strings.Contains(store, `"`) {
		return there
	}
	var options []string
	if there != "" {
		options = append(options, there)
	}
	if !strings.Contains(there, "-Djavax.net.ssl.trustStore=") { // otherwise keep the user's
		options = append(options, `-Djavax.net.ssl.trustStore="`+store+`"`, "-Djavax.net.ssl.trustStoreType=JKS",
			"-Djavax.net.ssl.trustStorePassword="+ca.TrustStorePassword)
	}
	for _, scheme := range []string{"http", "https"} {
		options = append(options, "-D"+scheme+".proxyHost="+u.Hostname(), "-D"+scheme+".proxyPort="+u.Port())
	}
	return strings.Join(append(options, "-Dhttp.nonProxyHosts="), " ")
}

// trustFiles are files of authorities that programs trust instead of the system's: in PEM, and for Java.
type trustFiles struct{ bundle, store string }

// In returns the paths of the files in a folder.
func In(dir string) trustFiles {
	return trustFiles{bundle: filepath.Join(dir, "bundle.pem"), store: filepath.Join(dir, "bundle.jks")}
}

// trustFor returns the paths of the files for a shell, next to the authority.
func trustFor(authority *ca.Authority) trustFiles {
	return In(filepath.Dir(authority.CertificateFile()))
}

// Write writes the files. They contain the system's authorities, those that the environment names already, a2atap's,
// and those in further files. If Write returns ca.ErrNoRoots, it has written them.
func Write(e cli.Env, authority *ca.Authority, files trustFiles, further ...string) error {
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

// Environ returns the environment of this process, with the settings instead of its own values for them.
func Environ(all []setting) []string {
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

// shellLine returns a setting as a line for POSIX shells.
func (s setting) shellLine() string {
	return "export " + s.name + "=" + cli.Quote(s.value)
}
