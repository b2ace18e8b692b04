package peers

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/rules"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// interopPage is what the test below keeps true.
const interopPage = "../../docs/interop.md"

// TestInteropPage generates docs/interop.md from the data of other tests: the clients' results (testdata/seen), the
// confirmed findings in the traffic (confirmed), and the agents' results in the active suite (testdata/probed).
func TestInteropPage(t *testing.T) {
	expect.Golden(t, *update, interopPage, interop(t))
}

// sdks names the ends of pairs for people, with the file that holds the version.
var sdks = []struct{ name, title, file, module string }{
	{"go03", "Go 0.3", "../../go.mod", "github.com/a2aproject/a2a-go"},
	{"go2", "Go 2", "../../go.mod", "github.com/a2aproject/a2a-go/v2"},
	{"go2hybrid", "Go 2, 1.0 and 0.3 at once", "../../go.mod", "github.com/a2aproject/a2a-go/v2"},
	{"go2legacy", "Go 2, speaking 0.3", "../../go.mod", "github.com/a2aproject/a2a-go/v2"},
	{"java03", "Java 0.3", "testdata/java03/pom.xml", "a2a-java-sdk-client"},
	{"js03", "JavaScript 0.3", "testdata/js03/package.json", "@a2a-js/sdk"},
	{"js1", "JavaScript 1", "testdata/js1/package.json", "@a2a-js/sdk"},
	{"py03", "Python 0.3", "testdata/py03/requirements.txt", "a2a-sdk"},
	{"py1", "Python 1", "testdata/py1/requirements.txt", "a2a-sdk"},
}

func titleOf(name string) string {
	for _, s := range sdks {
		if s.name == name {
			return s.title
		}
	}
	return name
}

