//go:build peers

package main

import (
	"bytes"
	"context"
	"crypto/x509"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
	"a2atap/proxy/ca"
	"a2atap/proxy/forward"
	"a2atap/proxy/must"
	"a2atap/proxy/outbound"
)

// What fetches a URL in each language, through the proxy that its settings name.
const (
	fetchPython   = `import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())`
	fetchRequests = `import sys, requests; print(requests.get(sys.argv[1]).text)`
	fetchHTTPX    = `import sys, httpx; print(httpx.get(sys.argv[1]).text)`
	fetchNode     = `
const http = require("http"), https = require("https");
const proxy = new URL(process.env.HTTPS_PROXY), at = new URL(process.argv[1]);
const ask = http.request({host: proxy.hostname, port: proxy.port, method: "CONNECT", path: at.host});
ask.on("connect", (_, socket) => {
  https.get({socket, agent: false, host: at.hostname, path: "/"}, (answer) => answer.pipe(process.stdout));
});
ask.end();`
	fetchJava = `
import java.net.*;
public class Fetch {
  public static void main(String[] args) throws Exception {
    System.out.println(new String(new URL(args[0]).openStream().readAllBytes()));
  }
}`
)

// A client with the settings that ca install prints gets through the forward proxy, and one that knows the proxy alone
// does not.
func TestInstalledAuthority(t *testing.T) {
	dir := t.TempDir()
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		io.WriteString(w, "the agent's word") //nolint:errcheck // the client sees it
	}))
	agent.Config.ErrorLog = log.New(io.Discard, "", 0)
	agent.StartTLS()
	defer agent.Close()
	roots := x509.NewCertPool()
	roots.AddCert(agent.Certificate())
	authority := must.Get(ca.Open(filepath.Join(dir, "it's a folder")))(t)
	source := filepath.Join(dir, "Fetch.java")
	must.Do(t, os.WriteFile(source, []byte(fetchJava), 0o600))
	for _, c := range []struct {
		word, name string
		command    []string
	}{
		{"curl", "curl", []string{"curl", "-sS", "--fail"}},
		{"python", "ssl", []string{"python3", "-c", fetchPython}},
		{"python", "requests", []string{peersPython(t), "-c", fetchRequests}},
		{"python", "httpx", []string{peersPython(t), "-c", fetchHTTPX}},
		{"node", "node", []string{"node", "-e", fetchNode}},
		{"java", "java", []string{"java", source}},
		{"", "java as run sets it", []string{"java", source}},
		{"", "requests as run sets it", []string{peersPython(t), "-c", fetchRequests}},
	} {
		t.Run(c.name, func(t *testing.T) {
			// Each has a recording of its own: who has rejected our certificate is tunnelled from then on.
			r, err := recorder.Start(recorder.Options{
				Output: filepath.Join(t.TempDir(), "c.a2atap"), Reach: &outbound.Dialer{Roots: roots},
				Proxy: proxy.Options{Forward: &forward.Spec{Listen: "127.0.0.1:0", Leaf: authority.Leaf}},
			})
			must.Do(t, err)
			defer func() {
				if _, _, err := r.Stop(); err != nil {
					t.Error(err)
				}
			}()
			addr := r.Forward().Addr()
			without := "export HTTPS_PROXY=http://" + addr + "\n"
			if c.command[0] == "java" {
				without = "export JAVA_TOOL_OPTIONS='-Dhttps.proxyHost=127.0.0.1 -Dhttp.nonProxyHosts= -Dhttps.proxyPort=" +
					addr[strings.LastIndexByte(addr, ':')+1:] + "'\n"
			}
			var lines bytes.Buffer
			e := cli.Env{Out: &lines, Err: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}
			err = trust.PrintSettings(e, authority, addr)
			if c.word != "" {
				lines.Reset()
				err = trust.PrintInstallations(e, authority, addr, []string{c.word})
			}
			must.Do(t, err)
			before, _ := r.Passed()
			if out, err := fetch(t, lines.String(), c.command, agent.URL); err != nil ||
				!strings.Contains(out, "the agent's word") {
				t.Errorf("with\n%s%v\n%s", lines.String(), err, out)
			}
			for opened(r) == before {
				select {
				case <-r.Changed():
				case <-time.After(must.Patience):
					t.Fatal("it went round the proxy")
				}
			}
			if out, err := fetch(t, without, c.command, agent.URL); err == nil {
				t.Errorf("without it: got %s", out)
			}
		})
	}
}

// fetch runs a command for a URL in a shell that was set up so, with nothing else in its environment.
func fetch(t *testing.T, setUp string, command []string, url string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", "set -e\n" + setUp + `exec "$@"`, "sh"},
		append(command, url)...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir()}
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// peersPython returns the interpreter that replay/peers/testdata/install has put in place.
func peersPython(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("A2ATAP_PEERS")
	if dir == "" {
		cache := must.Get(os.UserCacheDir())(t)
		dir = filepath.Join(cache, "a2atap-peers")
	}
	return filepath.Join(dir, "py1", "bin", "python")
}

func opened(r *recorder.Recording) int64 {
	n, _ := r.Passed()
	return n
}
