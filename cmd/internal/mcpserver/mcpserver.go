// Package mcpserver serves captures to coding agents, over the Model Context Protocol on standard input and output.
//
// A tool runs a command of a2atap in this process and returns its output: package main passes the function that runs a
// command line. Tools change no recording, and read only the capture that the user has named, or the captures in the
// working directory. Only the tool replay sends, and only to addresses from the command line.
//
// Recorded text may contain instructions to the model that reads it. Outputs are therefore quoted between lines with a
// random marker, which recorded text cannot contain, and no recorded text is part of a tool's description.
package mcpserver

import (
	"context"
	"fmt"
	"io"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cli"
)

// Options are the flags of mcp.
type Options struct {
	Replay []string // the addresses to which the tool replay sends, as [NAME=]URL; none without the tool
}

// instructions tell a model how to use the tools.
const instructions = `a2atap records the traffic between A2A clients and agents, and checks it against the specification.
Begin with overview. exchanges lists requests with their outcome, and exchange shows one of them, or a part of it.
findings lists violations with the side at fault and how to fix them, and rule explains one. tree shows which call
caused which. Captures that are being recorded are read up to their newest exchange.
` + caution

// Run serves the tools until the client closes standard input or an interrupt arrives. An empty name serves the captures
// in the working directory.
func Run(ctx context.Context, e cli.Env, o Options, name string, run Runner) error {
	if name == "-" {
		return cli.Usage("mcp: standard input carries the protocol; write the capture to a file, and name that")
	}
	for _, to := range o.Replay {
		if err := checkAddress(to); err != nil {
			return err
		}
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	served := name
	if name == "" {
		served = "the captures in this directory"
	}
	e.Tell("mcp: serving %s over MCP on standard input and output", analysis.Clean(cli.ShownName(served)))
	transport := &mcp.IOTransport{Reader: io.NopCloser(e.In), Writer: unclosed{e.Out}}
	if err := newServer(e, o, name, run).Run(ctx, transport); err != nil && ctx.Err() == nil {
		return fmt.Errorf("mcp: %w; an MCP client has to write to standard input", err)
	}
	return nil
}

// An unclosed is standard output, which stays open when the session ends.
type unclosed struct{ io.Writer }

// Close implements io.Closer.
func (unclosed) Close() error { return nil }

func newServer(e cli.Env, o Options, name string, run Runner) *mcp.Server {
	s := &server{e: e, capture: name, replay: o.Replay, run: run, turn: make(chan struct{}, 1)}
	m := mcp.NewServer(
		&mcp.Implementation{Name: cli.Tool().Name, Version: cli.Tool().Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}},
	)
	for _, t := range tools {
		if t.name == "captures" && name != "" || t.name == "replay" && len(o.Replay) == 0 {
			continue
		}
		m.AddTool(t.described(name != ""), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			out, messages := &window{}, &window{to: mostMessages}
			failed, err := s.call(ctx, t, r.Params.Arguments, out, messages)
			if err != nil {
				fmt.Fprintf(messages, "%s: %s\n", t.name, analysis.Clean(err.Error()))
			}
			return &mcp.CallToolResult{
				Content: []mcp.Content{&mcp.TextContent{Text: answer(t.name, t.quotes, messages, out)}}, IsError: failed || err != nil,
			}, nil
		})
	}
	return m
}

// call runs a tool. failed reports that its command did not do its work. The error is about the arguments.
func (s *server) call(ctx context.Context, t tool, raw []byte, out, messages *window) (failed bool, err error) {
	select {
	case s.turn <- struct{}{}:
		defer func() { <-s.turn }()
	case <-ctx.Done():
		return false, ctx.Err()
	}
	a, err := s.parse(t, raw)
	if err != nil {
		return false, err
	}
	out.from, out.to = a.Offset, a.Offset+a.Limit
	line := t.command(ctx, s, a)
	if line == nil {
		return false, listCaptures(out)
	}
	status := s.command(ctx, out, messages, line)
	return status == cli.ExitUsage || status == cli.ExitFailed || status == cli.ExitInterrupted, nil
}

// checkAddress returns an error unless the text is an address of replay, [NAME=]URL.
func checkAddress(text string) error {
	at := text
	if name, after, found := strings.Cut(text, "="); found && cli.AgentName.MatchString(name) {
		at = after
	}
	if u, err := url.Parse(at); err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return cli.Usage("--allow-replay %q: write [NAME=]URL, such as booker=http://127.0.0.1:9001", text)
	}
	return nil
}