// sdkVersion reads the pinned version of an SDK.
func sdkVersion(t *testing.T, file, module string) string {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	if path.Ext(file) == ".json" {
		var p struct {
			Dependencies map[string]string `json:"dependencies"`
		}
		must.Do(t, json.Unmarshal(text, &p))
		return p.Dependencies[module]
	}
	if path.Ext(file) == ".xml" {
		found := regexp.MustCompile(`<a2a.version>([^<]+)<`).FindSubmatch(text)
		if found == nil {
			t.Fatalf("%s does not pin %s", file, module)
		}
		return string(found[1])
	}
	found := regexp.MustCompile(`(?m)^\s*` + regexp.QuoteMeta(module) + `(?: v|==)(\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("%s does not pin %s", file, module)
	}
	return string(found[1])
}

// allPairs are those that testdata/seen holds, in its order.
func allPairs(t *testing.T) []pairName {
	t.Helper()
	files, err := filepath.Glob("testdata/seen/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no pairs: %v", err)
	}
	var pairs []pairName
	for _, f := range files {
		words := strings.Split(strings.TrimSuffix(filepath.Base(f), ".txt"), "-")
		if len(words) != 3 {
			t.Fatalf("%s is not named after a pair", f)
		}
		pairs = append(pairs, pairName{words[0], words[1], words[2], f})
	}
	return pairs
}

// A pairName is a pair by its file.
type pairName struct{ client, agent, binding, file string }

func (p pairName) String() string { return p.client + "-" + p.agent + "-" + p.binding }

// A played is the result of a pair's script.
type played struct {
	steps  int
	broken []string // step and what the client said, one line each
}

// refusals are the steps in which the agent has to refuse.
var refusals = []string{"get unknown", "cancel ended"}

// readPlayed reads what a client saw. A step is broken if the client reports an error in it that the script does not
// ask for.
func readPlayed(t *testing.T, file string) (p played) {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	seen := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		step, what, _ := strings.Cut(strings.TrimSpace(line), ": ")
		step = strings.TrimSuffix(strings.TrimSuffix(step, " release"), " answer")
		if !seen[step] {
			seen[step] = true
			p.steps++
		}
		if strings.HasPrefix(what, "error ") && !slices.Contains(refusals, step) {
			p.broken = append(p.broken, step+": "+strings.TrimPrefix(what, "error "))
		}
	}
	return p
}

func (p played) cell() string {
	broken := map[string]bool{}
	for _, b := range p.broken {
		step, _, _ := strings.Cut(b, ": ")
		broken[step] = true
	}
	if len(broken) == 0 {
		return fmt.Sprintf("all %d steps", p.steps)
	}
	return fmt.Sprintf("**%d of %d**", p.steps-len(broken), p.steps)
}

func interop(t *testing.T) string {
	var b strings.Builder
	b.WriteString(`# Which SDKs work together

Each client runs the same script against each agent that speaks its version: a message, a task, a stream, polling, several
turns, a list, a failure, a cancellation, push notifications in four ways, and two refusals. It runs the script directly
and through a tap, and sees the same both times: every failure below also occurs without a tap. ` + "`.ci/interop`" + `
generates this page, and tests keep it current.

| SDK | package and version |
|---|---|
`)
	for _, s := range sdks {
		fmt.Fprintf(&b, "| %s | %s %s |\n", s.title, s.module, sdkVersion(t, s.file, s.module))
	}
	pairs := allPairs(t)
	for _, binding := range []struct{ name, title string }{{"jsonrpc", "JSON-RPC"}, {"rest", "HTTP+JSON"}, {"grpc", "gRPC"}} {
		writeMatrix(t, &b, pairs, binding.name, binding.title)
	}
	writeBroken(t, &b, pairs)
	writeFaults(t, &b, pairs)
	writeAcceptance(&b)
	writeProbed(t, &b)
	writeTried(t, &b)
	return b.String()
}

func writeMatrix(t *testing.T, b *strings.Builder, pairs []pairName, binding, title string) {
	var clients, agents []string
	for _, p := range pairs {
		if p.binding == binding {
			clients, agents = append(clients, p.client), append(agents, p.agent)
		}
	}
	slices.Sort(clients)
	slices.Sort(agents)
	clients, agents = slices.Compact(clients), slices.Compact(agents)
	fmt.Fprintf(b, "\n## %s\n\nThe number of steps that work; – marks pairs that share no version, or were not "+
		"tested.\n\n", title)
	fmt.Fprintf(b, "| client ↓ agent → |")
	for _, a := range agents {
		fmt.Fprintf(b, " %s |", titleOf(a))
	}
	fmt.Fprintf(b, "\n|---|%s\n", strings.Repeat("---|", len(agents)))
	for _, c := range clients {
		fmt.Fprintf(b, "| %s |", titleOf(c))
		for _, a := range agents {
			cell := "–"
			for _, p := range pairs {
				if p.client == c && p.agent == a && p.binding == binding {
					cell = readPlayed(t, p.file).cell()
				}
			}
			fmt.Fprintf(b, " %s |", cell)
		}
		b.WriteByte('\n')
	}
}

// writeBroken lists each broken step with what the client says, once for all pairs that say the same.
func writeBroken(t *testing.T, b *strings.Builder, pairs []pairName) {
	b.WriteString("\n## What does not work\n\nEach failed step, with the error that the client reports.\n\n" +
		"| client → agent | binding | step | report |\n|---|---|---|---|\n")
	for _, p := range pairs {
		for _, line := range readPlayed(t, p.file).broken {
			step, report, _ := strings.Cut(line, ": ")
			fmt.Fprintf(b, "| %s → %s | %s | %s | %s |\n", titleOf(p.client), titleOf(p.agent), p.binding, step,
				cellText(report))
		}
	}
}

// cellText writes foreign text into a table, a hundred letters of it at most.
func cellText(s string) string {
	letters := []rune(s)
	if len(letters) > 100 {
		s = string(letters[:99]) + "…"
	}
	return "`` " + strings.ReplaceAll(strings.ReplaceAll(s, "`", "'"), "|", "¦") + " ``"
}

// writeFaults lists the protocol violations in the traffic, with the side at fault, whether or not a step fails.
func writeFaults(t *testing.T, b *strings.Builder, pairs []pairName) {
	b.WriteString(`
## Who is at fault

Protocol violations in the traffic of these pairs, whether or not they make a step fail. The rules of a2atap report them,
and each was confirmed by reading the traffic.

| pairs | at fault | severity | rule | section | in the traffic |
|---|---|---|---|---|---|
`)
	for _, c := range confirmed {
		words := strings.Fields(c.finding)
		severity, side, id := words[0], words[1], words[2]
		at := slices.IndexFunc(rules.All, func(r *analysis.Rule) bool { return r.ID == id })
		if at < 0 {
			t.Fatalf("no rule %s", id)
		}
		var in []string
		for _, p := range pairs {
			for pattern := range strings.FieldsSeq(c.pairs) {
				if match, _ := path.Match(pattern, p.String()); match { // of its errors TestConfirmed knows
					in = append(in, p.String())
				}
			}
		}
		fmt.Fprintf(b, "| %s | the %s | %s | [%s](rules/%s.md) | %s | %s |\n", strings.Join(in, ", "), side, severity, id, id,
			strings.Join(rules.All[at].Sections(rules.All[at].Dialects()), ", "), strings.ReplaceAll(c.reason, "|", "¦"))
	}
}

// writeTried adds what frameworks and other SDKs did through a tap, which is tried by hand.
func writeTried(t *testing.T, b *strings.Builder) {
	text := must.Get(os.ReadFile(filepath.Join("testdata", "frameworks", "tried.md")))(t)
	fmt.Fprintf(b, "\n## Frameworks\n\n%s", text)
}

// writeProbed reports the agents' results in the active suite.
func writeProbed(t *testing.T, b *strings.Builder) {
	b.WriteString(`
## How the agents do in probe

The results of [probe](probe.md) for each agent. If an agent ignores a SHOULD, the failure is a warning. Tests of features
that the agent does not advertise are skipped. Tests are inconclusive if the answers do not show what they are about.

`)
	for _, s := range sdks {
		writeProbedAgent(t, b, s.name, s.title)
		writeProbedAgent(t, b, s.name+"grpc", s.title+", over gRPC")
	}
}

// writeProbedAgent reports the results of one agent, if it was probed.
func writeProbedAgent(t *testing.T, b *strings.Builder, name, title string) {
	text, err := os.ReadFile(filepath.Join("testdata", "probed", name+".txt"))
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	must.Do(t, err)
	head, failures, _ := strings.Cut(string(text), "\n")
	fmt.Fprintf(b, "**%s**: %s\n\n", title, head)
	for line := range strings.Lines(failures) {
		b.WriteString("- " + line)
	}
	if failures != "" {
		b.WriteByte('\n')
	}
}
