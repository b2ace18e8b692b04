package main

import (
	"bytes"
	"errors"
	"io"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"a2atap/proxy/must"
)

// composeFile is docs/fleet/compose.yaml. The test rejects other keys, so that no key slips in that Compose does not
// know, or that no one has considered. The names are those of the Compose specification.
type composeFile struct {
	Name     string                    `yaml:"name"`
	Program  yaml.Node                 `yaml:"x-a2atap"` // what the services share
	Tap      yaml.Node                 `yaml:"x-tap"`
	Services map[string]composeService `yaml:"services"`
	Volumes  map[string]*struct{}      `yaml:"volumes"`
}

type composeService struct {
	Image       string             `yaml:"image"`
	Build       *composeBuild      `yaml:"build"`
	Entrypoint  []string           `yaml:"entrypoint"`
	Command     []string           `yaml:"command"`
	Environment map[string]string  `yaml:"environment"`
	NetworkMode string             `yaml:"network_mode"`
	Ports       []string           `yaml:"ports"`
	Volumes     []string           `yaml:"volumes"`
	Profiles    []string           `yaml:"profiles"`
	Restart     string             `yaml:"restart"`
	StopGrace   string             `yaml:"stop_grace_period"`
	StdinOpen   bool               `yaml:"stdin_open"`
	TTY         bool               `yaml:"tty"`
	Healthcheck composeHealthcheck `yaml:"healthcheck"`
	DependsOn   map[string]struct {
		Condition string `yaml:"condition"`
	} `yaml:"depends_on"`
}

type composeBuild struct {
	Context    string `yaml:"context"`
	Dockerfile string `yaml:"dockerfile"`
}

type composeHealthcheck struct {
	Test     []string `yaml:"test"`
	Interval string   `yaml:"interval"`
	Timeout  string   `yaml:"timeout"`
	Retries  int      `yaml:"retries"`
}

// decodeStrictly reads each YAML document of a text into the value that target
// returns for its kind; keys that the value does not have are errors.
func decodeStrictly(text []byte, target func(kind string) any) error {
	for i, document := range bytes.Split(text, []byte("\n---\n")) {
		var kind struct {
			Kind string `yaml:"kind"`
		}
		if err := yaml.Unmarshal(document, &kind); err != nil {
			return err
		}
		into := target(kind.Kind)
		if into == nil {
			return errors.New("nothing is known of the kind " + kind.Kind)
		}
		d := yaml.NewDecoder(bytes.NewReader(document))
		d.KnownFields(true)
		if err := d.Decode(into); err != nil && (err != io.EOF || i == 0) {
			return err
		}
	}
	return nil
}

// fleetFile is a file of docs/fleet.
func fleetFile(t *testing.T, name string) []byte {
	t.Helper()
	return must.Get(os.ReadFile(filepath.Join("..", "..", "docs", "fleet", name)))(t)
}

func readCompose(t *testing.T) composeFile {
	t.Helper()
	var file composeFile
	must.Do(t, decodeStrictly(fleetFile(t, "compose.yaml"), func(string) any { return &file }))
	return file
}

// A tapLine is what the command line of a tap in docs/fleet says.
type tapLine struct {
	agent         string // host:port
	port          string // of the tap, for others
	hosts         []string
	output, ready string
	ship          *url.URL
	host          string // of --ship-host
}

// parseTap has the program's own flag parser read a command line, which must be one of record, and takes out of it what
// has to agree with what is around it.
func parseTap(t *testing.T, args []string) tapLine {
	t.Helper()
	cmd, err := parseLine(args)
	if err != nil {
		t.Fatalf("a2atap %s: %v", strings.Join(args, " "), err)
	}
	flags := cmd.Flags()
	agents, err := flags.GetStringArray("agent")
	if cmd.Name() != "record" || err != nil || len(agents) != 1 {
		t.Fatalf("a2atap %s is %s with the agents %q: %v", strings.Join(args, " "), cmd.Name(), agents, err)
	}
	_, agent, _ := strings.Cut(agents[0], "=")
	agent, at, _ := strings.Cut(agent, "@")
	u, err := url.Parse(agent)
	must.Do(t, err)
	line := tapLine{agent: u.Host}
	host, port, _ := strings.Cut(at, ":")
	if remote, _ := flags.GetBool("allow-remote"); !remote || host != "0.0.0.0" {
		t.Errorf("others do not reach %s", agents[0])
	}
	line.port = port
	line.hosts, _ = flags.GetStringArray("allow-host")
	line.output, _ = flags.GetString("output")
	line.ready, _ = flags.GetString("ready-file")
	line.host, _ = flags.GetString("ship-host")
	ship, _ := flags.GetString("ship")
	if line.ship, err = url.Parse(ship); err != nil {
		t.Fatal(err)
	}
	if key, _ := flags.GetString("redaction-key"); key != "env:REDACTION_KEY" {
		t.Errorf("secrets of %s are not comparable with those of other hosts: --redaction-key %q", agents[0], key)
	}
	return line
}

