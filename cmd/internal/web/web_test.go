package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/net/html"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/open"
	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience ends a test that waits for something that does not come.
const patience = 4 * time.Minute

// A reader reads a page that is served.
type reader struct {
	t      *testing.T
	page   *Page
	client *http.Client
	base   string
}

// serve serves the page of a source until the test ends.
func serve(t *testing.T, src capture.Source) *reader {
	t.Helper()
	e := cli.Env{Out: io.Discard, Err: io.Discard, Now: time.Now, Getenv: func(name string) string { return map[string]string{"TOKEN": "s3cret"}[name] }}
	p := must.Get(Listen(e, Options{Listen: "0"}, "c"))(t)
	p.show("c", src, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- p.serve(ctx) }()
	r := &reader{t: t, page: p, client: &http.Client{Transport: &http.Transport{}}}
	r.base, _, _ = strings.Cut(p.URL(), "/#")
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		r.client.CloseIdleConnections()
	})
	return r
}

// request makes a request with the token.
func (r *reader) request(method, path string) *http.Request {
	r.t.Helper()
	req := must.Get(http.NewRequestWithContext(r.t.Context(), method, r.base+path, nil))(r.t)
	req.Header.Set("Authorization", "Bearer "+r.page.token)
	return req
}

// do returns status, head and body of an answer.
func (r *reader) do(req *http.Request) (int, http.Header, string) {
	r.t.Helper()
	res := must.Get(r.client.Do(req))(r.t)
	defer res.Body.Close()
	body := must.Get(io.ReadAll(res.Body))(r.t)
	return res.StatusCode, res.Header, string(body)
}

func (r *reader) get(path string) (status int, body string) {
	r.t.Helper()
	status, _, body = r.do(r.request(http.MethodGet, path))
	return status, body
}

// into reads the JSON of an answer.
func (r *reader) into(path string, v any) {
	r.t.Helper()
	status, body := r.get(path)
	if status != http.StatusOK {
		r.t.Fatalf("%s: %d %s", path, status, body)
	}
	if err := json.Unmarshal([]byte(body), v); err != nil {
		r.t.Fatalf("%s: %v in %s", path, err, body)
	}
}

// news returns the news up to and including the first wanted one.
func (r *reader) news(wanted func(news) bool) news {
	r.t.Helper()
	ctx, cancel := context.WithTimeout(r.t.Context(), patience)
	defer cancel()
	res := must.Get(r.client.Do(r.request(http.MethodGet, "/api/events").WithContext(ctx)))(r.t)
	defer res.Body.Close()
	if media := res.Header.Get("Content-Type"); media != "text/event-stream" {
		r.t.Fatalf("events are %s", media)
	}
	lines := bufio.NewScanner(res.Body)
	var last string
	for lines.Scan() {
		data, is := strings.CutPrefix(lines.Text(), "data: ")
		if !is {
			continue
		}
		last = data
		var n news
		must.Do(r.t, json.Unmarshal([]byte(data), &n))
		if wanted(n) {
			return n
		}
	}
	r.t.Fatalf("it is not told; last was %s: %v", last, lines.Err())
	return news{}
}

func (r *reader) whole() news { return r.news(func(n news) bool { return n.Whole }) }

