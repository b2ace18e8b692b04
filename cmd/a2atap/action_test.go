package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"a2atap/proxy/must"
)

// action is .ci/action/action.yml, as GitHub reads a composite action: what is not here is refused.
type action struct {
	Name        string                 `yaml:"name"`
	Description string                 `yaml:"description"`
	Inputs      map[string]actionInput `yaml:"inputs"`
	Runs        struct {
		Using string       `yaml:"using"`
		Steps []actionStep `yaml:"steps"`
	} `yaml:"runs"`
}

type actionInput struct {
	Description string `yaml:"description"`
	Default     string `yaml:"default"`
}

type actionStep struct {
	Name  string            `yaml:"name"`
	If    string            `yaml:"if"`
	Shell string            `yaml:"shell"`
	Env   map[string]string `yaml:"env"`
	Run   string            `yaml:"run"`
}

var expression = regexp.MustCompile(`^\$\{\{ (?:(!cancelled\(\) && )?inputs\.([a-z-]+)( != '')?|github\.(action_path)) \}\}$`)

func readAction(t *testing.T) action {
	t.Helper()
	text := must.Get(os.ReadFile("../../.ci/action/action.yml"))(t)
	var a action
	must.Do(t, decodeStrictly(text, func(string) any { return &a }))
	return a
}

// The action is one that GitHub takes: each step has its shell, each input is used and each that is used is there, and no
// input is written into a script, where it could be a command.
func TestActionFile(t *testing.T) {
	a := readAction(t)
	used := make(map[string]bool)
	for _, s := range a.Runs.Steps {
		if s.Shell != "bash" || s.Name == "" || strings.Contains(s.Run, "${{") {
			t.Errorf("step %q in %q:\n%s", s.Name, s.Shell, s.Run)
		}
		for _, text := range append(valuesOf(s.Env), s.If) {
			m := expression.FindStringSubmatch(text)
			if m == nil && text != "" {
				t.Errorf("step %s has the expression %s, which this test does not know", s.Name, text)
			} else if m != nil && m[2] != "" {
				used[m[2]] = true
			}
		}
	}
	if a.Runs.Using != "composite" || a.Name == "" || a.Description == "" {
		t.Errorf("it is %+v", a)
	}
	for name, in := range a.Inputs {
		if in.Description == "" || !used[name] {
			t.Errorf("the input %s is not explained, or not used", name)
		}
		delete(used, name)
	}
	for name := range used {
		t.Errorf("there is no input %s", name)
	}
}

func valuesOf(m map[string]string) (list []string) {
	for _, v := range m {
		list = append(list, v)
	}
	return list
}

// The pages use the action with inputs that it has.
func TestActionOnPage(t *testing.T) {
	a := readAction(t)
	blocks := must.Get(pageBlocks("ci.md", "yaml"))(t)
	uses := 0
	for _, block := range blocks {
		var jobs yaml.Node
		must.Do(t, yaml.Unmarshal([]byte(block), &jobs))
		if !strings.Contains(block, "/.ci/action@") {
			continue
		}
		uses++
		var file struct {
			Jobs map[string]struct {
				Steps []struct {
					Uses string         `yaml:"uses"`
					With map[string]any `yaml:"with"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		must.Do(t, yaml.Unmarshal([]byte(block), &file))
		for _, job := range file.Jobs {
			for _, step := range job.Steps {
				for name := range step.With {
					if _, known := a.Inputs[name]; !known && strings.Contains(step.Uses, "/.ci/action@") {
						t.Errorf("the page gives the action %s, which is no input", name)
					}
				}
			}
		}
	}
	if uses == 0 {
		t.Error("docs/ci.md does not show the action")
	}
}