// The compose file is what Compose would read, its command lines are ours, and its addresses, names, folders and users
// agree with each other and with the server's configuration.
func TestComposeFile(t *testing.T) {
	file, conf := readCompose(t), readServerConf(t)
	hosts := make(map[string]bool)
	for name, s := range file.Services {
		if s.Image == "a2atap" {
			if s.Build == nil || filepath.Join("docs/fleet", s.Build.Context) != "." {
				t.Errorf("%s is not built in the root of the repository", name)
			} else if _, err := os.Stat(filepath.Join("../..", s.Build.Dockerfile)); err != nil {
				t.Error(err)
			}
			checkProgramLines(t, name, s)
		}
		checkComposeNames(t, &file, name)
		checkSecrets(t, name, s.Environment, conf)
		partner, inside := strings.CutPrefix(s.NetworkMode, "service:")
		if !inside {
			continue
		}
		line := parseTap(t, s.Command)
		if agent := file.Services[partner].Command; !slices.Contains(agent, line.agent) {
			t.Errorf("%s leads to %s, and the agent of %s is started with %q", name, line.agent, partner, agent)
		}
		if !slices.Contains(line.hosts, partner) || line.host != partner || hosts[line.host] {
			t.Errorf("%s lets in %q, and is called %q in the stream; others know it as %s", name, line.hosts, line.host,
				partner)
		}
		hosts[line.host] = true
		checkShipped(t, name, line, conf)
		if _, server := file.Services[line.ship.Hostname()]; !server {
			t.Errorf("%s ships to %s, and there is no such service", name, line.ship.Host)
		}
		if test := s.Healthcheck.Test; !slices.Equal(test, []string{"CMD", "test", "-e", line.ready}) {
			t.Errorf("%s is ready by %q, and writes %s", name, test, line.ready)
		}
		for _, kept := range []string{line.output, line.ready} {
			mounted := func(v string) bool { _, at, _ := strings.Cut(v, ":"); return at == path.Dir(kept) }
			if !slices.ContainsFunc(s.Volumes, mounted) {
				t.Errorf("%s writes %s, which is on none of %q", name, kept, s.Volumes)
			}
		}
	}
	if len(hosts) != 2 {
		t.Errorf("there are taps on %d hosts, want two", len(hosts))
	}
}

// checkProgramLines passes the command line of one of a2atap's services to the flag parser.
func checkProgramLines(t *testing.T, name string, s composeService) {
	t.Helper()
	lines := [][]string{s.Command}
	if len(s.Entrypoint) > 0 { // a shell
		lines = nil
		for line := range strings.Lines(strings.Join(s.Command, "\n")) {
			lines = append(lines, arguments(line))
		}
	}
	for _, args := range lines {
		if _, err := parseLine(args); err != nil {
			t.Errorf("%s: a2atap %s: %v", name, strings.Join(args, " "), err)
		}
	}
}

// checkComposeNames looks for what a service names: volumes, other services.
func checkComposeNames(t *testing.T, file *composeFile, name string) {
	t.Helper()
	s := file.Services[name]
	for _, v := range s.Volumes {
		source, _, _ := strings.Cut(v, ":")
		if _, named := file.Volumes[source]; named {
			continue
		}
		if _, err := os.Stat(filepath.Join("../../docs/fleet", source)); !strings.HasPrefix(source, "./") || err != nil {
			t.Errorf("%s mounts %s, which is neither a volume of the file nor a file beside it", name, source)
		}
	}
	for other, on := range s.DependsOn {
		checked := len(file.Services[other].Healthcheck.Test) > 0
		if on.Condition != "service_healthy" || !checked {
			t.Errorf("%s waits for %s to be %s", name, other, on.Condition)
		}
	}
}