// recorded opens a file that is a capture.
func recorded(t *testing.T, path ...string) capture.Source {
	t.Helper()
	src := must.Get(open.File(filepath.Join(path...)))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

func journey(t *testing.T) capture.Source {
	return recorded(t, "..", "..", "..", "tui", "testdata", "journey.txtar")
}

// Only who has the token reads anything; the page itself is empty without it.
func TestToken(t *testing.T) {
	r := serve(t, journey(t))
	r.whole()
	paths := []string{"/", "/page.js", "/page.css", "/icon.svg"}
	secret := []string{"/api/list?n=5", "/api/exchange?n=1", "/api/group?workflow=1", "/api/part?name=verdict", "/api/events"}
	for _, path := range append(paths, secret[:4]...) {
		status, head, _ := r.do(r.request(http.MethodGet, path))
		expect.Equal(t, path, http.StatusOK, status)
		for name, want := range map[string]string{
			"Content-Security-Policy": policy, "X-Content-Type-Options": "nosniff", "X-Frame-Options": "DENY",
			"Referrer-Policy": "no-referrer", "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
		} {
			expect.Equal(t, fmt.Sprintf("%s: %s", path, name), want, head.Get(name))
		}
		if head.Get("Set-Cookie") != "" {
			t.Errorf("%s sets a cookie, which browsers send to other ports, too", path)
		}
	}
	token := r.page.token
	if len(token) < 26 {
		t.Errorf("the token has %d characters of 5 bits", len(token))
	}
	for _, given := range []string{
		"", "Bearer ", token, "Bearer " + token[1:], "Bearer " + token + "A", "bearer" + token, "Basic " + token,
	} {
		for _, path := range secret {
			req := r.request(http.MethodGet, path+"&token="+token)
			req.Header.Set("Authorization", given)
			if status, _, body := r.do(req); status != http.StatusUnauthorized || strings.Contains(body, "booker") {
				t.Errorf("%s with %q: %d %s", path, given, status, body)
			}
		}
		for _, path := range paths {
			req := r.request(http.MethodGet, path)
			req.Header.Set("Authorization", given)
			status, _, body := r.do(req)
			if status != http.StatusOK || strings.Contains(body, "booker") || strings.Contains(body, token) {
				t.Errorf("%s with %q: %d", path, given, status)
			}
		}
	}
}

// A page of the web that makes its own name lead here is not answered, and neither is one that posts from elsewhere.
func TestOtherPages(t *testing.T) {
	r := serve(t, journey(t))
	_, port, _ := strings.Cut(strings.TrimPrefix(r.base, "http://"), ":")
	own := "http://127.0.0.1:" + port
	for _, test := range []struct {
		method, host, origin string
		want                 int
	}{
		{"GET", "127.0.0.1:" + port, "", 200},
		{"GET", "localhost:" + port, "", 200},
		{"GET", "localhost:" + port, "http://localhost:" + port, 200},
		{"GET", "rebound.example:" + port, "", 421},
		{"GET", "rebound.example", "http://rebound.example", 421},
		{"GET", "127.0.0.1.rebound.example:" + port, "", 421},
		{"GET", "127.0.0.1:" + port, "http://rebound.example", 403},
		{"GET", "127.0.0.1:" + port, "http://127.0.0.1:1", 403},
		{"GET", "127.0.0.1:" + port, "https://127.0.0.1:" + port, 403},
		{"GET", "127.0.0.1:" + port, "null", 403},
		{"POST", "127.0.0.1:" + port, "", 403},
		{"POST", "127.0.0.1:" + port, "null", 403},
		{"POST", "rebound.example", own, 421},
		{"POST", "127.0.0.1:" + port, own, 405},
	} {
		for _, path := range []string{"/", "/api/part?name=failed"} {
			if test.method == "GET" && test.want == 200 {
				r.whole()
			}
			req := r.request(test.method, path)
			req.Host = test.host
			if test.origin != "" {
				req.Header.Set("Origin", test.origin)
			}
			if status, _, body := r.do(req); status != test.want {
				t.Errorf("%s %s of %s from %q: %d, want %d: %s", test.method, path, test.host, test.origin, status, test.want, body)
			}
		}
	}
}

// Requests for missing things, and invalid requests, get an error.
func TestWrongRequests(t *testing.T) {
	r := serve(t, journey(t))
	r.whole()
	for path, want := range map[string]string{
		"/api/exchange?n=99":     "404 read exchange 99: no such exchange",
		"/api/exchange":          "404 read exchange 0: no such exchange",
		"/api/exchange?n=x":      `400 n is "x"; write a whole number`,
		"/api/list?at=-1":        `400 at is "-1"; write a whole number`,
		"/api/list?filter=op%3A": "400 --filter",
		"/api/group?filter=(":    "400 --filter",
		"/api/part?name=../page": `400 there is no part "../page"`,
		"/api/nothing":           "404 ",
		"/etc/passwd":            "404 ",
		"/api/list?at=18446744073709551615&n=18446744073709551615": "200 ",
	} {
		status, body := r.get(path)
		var said struct{ Error string }
		json.Unmarshal([]byte(body), &said) //nolint:errcheck // it may be a text
		if got := fmt.Sprintf("%d %s", status, said.Error); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}

// The page offers addresses that come from traffic, so a template in one is never expanded.
func TestSendExpandsNoTemplates(t *testing.T) {
	asked := make(chan string, 1000)
	agent := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked <- fmt.Sprint(r.URL, r.Header, string(body))
		http.NotFound(w, r)
	}))
	t.Cleanup(agent.Close)
	r := serve(t, journey(t))
	r.whole()
	for _, spelling := range []string{
		"{{env.TOKEN}}", "{{ env.TOKEN }}", "%7B%7Benv.TOKEN%7D%7D", "{{{{env.TOKEN}}}}", "{{ {{env.TOKEN}} }}", "env:TOKEN", "@TOKEN", "${TOKEN}",
	} {
		for _, m := range []message{
			{To: agent.URL + "/" + spelling, Text: "hi"},
			{To: agent.URL + "/?x=" + spelling, Text: "hi"},
			{To: agent.URL, Text: spelling},
			{To: agent.URL, Text: "hi", Task: spelling},
			{To: agent.URL, Text: "hi", Context: spelling},
		} {
			req := r.request(http.MethodPost, "/api/send")
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Origin", r.base)
			req.Body = io.NopCloser(bytes.NewReader(must.Get(json.Marshal(m))(t)))
			if _, _, answer := r.do(req); strings.Contains(answer, "s3cret") {
				t.Errorf("%+v: the page answered %s", m, answer)
			}
		}
	}
	close(asked)
	reached := 0
	for request := range asked {
		if reached++; strings.Contains(request, "s3cret") {
			t.Errorf("the agent was asked %s", request)
		}
	}
	if reached == 0 {
		t.Error("no request reached the agent")
	}
}

