package open_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/capturetest"
	"a2atap/proxy/capture/har"
	"a2atap/proxy/capture/jsonl"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// formatHAR and the two below write exchanges in a format.
func formatHAR(t testing.TB, xs []*capture.Exchange) []byte {
	t.Helper()
	var b bytes.Buffer
	w := must.Get(har.NewWriter(&b, "1.2.3"))(t)
	for _, x := range xs {
		must.Do(t, w.Write(x))
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

func formatJSONL(t testing.TB, xs []*capture.Exchange) []byte {
	t.Helper()
	var b bytes.Buffer
	w := jsonl.NewWriter(&b, nil)
	for _, x := range xs {
		must.Do(t, w.Write(x))
	}
	must.Do(t, w.Close())
	return b.Bytes()
}

func formatTranscript(_ testing.TB, xs []*capture.Exchange) []byte {
	return transcript.Format(&transcript.Transcript{Exchanges: xs})
}

var formats = []struct {
	name   string
	format func(testing.TB, []*capture.Exchange) []byte
}{{"c.har", formatHAR}, {"c.jsonl", formatJSONL}, {"c.txtar", formatTranscript}}

func TestFileSources(t *testing.T) {
	for _, tt := range formats {
		t.Run(tt.name, func(t *testing.T) {
			capturetest.TestSource(t, func(t *testing.T, xs []*capture.Exchange) capture.Source {
				return must.Get(open.File(capturetest.WriteFile(t, tt.name, tt.format(t, xs))))(t)
			})
		})
	}
}

// A file is recognised by its content where its name says nothing, and what is written again is the same.
func TestFileByContent(t *testing.T) {
	for _, tt := range formats {
		content := tt.format(t, capturetest.Exchanges())
		if tt.name != "c.txtar" {
			content = append([]byte("\uFEFF"), content...)
		}
		s, err := open.File(capturetest.WriteFile(t, "capture", content))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		xs := capturetest.ReadAll(t, s)
		if again := tt.format(t, xs); !bytes.Equal(again, bytes.TrimPrefix(content, []byte("\uFEFF"))) {
			t.Errorf("%s: written again:\n%s\nwant:\n%s", tt.name, again, content)
		}
		expect.OK(t, s.Close())
	}
}

func TestFileOfStandardInput(t *testing.T) {
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	for _, tt := range formats {
		r, w, err := os.Pipe()
		must.Do(t, err)
		go func() {
			defer w.Close()
			io.Copy(w, bytes.NewReader(tt.format(t, capturetest.Exchanges())))
		}()
		os.Stdin = r
		s := must.Get(open.File("-"))(t)
		expect.Equal(t, tt.name, len(capturetest.Exchanges()), len(capturetest.ReadAll(t, s)))
		expect.OK(t, s.Close())
		r.Close()
	}
}

func TestFileRefuses(t *testing.T) {
	bolt := append(make([]byte, 16), "\xED\xDA\x0C\xED"...)
	for _, tt := range []struct{ name, content, want string }{
		{"c", string(bolt), "it looks like a capture of a2atap"},
		{"c", "", "it looks like an empty file"},
		{"c", "\x1f\x8b\x08", "it looks like gzip"},
		{"c.xml", "<?xml?>", "it looks like HTML or XML"},
		{"c.json", `{"a": 1}`, "it looks like JSON of another kind"},
		{"c.json", `[]`, "it looks like a JSON array"},
		{"c.json", `{"a" 1}`, "it looks like"},
		{"c.txt", "hello, world\n", "it looks like text"},
		{"c.txt", "-- a --\n", "it looks like a txtar archive without N.request"},
		{"c", "\x00\xff\x00\xff\x00\xff", "it looks like binary data"},
		{"c.har", `{"log":{}}`, "it has no list log.entries"},
		{"c.har", `[1]`, "not a HAR: byte 1: want an object"},
		{"c.har", ``, "not a HAR: byte 0: unexpected EOF"},
		{"c.jsonl", "hello\n", "the first line is not an object"},
	} {
		_, err := open.File(capturetest.WriteFile(t, tt.name, []byte(tt.content)))
		if err == nil || !strings.Contains(err.Error(), tt.want) ||
			!strings.Contains(err.Error(), capture.ErrFormat.Error()) {
			t.Errorf("%s %q: got %v, want %s", tt.name, tt.content, err, tt.want)
		}
	}
	if _, err := open.File(filepath.Join(t.TempDir(), "none.har")); !os.IsNotExist(err) &&
		!strings.Contains(err.Error(), "none.har") {
		t.Errorf("a file that is not there: %v", err)
	}
	expect.ErrorHas(t, "a directory", "directory", expect.Err(open.File(t.TempDir())))
}

// A file that was cut off gives what is whole, by exchanges and by steps, and then says where it ends.
func TestFileCutOff(t *testing.T) {
	for _, tt := range []struct {
		name   string
		format func(testing.TB, []*capture.Exchange) []byte
		want   string
	}{
		{"c.har", formatHAR, "read har: byte "},
		{"c.jsonl", formatJSONL, "c.jsonl: exchange 4: "},
	} {
		whole := tt.format(t, capturetest.Exchanges()[:4])
		path := capturetest.WriteFile(t, tt.name, whole[:len(whole)-100])
		s := must.Get(open.File(path))(t)
		n := 0
		for x, err := range s.Exchanges(t.Context(), 0) {
			if err == nil {
				n++
			} else if x != nil || n != 3 || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("%s: after %d exchanges: %v", tt.name, n, err)
			}
		}
		var last error
		steps := uint64(0)
		for _, err := range s.Steps(t.Context(), 0) {
			if last = err; err == nil {
				steps++
			}
		}
		if last == nil || n != 3 {
			t.Errorf("%s: %d exchanges, and the steps ended with %v", tt.name, n, last)
		}
		if err := s.Wait(t.Context(), steps); err != nil {
			t.Errorf("%s: wait for the last step: %v", tt.name, err)
		}
		if err := s.Wait(t.Context(), steps+1); err == nil || err.Error() != last.Error() {
			t.Errorf("%s: wait for one more: %v, want %v", tt.name, err, last)
		}
		expect.OK(t, s.Close())
	}
}

// Exchanges in another order than they began keep their numbers, and their steps are in order of time.
func TestFileOutOfOrder(t *testing.T) {
	xs := capturetest.Exchanges()[:3]
	xs[0].Started, xs[2].Started = xs[2].Started, xs[0].Started
	for _, tt := range formats {
		s := must.Get(open.File(capturetest.WriteFile(t, tt.name, tt.format(t, xs))))(t)
		for step, err := range s.Steps(t.Context(), 0) {
			if err != nil || step.Seq != 3 {
				t.Errorf("%s: the first step is of exchange %d, error %v; want 3", tt.name, step.Seq, err)
			}
			break
		}
		if got := capturetest.ReadAll(t, s); len(got) != 3 || capturetest.Compare(xs[0], got[0]) != "" {
			t.Errorf("%s: the exchanges are not in order of number", tt.name)
		}
		expect.OK(t, s.Close())
	}
}

// A compressed body is decoded; where that fails, it is kept as it is.
func TestExportDecodes(t *testing.T) {
	var coded bytes.Buffer
	w := gzip.NewWriter(&coded)
	fmt.Fprint(w, "some text")
	w.Close()
	x := capturetest.Exchanges()[0]
	x.Response.Head = []byte("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\n")
	x.Response.Body.Data, x.Response.Body.Size = coded.Bytes(), int64(coded.Len())
	y := capturetest.Exchanges()[0]
	y.Response.Head = x.Response.Head
	for _, format := range []func(testing.TB, []*capture.Exchange) []byte{formatHAR, formatJSONL} {
		s := must.Get(open.File(capturetest.WriteFile(t, "capture", format(t, []*capture.Exchange{x, y}))))(t)
		xs := capturetest.ReadAll(t, s)
		if b := xs[0].Response.Body; string(b.Data) != "some text" || !b.Decoded || b.Size != int64(coded.Len()) {
			t.Errorf("got %+v", b)
		}
		xs[1].Seq = 1
		if diff := capturetest.Compare(y, xs[1]); diff != "" {
			t.Errorf("what cannot be decoded: got +, want -:\n%s", diff)
		}
		s.Close()
	}
}

// Characters that a terminal would obey are escapes in JSON, and what is read again is what was written.
func TestJSONIsSafeToLookAt(t *testing.T) {
	const body = "{\"text\":\"a\u202eb\u0085c\u2066\u2028\x7f\"}"
	x := capturetest.Exchanges()[0]
	x.Client.Name = "planner\u200f"
	x.Request.Body.Data = []byte(body)
	for name, write := range map[string]func(*bytes.Buffer) error{
		"c.jsonl": func(b *bytes.Buffer) error {
			w := jsonl.NewWriter(b, nil)
			return errors.Join(w.Write(x), w.Close())
		},
		"c.har": func(b *bytes.Buffer) error {
			w, err := har.NewWriter(b, "1")
			if err != nil {
				return err
			}
			return errors.Join(w.Write(x), w.Close())
		},
	} {
		var b bytes.Buffer
		must.Do(t, write(&b))
		for _, c := range b.String() {
			if c != '\n' && (unicode.IsControl(c) || unicode.In(c, unicode.Cf, unicode.Zl, unicode.Zp)) {
				t.Errorf("%s holds %U", name, c)
			}
		}
		path := filepath.Join(t.TempDir(), name)
		must.Do(t, os.WriteFile(path, b.Bytes(), 0o600))
		src := must.Get(open.File(path))(t)
		defer src.Close()
		got, err := src.Exchange(t.Context(), 1)
		if err != nil || string(got.Request.Body.Data) != body || got.Client.Name != x.Client.Name {
			t.Errorf("%s: %+v, error %v", name, got, err)
		}
	}
}

// Few bytes that become many objects are not read.
func TestFileOfManyObjects(t *testing.T) {
	events := strings.Repeat("{},", budget.FileNodes) + "{}"
	for name, content := range map[string]string{
		"c.har":   `{"log":{"entries":[{"request":{},"response":{"status":200},"_eventStream":[` + events + `]}]}}`,
		"c.jsonl": `{"request":{},"response":{"events":[` + events + `]}}`,
	} {
		src := must.Get(open.File(capturetest.WriteFile(t, name, []byte(content))))(t)
		for _, err := range src.Steps(t.Context(), 1) {
			expect.ErrorHas(t, name, "lists and objects", err)
		}
		must.Do(t, src.Close())
	}
}
