package main

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// releaseFile is what a test looks at of .goreleaser.yaml; .ci/release has goreleaser check the whole of it.
type releaseFile struct {
	Before struct {
		Hooks []string `yaml:"hooks"`
	} `yaml:"before"`
	Builds []struct {
		Main string   `yaml:"main"`
		OS   []string `yaml:"goos"`
	} `yaml:"builds"`
	Archives []struct {
		Files []yaml.Node `yaml:"files"`
	} `yaml:"archives"`
	Packages []struct {
		Contents []struct {
			Source string `yaml:"src"`
		} `yaml:"contents"`
	} `yaml:"nfpms"`
}

// What a release packs is in the repository, or is written by the script that is run before; and every system that it is
// built for is one that CI builds for.
func TestReleaseFile(t *testing.T) {
	const root = "../.."
	read := func(name string) string {
		text := must.Get(os.ReadFile(filepath.Join(root, name)))(t)
		return string(text)
	}
	var file releaseFile
	must.Do(t, yaml.Unmarshal([]byte(read(".goreleaser.yaml")), &file))
	var packed []string
	for _, p := range file.Packages {
		for _, c := range p.Contents {
			packed = append(packed, c.Source)
		}
	}
	for _, a := range file.Archives {
		for _, f := range a.Files {
			packed = append(packed, scalars(&f, f.Kind == yaml.ScalarNode, "src")...)
		}
	}
	if !slices.Equal(file.Before.Hooks, []string{".ci/pages .pages"}) || len(packed) < 10 {
		t.Errorf("%q is run before, and %q packed", file.Before.Hooks, packed)
	}
	script := read(".ci/pages")
	for _, name := range packed {
		made, isMade := strings.CutPrefix(name, ".pages/")
		if _, err := os.Stat(filepath.Join(root, name)); err != nil && !isMade {
			t.Errorf("%s is packed, and is not there", name)
		}
		if folder, _, _ := strings.Cut(made, "/man"); isMade && !strings.Contains(script, `"$dir/`+folder+`"`) {
			t.Errorf("%s is packed, and .ci/pages does not write it", name)
		}
	}
	for _, b := range file.Builds {
		if _, err := os.Stat(filepath.Join(root, path.Join(b.Main, "main.go"))); err != nil {
			t.Error(err)
		}
		others := slices.DeleteFunc(slices.Clone(b.OS), func(system string) bool { return system == "linux" })
		expect.Same(t, "systems that are built, and those of TestOtherSystems", otherSystems, others)
	}
	if len(file.Builds) == 0 {
		t.Error("nothing is built")
	}
	if !strings.Contains(read(".ci/run"), "|OtherSystems'") {
		t.Error("CI does not run TestOtherSystems")
	}
}

// otherSystems are the systems of released programs, except the one that runs the tests.
var otherSystems = []string{"darwin", "windows"}