// A recording is seen to grow, to be judged, and to end.
func TestGrowing(t *testing.T) {
	session := journey(t)
	m := capture.NewMemory(capture.Info{Name: "growing", Live: true})
	r := serve(t, m.Reader())
	first := r.news(func(news) bool { return true })
	if first.Exchanges != 0 || !first.Live || first.Whole || first.Name != "growing" {
		t.Errorf("it begins as %+v", first)
	}
	told := make(chan news, 1)
	go func() { told <- r.news(func(n news) bool { return n.Judged >= 3 && n.Live }) }()
	var rest []capture.Step
	for step, err := range session.Steps(t.Context(), 1) {
		must.Do(t, err)
		if step.Seq > 3 {
			rest = append(rest, step)
			continue
		}
		must.Do(t, m.Append(step))
	}
	<-told
	var got rows
	r.into("/api/list?n=50", &got)
	if got.All != 3 || len(got.Rows) != 3 {
		t.Errorf("of three exchanges there are %+v", got)
	}
	var verdict fragment
	if r.into("/api/part?name=verdict", &verdict); !strings.Contains(verdict.HTML, ">so far ") {
		t.Errorf("the verdict on three exchanges is %.100s", verdict.HTML)
	}
	must.Do(t, m.Append(rest...))
	must.Do(t, m.Close())
	end := r.news(func(n news) bool { return n.Whole && !n.Live })
	if end.Judged != end.Exchanges || end.Status != "findings" || !strings.HasPrefix(end.Verdict, "findings: ") {
		t.Errorf("it ends as %+v", end)
	}
	r.into("/api/list?n=50", &got)
	if got.All != int(end.Exchanges) || got.More {
		t.Errorf("of %d exchanges there are %d", end.Exchanges, got.All)
	}
}

// The parts of the page are those of the report, and lead to places.
func TestParts(t *testing.T) {
	r := serve(t, journey(t))
	r.whole()
	for name, wants := range map[string][]string{
		"verdict":  {"<h1>findings</h1>", "Who talked to whom", "Not observed", "<td>3 errors, 1 note</td>"},
		"findings": {"What to change:", `<a href="#4.response.event%5b7%5d`, "stream-closed-on-terminal"},
		"failed":   {`<h2 id="failed-calls">`, `<a href="#`},
	} {
		var got fragment
		r.into("/api/part?name="+name, &got)
		for _, want := range wants {
			if !strings.Contains(got.HTML, want) {
				t.Errorf("%s has no %s:\n%s", name, want, got.HTML)
			}
		}
	}
}

// An exchange, a workflow and what a filter chooses are drawn as on the page of check.
func TestDrawn(t *testing.T) {
	r := serve(t, journey(t))
	r.whole()
	for path, wants := range map[string][]string{
		"/api/exchange?n=4":                {`id="4"`, `id="4.response.event[7]"`, `class="found error"`, `class="ladder"`},
		"/api/group?filter=agent:booker":   {`id="4"`, `id="5"`, `class="ladder"`},
		"/api/group?filter=agent:nobody":   {"None."},
		"/api/group?workflow=2":            {`id="2"`},
		"/api/group?filter=task:book-91c2": {`id="6"`},
	} {
		var got drawn
		r.into(path, &got)
		for _, want := range wants {
			if !strings.Contains(got.HTML, want) {
				t.Errorf("%s has no %s:\n%s", path, want, got.HTML)
			}
		}
	}
}

