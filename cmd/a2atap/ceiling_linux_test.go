//go:build linux && !race

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
)

// TestMemoryHasACeiling sends bodies that are made to take memory, twelve at a time or forty with the tag peers, and ends
// the recording while most of them are still to be stored and judged. The recorder forwards them all, and stays below
// its bound to its end.
func TestMemoryHasACeiling(t *testing.T) {
	t.Parallel()
	const ceiling = 160 << 20
	clients := 12
	if thorough {
		clients = 40
	}
	const begin = `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[`
	for _, test := range []struct {
		name  string
		again string // what the body repeats
		size  int
		many  bool // only with the tag peers
	}{
		{"long", `{"kind":"text","text":"b"},`, 20 << 20, false},
		{"compressed, nested", `{"a":`, 15 << 20, true},
		{"compressed", `{"kind":"text","text":"aaaaaaaaaaaaaaa"},`, 100 << 20, true},
		{"compressed, of numbers", "1,", 15 << 20, true},
		{"compressed, all is blank", " ", 15 << 20, true},
	} {
		if test.many && !thorough {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			body, long := []byte(nil), test.name == "long"
			if long {
				body = []byte(begin + strings.Repeat(test.again, test.size/len(test.again)))
			} else {
				body = compressed(t, begin, test.again, test.size)
			}
			agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				if !long {
					w.Header().Set("Content-Encoding", "gzip")
				}
				w.Write(body)
			}))
			defer agent.Close()
			if took := recordForMemory(t, agent.URL, clients, len(body)); took > ceiling {
				t.Errorf("it took %d MiB, want at most %d", took>>20, ceiling>>20)
			}
		})
	}
}

// recordForMemory records so many calls to an agent at a time, with answers of a length, and returns how much memory
// that took in bytes, without the pages of files.
func recordForMemory(t *testing.T, agent string, clients, length int) int64 {
	t.Helper()
	p := startKilled(t, filepath.Join(t.TempDir(), "c.a2atap"), agent, false)
	client := &http.Client{Timeout: must.Patience, Transport: &http.Transport{DisableCompression: true}}
	defer client.CloseIdleConnections()
	var calls sync.WaitGroup
	for range clients {
		calls.Go(func() {
			const call = `{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`
			answer, err := client.Post(p.url, "application/json", strings.NewReader(call))
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if n, err := io.Copy(io.Discard, answer.Body); err != nil || n != int64(length) {
				t.Errorf("%d bytes of %d came: %v", n, length, err)
			}
		})
	}
	calls.Wait()
	return p.endForMemory(t)
}

// endForMemory ends a recorder, and returns how much memory it took in bytes, without the pages of files.
func (p *killed) endForMemory(t *testing.T) int64 {
	t.Helper()
	must.Do(t, p.cmd.Process.Signal(syscall.SIGTERM))
	ended := make(chan error, 1)
	go func() { ended <- p.cmd.Wait() }()
	peak, program := peakOf(t, p.cmd.Process.Pid, ended)
	t.Logf("%d MiB, and %d MiB of the program's file", (peak-program)>>20, program>>20)
	return peak - program
}

