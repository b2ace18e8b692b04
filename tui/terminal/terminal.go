// Package terminal has the terminal functions that the inspector needs in addition to drawing: detection, output that
// two writers can share, and the clipboard.
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
// sequence from one writer never splits a sequence from another.
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

// MaxCopy is the maximum number of bytes for Copy: terminals silently drop longer texts.
const MaxCopy = 64 << 10

// Copy asks the terminal behind w to put a text on the clipboard. Copy cannot tell whether the terminal does: many must
// be configured for it, and a multiplexer in between may drop the request. The text is encoded, so the terminal obeys
// none of its bytes.
//
// Source: XTerm Control Sequences, "Operating System Commands", OSC 52.
func Copy(w io.Writer, text string) error {
	if len(text) > MaxCopy {
		return fmt.Errorf("copy %d bytes: the terminal's clipboard holds %d", len(text), MaxCopy)
	}
	_, err := fmt.Fprintf(w, "\x1b]52;c;%s\a", base64.StdEncoding.EncodeToString([]byte(text)))
	return err
}