// What the traffic says is shown, and is nothing but text.
func TestHostile(t *testing.T) {
	r := serve(t, recorded(t, "..", "..", "a2atap", "testdata", "hostile-page.txtar"))
	n := r.whole()
	paths := []string{"/api/part?name=verdict", "/api/part?name=findings", "/api/part?name=failed", "/api/group?filter="}
	for i := range n.Exchanges {
		paths = append(paths, fmt.Sprintf("/api/exchange?n=%d", i+1), fmt.Sprintf("/api/group?workflow=%d", i+1))
	}
	seen := false
	for _, path := range paths {
		var got fragment
		r.into(path, &got)
		seen = seen || strings.Contains(got.HTML, "&lt;script&gt;")
		root := must.Get(html.Parse(strings.NewReader(got.HTML)))(t)
		for e := range root.Descendants() {
			if e.Type != html.ElementNode {
				continue
			}
			if slices.Contains(strings.Fields("script style img iframe base form object embed link textarea meta"), e.Data) {
				t.Errorf("%s has <%s>", path, e.Data)
			}
			for _, a := range e.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "href" && !strings.HasPrefix(a.Val, "#") {
					t.Errorf("%s has <%s %s=%q>", path, e.Data, a.Key, a.Val)
				}
			}
		}
	}
	if !seen {
		t.Error("no part has the script that the traffic holds: it is not hostile")
	}
	status, head, body := r.do(r.request(http.MethodGet, "/api/list?n=50"))
	if status != http.StatusOK || head.Get("Content-Type") != "application/json" || strings.Contains(body, "<") {
		t.Errorf("the list is %d, %s: %s", status, head.Get("Content-Type"), body)
	}
}

// A counted source counts how much of it is read.
type counted struct {
	capture.Source
	exchanges atomic.Int64
}

func (c *counted) Exchange(ctx context.Context, seq uint64) (*capture.Exchange, error) {
	c.exchanges.Add(1)
	return c.Source.Exchange(ctx, seq)
}

func (c *counted) counting(all iter.Seq2[*capture.Exchange, error]) iter.Seq2[*capture.Exchange, error] {
	return func(yield func(*capture.Exchange, error) bool) {
		for x, err := range all {
			c.exchanges.Add(1)
			if !yield(x, err) {
				return
			}
		}
	}
}

func (c *counted) Exchanges(ctx context.Context, from uint64) iter.Seq2[*capture.Exchange, error] {
	return c.counting(c.Source.Exchanges(ctx, from))
}

func (c *counted) Ends(ctx context.Context, from uint64, n int) iter.Seq2[*capture.Exchange, error] {
	return c.counting(c.Source.Ends(ctx, from, n))
}

// many returns a capture of so many exchanges: those of the journey, again and again.
func many(t *testing.T, n int) *capture.Memory {
	t.Helper()
	var session []*capture.Exchange
	for x, err := range journey(t).Exchanges(t.Context(), 1) {
		must.Do(t, err)
		session = append(session, x)
	}
	m, err := capture.ReadMemory(capture.Info{Name: "many"}, func(yield func(*capture.Exchange, error) bool) {
		for i := range n {
			x := *session[i%len(session)]
			x.Seq = uint64(i + 1)
			x.Started = x.Started.Add(time.Duration(i/len(session)) * time.Minute)
			if !yield(&x, nil) {
				return
			}
		}
	})
	must.Do(t, err)
	return m
}

