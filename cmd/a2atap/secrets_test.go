package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/analyzer/analysis"
	"a2atap/analyzer/judgment"
	"a2atap/analyzer/report"
	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/present"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/redacted"
	"a2atap/cmd/internal/trust"
	"a2atap/proxy"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
	"a2atap/proxy/outbound"
)

// A sowing is a recording of traffic with secrets, over every way in, and what was printed meanwhile.
type sowing struct {
	sown
	path    string
	printed lockedBuffer
}

// A lockedBuffer may be written by several goroutines.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func sow(t *testing.T, keep bool) *sowing {
	w := &sowing{path: filepath.Join(t.TempDir(), "c.a2atap"), sown: sown{basic: make(map[string]int)}}
	t.Setenv("A2ATAP_CA_DIR", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // for the redaction key
	agent := &cannedAgent{answers: make(map[string]string)}
	plain := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer plain.Close()
	server := httptest.NewUnstartedServer(nil) // for its certificate
	server.StartTLS()
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	config := &tls.Config{Certificates: server.TLS.Certificates}
	server.Close()
	secure := must.Get(tls.Listen("tcp", "127.0.0.1:0", config))(t)
	defer secure.Close()
	go agent.serve(plain)
	go agent.serve(secure)

	e := cli.Env{In: strings.NewReader(""), Out: &w.printed, Err: &w.printed, Now: time.Now, Getenv: os.Getenv}
	o := recorder.Flags{
		Agents: []string{"plain=http://" + plain.Addr().String(), "secure=https://" + secure.Addr().String()},
		Output: w.path, Forward: "0", Format: "json", FailOn: "never", MaxBody: "16MiB", IfFails: "pass",
		Hide: redacted.Flags{Keep: keep},
	}
	out := &present.Recorded{Env: e, JSON: true}
	options := must.Get(o.Options(e, out))(t)
	options.Reach = &outbound.Dialer{Roots: roots}
	r := must.Get(recorder.Start(options))(t)
	taps, forward := r.Taps(), strings.TrimPrefix(r.Forward().URL(), "http://")
	dial := func(addr string) func() (net.Conn, error) {
		return func() (net.Conn, error) { return net.Dial("tcp", addr) }
	}
	w.talk(t, dial(taps[0].Addr()), agent.add(w.sendings("tap", "", taps[0].Addr())))
	w.talk(t, dial(taps[1].Addr()), agent.add(w.sendings("tls", "", taps[1].Addr())))
	w.talk(t, dial(forward),
		agent.add(w.sendings("forward", "http://"+plain.Addr().String(), plain.Addr().String())))
	authority := must.Get(trust.Open(e))(t)
	trusted := must.Get(os.ReadFile(authority.CertificateFile()))(t)
	ours := x509.NewCertPool()
	ours.AppendCertsFromPEM(trusted)
	w.talk(t, func() (net.Conn, error) {
		conn, err := net.Dial("tcp", forward)
		if err != nil {
			return nil, err
		}
		name := secure.Addr().String()
		fmt.Fprintf(conn, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", name, name)
		if _, err := http.ReadResponse(bufio.NewReader(conn), nil); err != nil {
			return nil, err
		}
		return tls.Client(conn, &tls.Config{RootCAs: ours, ServerName: "127.0.0.1"}), nil
	}, agent.add(w.sendings("intercepted", "", secure.Addr().String())))
	w.talkRaw(t, taps[0].Addr(), forward, agent)
	result, stats, err := r.Stop()
	if err := out.End(judgment.Gate{Severity: analysis.Error + 1, Never: true, AllowEmpty: o.AllowEmpty}, w.path, result, stats, err); err != nil {
		t.Fatal(err)
	}
	w.runSender(t, e, keep, agent.add(w.sendings("run", "http://"+plain.Addr().String(), plain.Addr().String())))
	return w
}

// talk makes the exchanges, each on a connection of its own. What arrives must be what was sent.
func (w *sowing) talk(t *testing.T, dial func() (net.Conn, error), all []sending) {
	t.Helper()
	for _, s := range all {
		conn, err := dial()
		if answer, err := rawCall(conn, err, s.Request); err != nil || answer != s.Answer {
			t.Errorf("%s: got %q, %v; want %q", s.Path, answer, err, s.Answer)
		}
	}
}

// talkRaw sends an HTTP/2 request, and traffic that is not an exchange: HTTP/2 to a server without it, an unsolicited
// response, and a refused CONNECT.
func (w *sowing) talkRaw(t *testing.T, tap, forward string, agent *cannedAgent) {
	t.Helper()
	frame := func(kind, flags byte, payload string) string {
		return string([]byte{0, 0, byte(len(payload)), kind, flags, 0, 0, 0, 1}) + payload
	}
	const preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
	secret := w.in("HTTP/2 field", "\x00\x0dauthorization\x0f§") // fields that are in no table, and never to be
	request := frame(1, 4, "\x83\x86\x84\x01"+string(byte(len(tap)))+tap+"\x0f\x10\x10application/json"+secret) +
		frame(0, 1, w.in("HTTP/2 body", `{"token":"§"}`))
	h2, err := net.Dial("tcp", tap)
	rawCall(h2, err, preface+string([]byte{0, 0, 0, 4, 0, 0, 0, 0, 0})+request) //nolint:errcheck // it gets no answer
	agent.add([]sending{{Path: "/twice", Answer: "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n" + w.in("second answer",
		"HTTP/1.1 200 OK\r\nSet-Cookie: a=§\r\nContent-Type: application/json\r\n\r\n{\"access_token\":\"§\"}")}})
	for _, raw := range []struct{ to, request string }{
		{forward, preface + frame(4, 0, "") + frame(1, 0, w.in("HTTP/2 head", "\x00\x0dauthorization\x0f§")) +
			frame(0, 0, w.in("HTTP/2 data", `{"token":"§"}`))},
		{tap, "GET /twice HTTP/1.1\r\nHost: " + tap + "\r\n\r\n"},
	} {
		conn, err := net.Dial("tcp", raw.to)
		if answer, err := rawCall(conn, err, raw.request); err != nil || answer == "" {
			t.Errorf("got %q, %v", answer, err)
		}
	}
	conn, err := net.Dial("tcp", forward)
	answer, err := rawCall(conn, err,
		w.in("CONNECT", "CONNECT u:§@127.0.0.1:x HTTP/1.1\r\nProxy-Authorization: Bearer §\r\n\r\n"))
	if err != nil || answer == "" {
		t.Errorf("got %q, %v", answer, err)
	}
}

// runSender appends what a program sends that runs through the proxy.
func (w *sowing) runSender(t *testing.T, e cli.Env, keep bool, all []sending) {
	t.Helper()
	text := must.Get(json.Marshal(all))(t)
	script := filepath.Join(t.TempDir(), "sendings")
	must.Do(t, os.WriteFile(script, text, 0o600))
	args := []string{"run", "-o", w.path, "--", "sender", script}
	if keep {
		args = slices.Insert(args, 1, "--keep-secrets")
	}
	if code := run(t.Context(), e, args); code != 0 {
		t.Errorf("run ends with %d: %s", code, w.printed.String())
	}
}

// unpacked returns all texts of the capture, as the store hands them out of its blocks, and the bytes of its file.
func (w *sowing) unpacked(t *testing.T) string {
	t.Helper()
	src := must.Get(bolt.Read(w.path))(t)
	defer src.Close()
	var all strings.Builder
	for s, err := range src.Steps(context.Background(), 1) {
		must.Do(t, err)
		writeTexts(&all, reflect.ValueOf(s))
	}
	file := must.Get(os.ReadFile(w.path))(t)
	all.Write(file)
	return all.String()
}

// writeTexts writes all strings and bytes in a value.
func writeTexts(b *strings.Builder, v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		fmt.Fprintln(b, v.String())
	case reflect.Slice, reflect.Array:
		if v.Type().Elem().Kind() == reflect.Uint8 && v.Kind() == reflect.Slice {
			fmt.Fprintf(b, "%s\n", v.Bytes())
			return
		}
		for i := range v.Len() {
			writeTexts(b, v.Index(i))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			writeTexts(b, v.Field(i))
		}
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			writeTexts(b, v.Elem())
		}
	}
}

