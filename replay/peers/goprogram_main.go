package peers

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"testing"
)

// Main is the main function of a [GoProgram]. It communicates with its parent like the programs in other languages: the
// agent prints its address, works until its standard input ends, and then prints what arrived; the client prints what
// it saw.
func Main(agent Agent, client Client) {
	t := &standIn{}
	defer t.end()
	out := json.NewEncoder(os.Stdout)
	if len(os.Args) > 4 && os.Args[1] == "client" {
		seen, err := client.Run(context.Background(), t, os.Args[2], os.Args[3], os.Args[4])
		for _, s := range seen {
			t.must(out.Encode(s))
		}
		t.must(err)
		return
	}
	running := agent.Start(t)
	t.must(out.Encode(map[string]string{"ready": running.URL}))
	_, err := io.Copy(io.Discard, os.Stdin)
	t.must(err)
	for i, a := range running.Stop() {
		t.must(out.Encode(map[string]any{"arrival": a}))
		t.must(out.Encode(map[string]any{"sent": map[string]any{"arrival": i, "bytes": []byte(a.Sent)}}))
	}
}

// A standIn is as much of a test as a peer needs.
type standIn struct {
	testing.TB
	cleanups []func()
}

func (t *standIn) Helper()          {}
func (t *standIn) Cleanup(f func()) { t.cleanups = append(t.cleanups, f) }

func (t *standIn) Context() context.Context { return context.Background() }

func (t *standIn) Fatalf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, format+"\n", args...)
	os.Exit(1)
}

func (t *standIn) Fatal(args ...any) { t.Fatalf("%s", fmt.Sprint(args...)) }

func (t *standIn) must(err error) {
	if err != nil {
		t.Fatal(err)
	}
}

func (t *standIn) end() {
	for i := len(t.cleanups) - 1; i >= 0; i-- {
		t.cleanups[i]()
	}
}
