package main

import (
	"bufio"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"a2atap/cmd/internal/cli"
)

// collect is a program that scripts run. Given a file of OTLP JSON lines it prints its spans, a line for each. Given a
// ready file to write and a status it takes spans until it is interrupted, answers with the status, prints them, and
// then the headers X-Key that came with them.
func collect() {
	if len(os.Args) == 2 {
		printSpans(readSpans(os.Args[1]))
		return
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fatal("listen: ", err)
	}
	var mu sync.Mutex
	var lines, keys []string
	go http.Serve(l, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { //nolint:errcheck // until the end
		got, err := received(r)
		if err != nil {
			fatal("read what was sent: ", err)
		}
		mu.Lock()
		defer mu.Unlock()
		lines, keys = append(lines, got...), append(keys, r.Header.Get("X-Key"))
		w.Header().Set("Content-Type", "application/x-protobuf")
		if os.Args[2] != "200" {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ready := fmt.Sprintf("collector http://%s\n", l.Addr())
	if err := cli.WriteReady(os.Args[1], ready); err != nil {
		fatal("say that I am here: ", err)
	}
	<-signals
	mu.Lock()
	printSpans(lines)
	slices.Sort(keys)
	fmt.Println("keys", slices.Compact(keys))
}

// received reads the spans of a request.
func received(r *http.Request) (lines []string, err error) {
	if r.URL.Path != "/v1/traces" {
		return nil, fmt.Errorf("spans come to %s", r.URL.Path)
	}
	unpacked, err := gzip.NewReader(r.Body)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(unpacked)
	if err != nil {
		return nil, err
	}
	data := &tracepb.TracesData{}
	if err := proto.Unmarshal(body, data); err != nil {
		return nil, err
	}
	for _, r := range data.ResourceSpans {
		name := r.Resource.Attributes[0].Value.GetStringValue()
		for _, s := range r.ScopeSpans[0].Spans {
			lines = append(lines, fmt.Sprintf("%x %x %x %s: %s", s.TraceId, s.SpanId, s.ParentSpanId, name, s.Name))
		}
	}
	return lines, nil
}

// readSpans reads spans from a file.
func readSpans(name string) (lines []string) {
	f, err := os.Open(name)
	if err != nil {
		fatal("read spans: ", err)
	}
	defer f.Close()
	in := bufio.NewScanner(f)
	in.Buffer(nil, 8<<20)
	for in.Scan() {
		var data struct {
			ResourceSpans []struct {
				Resource struct {
					Attributes []struct{ Value struct{ StringValue string } }
				}
				ScopeSpans []struct {
					Spans []struct{ TraceID, SpanID, ParentSpanID, Name string }
				}
			}
		}
		if err := json.Unmarshal(in.Bytes(), &data); err != nil {
			fatal("read spans: ", err)
		}
		for _, r := range data.ResourceSpans {
			name := r.Resource.Attributes[0].Value.StringValue
			for _, s := range r.ScopeSpans[0].Spans {
				lines = append(lines, fmt.Sprintf("%s %s %s %s: %s", s.TraceID, s.SpanID, s.ParentSpanID, name, s.Name))
			}
		}
	}
	return lines
}

func printSpans(lines []string) {
	slices.Sort(lines)
	for _, line := range lines {
		if !strings.HasSuffix(line, ": a2atap.finding") { // which are spans only if they came late
			fmt.Println(line)
		}
	}
}
