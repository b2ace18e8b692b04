// Package web serves a capture, finished or growing, as a page for a browser on this machine. It serves the parts of
// the page that check writes with --format html, and builds each when the user views it.
//
// The page shows the reading of the capture (analyzer/snapshot), in the same terms as the other formats. Lists have the
// columns of show. Exchanges, ladders and trees come from analyzer/report/exchanges; the verdict and the findings come
// from analyzer/report. This package neither checks nor phrases anything.
//
// # Guarantees
//
// Only clients with the token can read anything, and only under a name of the listener: a web page that makes its own
// name resolve to this address gets nothing. The page's script sends the token in a header. No other page can use the
// token, and no cookie reaches other servers on this machine. The page displays the traffic, but neither executes nor
// loads anything in it.
//
// A page requests only what is visible, and the server reads only that. Memory holds a few numbers for each exchange,
// and the findings while the verdict is being computed. A page has a hundred findings per rule.
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
	e.Tell("web: the page shows %s to anyone who has its address; interrupt to stop", cli.ShownName(name))
	return p.serve(ctx)
}

// address returns the address to listen on.
func (o *Options) address() string {
	if !strings.Contains(o.Listen, ":") {
		return "127.0.0.1:" + o.Listen
	}
	return o.Listen
}

// A Page is a listening page.
type Page struct {
	Notice func(text string) // receives urgent notices for the user

	e        cli.Env
	listener net.Listener
	asked    string // the requested address
	allowed  []hostname.Pattern
	token    string
	site     *site

	end   context.CancelFunc // cancels the page's work
	ended chan error
}

// Listen opens the address of a page. The page answers no requests yet.
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
		e.Notice("other machines can reach the page, without TLS: anyone who can read the traffic gets the token")
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

// show sets the page's capture. For a recording, taps are the page's destinations.
func (p *Page) show(name string, src capture.Source, taps []Reached) {
	p.site = newSite(p.e, name, src)
	p.site.taps = taps
}

// Begin serves the page of a recording until Close. taps are the page's destinations.
func (p *Page) Begin(name string, src capture.Source, taps []Reached) {
	p.show(name, src, append([]Reached{}, taps...))
	ctx, cancel := context.WithCancel(context.Background())
	p.end, p.ended = cancel, make(chan error, 1)
	go func() { p.ended <- p.serve(ctx) }()
}

// Close ends the page and all of its work. A nil page does nothing.
func (p *Page) Close() error {
	switch {
	case p == nil:
		return nil
	case p.end == nil: // Begin was not called
		return p.listener.Close()
	}
	p.end()
	return <-p.ended
}

// serve answers requests until the context ends. When it returns, all of the page's work has ended.
func (p *Page) serve(ctx context.Context) error {
	g := &guard{token: p.token, next: p.site.handler()}
	err := cli.Serve(ctx, p.listener, listener.CheckHosts(g, p.asked, p.listener.Addr(), p.allowed, p.Notice))
	g.end()
	p.site.close() //nolint:errcheck // it was only read
	return err
}
