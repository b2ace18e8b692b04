package tui

import (
	"context"
	"os/exec"

	"a2atap/proxy/capture"
	"a2atap/replay/report"
)

// A Sender sends recorded requests again. Its functions run outside the event loop, and end when their context does.
type Sender struct {
	// Request says what would be sent for the request of an exchange. Nothing is sent yet.
	Request func(ctx context.Context, x *capture.Exchange) (*Outgoing, error)
	// Task says the same for all requests of a task, as a2atap replay sends them: the source has the exchanges of the task
	// and what else is about it, and seqs are their numbers.
	Task func(ctx context.Context, src capture.Source, seqs []uint64) (*Outgoing, error)
	// Editor returns the command that opens a file in the user's editor; nil if there is none.
	Editor func(path string) (*exec.Cmd, error)
}

// An Outgoing is what waits for the user's word to be sent.
type Outgoing struct {
	What    string   // in words, such as "POST http://127.0.0.1:9001/spec"
	Remote  []string // hosts that it goes to and that are not this machine
	Remarks []string // what the user should know: what is not sent, and why
	File    string   // the capture in which it will be kept; empty if that is the one that is looked at

	Send func(context.Context) (*Sent, error)

	// Text is the request for an editor, a transcript, and Edited what is sent instead when it was changed; an error says
	// in which line it is wrong. Nil if there is nothing to edit.
	Text   []byte
	Edited func(text []byte) (*Outgoing, error)
}

// A Sent is what came of an Outgoing.
type Sent struct {
	Exchange *capture.Exchange // of a single request; its number is that in the file, or 0 if it was not found there
	File     string            // where it is kept; empty if that is the capture that is looked at
	Report   *report.Report    // of a task: how the answers differ from the recorded ones
}
