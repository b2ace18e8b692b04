package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/spf13/cobra"

	"a2atap/cmd/internal/cli"
)

// fleetPasswords are the variables in which docs/fleet/server.conf finds its passwords, and what they are in tests.
var fleetPasswords = map[string]string{"RECORDER_PASSWORD": "10e3-recorder", "READER_PASSWORD": "r34der=+/"}

// readServerConf reads docs/fleet/server.conf as the server itself does, with passwords from the environment.
func readServerConf(t *testing.T) *server.Options {
	t.Helper()
	conf, err := server.ProcessConfigFile(filepath.Join("..", "..", "docs", "fleet", "server.conf"))
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range conf.Users {
		if want := fleetPasswords[strings.ToUpper(user.Username)+"_PASSWORD"]; want == "" || user.Password != want {
			t.Errorf("the server knows the user %s by another password", user.Username)
		}
	}
	return conf
}

// parseLine has the program's flag parser read a command line, without running it.
func parseLine(args []string) (*cobra.Command, error) {
	root := newRoot(cli.Env{Getenv: func(string) string { return "" }})
	cmd, rest, err := root.Find(args)
	if err != nil {
		return nil, err
	}
	if cmd == root {
		return nil, cli.Usage("%q is no command", args)
	}
	if err := cmd.ParseFlags(rest); err != nil {
		return nil, err
	}
	return cmd, cmd.ValidateArgs(cmd.Flags().Args())
}

// checkShipped compares where a tap ships to with the server that is there.
func checkShipped(t *testing.T, name string, line tapLine, conf *server.Options) {
	t.Helper()
	stream := strings.Trim(line.ship.Path, "/")
	if line.ship.Scheme != "nats" || line.ship.Port() != strconv.Itoa(conf.Port) {
		t.Errorf("%s ships to %s, and the server listens on port %s", name, line.ship, strconv.Itoa(conf.Port))
	}
	for _, user := range conf.Users {
		if user.Username == "recorder" &&
			!slices.Contains(user.Permissions.Publish.Allow, "a2atap."+stream+".>") {
			t.Errorf("%s ships to %s, and may not", name, line.ship)
		}
	}
}

// checkSecrets looks whether the users and passwords that a container gets are those that the server knows.
func checkSecrets(t *testing.T, name string, environment map[string]string, conf *server.Options) {
	t.Helper()
	for variable, value := range environment {
		if _, password := fleetPasswords[variable]; password || variable == "REDACTION_KEY" {
			continue
		}
		if variable != "A2ATAP_NATS_USER" {
			t.Errorf("%s gets %s, which nothing reads", name, variable)
			continue
		}
		who, password, _ := strings.Cut(value, ":")
		known := slices.ContainsFunc(conf.Users, func(u *server.User) bool { return u.Username == who })
		named := passwordName.FindString(password)
		if !known || named != strings.ToUpper(who)+"_PASSWORD" {
			t.Errorf("%s is the user %s with the password %s", name, who, password)
		}
	}
}

// passwordName is the name of the variable in ${NAME:?…} and in $(NAME).
var passwordName = regexp.MustCompile(`[A-Z]+_PASSWORD`)

func goMod(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The client library of NATS is behind proxy/fleet, so that another carrier can take its place: docs/decisions/0013.
func TestOneKnowsTheCarrier(t *testing.T) {
	t.Parallel()
	for from, list := range ourImports(t) {
		for _, to := range list {
			if strings.HasPrefix(to, "github.com/nats-io/") && !matches("a2atap/proxy/fleet/...", from) {
				t.Errorf("%s imports %s: what captures travel on is known to proxy/fleet alone", from, to)
			}
		}
	}
}
