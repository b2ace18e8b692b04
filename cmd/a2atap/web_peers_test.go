//go:build peers

package main

import (
	"bufio"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/must"
)

// startProgram starts the program, and returns the first line that it prints which begins so. It is interrupted, and has
// to end well, when the test ends, or the function that is returned is called.
func startProgram(t *testing.T, dir, begins string, args ...string) (line string, end func()) {
	t.Helper()
	cmd := exec.Command("a2atap", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	must.Do(t, err)
	lines := bufio.NewScanner(out)
	for line == "" && lines.Scan() {
		line, _ = strings.CutPrefix(lines.Text(), begins)
		if line == lines.Text() && begins != "" {
			line = ""
		}
	}
	ended := false
	end = func() {
		if ended {
			return
		}
		ended = true
		cmd.Process.Signal(os.Interrupt) //nolint:errcheck // Wait says how it ended
		for lines.Scan() {
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("a2atap %s: %v\n%s", strings.Join(args, " "), err, said.String())
		}
	}
	t.Cleanup(end)
	if line == "" {
		end()
		t.Fatalf("a2atap %s says nothing of %q: %s", strings.Join(args, " "), begins, said.String())
	}
	return line, end
}

// ofPage reports whether a URL is of the page at an address.
func ofPage(address string) func(string) bool {
	base, _, _ := strings.Cut(address, "#")
	return func(url string) bool { return strings.HasPrefix(url, base) }
}

// Rows, the text of one, and where the page is.
const (
	webRows   = `document.querySelectorAll("#list .row").length`
	webDetail = `!document.querySelector("#detail").hidden && document.querySelector("#drawn").textContent`
)

// A reader looks at a capture: its list, an exchange, a finding, a workflow, with keys and on a telephone.
func TestWebInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	if _, errs, code := s.execute("a2atap demo -o demo.a2atap"); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	address, end := startProgram(t, s.dir, "", "web", "demo.a2atap")
	b := openBrowser(t)
	b.size(1280, 800, "light")
	b.visit(address)
	b.waits(webRows + ` > 5 && document.querySelector("#status").textContent === "findings"`)
	b.waits(`!location.href.includes("token")`)
	b.waits(`document.querySelector("#counts").textContent.includes("not being recorded")`)
	b.picture("web-list")
	all := b.eval(webRows)

	// by keys to an exchange, and back
	b.press("j", 'J')
	b.press("j", 'J')
	b.waits(`document.querySelector('.row[aria-selected="true"] .n').textContent === "2"`)
	b.press("Enter", 13)
	b.waits(webDetail + `.includes("Request") && location.hash === "#2"`)
	b.waits(`document.querySelector("#drawn details.exchange").open`)
	b.picture("web-exchange")
	b.press("Escape", 27)
	b.waits(`document.querySelector("#detail").hidden && document.activeElement.id === "list"`)

	// a finding links to its place
	b.press("3", '3')
	b.waits(`document.querySelector("#part article.error")?.checkVisibility()`)
	b.picture("web-findings")
	b.click("#stream-closed-on-terminal li a")
	b.waits(`document.querySelector("#drawn .lit")?.closest("details.event")?.open`)
	b.waits(`document.querySelector("#drawn .found.error").checkVisibility()`)
	b.picture("web-finding")

	// and it to its rule
	b.click("#drawn .found.error a")
	b.waits(`document.querySelector("#part #stream-closed-on-terminal.lit") !== null`)

	// a filter, and the ladder of what it chooses
	b.press("1", '1')
	b.press("/", 191)
	b.waits(`document.activeElement.id === "filter"`)
	b.typed("#filter", "op:GetAgentCard")
	b.press("Enter", 13)
	b.waits(webRows + ` === 3`)
	b.waits(`document.querySelector("#chosen").textContent.startsWith("3 of ")`)
	b.typed("#filter", "op:")
	b.press("Enter", 13)
	b.waits(`document.querySelector("#chosen").className === "bad"`)
	b.typed("#filter", "")
	b.press("Enter", 13)
	b.waits(webRows + ` === ` + fmt.Sprint(all))
	b.click("#ladder")
	b.waits(`document.querySelector("#drawn svg.ladder") !== null`)
	b.picture("web-ladder")

	// workflows, failed calls, the verdict
	b.press("Escape", 27)
	b.press("2", '2')
	b.waits(`[...document.querySelectorAll("#list .row .size")].some((e) => / exchanges$/.test(e.textContent))`)
	b.eval(`document.querySelector("#list").focus()`)
	b.press("j", 'J')
	b.press("Enter", 13)
	b.waits(`document.querySelector("#drawn svg.tree") !== null`)
	b.picture("web-workflow")
	b.press("4", '4')
	b.waits(`document.querySelector("#part").dataset.name === "failed"`)
	b.press("5", '5')
	b.waits(`document.querySelector("#part h1")?.textContent === "findings"`)
	b.picture("web-verdict")

	// a telephone, in the dark
	b.size(390, 800, "dark")
	b.press("1", '1')
	b.waits(webRows + ` > 3 && document.querySelector("#list").checkVisibility()`)
	b.waits(`document.documentElement.scrollWidth <= innerWidth`)
	b.picture("web-phone")
	b.click("#list .row")
	b.waits(webDetail + ` && !document.querySelector("#list").checkVisibility()`)
	b.waits(`document.documentElement.scrollWidth <= innerWidth`)
	b.picture("web-phone-exchange")
	b.click("#back")
	b.waits(`document.querySelector("#list").checkVisibility()`)

	// it is loaded again without the token in the address, and then the program ends
	b.visit(strings.SplitN(address, "#", 2)[0])
	b.waits(webRows + ` > 3`)
	b.asks(ofPage(address))
	end()
	b.waits(`document.querySelector("#trouble").textContent.startsWith("a2atap has ended")`)
}

