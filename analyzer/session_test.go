package analyzer

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
)

func TestAddress(t *testing.T) {
	tests := map[string]string{
		"http://Booker:9001/RPC/":         "http://booker:9001/RPC",
		"HTTP://booker/":                  "http://booker",
		"http://booker:80/a":              "http://booker/a",
		"https://booker:443":              "https://booker",
		"https://booker:80/a":             "https://booker:80/a",
		"http://127.0.0.1:9001/":          "http://localhost:9001",
		"http://[::1]:9001/rpc":           "http://localhost:9001/rpc",
		"http://0.0.0.0/rpc":              "http://localhost/rpc",
		"http://[2001:db8::1]/rpc":        "http://[2001:db8::1]/rpc",
		"http://[2001:db8::1]:80/rpc":     "http://[2001:db8::1]/rpc",
		"http://booker:9001/hook?a=b#c":   "http://booker:9001/hook",
		"http://booker:9001?a=/b":         "http://booker:9001",
		"booker:50051":                    "booker:50051",
		"":                                "",
		"http://":                         "http://",
		"http://localhost:9001/a/b?x=1/2": "http://localhost:9001/a/b",
	}
	for raw, want := range tests {
		if got := address(raw); got != want {
			t.Errorf("address(%q) = %q, want %q", raw, got, want)
		}
		if again := address(address(raw)); again != address(raw) {
			t.Errorf("address of %q changes when it is made again: %q", address(raw), again)
		}
	}
}

func TestTarget(t *testing.T) {
	tests := []struct{ agent, target, origin, path string }{
		{"http://booker:9001/a2a", "/rpc?x=1", "http://booker:9001", "/rpc"},
		{"", "http://hotel:9002/rpc?x=1", "http://hotel:9002", "/rpc"},
		{"http://booker:9001", "http://hotel:9002", "http://hotel:9002", "/"},
		{"http://booker:9001", "/go?to=http://elsewhere/", "http://booker:9001", "/go"},
		{"http://booker:9001", "*", "http://booker:9001", "*"},
		{"", "/rpc", "", "/rpc"},
		{"http://booker:9001", "/a%2Fb", "http://booker:9001", "/a%2Fb"},
	}
	for _, test := range tests {
		origin, path := target(test.agent, test.target)
		if origin != test.origin || path != test.path {
			t.Errorf("target(%q, %q) = %q, %q; want %q, %q", test.agent, test.target, origin, path, test.origin, test.path)
		}
	}
}

func TestRecentForgetsTheLeastUsed(t *testing.T) {
	r := newRecent[string, int](2)
	r.put("a", 1)
	r.put("b", 2)
	r.get("a")
	dropped, ok := r.put("c", 3)
	if !ok || dropped != 2 {
		t.Errorf("put forgot %d, %v; want 2, the least used", dropped, ok)
	}
	if _, ok := r.put("a", 4); ok {
		t.Error("put of a known key forgot another one")
	}
	if v, _ := r.get("a"); v != 4 || r.forgotten != 1 || len(r.entries) != 2 {
		t.Errorf("a is %d with %d forgotten and %d kept, want 4, 1, 2", v, r.forgotten, len(r.entries))
	}
}