// TestStreamsHaveACeiling opens hundreds of gRPC streams on one connection, or ten thousand with the tag peers, all
// open at once, while they are recorded and checked. A stream costs no more than the known amount.
func TestStreamsHaveACeiling(t *testing.T) {
	t.Parallel()
	streams := 300
	if thorough {
		streams = 10_000
	}
	ceiling := int64(128<<20 + streams*16<<10)
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendStreamingMessage")
	message := func(of *grpc.Type, text string) []byte {
		m := must.Get(of.FromJSON(jsondoc.Parse([]byte(text)).Root))(t)
		return grpc.AppendFrame(nil, m)
	}
	open := make(chan struct{}) // closed when all are
	var number, conns atomic.Int64
	agent := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == "GET" {
			return
		}
		n := number.Add(1)
		task := fmt.Sprint("t", n)
		say := func(text string) {
			w.Write(message(method.Answer, fmt.Sprintf(text, task)))
			http.NewResponseController(w).Flush()
		}
		w.Header().Set("Content-Type", "application/grpc")
		say(`{"task":{"id":"%[1]s","contextId":"c%[1]s","status":{"state":"TASK_STATE_WORKING"}}}`)
		if n == int64(streams) {
			close(open)
		}
		<-open
		say(`{"statusUpdate":{"taskId":"%[1]s","contextId":"c%[1]s","status":{"state":"TASK_STATE_COMPLETED"}}}`)
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", "0")
	}))
	agent.Config.Protocols = new(http.Protocols)
	agent.Config.Protocols.SetUnencryptedHTTP2(true)
	agent.Config.HTTP2 = &http.HTTP2Config{MaxConcurrentStreams: 2 * streams}
	agent.Config.ConnState = func(_ net.Conn, s http.ConnState) {
		if s == http.StateNew {
			conns.Add(1)
		}
	}
	agent.Start()
	defer agent.Close()
	var said bytes.Buffer
	cmd := exec.Command("a2atap", "record", "--agent", "a="+agent.URL, "-o", filepath.Join(t.TempDir(), "c.a2atap"), "--format", "json")
	cmd.Stderr = &said
	p := startCommand(t, cmd, &said)
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(true)
	defer transport.CloseIdleConnections()
	first, err := (&http.Client{Transport: transport}).Get(p.url) // from then on the connection is there, and takes them all
	must.Do(t, err)
	first.Body.Close()
	var calls sync.WaitGroup
	for n := range streams {
		calls.Go(func() {
			ask := message(method.Request, fmt.Sprintf(`{"message":{"messageId":"m%d","role":"ROLE_USER","parts":[{"text":"hello"}]}}`, n))
			request, _ := http.NewRequest("POST", strings.TrimSuffix(p.url, "/")+"/"+method.Service+"/"+method.Name, bytes.NewReader(ask))
			request.Header.Set("Content-Type", "application/grpc")
			request.Header.Set("A2A-Version", "1.0")
			answer, err := transport.RoundTrip(request)
			if err != nil {
				t.Error(err)
				return
			}
			defer answer.Body.Close()
			if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.Trailer.Get("Grpc-Status") != "0" {
				t.Errorf("the trailer is %v: %v", answer.Trailer, err)
			}
		})
	}
	calls.Wait()
	if n := conns.Load(); n != 1 {
		t.Errorf("%d connections", n)
	}
	if took := p.endForMemory(t); took > ceiling {
		t.Errorf("it took %d MiB, want at most %d", took>>20, ceiling>>20)
	}
	if said := said.String(); !strings.Contains(said, fmt.Sprintf("%d checked; %[1]d of %[1]d calls succeeded", streams)) ||
		!strings.Contains(said, "record: clean: ") {
		t.Errorf("it said %s", said)
	}
}

// compressed returns text that is repeated up to a length, in gzip.
func compressed(t *testing.T, begin, text string, length int) []byte {
	t.Helper()
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	io.WriteString(w, begin)
	piece := strings.Repeat(text, 1<<20/len(text))
	for range length / len(piece) {
		io.WriteString(w, piece)
	}
	must.Do(t, w.Close())
	return out.Bytes()
}

// peakOf returns the most memory in bytes that a process has had in its life, as of just before it ended, and how much
// of it are pages of files, foremost its own program: this test's, which is larger than a2atap.
func peakOf(t *testing.T, pid int, ended <-chan error) (peak, files int64) {
	t.Helper()
	every := time.NewTicker(5 * time.Millisecond)
	defer every.Stop()
	for {
		peakSoFar(t, pid, &peak, &files)
		select {
		case err := <-ended:
			if err != nil || peak == 0 {
				t.Fatalf("the recorder ended with %v, and took %d bytes", err, peak)
			}
			return peak, files
		case <-every.C:
		}
	}
}

// peakSoFar sets what peakOf returns, as of now; not if the process has ended.
func peakSoFar(t *testing.T, pid int, peak, files *int64) {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	value := func(name string) int64 {
		var kib int64
		if _, rest, ok := strings.Cut(string(status), name); err == nil && ok {
			must.Get(fmt.Sscan(rest, &kib))(t)
		}
		return kib << 10
	}
	if most := value("\nVmHWM:"); most > *peak {
		*peak, *files = most, value("\nRssFile:")
	}
}