const secretsSown = 223

// Of 221 secrets none is in the capture, nor in anything that is printed of it.
func TestNoSecretIsStored(t *testing.T) {
	w := sow(t, false)
	if n := len(w.places); n != secretsSown {
		t.Errorf("%d secrets were sown, want %d", n, secretsSown)
	}
	if places := w.found(w.unpacked(t)); len(places) > 0 {
		t.Errorf("in the file are %d:\n%s", len(places), strings.Join(places, "\n"))
	}
	if places := w.found(w.printed.String()); len(places) > 0 {
		t.Errorf("recording prints\n%s", strings.Join(places, "\n"))
	}
	commands := map[string][]string{
		"show":   {"list", "ladder", "transcript", "curl", "json"},
		"export": {"har", "jsonl", "txtar"},
		"check":  report.Formats(),
	}
	for verb, formats := range commands {
		for _, format := range formats {
			var out bytes.Buffer
			e := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, Getenv: os.Getenv}
			code := run(t.Context(), e, []string{verb, w.path, "--format", format})
			if places := w.found(out.String()); len(places) > 0 || out.Len() < 500 || code > cli.ExitFindings {
				t.Errorf("%s %s ends with %d and prints %d bytes with the secrets of\n%s", verb, format, code,
					out.Len(), strings.Join(places, "\n"))
			}
		}
	}
}