func cardAt(urls ...string) *Card {
	text := `{"supportedInterfaces":[`
	for i, u := range urls {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"url":%q,"protocolBinding":"JSONRPC","protocolVersion":"1.0"}`, u)
	}
	doc := a2a.Parse([]byte(text + "]}"))
	return &Card{Card: a2a.DecodeCard(doc.Root)}
}

// Cards are found by the origin of what they declare, also when they are replaced or forgotten.
func TestCardsIndex(t *testing.T) {
	c := newCards(2)
	at := func(url string) a2a.Dialects { return c.declared(endpointKey{address(url), a2a.JSONRPC}) }
	only := a2a.Of(a2a.V1_0)

	c.put(cardKey{url: "a"}, cardAt("http://a/rpc", "http://a:9/rpc"))
	if at("http://a/rpc") != only || at("http://A:9/rpc/") != only || at("http://a/other") != 0 {
		t.Error("a card does not declare what it names, or declares more")
	}
	c.put(cardKey{url: "a"}, cardAt("http://a/new"))
	if at("http://a/rpc") != 0 || at("http://a:9/rpc") != 0 || at("http://a/new") != only {
		t.Error("a card that was fetched again does not take the place of the old one")
	}
	c.put(cardKey{url: "b"}, cardAt("http://b/rpc"))
	c.put(cardKey{url: "c"}, cardAt("http://c/rpc"))
	if at("http://a/new") != 0 || len(c.at) != 2 {
		t.Errorf("a forgotten card is still found: %d origins", len(c.at))
	}
}

// A session that forgot a task knows nothing of it, and says so.
func TestForgottenTasks(t *testing.T) {
	s := newSession()
	s.tasks.limit = 3
	x := &Exchange{Seq: 1, agent: "http://booker/rpc"}
	for i := range 5 {
		s.sighted(x, &Sighting{TaskID: fmt.Sprint("t", i), State: a2a.Completed, ContextID: "c"})
	}
	if s.TaskOf(x, "t0") != nil || s.TaskOf(x, "t1") != nil || s.TaskOf(x, "t4") == nil {
		t.Error("the session does not keep the tasks that were seen last")
	}
	if got := s.Forgotten(); got != 2 {
		t.Errorf("forgotten is %d, want 2", got)
	}
}

// What a long stream sends again and again is not gathered.
func TestSentIsBounded(t *testing.T) {
	var task Task
	for range 100 {
		task.remember("m1")
	}
	task.remember("")
	if diff := cmp.Diff([]string{"m1"}, task.sent); diff != "" {
		t.Errorf("sent (-want +got):\n%s", diff)
	}
	for i := range 2 * maxMessages {
		task.remember(fmt.Sprint(i))
	}
	if len(task.sent) != maxMessages || task.WasSent("m1") || !task.WasSent(fmt.Sprint(2*maxMessages-1)) {
		t.Errorf("sent holds %d ids, want the last %d", len(task.sent), maxMessages)
	}
	if task.WasSent("") {
		t.Error("a message without an id was sent before")
	}
}

func TestUnreleased(t *testing.T) {
	tests := map[string]bool{
		"": false, "0.3": false, "1.0": false, "1.0.7": false, "1": false, "v1.0": false, "latest": false,
		"1.1": true, "2": true, "2.0": true, "v1.2": true, "99.0": true,
	}
	for version, want := range tests {
		if got := unreleased(version); got != want {
			t.Errorf("unreleased(%q) = %v, want %v", version, got, want)
		}
	}
}

func TestPrincipal(t *testing.T) {
	of := func(target string, fields ...string) Principal {
		x := &Exchange{}
		x.Request.Target = target
		for i := 0; i < len(fields); i += 2 {
			x.Request.Fields = append(x.Request.Fields, capture.Field{Name: fields[i], Value: fields[i+1]})
		}
		first := x.Principal()
		if x.Principal() != first || x.bare().Principal() != first {
			t.Errorf("%s %q: not the same when asked again", target, fields)
		}
		if bare := first == 0; bare != x.Bare() {
			t.Errorf("%s %q: Bare() = %v", target, fields, !bare)
		}
		return first
	}
	one := of("/tasks?pageToken=p&api_key=k", "Host", "h", "X-API-Key", "s", "authorization", "Bearer b", "Accept", "*/*")
	same := map[string]Principal{
		"another order, case and page": of("/tasks?api_key=k&pageToken=q", "Authorization", "Bearer b", "x-api-key", "s"),
		"another path":                 of("/rpc?api_key=k", "X-API-Key", "s", "Authorization", "Bearer b"),
	}
	for name, p := range same {
		if p != one {
			t.Errorf("%s: it is another principal", name)
		}
	}
	others := map[string]Principal{
		"another key":         of("/tasks?api_key=l", "X-API-Key", "s", "authorization", "Bearer b"),
		"values that changed": of("/tasks?api_key=s", "X-API-Key", "k", "authorization", "Bearer b"),
		"one less":            of("/tasks?api_key=k", "X-API-Key", "s"),
		"one twice":           of("/tasks?api_key=k", "X-API-Key", "s", "X-API-Key", "s", "authorization", "Bearer b"),
		"an empty one":        of("/tasks", "Authorization", ""),
		"an escaped name":     of("/tasks?%61pi_key=l"),
		"a session":           of("/tasks", "X-Session", "1"),
	}
	for name, p := range others {
		if p == one || p == 0 {
			t.Errorf("%s: principal %d, that of the first is %d", name, p, one)
		}
	}
	if p := of("/tasks?pageToken=p&page_token=q", "Host", "h"); p != 0 {
		t.Errorf("nothing: principal %d", p)
	}
}

// Rules ask again and again for whom a request comes: only the first answer may cost anything.
func TestPrincipalIsWorkedOutOnce(t *testing.T) {
	x := &Exchange{Request: capture.Head{Target: "/rpc?key=k", Fields: capture.Fields{{Name: "Authorization", Value: "Bearer b"}}}}
	first := x.Principal()
	x.Request = capture.Head{Target: "/rpc"}
	if again := x.Principal(); again != first || first == 0 {
		t.Errorf("%d, then %d", first, again)
	}
	if n := testing.AllocsPerRun(100, func() {
		x.principalKnown = false
		x.Principal()
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
