package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
	"a2atap/replay/probe/scenarios"
)

// The page about the mission has each of its rows once, with a test in each role that the row has; and the tests exist.
func TestMissionIsShown(t *testing.T) {
	t.Parallel()
	roles, known := missionRoles()
	if written := namedByTests(t, missionPage(t)); written != missionPage(t) {
		if !*update {
			t.Error("tests name rows of the mission that do not list them: go test ./cmd/a2atap -run MissionIsShown -update writes them")
		} else {
			must.Do(t, os.WriteFile(missionFile, []byte(written), 0o644))
		}
	}
	if count := fmt.Sprintf("The mission of a2atap has %d rows", len(known)); !strings.Contains(missionPage(t), count) {
		t.Errorf("the page does not say %q", count)
	}
	shown := make(map[string]bool)
	proof := newEvidence(t)
	for _, row := range missionTable(missionPage(t)) {
		if shown[row.id] {
			t.Errorf("%s is there twice", row.id)
		}
		shown[row.id] = true
		if !slices.Contains(known, row.id) {
			t.Errorf("%s is no row of the mission", row.id)
		}
		if row.what == "" {
			t.Errorf("%s does not say what is done for it", row.id)
		}
		for i, cell := range row.evidence {
			n, problems := proof.check(row.id, cell)
			for _, p := range problems {
				t.Errorf("%s: %s", row.id, p)
			}
			switch has := strings.Contains(roles[row.id], "PAR"[i:i+1]); {
			case has && n == 0:
				t.Errorf("%s has no test %s: name a test, a script, a rule, a transcript, or have it asked", row.id, inRole[i])
			case !has && cell != "":
				t.Errorf("%s has evidence %s, and does not have that role: see missionRows", row.id, inRole[i])
			}
		}
	}
	for _, id := range known {
		if !shown[id] {
			t.Errorf("%s is missing", id)
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(missionPage(t), -1) { // the words around the tables name tests too
		if tests := goTests.FindStringSubmatch(span[1]); tests != nil {
			if problem := proof.checkTests(tests[1], testNames(tests[2])); problem != "" {
				t.Error(problem)
			}
		}
	}
	for tag := range proof.tags {
		isPart := func(id string) bool { return id == tag || strings.HasPrefix(id, tag+".") }
		if missionID.MatchString(tag) && !slices.ContainsFunc(known, isPart) {
			t.Errorf("a scenario has the tag %s, which is no row of the mission, and no group of rows", tag)
		}
	}
}

var inRole = [...]string{asProxy: "as proxy", actively: "actively", asAgent: "of the reference agents"}

// What is not there is no evidence: each kind of it is refused when it is made up.
func TestMissionRefusesWhatIsNot(t *testing.T) {
	proof := newEvidence(t)
	for cell, want := range map[string]string{
		"`replay/prompt: TestNothing`":              "has no TestNothing",
		"`replay/prompt: TestAnswers/no such case`": `no case "no such case"`,
		"`replay/nowhere: TestAnswers`":             "no tests in replay/nowhere",
		"`nothing.txtar`":                           "no script nothing.txtar",
		"`legacy/nothing.txtar`":                    "no transcript legacy/nothing.txtar",
		"`no-such-rule`":                            "no rule no-such-rule",
		"`a2atap sing`":                             `no command "sing"`,
		"`a2atap send --aloud`":                     "send has no flag --aloud",
		"`tasks/send`":                              "not evidence of a kind that is known",
		"asked":                                     "no scenario has the tag X0-0",
		"`a2atap send`":                             "",
		"words, and no evidence":                    "",
		"`replay/prompt: TestAnswers/polled, TestFailures`":   "",
		"`send.txtar`; `stream-closed-on-terminal`":           "",
		"`legacy/session.txtar`, `a2atap check --fail-on`":    "",
		"`replay/prompt: TestAnswers`, `a2atap send --quiet`": "",
	} {
		_, problems := proof.check("X0-0", cell)
		got := strings.Join(problems, "; ")
		if want == "" && got != "" || want != "" && !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", cell, got, want)
		}
	}
	for cell, want := range map[string]int{
		"words": 0, "`a2atap send --mode`": 0, "`send.txtar`, `replay/prompt: TestAnswers, TestFailures`": 3,
		"`a2atap probe --only card`": 1, "`a2atap probe --only`": 0,
	} {
		if n, _ := proof.check("X0-0", cell); n != want {
			t.Errorf("%s: %d proofs, want %d", cell, n, want)
		}
	}
	if n, _ := proof.check("S4-6.3a", "asked"); n != 0 { // no fault of an agent makes card-public fail
		t.Errorf("a scenario that no fault makes fail is %d proofs", n)
	}
}

var missionID = regexp.MustCompile(`^(S\d-|K\d)`)

// A missionRow is a row of the page: what is done, and in the other columns why one can believe it.
type missionRow struct {
	id, what string
	evidence []string
}

// asked reports whether the row says that scenarios ask for it.
func (r *missionRow) asked() bool {
	return slices.ContainsFunc(r.evidence, func(cell string) bool {
		return saysAsked.MatchString(codeSpan.ReplaceAllString(cell, ""))
	})
}

const missionFile = "../../docs/contributing/mission.md"

func missionPage(t *testing.T) string {
	t.Helper()
	return string(must.Get(os.ReadFile(missionFile))(t))
}

// missionTable returns the rows of all tables of the page.
func missionTable(page string) []missionRow {
	var rows []missionRow
	for line := range strings.Lines(page) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		if len(cells) < 3 || !missionID.MatchString(cells[0]) {
			continue
		}
		for id := range strings.SplitSeq(cells[0], ", ") {
			rows = append(rows, missionRow{id, cells[1], cells[2:]})
		}
	}
	return rows
}

