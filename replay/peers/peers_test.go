package peers

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "write what the clients saw to testdata/seen")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// inProcess are the pairs whose two ends are Go SDKs.
var inProcess = []Pair{
	{Go03Client, Go03Agent, JSONRPC},
	{Go03Client, Go2HybridAgent, JSONRPC},
	{Go2Client, Go2Agent, JSONRPC},
	{Go2Client, Go2Agent, HTTPJSON},
	{Go2Client, Go2HybridAgent, JSONRPC},
	{Go2LegacyClient, Go03Agent, JSONRPC},
	{Go2LegacyClient, Go2HybridAgent, JSONRPC},
	{Go2LegacyClient, Go2HybridAgent, HTTPJSON},
}

// TestDirect plays the script with nothing in between, and compares what the client saw with what it saw last time.
// Reading testdata/seen is reading what an SDK does.
func TestDirect(t *testing.T) { testDirect(t, inProcess) }

func testDirect(t *testing.T, pairs []Pair) {
	for _, pair := range pairs {
		t.Run(pair.String(), func(t *testing.T) {
			t.Parallel()
			got := Play(t, pair, Direct)
			golden(t, pair.String(), got.Seen)
		})
	}
}

// golden compares lines with the file of that name in testdata/seen.
func golden(t *testing.T, name string, lines []string) {
	t.Helper()
	file := filepath.Join("testdata", "seen", name+".txt")
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v; run go test -update to write what the client saw:\n%s", err, got)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("the client saw something else than before (-want +got):\n%s", diff)
	}
}
