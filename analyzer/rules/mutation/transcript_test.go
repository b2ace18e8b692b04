package mutation_test

import (
	"context"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/engine"
	"a2atap/analyzer/rules"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
)

// testdata has the transcripts of the rules.
const testdata = "../testdata"

// transcripts returns the paths of the transcripts in some folders.
func transcripts(t *testing.T, folders ...string) []string {
	t.Helper()
	var list []string
	for _, folder := range folders {
		found, err := fs.Glob(os.DirFS(testdata), folder+"/*.txtar")
		if err != nil || len(found) == 0 {
			t.Fatalf("no transcripts in %s: %v", folder, err)
		}
		list = append(list, found...)
	}
	return list
}

func parse(t *testing.T, path string) []*capture.Exchange {
	t.Helper()
	tr := must.Get(transcript.ReadFile(filepath.Join(testdata, path)))(t)
	return tr.Exchanges
}

func judge(t *testing.T, exchanges []*capture.Exchange) []analysis.Finding {
	t.Helper()
	memory := must.Get(capture.ReadMemory(capture.Info{}, capture.Each(exchanges...)))(t)
	result := must.Get(engine.Run(context.Background(), rules.All, memory, nil))(t)
	return result.Findings
}

// judged holds what was found in the transcripts, by path.
var judged sync.Map

// judgeFile returns what is found in a transcript. It is judged once, for all tests: what is returned must not be
// changed.
func judgeFile(t *testing.T, path string) []analysis.Finding {
	t.Helper()
	if found, ok := judged.Load(path); ok {
		return found.([]analysis.Finding)
	}
	found := judge(t, parse(t, path))
	judged.Store(path, found)
	return found
}

// loud returns the findings that are more than notes.
func loud(findings []analysis.Finding) []string {
	var list []string
	for i := range findings {
		if findings[i].Severity >= analysis.Warning {
			list = append(list, findings[i].String())
		}
	}
	return slices.Clip(list)
}

// randomFor returns a source of random numbers of its own for a name: what is tried with it does not depend on others.
func randomFor(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(strings.ToLower(name))) //nolint:errcheck // a hash takes everything
	return rand.New(rand.NewPCG(h.Sum64(), 0))
}
