package tool

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
	"time"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy"
	"a2atap/proxy/stdio"
)

// relayVariable makes a process the relay of a tool. Its value is the processes above the tool, separated by commas.
const relayVariable = "A2ATAP_STDIO_RELAY"

// feedPatience is how long the end of a tool may wait for its recorder.
const feedPatience = 2 * time.Second

// Options configure how a tool is recorded.
type Options struct {
	Name   string // of the tool; empty for a name made of the command
	Output string // the capture; empty to join a recorder
	Hide   redacted.Flags

	byCommand bool // the name is made of the command
}

// unrecorded prints why the tool is not recorded.
func (o *Options) unrecorded(e cli.Env, err error) {
	fmt.Fprintf(e.Err, "a2atap: stdio: %s continues unrecorded: %v\n", o.Name, err)
}

// feed starts the feed of a tool: to its recorder, or to one that it starts, which records into the capture of the options. end
// ends both.
func (o *Options) feed(e cli.Env, joined *net.UnixConn, above []int) (feed *stdio.Feed, end func()) {
	var own *recorder.Recording
	connect := func() (stdio.Conn, error) {
		if joined != nil {
			return joined, nil
		}
		var err error
		if own, err = o.record(e); err != nil {
			return nil, err
		}
		return stdio.Dial(own.Tools())
	}
	feed = stdio.NewFeed(stdio.Hello{Name: o.Name, ByCommand: o.byCommand, Ancestors: above}, connect, func(err error) {
		if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
			err = errors.New("the recorder has ended")
		}
		o.unrecorded(e, err)
	})
	return feed, func() {
		if !feed.Close(feedPatience) || own == nil {
			return
		}
		if _, _, err := own.Stop(); err != nil {
			fmt.Fprintf(e.Err, "a2atap: stdio: the recording of %s: %v\n", o.Name, err)
		}
	}
}

// record starts a recorder for this tool alone.
func (o *Options) record(e cli.Env) (*recorder.Recording, error) {
	r := recorder.Options{
		Output: o.Output, Listener: &notices{e: e}, Proxy: proxy.Options{Tools: true, Grace: feedPatience},
	}
	var err error
	if r.Hide, err = o.Hide.Options(); err != nil {
		return nil, err
	}
	if !o.Hide.Keep {
		if r.Hide.Key, err = o.Hide.Key(e); err != nil {
			return nil, err
		}
	}
	return recorder.Start(r)
}

// notices prints the first message of a recording.
type notices struct {
	recorder.Silent
	e    cli.Env
	once sync.Once
}

// Notice implements recorder.Listener.
func (n *notices) Notice(text string) {
	n.once.Do(func() { fmt.Fprintf(n.e.Err, "a2atap: stdio: %s\n", text) })
}