// An evidence knows everything that the page may name.
type evidence struct {
	tags    map[string]bool // of scenarios, and their ids; true if an agent with a fault fails one of the scenarios
	rules   map[string]bool // true if a transcript breaks the rule
	sources map[string]*testPackage
}

// A testPackage is what the tests of a package are called, and the texts in them.
type testPackage struct{ functions, texts map[string]bool }

func newEvidence(t *testing.T) *evidence {
	t.Helper()
	e := &evidence{map[string]bool{}, map[string]bool{}, map[string]*testPackage{}}
	for _, s := range scenarios.All() {
		fails := s.Agent != "" || len(scenarios.Finds(s.ID)) > 0 // for the first see TestAcceptanceTestsCanFail
		for _, tag := range append(slices.Clip(s.Tags), s.ID) {
			e.tags[tag] = e.tags[tag] || fails
		}
	}
	for _, r := range rules.All {
		e.rules[r.ID] = false
	}
	transcripts, err := filepath.Glob("../../analyzer/rules/testdata/*/*.txtar")
	must.Do(t, err)
	for _, file := range transcripts {
		for _, finding := range findingOf.FindAllSubmatch(must.Get(os.ReadFile(file))(t), -1) {
			if _, known := e.rules[string(finding[1])]; known {
				e.rules[string(finding[1])] = true
			}
		}
	}
	return e
}

