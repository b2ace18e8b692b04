// Package open reads captures in the formats that other programs read, whichever a file has: HAR, JSON Lines or a
// transcript.
//
// [File] goes through a file once, to learn where its exchanges are and in which order they began, and then reads
// them one by one as they are asked for. A file that is cut off or broken yields the exchanges up to there, and then
// an error that says where. A transcript, and what comes by standard input, is held in memory.
//
// Captures of our own are opened by package bolt; for those File returns an error that wraps capture.ErrFormat.
package open

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"a2atap/proxy/budget"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/internal/exchangejson"
	"a2atap/proxy/capture/transcript"
)

// File opens a finished capture in a format that other programs read: HAR (.har), JSON Lines (.jsonl) or a transcript
// (.txtar). For another extension, or "-" for standard input, the content decides. An error wraps ErrFormat for any
// other file, such as a capture in a2atap's own format, which package bolt opens.
//
// HAR and JSON Lines are read from the file, exchange by exchange; opening goes through the file once, to learn where
// they are and in which order they began. A file that is cut off or broken yields the exchanges up to there, and then
// an error that says where. A transcript, and what comes by standard input, is held in memory.
func File(path string) (capture.Source, error) {
	name, f := path, os.Stdin
	if path != "-" {
		var err error
		if f, err = os.Open(path); err != nil {
			return nil, fmt.Errorf("open capture: %w", err)
		}
	} else {
		name = "standard input"
	}
	s, err := openFile(name, f, path == "-")
	if err != nil {
		f.Close()
		if errors.Is(err, capture.ErrFormat) {
			return nil, fmt.Errorf("open %s: %w", name, err)
		}
		return nil, fmt.Errorf("open capture: %w", err)
	}
	return s, nil
}

// open opens what is in f, and closes it at once if it is read as a whole.
func openFile(name string, f *os.File, whole bool) (capture.Source, error) {
	var data io.ReaderAt = f
	size := int64(0)
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.IsDir() {
		return nil, fmt.Errorf("%w: it is a directory", capture.ErrFormat)
	} else if size = info.Size(); whole || !info.Mode().IsRegular() {
		whole = true
	}
	kind := strings.ToLower(filepath.Ext(name))
	switch kind {
	case kindHAR, kindJSONL, kindTranscript:
	default:
		kind = ""
	}
	if kind == "" || whole {
		begin, err := firstBytes(f, whole)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		shows, looks := sniff(begin)
		if shows == "" && (kind == "" || len(begin) == sniffSize) {
			return nil, fmt.Errorf("%w: it looks like %s; captures are .a2atap, .har, .jsonl or .txtar files",
				capture.ErrFormat, looks)
		}
		kind = cmp.Or(kind, shows)
		if whole {
			all, err := readWhole(name, io.MultiReader(bytes.NewReader(begin), f))
			if err != nil {
				return nil, err
			}
			data, size = bytes.NewReader(all), int64(len(all))
		}
	}
	if kind == kindTranscript {
		return openTranscript(name, f, io.NewSectionReader(data, 0, size))
	}
	s := &source{data: data, name: name, format: formats[kind]}
	if !whole {
		s.close = f.Close
	}
	return s, s.scan(io.NewSectionReader(data, 0, size))
}

// sniffSize is how many bytes of a file must show its format.
const sniffSize = 64 << 10

// firstBytes returns the first bytes of a file, which a pipe has only once.
func firstBytes(f *os.File, pipe bool) ([]byte, error) {
	begin := make([]byte, sniffSize)
	var n int
	var err error
	if pipe {
		n, err = io.ReadFull(f, begin)
	} else {
		n, err = f.ReadAt(begin, 0)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return begin[:n], err
}

// readWhole reads all of what is held in memory.
func readWhole(name string, r io.Reader) ([]byte, error) {
	all, err := io.ReadAll(io.LimitReader(r, budget.FileWhole+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if len(all) > budget.FileWhole {
		return nil, fmt.Errorf("read %s: it has more than %d MiB, and transcripts and piped input are held in "+
			"memory; convert it to a .har or .jsonl file first", name, budget.FileWhole>>20)
	}
	return all, nil
}

func openTranscript(name string, f *os.File, r io.Reader) (capture.Source, error) {
	text, err := readWhole(name, r)
	if err != nil {
		return nil, err
	}
	t, err := transcript.Parse(name, text)
	if err != nil {
		return nil, err
	}
	if kind, looks := sniff(text); kind != kindTranscript && len(t.Exchanges) == 0 && !t.HasWant && len(bytes.TrimSpace(text)) > 0 {
		return nil, fmt.Errorf("%w: it looks like %s; a transcript has sections such as \"-- 1.request --\"",
			capture.ErrFormat, cmp.Or(looks, "another format"))
	}
	if f != os.Stdin {
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
	return t.Source(name)
}

// sniff tells the kind of a file by its first bytes, or what it looks like instead.
func sniff(begin []byte) (kind, looks string) {
	for _, magic := range []struct {
		at           int
		bytes, looks string
	}{
		{0, "\x1f\x8b", "gzip; unpack it first"},
		{0, "PK\x03\x04", "a zip archive; unpack it first"},
		{0, "\x28\xb5\x2f\xfd", "zstd; unpack it first"},
		{16, "\xED\xDA\x0C\xED", "a capture of a2atap; its name must end in .a2atap"},
		{0, "\xd4\xc3\xb2\xa1", "a packet capture"},
		{0, "\xa1\xb2\xc3\xd4", "a packet capture"},
		{0, "\x0a\x0d\x0d\x0a", "a packet capture"},
	} {
		if len(begin) >= magic.at && bytes.HasPrefix(begin[magic.at:], []byte(magic.bytes)) {
			return "", magic.looks
		}
	}
	text := bytes.TrimLeft(bytes.TrimPrefix(begin, []byte(capture.BOM)), " \t\r\n")
	if len(text) == 0 {
		return "", "an empty file"
	}
	if text[0] == '{' {
		return sniffJSON(text)
	}
	isTranscript, isArchive := transcript.Sniff(begin)
	if isTranscript {
		return kindTranscript, ""
	}
	switch {
	case text[0] == '<':
		return "", "HTML or XML"
	case text[0] == '[':
		return "", "a JSON array"
	case isArchive:
		return "", "a txtar archive without N.request"
	case bytes.IndexByte(begin, 0) < 0 && utf8.Valid(begin[:max(0, len(begin)-utf8.UTFMax)]):
		return "", "text"
	}
	return "", "binary data"
}

// sniffJSON tells a HAR from JSON Lines by the first names.
func sniffJSON(text []byte) (kind, looks string) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), exchangejson.Lenient)
	if _, err := dec.ReadToken(); err != nil {
		return "", "broken JSON"
	}
	for {
		name, err := dec.ReadToken()
		if err != nil || name.Kind() != '"' {
			return "", "JSON of another kind"
		}
		switch name.String() {
		case "log":
			return kindHAR, ""
		case "n", "request", "gaps":
			return kindJSONL, ""
		}
		if err := dec.SkipValue(); err != nil {
			return "", "JSON of another kind"
		}
	}
}
