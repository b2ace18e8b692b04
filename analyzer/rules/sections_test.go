package rules_test

import (
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"a2atap/analyzer/rules"
	"a2atap/proxy/a2a"
)

// sections are the numbers of all headings in the specification of each dialect, in any of its patch versions.
var sections = map[a2a.Dialect]string{
	a2a.V0_1: `
1 1.1 1.2 2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 4.5 4.6 5 5.1 5.2 5.3 5.4 5.5 5.5.1 5.5.2 5.5.3 5.5.4 5.6 6 6.1 6.2 6.3
6.4 6.5 6.5.1 6.5.2 6.5.3 6.6 6.7 6.8 6.9 6.10 6.11 6.11.1 6.11.2 6.12 7 7.1 7.1.1 7.2 7.2.1 7.2.2 7.2.3 7.3 7.3.1
7.4 7.4.1 7.5 7.6 7.7 8 8.1 8.2 9 9.1 9.2 9.3 9.4 9.5 9.6 10 10.1 10.2`,
	a2a.V0_2: `
1 1.1 1.2 2 3 3.1 3.2 3.3 4 4.1 4.2 4.3 4.4 4.5 4.6 5 5.1 5.2 5.3 5.4 5.5 5.5.1 5.5.2 5.5.2.1 5.5.3 5.5.4 5.5.5 5.6
6 6.1 6.2 6.3 6.4 6.5 6.5.1 6.5.2 6.5.3 6.6 6.6.1 6.6.2 6.7 6.8 6.9 6.10 6.11 6.11.1 6.11.2 6.12 7 7.1 7.1.1 7.2
7.2.1 7.2.2 7.2.3 7.3 7.3.1 7.4 7.4.1 7.5 7.6 7.6.1 7.7 7.7.1 7.8 7.8.1 7.8.2 7.9 7.10 7.10.1 7.10.2 8 8.1 8.2 9 9.1
9.2 9.3 9.4 9.5 9.6 9.7 10 10.1 10.2`,
	a2a.V0_3: `
1 1.1 1.2 2 3 3.1 3.2 3.2.1 3.2.2 3.2.3 3.2.4 3.3 3.3.1 3.3.2 3.3.3 3.4 3.4.1 3.4.2 3.4.3 3.5 3.5.1 3.5.2 3.5.3
3.5.4 3.5.5 3.5.6 4 4.1 4.2 4.3 4.4 4.5 4.6 5 5.1 5.2 5.3 5.4 5.5 5.5.1 5.5.2 5.5.2.1 5.5.3 5.5.4 5.5.5 5.5.6 5.6
5.6.1 5.6.2 5.6.3 5.6.4 5.7 6 6.1 6.2 6.3 6.4 6.5 6.5.1 6.5.2 6.5.3 6.6 6.6.1 6.6.2 6.7 6.8 6.9 6.10 6.11 6.11.1
6.11.2 6.12 7 7.1 7.1.1 7.2 7.2.1 7.2.2 7.2.3 7.3 7.3.1 7.4 7.4.1 7.5 7.6 7.6.1 7.7 7.7.1 7.8 7.8.1 7.9 7.10 8 8.1
8.2 9 9.1 9.2 9.3 9.4 9.5 9.6 9.7 10 10.1 10.2 11 11.1 11.1.1 11.1.2 11.1.3 11.1.4 11.1.5 11.2 11.2.1 11.2.2 11.2.3
11.3`,
	a2a.V1_0: `
1 1.1 1.2 1.3 1.4 2 2.1 2.2 3 3.1 3.1.1 3.1.2 3.1.3 3.1.4 3.1.5 3.1.6 3.1.7 3.1.8 3.1.9 3.1.10 3.1.11 3.2 3.2.1
3.2.2 3.2.3 3.2.4 3.2.5 3.2.6 3.3 3.3.1 3.3.2 3.3.3 3.3.4 3.4 3.4.1 3.4.2 3.4.3 3.5 3.5.1 3.5.2 3.5.3 3.6 3.6.1
3.6.2 3.6.3 3.7 4 4.1 4.1.1 4.1.2 4.1.3 4.1.4 4.1.5 4.1.6 4.1.7 4.2 4.2.1 4.2.2 4.3 4.3.1 4.3.2 4.3.3 4.4 4.4.1
4.4.2 4.4.3 4.4.4 4.4.5 4.4.6 4.4.7 4.5 4.5.1 4.5.2 4.5.3 4.5.4 4.5.5 4.5.6 4.5.7 4.5.8 4.5.9 4.5.10 4.6 4.6.1 4.6.2
4.6.3 5 5.1 5.2 5.3 5.4 5.5 5.6 5.6.1 5.7 5.8 6 6.1 6.2 6.3 6.4 6.5 6.6 6.7 6.8 6.9 7 7.1 7.2 7.3 7.4 7.5 7.6 7.6.1
7.6.2 7.6.3 8 8.1 8.2 8.3 8.3.1 8.3.2 8.4 8.4.1 8.4.2 8.4.3 8.5 8.6 8.6.1 8.6.2 9 9.1 9.2 9.3 9.4 9.4.1 9.4.2 9.4.3
9.4.4 9.4.5 9.4.6 9.4.7 9.4.8 9.5 10 10.1 10.2 10.3 10.4 10.4.1 10.4.2 10.4.3 10.4.4 10.4.5 10.4.6 10.4.7 10.4.8
10.4.9 10.4.10 10.4.11 10.5 10.5.1 10.6 10.7 11 11.1 11.2 11.3 11.3.1 11.3.2 11.3.3 11.3.4 11.4 11.5 11.6 11.7 12
12.1 12.2 12.3 12.4 12.5 12.6 12.7 12.8 13 13.1 13.2 13.3 13.4 14 14.1 14.1.1 14.2 14.2.1 14.2.2 14.3
A.1 A.2 A.2.1 A.2.2 A.3`,
}

