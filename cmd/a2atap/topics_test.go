package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/filter"
)

// The commands in the help topics work as they are printed, on the capture of a whole session; of those that listen, or
// speak to others, the flags are read.
func TestTopicsWork(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("..", "..", "analyzer", "rules", "testdata", "clean", "v1-*.txtar"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no sessions: %v", err)
	}
	session, err := filepath.Abs(files[0])
	if err != nil {
		t.Fatal(err)
	}
	s := newShell(t)
	if _, errs, code := s.execute("a2atap import " + session + " -o c.a2atap"); code != cli.ExitOK {
		t.Fatal(errs)
	}
	executed, parsed := 0, 0
	for _, topic := range topics() {
		for line := range strings.Lines(topic.Text) {
			if !strings.HasPrefix(line, "  a2atap ") {
				continue
			}
			line = strings.TrimSpace(line)
			if args := arguments(line); !slices.Contains(readers, args[0]) || strings.Contains(line, "://") {
				parsed++
				if _, err := parseLine(args); err != nil {
					t.Errorf("help %s: %s: %v", topic.Name, line, err)
				}
				continue
			}
			executed++
			_, errs, code := s.execute(line)
			if !slices.Contains([]int{cli.ExitOK, cli.ExitFindings, cli.ExitInconclusive}, code) {
				t.Errorf("help %s: %s\nexit %d: %s", topic.Name, line, code, errs)
			}
		}
	}
	if executed < 14 || parsed < 14 {
		t.Errorf("the topics have %d commands that read a capture, and %d others", executed, parsed)
	}
}

// The examples of the filter's keys match their descriptions.
func TestFilterTopic(t *testing.T) {
	for _, k := range filter.Keys() {
		f, err := filter.Parse(k.Example)
		if err != nil || !f.Asks(k.Name) && !strings.Contains(f.String(), k.Name+":") {
			t.Errorf("%s is read as %v: %v", k.Example, f, err)
		}
	}
}

// The place in the topic is written as places are.
func TestPlacesTopic(t *testing.T) {
	p := analysis.Place{
		Exchange: 12, Response: true, Part: "event[3]", Pointer: "/result/statusUpdate/status/state", HasPointer: true,
	}
	if !strings.Contains(placesTopic, "  "+p.String()+"\n") {
		t.Errorf("the topic does not have %s", p)
	}
}

// An unknown help topic is reported, with similar topics.
func TestHelpOn(t *testing.T) {
	s := newShell(t)
	for _, test := range []struct {
		line, want string
		code       int
	}{
		{"a2atap help filter", "is:open", cli.ExitOK},
		{"a2atap help exit", "inconclusive", cli.ExitOK},
		{"a2atap filter", "Keys:", cli.ExitOK},
		{"a2atap help ca install", "a2atap ca install", cli.ExitOK},
		{"a2atap help", "Topics of a2atap help:", cli.ExitOK},
		{"a2atap help fleet", "--nats-user USER:PASS", cli.ExitOK},
		{"a2atap help formts", `no help on "formts"; a2atap help lists commands and topics; did you mean "formats", "faults" or "hosts"?`, cli.ExitUsage},
		{"a2atap help ca instal", `no help on "instal"`, cli.ExitUsage},
		{"a2atap help xyzzy", "a2atap help lists commands and topics", cli.ExitUsage},
		{"a2atap chek", `unknown command "chek"; see a2atap --help; did you mean "check"?`, cli.ExitUsage},
		{"a2atap play", `did you mean "playback" or "replay"?`, cli.ExitUsage},
	} {
		out, errs, code := s.execute(test.line)
		if code != test.code || !strings.Contains(out+errs, test.want) {
			t.Errorf("%s: exit %d\n%s%s\nwant %d and %q", test.line, code, out, errs, test.code, test.want)
		}
	}
}

// The table of help exit says what each first word of a verdict means, and the lines below it what --fail-on and
// --allow-empty change.
func TestExitTopic(t *testing.T) {
	t.Parallel()
	link := analysis.Link{Client: "planner", Agent: "booker"}
	results := map[judgment.Status]judgment.Result{
		judgment.StatusFindings:    {Found: [3]int{analysis.Error: 1}},
		judgment.StatusFailing:     {Calls: []judgment.Calls{{Link: link, Made: 2, Failed: 2}}},
		judgment.StatusNothing:     {},
		judgment.StatusIncomplete:  {Counts: judgment.Counts{Lost: 1}},
		judgment.StatusWarnings:    {Found: [3]int{analysis.Warning: 1}},
		judgment.StatusNoViolation: {NotSeen: []judgment.NotSeen{{What: "exchange", Count: 1}}},
		judgment.StatusClean:       {},
	}
	rows := make(map[judgment.Status]int)
	for status := range results {
		row := regexp.MustCompile(`(?ms)^  ` + string(status) + ` +.*?(\d)$`).FindStringSubmatch(exitTopic)
		if row == nil {
			t.Fatalf("no row for %q", status)
		}
		rows[status] = int(row[1][0] - '0')
	}
	gates := map[string]judgment.Gate{
		"error": {Severity: analysis.Error}, "calls": {Severity: analysis.Error, Calls: true},
		"never": {Severity: analysis.Error + 1, Never: true}, "empty": {Severity: analysis.Error, AllowEmpty: true},
	}
	for status, r := range results {
		for name, gate := range gates {
			for _, failed := range []int{0, 1} {
				one := r
				if status != judgment.StatusNothing {
					one.Counts.Exchanges, one.Counts.Judged = 9, 9
				}
				if failed > 0 && status != judgment.StatusNothing && status != judgment.StatusClean {
					one.Calls = append(slices.Clone(r.Calls), judgment.Calls{
						Link: analysis.Link{Client: "x", Agent: "y"}, Made: 9, Succeeded: 8, Failed: 1,
					})
				}
				want := rows[status]
				switch {
				case name == "calls" && (len(one.Calls) > len(r.Calls)):
					want = 1
				case name == "never" && want == 1, name == "empty" && want == 4:
					want = 0
				}
				v := one.Judge(gate)
				if v.Status != status || v.Exit.Status() != want {
					t.Errorf("%s under %s, %d failed: %s with exit %d, and the page says %s with %d", status, name, failed,
						v.Status, v.Exit.Status(), status, want)
				}
			}
		}
	}
}