// All of them are there if they are to be kept: the test above would see them.
func TestAllSecretsAreKept(t *testing.T) {
	w := sow(t, true)
	if places := w.found(w.unpacked(t)); len(places) != secretsSown {
		missing := slices.DeleteFunc(slices.Clone(w.places), func(p string) bool { return slices.Contains(places, p) })
		t.Errorf("%d are in the file; missing:\n%s", len(places), strings.Join(missing, "\n"))
	}
}

// What only a card names is hidden wherever it is shown, also if it was sent before the card came, and in the file as
// soon as the card is known: also by another recording into it.
func TestCardNamesWhatWasSent(t *testing.T) {
	t.Setenv("A2ATAP_CA_DIR", t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	plain := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer plain.Close()
	w := &sowing{path: filepath.Join(t.TempDir(), "c.a2atap"), sown: sown{basic: make(map[string]int)}}
	agent := &cannedAgent{answers: make(map[string]string)}
	go agent.serve(plain)
	address := &url.URL{Scheme: "http", Host: plain.Addr().String()}
	record := func(place string, which ...string) {
		t.Helper()
		r, err := recorder.Start(recorder.Options{
			Output: w.path, Proxy: proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: address, Listen: "127.0.0.1:0"}}},
		})
		must.Do(t, err)
		tap := r.Taps()[0].Addr()
		all := agent.add(w.sendings(place, "", tap))
		for _, path := range which {
			for _, s := range all {
				if strings.HasSuffix(s.Path, path) {
					w.talk(t, func() (net.Conn, error) { return net.Dial("tcp", tap) }, []sending{s})
				}
			}
		}
		cmdtest.Stop(t, r)
	}
	record("before", "/named", "agent-card.json")
	record("after", "/named")
	var early []string
	for _, place := range w.found(w.unpacked(t)) {
		place, _, _ = strings.Cut(place, " /")
		early = append(early, strings.TrimRight(place, "0123456789 "))
	}
	expect.Same(t, "in the file", []string{"before head", "before query"}, slices.Compact(early))
	for _, format := range []string{"transcript", "json", "curl"} {
		var out bytes.Buffer
		e := cli.Env{In: strings.NewReader(""), Out: &out, Err: &out, Now: time.Now, Getenv: os.Getenv}
		run(t.Context(), e, []string{"show", w.path, "--format", format})
		if places := w.found(out.String()); len(places) > 0 || !strings.Contains(out.String(), "seat=redacted.") {
			t.Errorf("show %s shows %q in\n%s", format, places, out.String())
		}
	}
}
