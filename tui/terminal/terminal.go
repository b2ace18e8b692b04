// Package terminal is what the inspector needs of a terminal besides drawing: whether there is one, an output that two
// writers can share, and the clipboard.
package terminal

import (
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"sync"
)

// Is reports whether w is a terminal.
func Is(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	if err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return false
	}
	null, err := os.Stat(os.DevNull) // a character device, and no terminal
	return err != nil || !os.SameFile(info, null)
}

// An Output is a terminal's file that several goroutines may write to. Each write reaches it in one piece, so that a
// sequence of one of them never lands in the middle of another's.
type Output struct {
	*os.File
	mu sync.Mutex
}

// NewOutput returns an Output that writes to f.
func NewOutput(f *os.File) *Output { return &Output{File: f} }

// Write writes p as a whole.
func (o *Output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.File.Write(p)
}

// MaxCopy is how many bytes Copy takes: terminals drop longer ones without a word.
const MaxCopy = 64 << 10

// Copy asks the terminal that w is to put a text on the clipboard. Whether it does so nobody can tell: many only obey
// when they are set up to, and a multiplexer in between may keep it to itself. The text travels encoded, so no byte of
// it is acted on.
//
// Source: XTerm Control Sequences, "Operating System Commands", OSC 52.
func Copy(w io.Writer, text string) error {
	if len(text) > MaxCopy {
		return fmt.Errorf("copy %d bytes: the clipboard of a terminal takes %d", len(text), MaxCopy)
	}
	_, err := fmt.Fprintf(w, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text)))
	return err
}
