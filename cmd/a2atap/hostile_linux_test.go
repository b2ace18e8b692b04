//go:build linux && !race

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/grpc"
	"a2atap/proxy/jsondoc"
	"a2atap/proxy/must"
	"a2atap/replay/refagent/hostile"
)

// What a recorder may take while it is attacked: memory, and time of a processor for each call that passes and for its
// end. On a busy machine both last longer, and take no more.
const (
	attackCeiling = 160 << 20
	attackCall    = 150 * time.Millisecond
	attackEnd     = 3 * time.Second
)

// TestHostileAgentsAreRecorded asks each hostile agent many times at once through a recorder, and ends it while most
// answers are still to be judged. The calls pass, the memory has a ceiling, and neither they nor the end take much work.
func TestHostileAgentsAreRecorded(t *testing.T) {
	t.Parallel()
	for _, b := range hostile.Behaviors {
		if b.Card || !b.Ends || b.Name == "head-cut" || b.Name == "redirects" {
			continue // clients of the recorder wait for whole answers
		}
		t.Run(b.Name, func(t *testing.T) {
			agent := hostile.New(b)
			t.Cleanup(agent.Close)
			a := newAttack(t, agent.ServeHTTP)
			a.run(t, 20, func() (int64, error) { return a.ask(b.GRPC, "", nil) })
		})
	}
}

