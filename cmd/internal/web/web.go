// Package web serves a capture, finished or growing, as a page for a browser on this machine: the parts of the page that
// check writes with --format html, put together as they are looked at.
//
// What the page shows is the reading of the capture (analyzer/kept), in the words of the other formats: lists have the
// columns of show, exchanges, ladders and trees are those of analyzer/report/exchanges, the verdict and the findings
// those of analyzer/report. Nothing is judged or worded here.
//
// # What it promises
//
// Only who has the token reads anything, and only under a name of the listener: a page of the web that makes its own
// name lead here gets nothing. The script of the page sends the token in a header, so no other page can use it, and no
// cookie goes to what else listens on this machine. What stands in the traffic is shown, and nothing in it is obeyed or
// loaded.
//
// A page asks for what is seen, and so much is read. Held are a few numbers for each exchange, and, while the verdict is
// made, the findings; of these a page has a hundred a rule.
package web

import (
	"context"
	"crypto/rand"
	"fmt"
	"net"
	"strconv"
	"strings"

	"a2atap/cmd/internal/cli"
	"a2atap/cmd/internal/source"
	"a2atap/proxy/capture"
	"a2atap/proxy/hostname"
	"a2atap/proxy/listener"
	"a2atap/proxy/outbound"
)

// Options are the flags of web.
type Options struct {
	From   source.Flags
	Listen string // [HOST:]PORT
	Remote bool
	Hosts  []string
}

// Run serves a capture until it is interrupted.
func Run(ctx context.Context, e cli.Env, o Options, name string) error {
	src, err := o.From.Follow(e, name, source.Forever)
	if err != nil {
		return err
	}
	defer src.Close()
	p, err := Listen(e, o, cli.ShownName(name))
	if err != nil {
		return err
	}
	ctx, cancel := cli.UntilInterrupted(ctx, e)
	defer cancel()
	p.show(name, src, nil)
	fmt.Fprintln(e.Out, p.URL())
	e.Tell("web: %s is shown there, to whoever has the address; interrupt to stop", cli.ShownName(name))
	return p.serve(ctx)
}

// address returns where to listen.
func (o *Options) address() string {
	if !strings.Contains(o.Listen, ":") {
		return "127.0.0.1:" + o.Listen
	}
	return o.Listen
}

// A Page is a page that listens.
type Page struct {
	Notice func(text string) // is told what the user should know at once

	e        cli.Env
	listener net.Listener
	asked    string // where it was to listen
	allowed  []hostname.Pattern
	token    string
	site     *site

	end   context.CancelFunc // of what was begun
	ended chan error
}

// Listen opens the address of a page of what is named. Nothing is answered yet.
func Listen(e cli.Env, o Options, what string) (*Page, error) {
	p := &Page{Notice: e.Notice, e: e, asked: o.address(), token: rand.Text()}
	if err := cli.LocalOnly(p.asked, o.Remote); err != nil {
		return nil, err
	}
	var err error
	if p.allowed, err = cli.ParseAllowedHosts(o.Hosts); err != nil {
		return nil, err
	}
	if p.listener, err = net.Listen("tcp", p.asked); err != nil {
		return nil, fmt.Errorf("listen for the page of %s on %s: %w; choose another port, or 0 for a free one", what, p.asked,
			outbound.Cause(err))
	}
	if at, is := p.listener.Addr().(*net.TCPAddr); is && !at.IP.IsLoopback() {
		e.Notice("other machines reach the page, and without TLS: who reads what passes has the token, too")
	}
	return p, nil
}

// URL returns the address of the page with its token.
func (p *Page) URL() string {
	at := p.listener.Addr().(*net.TCPAddr)
	host := at.IP.String()
	if at.IP.IsUnspecified() {
		host = "127.0.0.1"
	}
	return "http://" + net.JoinHostPort(host, strconv.Itoa(at.Port)) + "/#token=" + p.token
}

// show makes the page that of a capture. Of a recording, taps are those to which it sends.
func (p *Page) show(name string, src capture.Source, taps []Reached) {
	p.site = newSite(p.e, name, src)
	p.site.taps = taps
}

// Begin serves the page of a recording, with the taps to which it sends, until Close.
func (p *Page) Begin(name string, src capture.Source, taps []Reached) {
	p.show(name, src, append([]Reached{}, taps...))
	ctx, cancel := context.WithCancel(context.Background())
	p.end, p.ended = cancel, make(chan error, 1)
	go func() { p.ended <- p.serve(ctx) }()
}

// Close ends the page. When it returns nothing of it goes on. A nil page is none.
func (p *Page) Close() error {
	switch {
	case p == nil:
		return nil
	case p.end == nil: // it was not begun
		return p.listener.Close()
	}
	p.end()
	return <-p.ended
}

// serve answers requests until the context ends. When it returns nothing of the page goes on.
func (p *Page) serve(ctx context.Context) error {
	g := &guard{token: p.token, next: p.site.handler()}
	err := cli.Serve(ctx, p.listener, listener.CheckHosts(g, p.asked, p.listener.Addr(), p.allowed, p.Notice))
	g.end()
	p.site.close()
	return err
}