var (
	codeSpan  = regexp.MustCompile("`([^`]*)`")
	saysAsked = regexp.MustCompile(`\basked\b`)
	ruleWord  = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+$`)
	findingOf = regexp.MustCompile(`(?m) \[([a-z0-9-]+)\]$`)
	goTests   = regexp.MustCompile(`^([a-z0-9/]+): ((?:Test|Fuzz|Example)\w*.*)$`)
)

// check returns how many proofs a cell names, and what is wrong with what it names. A command shows how something is
// done, and is not proof of it, unless it asks for a scenario.
func (e *evidence) check(id, cell string) (proofs int, problems []string) {
	if saysAsked.MatchString(codeSpan.ReplaceAllString(cell, "")) {
		fails, known := e.tags[id]
		if fails {
			proofs++
		}
		if !known {
			problems = append(problems, "no scenario has the tag "+id)
		}
	}
	for _, span := range codeSpan.FindAllStringSubmatch(cell, -1) {
		name := span[1]
		n, problem := 1, ""
		if command, ok := strings.CutPrefix(name, "a2atap "); ok {
			n, problem = e.checkCommand(command)
		} else if tests := goTests.FindStringSubmatch(name); tests != nil {
			list := testNames(tests[2])
			n, problem = len(list), e.checkTests(tests[1], list)
		} else if strings.HasSuffix(name, ".txtar") {
			problem = checkScript(name)
		} else if !ruleWord.MatchString(name) {
			problem = name + " is not evidence of a kind that is known"
		} else if broken, known := e.rules[name]; !known {
			problem = "there is no rule " + name
		} else if !broken {
			n = 0
		}
		proofs += n
		if problem != "" {
			problems = append(problems, problem)
		}
	}
	return proofs, problems
}

// testNames divides a list of tests, whose cases may have commas in their names.
func testNames(list string) []string {
	lines := strings.NewReplacer(", Test", "\nTest", ", Fuzz", "\nFuzz", ", Example", "\nExample").Replace(list)
	return strings.Split(lines, "\n")
}

// checkScript looks for NAME.txtar among the scripts, and for FAMILY/NAME.txtar among the transcripts of the rules.
func checkScript(name string) string {
	kind, folder := "script", "testdata/script"
	if strings.Contains(name, "/") {
		kind, folder = "transcript", "../../analyzer/rules/testdata"
	}
	if _, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name))); err != nil {
		return "there is no " + kind + " " + name
	}
	return ""
}

// checkCommand looks for the verb and the flags of a command line, and for what --only names.
func (e *evidence) checkCommand(line string) (proofs int, problem string) {
	words := strings.Fields(line)
	root := newRoot(cli.Env{Out: new(bytes.Buffer), Err: new(bytes.Buffer), Getenv: func(string) string { return "" }})
	command, _, err := root.Find(words[:1])
	if err != nil || command == root {
		return 0, "there is no command " + strconv.Quote(words[0])
	}
	for i, word := range words[1:] {
		if i > 0 && words[i] == "--only" && !strings.HasPrefix(word, "--") {
			fails, known := e.tags[word]
			if !known {
				return 0, "no scenario is called " + word + ", or has it as a tag"
			}
			if fails {
				proofs++
			}
		}
		name, isFlag := strings.CutPrefix(word, "--")
		if !isFlag {
			continue
		}
		if command.Flags().Lookup(name) == nil && root.PersistentFlags().Lookup(name) == nil {
			return 0, command.Name() + " has no flag " + word
		}
	}
	return proofs, ""
}

// checkTests looks for tests of a package, and for the names of their cases, as in TestAnswers/polled, among its texts.
func (e *evidence) checkTests(folder string, tests []string) string {
	p := e.sources[folder]
	if p == nil {
		p = readTests(folder)
		e.sources[folder] = p
	}
	if len(p.functions) == 0 {
		return "there are no tests in " + folder
	}
	for _, test := range tests {
		name, sub, hasSub := strings.Cut(test, "/")
		if !p.functions[name] {
			return folder + " has no " + name
		}
		if hasSub && !p.texts[sub] {
			return folder + ": " + name + " has no case " + strconv.Quote(sub)
		}
	}
	return ""
}

// readTests reads the tests of a package, those behind build tags too.
func readTests(folder string) *testPackage {
	p := &testPackage{map[string]bool{}, map[string]bool{}}
	files, _ := filepath.Glob(filepath.Join("../..", filepath.FromSlash(folder), "*_test.go")) // the pattern is sound
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
		if err != nil {
			continue // it names nothing that one could find
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Recv == nil {
					p.functions[n.Name.Name] = true
				}
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil {
					p.texts[text] = true
				}
			}
			return true
		})
	}
	return p
}