// What the traffic would like to be done is not done.
func TestHostileWebInABrowser(t *testing.T) {
	dir := t.TempDir()
	hostile := must.Get(os.ReadFile(filepath.Join("testdata", "hostile-page.txtar")))(t)
	hostile = bytes.ReplaceAll(hostile, []byte("RIGHT-TO-LEFT"), []byte("\u202e"))
	must.Do(t, os.WriteFile(filepath.Join(dir, "c.txtar"), hostile, 0o644))
	address, _ := startProgram(t, dir, "", "web", "c.txtar")
	b := openBrowser(t)
	b.size(1280, 800, "light")
	b.visit(address)
	b.waits(webRows + ` > 2 && document.querySelector("#status").textContent !== ""`)
	b.eval(`window.seen = ""`)
	rows := int(b.eval(webRows).(float64))
	for i := range rows {
		b.eval(fmt.Sprintf(`document.querySelector("#row-%d").click()`, i))
		b.waits(fmt.Sprintf(`document.querySelector("#what").textContent === "Exchange " + document.querySelector("#row-%d").dataset.n`, i))
		b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`)
		b.eval(`window.seen += document.body.textContent`)
	}
	b.click("#ladder")
	b.waits(`document.querySelector("#what").textContent === "All exchanges"`)
	for _, view := range []string{"2", "3", "4", "5"} {
		b.eval(`document.activeElement.blur()`)
		b.press(view, int(view[0]))
		b.waits(fmt.Sprintf(`document.querySelector("#views a:nth-child(%s)").getAttribute("aria-current") === "page"`, view))
		b.eval(`window.seen += document.body.textContent`)
	}
	b.picture("web-hostile")
	if got := b.eval(`String(window.pwned)`); got != "undefined" {
		t.Errorf("what the traffic says was done: %v", got)
	}
	b.waits(`window.seen.includes("\\u{202e}") && !window.seen.includes("\u202e")`)
	b.waits(`window.seen.includes("<script>window.pwned=5</script>")`)
	if n := b.eval(`document.querySelectorAll("img, iframe, base, object, embed, style").length`); n != 0.0 {
		t.Errorf("%v elements are of the traffic", n)
	}
	b.asks(ofPage(address))
}

// The page grows with a recording of this program, and of another one, while it is looked at.
func TestWebGrowsInABrowser(t *testing.T) {
	dir := t.TempDir()
	agent, _ := startProgram(t, dir, "spec ", "agent", "spec", "--step", "1ms")
	record, endRecord := startProgram(t, dir, "booker ", "record", "--agent", "booker="+agent, "-o", "c.a2atap")
	tap, _, _ := strings.Cut(record, " ")
	address, _ := startProgram(t, dir, "", "web", "c.a2atap")
	b := openBrowser(t)
	b.size(1280, 800, "light")
	b.visit(address)
	b.waits(`document.querySelector("#counts").textContent === "0 exchanges, being recorded"`)
	send := func(text string) {
		t.Helper()
		cmd := exec.Command("a2atap", "send", tap, text)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("send: %v: %s", err, out)
		}
	}
	send("task-lifecycle one")
	b.waits(webRows + ` === 2`)
	b.eval(`document.querySelector("#row-1").click()`)
	b.waits(webDetail + `.includes("task-lifecycle one")`)
	for i := range 20 {
		send(fmt.Sprintf("task-lifecycle %d", i))
	}
	b.waits(`document.querySelector("#counts").textContent.startsWith("42 exchanges")`)
	b.waits(`[...document.querySelectorAll("#list .n")].some((e) => e.textContent === "42")`) // the newest are in sight
	b.waits(webDetail + `.includes("task-lifecycle one")`)                                    // and what is read stays
	b.picture("web-growing")
	endRecord()
	b.waits(`document.querySelector("#counts").textContent === "42 exchanges, not being recorded"`)
	b.waits(`document.querySelector("#status").textContent === "clean" && document.querySelector("#status").className === "good"`)
	b.asks(ofPage(address))
}

// A message is sent from the page: through the tap of a recording, into its capture, and to an agent, into none.
func TestSendingWebInABrowser(t *testing.T) {
	dir := t.TempDir()
	agent, _ := startProgram(t, dir, "spec ", "agent", "spec", "--step", "1ms", "--fault", "stream-closed-on-terminal")
	address, endRecord := startProgram(t, dir, "page ", "record", "--agent", "booker="+agent, "-o", "c.a2atap", "--web")
	b := openBrowser(t)
	b.size(1280, 800, "light")
	b.visit(address)
	b.waits(`document.querySelector("#counts").textContent === "0 exchanges, being recorded"`)
	b.press("6", '6')
	b.waits(`document.querySelector("#to").value !== "" && document.querySelector("#goes").textContent.includes("is recorded into the capture")`)
	b.typed("#text", "streaming two tickets <script>window.pwned=1</script>")
	b.eval(`document.querySelector("#stream").checked = true`)
	b.click("#send button")
	b.waits(`document.querySelector("#answers pre")?.textContent.includes("[streaming] Stream complete")`)
	b.waits(`document.querySelector("#answers article").textContent.includes("findings: 1 error")`)
	b.waits(`document.querySelectorAll("#answers details.exchange").length === 2`)
	b.waits(`document.querySelector("#counts").textContent === "2 exchanges, being recorded"`)
	b.waits(`document.querySelector("#sum").textContent.includes("1 error")`)
	b.picture("web-sent")
	b.click("#answers details.exchange.error summary")
	b.waits(`document.querySelector("#answers details.exchange.error .event").checkVisibility()`)

	// a task that waits for its client continues with the next message
	b.typed("#text", "multi-turn hello")
	b.eval(`document.querySelector("#stream").checked = false`)
	b.click("#send button")
	b.waits(`!document.querySelector("#goeson").hidden && document.querySelector("#again").checked`)
	b.typed("#text", "multi-turn and more")
	b.click("#send button")
	b.waits(`document.querySelectorAll("#answers article").length === 3`)
	b.waits(`document.querySelector("#answers article").textContent.includes("taskId")`)
	b.typed("#text", "hello?")
	b.typed("#to", "http://127.0.0.1:1/")
	b.click("#send button")
	b.waits(`document.querySelector("#answers article.failed")?.textContent.includes("check that the agent, or the tap in front of it, listens there")`)
	b.picture("web-sent-more")
	if got := b.eval(`String(window.pwned)`); got != "undefined" {
		t.Errorf("what was sent was done: %v", got)
	}
	b.asks(ofPage(address))
	endRecord()
	address, _ = startProgram(t, dir, "", "web", "c.a2atap")
	b.visit(address)
	b.waits(webRows + ` > 5`)
	b.waits(`document.querySelector("#counts").textContent.endsWith("exchanges, not being recorded")`)
	all := b.eval(`document.querySelector("#counts").textContent`)
	b.press("6", '6')
	b.waits(fmt.Sprintf(`document.querySelector("#to").value === %q`, agent+"/.well-known/agent-card.json"))
	b.waits(`document.querySelector("#goes").textContent.includes("into no capture")`)
	b.typed("#text", "task-lifecycle again")
	b.click("#send button")
	b.waits(`document.querySelector("#answers article h3")?.textContent === "task-lifecycle again"`)
	if now := b.eval(`document.querySelector("#counts").textContent`); now != all {
		t.Errorf("the capture had %v, and has %v", all, now)
	}
	b.asks(ofPage(address))
}

// Of ten thousand exchanges any can be reached at once, and little of the page is made.
func TestManyExchangesInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	if _, errs, code := s.execute("a2atap demo -o demo.a2atap"); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	src, err := bolt.Read(filepath.Join(s.dir, "demo.a2atap"))
	must.Do(t, err)
	_, _, err = growCapture(src, filepath.Join(s.dir, "many.a2atap"), 10_000, false)
	src.Close()
	must.Do(t, err)
	address, _ := startProgram(t, s.dir, "", "web", "many.a2atap")
	b := openBrowser(t)
	b.size(1280, 800, "light")
	b.visit(address)
	b.waits(`document.querySelector("#counts").textContent.startsWith("10,")`)
	b.waits(`document.querySelector("#counts").textContent.endsWith("exchanges, not being recorded")`)
	b.waits(webRows + ` > 10`)
	b.eval(`document.querySelector("#list").focus()`)
	b.press("End", 35)
	b.waits(`Number(document.querySelector('.row[aria-selected="true"] .n')?.textContent) >= 10000`)
	b.press("Home", 36)
	b.waits(`document.querySelector('.row[aria-selected="true"] .n')?.textContent === "1"`)
	b.eval(`document.querySelector("#list").scrollTop = document.querySelector("#list").scrollHeight / 2`)
	b.waits(`Math.abs(Number(document.querySelector("#list .n").textContent) - 5000) < 100`)
	b.picture("web-many")
	b.typed("#filter", "is:error")
	b.press("Enter", 13)
	b.waits(`/^1?\d\d of 10,\d\d\d exchanges match\.$/.test(document.querySelector("#chosen").textContent)`)
	b.typed("#filter", "")
	b.press("Enter", 13)
	b.eval(`document.querySelector("#list").focus()`)
	b.press("5", '5')
	b.waits(`document.querySelector("#part h1")?.checkVisibility()`)
	if n := b.eval(`document.querySelectorAll("*").length`).(float64); n > 3000 {
		t.Errorf("the page has %v elements", n)
	}
	b.asks(ofPage(address))
}

// A page of the web reads nothing: neither under its own name, which it makes lead here, nor from its own address.
func TestReboundWebInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	if _, errs, code := s.execute("a2atap demo -o demo.a2atap"); code != cli.ExitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	address, _ := startProgram(t, s.dir, "", "web", "demo.a2atap")
	base, hash, _ := strings.Cut(address, "#")
	_, token, _ := strings.Cut(hash, "=")
	b := openBrowser(t, "--host-resolver-rules=MAP rebound.example 127.0.0.1")
	b.visit(strings.Replace(address, "127.0.0.1", "rebound.example", 1))
	if got := b.eval(`document.querySelector("#list") === null && !document.body.textContent.includes("exchange")`); got != true {
		t.Errorf("a name of the web that leads here is shown %v", b.eval(`document.body.textContent`))
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintf(w, "<!DOCTYPE html><title>elsewhere</title><iframe src=%q></iframe>", base)
	}))
	defer other.Close()
	b.visit(other.URL)
	b.waits(`(() => { try { return document.querySelector("iframe").contentDocument === null } catch { return true } })()`)
	for _, options := range []string{
		`{}`, `{mode: "no-cors"}`, fmt.Sprintf(`{headers: {Authorization: "Bearer %s"}}`, token),
		`{method: "POST", mode: "no-cors", body: "{}"}`,
	} {
		got := b.eval(fmt.Sprintf(`fetch(%q, %s).then((a) => a.type === "opaque" ? a.text() : "read", () => "")`,
			base+"api/list?n=5", options))
		if got != "" {
			t.Errorf("from elsewhere with %s: %v", options, got)
		}
	}
}
