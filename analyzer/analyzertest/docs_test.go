package analyzertest_test

import (
	"os"
	"strings"
	"testing"

	"a2atap/proxy/must"
)

// The code on the page about testing is code that is compiled and run here.
func TestDocumentedCode(t *testing.T) {
	t.Parallel()
	page := must.Get(os.ReadFile("../../docs/testing.md"))(t)
	var sources strings.Builder
	const replaytest = "../../replay/replaytest/example_test.go"
	for _, file := range []string{"example_test.go", "main_test.go", replaytest} {
		text := must.Get(os.ReadFile(file))(t)
		sources.Write(text)
	}
	blocks := strings.Split(string(page), "```go\n")[1:]
	if len(blocks) < 8 {
		t.Errorf("the page has %d blocks of Go", len(blocks))
	}
	for _, block := range blocks {
		code, _, _ := strings.Cut(block, "```")
		if !strings.Contains(sources.String(), code) {
			t.Errorf("docs/testing.md has this, and no test here does:\n%s", code)
		}
	}
}