// Of thousands of exchanges those are read that are looked at: for a list none, for one exchange that one.
func TestManyExchanges(t *testing.T) {
	const n = 4_000
	src := &counted{Source: many(t, n).Reader()}
	r := serve(t, src)
	r.whole()
	read := func(path string, v any, most int64) {
		t.Helper()
		before := src.exchanges.Load()
		r.into(path, v)
		if now := src.exchanges.Load() - before; now > most {
			t.Errorf("%s reads %d exchanges", path, now)
		}
	}
	list := func(filter string, at, want int) rows {
		t.Helper()
		var got rows
		for end := time.Now().Add(patience); ; {
			read(fmt.Sprintf("/api/list?filter=%s&at=%d&n=1000", url.QueryEscape(filter), at), &got, 10)
			if !got.More || time.Now().After(end) {
				break
			}
		}
		if got.All != want || got.At != min(at, want) || len(got.Rows) != min(maxRows, want-got.At) {
			t.Errorf("filter %q at %d: %d rows of %d from %d, want %d in all", filter, at, len(got.Rows), got.All, got.At, want)
		}
		return got
	}
	for at, first := range map[int]string{0: "1", 2000: "2001", 3900: "3901"} {
		if got := list("", at, n); got.Rows[0][0] != first {
			t.Errorf("row %d is %v", at, got.Rows[0])
		}
	}
	list("", n, n)
	list("op:GetTask", 900, n/8*2)
	var one drawn
	read("/api/exchange?n=3999", &one, 10) // and those that brought a card
	if !strings.Contains(one.HTML, `id="3999"`) || len(one.HTML) > 100_000 {
		t.Errorf("exchange 3999 has %d bytes", len(one.HTML))
	}
	var group drawn
	read("/api/group?filter=", &group, 2*maxGroup)
	expect.Equal(t, "not drawn", n-maxGroup, group.Left)
	for _, name := range []string{"verdict", "findings", "failed"} {
		var part fragment
		if read("/api/part?name="+name, &part, 0); len(part.HTML) > 1<<20 {
			t.Errorf("%s has %d bytes", name, len(part.HTML))
		}
	}
}

// A page that is being read ends at once, over each version of HTTP.
func TestEndsWhileRead(t *testing.T) {
	for name, set := range map[string]func(*http.Protocols, bool){
		"HTTP/1.1": (*http.Protocols).SetHTTP1, "HTTP/2.0": (*http.Protocols).SetUnencryptedHTTP2,
	} {
		e := cli.Env{Out: io.Discard, Err: io.Discard, Now: time.Now, Getenv: func(string) string { return "" }}
		p := must.Get(Listen(e, Options{Listen: "0"}, "c"))(t)
		m := capture.NewMemory(capture.Info{Name: "growing"})
		p.Begin("c", m.Reader(), nil)
		transport := &http.Transport{Protocols: new(http.Protocols)}
		set(transport.Protocols, true)
		r := &reader{t: t, page: p, client: &http.Client{Transport: transport}}
		r.base, _, _ = strings.Cut(p.URL(), "/#")
		res := must.Get(r.client.Do(r.request(http.MethodGet, "/api/events")))(t)
		if _, err := res.Body.Read(make([]byte, 1)); err != nil || res.Proto != name {
			t.Errorf("over %s: %v, %s", name, err, res.Proto)
		}
		if err := p.Close(); err != nil {
			t.Errorf("over %s: %v", name, err)
		}
		res.Body.Close()
		transport.CloseIdleConnections()
	}
}

// No more pages wait for news than can be served.
func TestManyPages(t *testing.T) {
	r := serve(t, journey(t))
	r.whole()
	for range maxStreams {
		r.page.site.streams <- struct{}{}
	}
	if status, body := r.get("/api/events"); status != http.StatusServiceUnavailable || !strings.Contains(body, "close one") {
		t.Errorf("one more: %d %s", status, body)
	}
	for len(r.page.site.streams) > 0 {
		<-r.page.site.streams
	}
	r.whole()
}

// TestDurationOfClientThatLeft reads the list and the exchange of a client that left after 1.0 s, while its agent worked
// for 3.0 s: they have the client's duration.
func TestDurationOfClientThatLeft(t *testing.T) {
	var all []*capture.Exchange
	for x, err := range journey(t).Exchanges(t.Context(), 1) {
		must.Do(t, err)
		if x.Seq != 1 {
			continue
		}
		x.Ended, x.Response.At, x.Response.Body.At = 3*time.Second, 3*time.Second, 3*time.Second
		x.Fault = &capture.TransportFault{Kind: "client-left", Side: "client", Detail: "client left"}
		x.Ends = []capture.SideEnd{{Side: "client", How: capture.EndClose, At: time.Second}}
		all = append(all, x)
	}
	r := serve(t, must.Get(capture.ReadMemory(capture.Info{}, capture.Each(all...)))(t))
	r.whole()
	for path, want := range map[string]string{"/api/list?n=5": `"1000.0"`, "/api/exchange?n=1": "1.00s"} {
		if _, body := r.get(path); !strings.Contains(body, want) || strings.Contains(body, "3.00s") {
			t.Errorf("%s: want %s in %s", path, want, body)
		}
	}
}
