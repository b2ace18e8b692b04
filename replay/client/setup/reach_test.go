package setup_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"a2atap/proxy/must"
	"a2atap/replay/client/setup"
)

func TestReachFlags(t *testing.T) {
	bad := filepath.Join(t.TempDir(), "bad.pem")
	must.Do(t, os.WriteFile(bad, []byte("no certificate"), 0o600))
	world := setup.World{
		Getenv: func(string) string { return "" },
		Secret: func(_, value string) (string, error) {
			return map[string]string{"env:PROXY": "https://user:s3cret@p:1", "env:BAD": "s3cret"}[value], nil
		},
	}
	for args, want := range map[string]string{ // part of the error; of the proxy, if there is no error
		"":                                 "none",
		"--insecure":                       "none",
		"--upstream-proxy env:PROXY":       "https://p:1",
		"--upstream-proxy env:BAD":         "write http://HOST:PORT",
		"--agent-ca " + bad:                "contains no certificate",
		"--agent-ca nowhere":               "nowhere: no such file",
		"--client-cert " + bad:             "contains no certificate",
		"--client-key " + bad:              "--client-key needs --client-cert",
		"--agent-ca x --client-key " + bad: "x: no such file",
	} {
		var f setup.ReachFlags
		set := pflag.NewFlagSet("", pflag.ContinueOnError)
		f.Register(set, "without it, none is used")
		must.Do(t, set.Parse(strings.Fields(args)))
		d, err := f.Dialer(world, time.Now)
		got := ""
		if err == nil {
			got = d.Proxy.String()
		} else {
			got = err.Error()
		}
		if !strings.Contains(got, want) || strings.Contains(got, "s3cret") {
			t.Errorf("%s: got %s, want %s", args, got, want)
		}
		if err == nil && d.Insecure != f.Insecure {
			t.Errorf("%s: insecure is %t", args, d.Insecure)
		}
	}
}
