package noquery_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"a2atap/tui/internal/noquery"
)

// The path of the package, which changes with that of the module, comes before what the screen library waits for.
func TestComesFirst(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}`, ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	names := strings.Fields(string(out))
	if len(names) != 2 || names[1] != "os" {
		t.Errorf("it imports %q, and has to wait for it", names[1:])
	}
	if names[0] >= "text/template" {
		t.Errorf("%s is initialised after the screen library", names[0])
	}
}

// Afterwards the environment is what it was.
func TestOver(t *testing.T) {
	if during := os.Getenv("A2ATAP_TEST_CI"); during != "" {
		before := os.Getenv("CI")
		noquery.Over()
		noquery.Over()
		value, set := os.LookupEnv("CI")
		if before != during || value != os.Getenv("A2ATAP_TEST_AFTER") || set != (os.Getenv("A2ATAP_TEST_SET") == "yes") {
			t.Errorf("CI was %q, and is %q, %v", before, value, set)
		}
		return
	}
	for _, test := range []struct{ before, during, after, set string }{
		{"", "true", "", "no"},
		{"CI=", "true", "", "yes"},
		{"CI=1", "1", "1", "yes"},
	} {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestOver$")
		for _, variable := range os.Environ() {
			if !strings.HasPrefix(variable, "CI=") {
				cmd.Env = append(cmd.Env, variable)
			}
		}
		cmd.Env = append(cmd.Env, "A2ATAP_TEST_CI="+test.during, "A2ATAP_TEST_AFTER="+test.after, "A2ATAP_TEST_SET="+test.set)
		if test.before != "" {
			cmd.Env = append(cmd.Env, test.before)
		}
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%+v: %v\n%s", test, err, out)
		}
	}
}