// TestHostileBodiesAreRecorded answers with bodies that take more to be read than to be sent, in each coding, and many at
// once, so that most are still to be judged in the end.
func TestHostileBodiesAreRecorded(t *testing.T) {
	t.Parallel()
	const begin = `{"jsonrpc":"2.0","id":1,"result":{"kind":"message","parts":[`
	short, long := begin+strings.Repeat("{},", 20_000), begin+strings.Repeat("{},", 300_000)
	empty := string(capturetest.Encode(t, nil, "gzip"))
	data := func(struct_ string) string {
		method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
		message := must.Get(method.Answer.FromJSON(jsonOf(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"data":` + struct_ + `}]}}`)))(t)
		return string(hostile.Packed(message))
	}
	for name, test := range map[string]struct {
		media, text string
		codings     []string
		times       int
	}{
		"not coded":                {"application/json", short, nil, 100},
		"not coded, lists":         {"application/json", begin + strings.Repeat("[[],[]],", 8_000), nil, 100},
		"not coded, objects":       {"application/json", begin + strings.Repeat(`{"a":{}},`, 7_000), nil, 100},
		"not coded, deep":          {"application/json", begin + strings.Repeat(`[{"a":`, 4_000), nil, 100},
		"deflate":                  {"application/json", long, []string{"deflate"}, 40},
		"br":                       {"application/json", long, []string{"br"}, 40},
		"zstd":                     {"application/json", long, []string{"zstd"}, 40},
		"gzip in br":               {"application/json", long, []string{"gzip", "br"}, 40},
		"gzip of gzip of nothing":  {"application/json", strings.Repeat(empty, 3_000_000), []string{"gzip"}, 40},
		"a card":                   {"application/json", `{"name":"` + strings.Repeat("a", 50<<20) + `"}`, []string{"gzip"}, 20},
		"events in br":             {"text/event-stream", strings.Repeat("data: {}\n\n", 300_000), []string{"br"}, 20},
		"comments":                 {"text/event-stream", strings.Repeat(": a\n\n", 2_000_000), nil, 30},
		"blank lines":              {"text/event-stream", strings.Repeat("\n", 10_000_000), nil, 30},
		"gRPC, lists in lists":     {"application/grpc", data(strings.Repeat("[", 4000) + strings.Repeat("]", 4000)), nil, 80},
		"gRPC, a list of lists":    {"application/grpc", data("[" + strings.Repeat("[],", 60_000) + "[]]"), nil, 80},
		"gRPC, empty messages":     {"application/grpc", strings.Repeat("\x00\x00\x00\x00\x00", 2_000_000), nil, 20},
		"gRPC, unknown fields":     {"application/grpc", string(hostile.Packed(bytes.Repeat([]byte{0xf8, 0x07, 1}, 5_000_000))), nil, 80},
		"gRPC, a map":              {"application/grpc", data(`{` + strings.Repeat(`"`+strings.Repeat("k", 6)+`":{},`, 60_000) + `"z":1}`), nil, 80},
		"gRPC, an object of texts": {"application/grpc", data(`{"` + strings.Repeat(`a":"`+strings.Repeat("b", 900)+`","`, 4000) + `z":1}`), nil, 80},
	} {
		t.Run(name, func(t *testing.T) {
			body := capturetest.Encode(t, []byte(test.text), test.codings...)
			codings := test.codings
			if strings.HasPrefix(name, "gzip of gzip") {
				codings = []string{"gzip", "gzip"}
			}
			overGRPC := test.media == "application/grpc"
			a := newAttack(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", test.media)
				if len(codings) > 0 {
					w.Header().Set("Content-Encoding", strings.Join(codings, ", "))
				}
				if overGRPC {
					w.Header().Set("Grpc-Encoding", "gzip")
					w.Header().Set("Trailer", "Grpc-Status")
				}
				w.Write(body)
				if overGRPC {
					w.Header().Set("Grpc-Status", "0")
				}
			})
			a.run(t, test.times, func() (int64, error) { return a.ask(overGRPC, "", nil) })
		})
	}
}

// TestHostileRequestsAreRecorded sends requests that are held to look for webhooks.
func TestHostileRequestsAreRecorded(t *testing.T) {
	t.Parallel()
	method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
	small := grpc.AppendFrame(nil, must.Get(method.Answer.FromJSON(jsonOf(`{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"x"}]}}`)))(t))
	for name, test := range map[string]struct {
		encoding string
		frame    func() []byte
	}{
		"parts, packed":        {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 31_000_000)) }},
		"parts":                {"", func() []byte { return grpc.AppendFrame(nil, hostile.Parts(method.Request, 7_000_000)) }},
		"parts, within":        {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 1_000_000)) }},
		"parts, within a hold": {"gzip", func() []byte { return hostile.Packed(hostile.Parts(method.Request, 60_000)) }},
		"unknown fields":       {"", func() []byte { return grpc.AppendFrame(nil, bytes.Repeat([]byte{0xf8, 0x07, 1}, 300_000)) }},
		"empty messages":       {"", func() []byte { return make([]byte, 5*200_000) }},
		"text, packed":         {"gzip", func() []byte { return hostile.Packed(hostile.Text(method.Request, 60_000_000)) }},
		"text, within a hold":  {"gzip", func() []byte { return hostile.Packed(hostile.Text(method.Request, 4_000_000)) }},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAttack(t, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Trailer", "Grpc-Status")
				w.Write(small)
				w.Header().Set("Grpc-Status", "0")
			})
			frame := test.frame()
			a.run(t, 80, func() (int64, error) { return a.ask(true, test.encoding, frame) })
		})
	}
}

// An attack is a recorder before a hostile agent.
type attack struct {
	p          *killed
	grpc, http *http.Client
	most       int64 // bytes of an answer, after which the client leaves; 0 reads to its end
}

func newAttack(t *testing.T, agent http.HandlerFunc) *attack {
	t.Helper()
	server := httptest.NewUnstartedServer(agent)
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetUnencryptedHTTP2(true)
	server.Config.Protocols.SetHTTP1(true)
	server.Start()
	t.Cleanup(server.Close)
	if a, err := http.Post(server.URL, "", nil); err == nil { // what it answers with is made once
		io.Copy(io.Discard, a.Body)
		a.Body.Close()
	}
	return attackThrough(t, startKilled(t, filepath.Join(t.TempDir(), "c.a2atap"), server.URL, false), must.Patience)
}

// attackThrough returns an attack through a recorder, whose calls take at most timeout.
func attackThrough(t *testing.T, p *killed, timeout time.Duration) *attack {
	t.Helper()
	h2 := &http.Transport{Protocols: new(http.Protocols)}
	h2.Protocols.SetUnencryptedHTTP2(true)
	h1 := &http.Transport{DisableCompression: true}
	t.Cleanup(h1.CloseIdleConnections)
	t.Cleanup(h2.CloseIdleConnections)
	return &attack{
		p: p, grpc: &http.Client{Transport: h2, Timeout: timeout}, http: &http.Client{Transport: h1, Timeout: timeout},
	}
}

// ask sends a message, and returns how much came back.
func (a *attack) ask(overGRPC bool, encoding string, frame []byte) (int64, error) {
	client, url, media, body := a.http, a.p.url, "application/json",
		[]byte(`{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"t"}}`)
	if overGRPC {
		method, _ := grpc.MethodOf("/" + grpc.Service1_0 + "/SendMessage")
		client, media = a.grpc, "application/grpc"
		url = strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/spec") + "/" + method.Service + "/" + method.Name
		if body = frame; body == nil {
			message, err := method.Request.FromJSON(jsonOf(`{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"text":"hello"}]}}`))
			if err != nil {
				return 0, err
			}
			body = grpc.AppendFrame(nil, message)
		}
	}
	request, err := http.NewRequest("POST", url, bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	request.Header.Set("Content-Type", media)
	request.Header.Set("A2A-Version", "1.0")
	if encoding != "" {
		request.Header.Set("Grpc-Encoding", encoding)
	}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	n, err := io.Copy(io.Discard, io.LimitReader(answer.Body, cmp.Or(a.most, math.MaxInt64)))
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the status is %d", answer.StatusCode)
	}
	return n, err
}

// run attacks so many times, ten at once, and ends the recorder.
func (a *attack) run(t *testing.T, times int, once func() (int64, error)) {
	t.Helper()
	var calls sync.WaitGroup
	turns := make(chan struct{}, 10)
	for range times {
		turns <- struct{}{}
		calls.Go(func() {
			defer func() { <-turns }()
			if n, err := once(); err != nil || n == 0 {
				t.Errorf("%d bytes came: %v", n, err)
			}
		})
	}
	calls.Wait()
	passing := processorTime(t, a.p.cmd.Process.Pid)
	took := a.p.endForMemory(t)
	state := a.p.cmd.ProcessState
	end := state.UserTime() + state.SystemTime() - passing
	t.Logf("calls %v, end %v of a processor, %d MiB", passing, end, took>>20)
	if took > attackCeiling {
		t.Errorf("it took %d MiB, want at most %d", took>>20, attackCeiling>>20)
	}
	if most := time.Duration(times)*attackCall + startWork; passing > most || end > attackEnd {
		t.Errorf("the calls took %v of a processor, and the end %v; want at most %v and %v", passing, end, most, attackEnd)
	}
}

// startWork is what a recorder takes of a processor until it is ready.
const startWork = time.Second

// processorTime returns how long a process has kept processors busy.
func processorTime(t *testing.T, pid int) time.Duration {
	t.Helper()
	const tick = 10 * time.Millisecond // USER_HZ, the same on every machine that Go runs on
	stat := string(must.Get(os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid)))(t))
	fields := strings.Fields(stat[strings.LastIndexByte(stat, ')')+1:])
	user := must.Get(strconv.ParseInt(fields[11], 10, 64))(t)
	system := must.Get(strconv.ParseInt(fields[12], 10, 64))(t)
	return time.Duration(user+system) * tick
}

// jsonOf returns the root of a text.
func jsonOf(text string) jsondoc.Value { return jsondoc.Parse([]byte(text)).Root }