// A rule sends people to a section that there is: sections were added and renumbered from version to version.
func TestSectionsExist(t *testing.T) {
	for _, r := range rules.All {
		for _, c := range r.Cites {
			if strings.Contains(c.Section, "§") { // of another document
				continue
			}
			if !slices.Contains(strings.Fields(sections[c.In]), c.Section) {
				t.Errorf("%s cites %s, which has no such section", r.ID, c)
			}
		}
	}
}

// The table of citations says of each section of A2A that a rule cites where in it the sentence stands, in a version of
// the specification that the citation is about.
func TestCitationsHaveTheirPlace(t *testing.T) {
	text, err := os.ReadFile("citations.txt")
	if err != nil {
		t.Fatal(err)
	}
	tags := map[string]string{"0.1": "v0.1.", "0.2": "v0.2.", "0.3": "v0.3.", "1.0": "v1.0."}
	places := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		f := strings.Split(strings.TrimSpace(line), "\t")
		if strings.HasPrefix(line, "#") {
			continue
		}
		if len(f) != 5 {
			t.Fatalf("%q is no line of five fields", line)
		}
		version, _, _ := strings.Cut(f[1], " §")
		if n, err := strconv.Atoi(f[4]); err != nil || n <= 0 || tags[version] != "" && !strings.HasPrefix(f[2], tags[version]) {
			t.Errorf("%q names no line of a file in that version", line)
		}
		places[f[0]+" "+f[1]] = true
	}
	for _, r := range rules.All {
		for _, section := range r.Sections(r.Dialects()) {
			version, _, _ := strings.Cut(section, " §")
			if tags[version] == "" && !strings.HasSuffix(version, " guide") {
				continue // of another standard
			}
			if !places[r.ID+" "+section] {
				t.Errorf("%s cites %s, and citations.txt does not say where that begins: it needs a line %s TAG FILE LINE, with tabs",
					r.ID, section, r.ID+" "+section)
			}
			delete(places, r.ID+" "+section)
		}
	}
	for place := range places {
		t.Errorf("citations.txt has %s, which no rule cites", place)
	}
}
