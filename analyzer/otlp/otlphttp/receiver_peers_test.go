//go:build peers

package otlphttp

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/analyzer/otlp"
	"a2atap/analyzer/rules"
	"a2atap/analyzer/rulestest"
	"a2atap/proxy/capture"
	"a2atap/proxy/must"
)

// The receiver of the OpenTelemetry collector accepts the sent spans, its file reader accepts the exported ones, and
// both decode them alike. Refusals are reported.
func TestReceiverOfTheCollector(t *testing.T) {
	program := buildReceiver(t)
	src := must.Get(rulestest.Parse(t, "ending/stream-closed-on-terminal").Source("stream.txtar"))(t)
	spans := otlp.New(otlp.Options{Version: "test", Bodies: true})
	var file bytes.Buffer
	all := func(*capture.Exchange) bool { return true }
	if err := otlp.Export(t.Context(), &file, rules.All, src, spans, all, false); err != nil {
		t.Fatal(err)
	}

	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, address)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "ready" {
		t.Fatalf("the receiver says %q: %v", lines.Text(), cmd.Wait())
	}

	refuse(t, address)
	o := to(t, "http://"+address)
	o.Batch = spans.Batch
	s := New(o)
	sent := int64(0)
	for x, err := range src.Exchanges(t.Context(), 1) {
		if err != nil {
			t.Fatal(err)
		}
		s.Send(spans.Exchange(x, "", nil))
		sent++
	}
	if stats := s.Close(ctx); stats != (Stats{Sent: sent}) {
		t.Errorf("%+v, want %d sent", stats, sent)
	}
	if _, err := in.Write(file.Bytes()); err != nil {
		t.Error(err)
	}
	in.Close()
	var live, exported []string
	for lines.Scan() {
		how, line, _ := strings.Cut(lines.Text(), " ")
		switch id, _, _ := strings.Cut(line, ","); { // findings and failures come with the file alone
		case how == "http":
			live = append(live, id)
		case !strings.Contains(line, ": a2a.task "):
			exported = append(exported, id)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("the receiver: %v", err)
	}
	slices.Sort(live)
	slices.Sort(exported)
	same := func(a, b string) bool { return a[:strings.LastIndex(a, " ")] == b[:strings.LastIndex(b, " ")] }
	if int64(len(live)) != sent || !slices.EqualFunc(live, exported, same) {
		t.Errorf("sent:\n%s\nexported:\n%s", strings.Join(live, "\n"), strings.Join(exported, "\n"))
	}
	for _, line := range live {
		if !strings.Contains(line, " Server ") {
			t.Errorf("%q is of another kind", line)
		}
	}
}

// refuse sends an invalid request, and expects that the receiver rejects it.
func refuse(t *testing.T, address string) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+address+tracesPath,
		strings.NewReader("no protocol buffer"))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-protobuf")
	answer, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if o := read(answer, time.Now()); o.again || !strings.Contains(fmt.Sprint(o.err), "answered 400 Bad Request: ") {
		t.Errorf("%+v", o)
	}
}

// buildReceiver builds the program under testdata, which is a module of its own.
func buildReceiver(t *testing.T) string {
	t.Helper()
	program := filepath.Join(t.TempDir(), "receiver")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, ".")
	cmd.Dir = filepath.Join("testdata", "receiver")
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly -trimpath", "GOWORK=off")
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the receiver: %v\n%s", err, text)
	}
	return program
}
