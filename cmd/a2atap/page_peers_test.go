//go:build peers

package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var pictures = flag.String("pictures", "", "write pictures of pages into this folder")

// A reader opens the page of the demo, follows a finding to where it stands, and looks for something else.
func TestPageInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	for _, line := range []string{"a2atap demo -o demo.a2atap", "a2atap check demo.a2atap --format html -o page.html"} {
		if _, errs, code := s.execute(line); code != exitOK && code != exitFindings {
			t.Fatalf("%s\nexit %d: %s", line, code, errs)
		}
	}
	file := filepath.Join(s.dir, "page.html")
	b := openBrowser(t)
	b.size(1200, 900, "light")
	b.open(file)
	b.picture("light")

	// the finding leads to its event, which was folded away
	b.waits(`!document.querySelector(".found.error").checkVisibility()`)
	b.click("#stream-closed-on-terminal li a")
	b.waits(`document.querySelector(".found.error:target").checkVisibility()`)
	b.waits(`(() => {
		const r = document.querySelector(".found:target").getBoundingClientRect();
		return r.height > 0 && r.top >= 0 && r.bottom <= innerHeight;
	})()`)
	b.waits(`document.activeElement === document.querySelector(".found:target")`)
	b.waits(`document.querySelector(".found:target").closest("details.event").id.includes(".response.event[")`)
	b.picture("finding")

	// an arrow of the ladder leads to its exchange, by the keyboard
	b.eval(`document.querySelector("svg.ladder a").focus()`)
	b.picture("ladder")
	b.press("Enter", 13)
	b.waits(`document.querySelector("details.exchange:target").open`)
	b.waits(`document.activeElement.tagName === "SUMMARY"`)

	// words narrow what is shown, and what is left is open to be seen
	shown := `[...document.querySelectorAll(".item")].filter((e) => e.checkVisibility()).length`
	b.typed("#narrow", "GetAgentCard")
	b.waits(shown + ` === 3 && document.querySelectorAll(".item:not([hidden])").length === 3`)
	b.waits(`document.querySelector("#narrowed").textContent.startsWith("3 of ")`)
	b.picture("narrowed")
	b.typed("#narrow", `"stream-closed-on-terminal" -GetAgentCard`)
	b.waits(shown + ` === 2`) // the finding and its exchange
	b.typed("#narrow", "nothing has this")
	b.waits(shown + ` === 0`)
	b.eval(`location.hash = "f1"`)
	b.waits(`document.querySelector(".found:target").checkVisibility() && document.querySelector("#narrow").value === ""`)

	// dark, narrow, on paper
	light := b.eval(`getComputedStyle(document.body).backgroundColor`)
	b.size(1200, 900, "dark")
	if b.eval(`getComputedStyle(document.body).backgroundColor`) == light {
		t.Error("dark is as light")
	}
	b.picture("dark")
	b.eval(`document.querySelector("svg.tree").scrollIntoView()`)
	b.picture("dark-tree")
	b.size(390, 800, "light")
	b.waits(`document.documentElement.scrollWidth <= innerWidth`)
	b.eval(`document.querySelector(".group").scrollIntoView()`)
	b.picture("phone")
	b.eval(`document.querySelector(".found").scrollIntoView({block: "center"})`)
	b.picture("phone-finding")
	b.eval(`window.opened = 0;
		addEventListener("beforeprint", () => { opened = document.querySelectorAll("details:not([open])").length || "all"; })`)
	b.paper("paper")
	if got := b.eval(`opened`); got != "all" {
		t.Errorf("on paper %v details are folded", got)
	}
	b.waits(`document.querySelectorAll("details:not([open])").length > 0`)
	b.quiet(file)
}

// hostilePage is traffic that tries to act on who reads it.
const hostilePage = `-- 1.request --
POST /rpc?"><img/src=x/onerror=window.pwned=1> HTTP/1.1
Host: booker.example
Content-Type: application/json
A2A-Version: 1.0
X-</pre><script>window.pwned=2</script>: </details><script>window.pwned=3</script>
User-Agent: <svg/onload=window.pwned=4>

{"jsonrpc":"2.0","id":"</pre></div></details><script>window.pwned=5</script>","method":"SendMessage","params":{"message":{"messageId":"m1","role":"ROLE_USER","</pre><script>window.pwned=6</script>":1,"parts":[{"text":"<img src=http://127.0.0.1:9/x onerror=window.pwned=7>"},{"url":"javascript:window.pwned=8"}]}}}
-- 1.response --
HTTP/1.1 200 <script>window.pwned=9</script>
Content-Type: text/html
Link: <http://127.0.0.1:9/style.css>; rel=stylesheet

<html><body onload="window.pwned=10"><script src="http://127.0.0.1:9/x.js"></script><meta http-equiv=refresh content="0;url=http://127.0.0.1:9/"><iframe src="http://127.0.0.1:9/"></iframe><style>*{background:url(http://127.0.0.1:9/)}</style>
-- 2.request --
GET /<base/href=http://127.0.0.1:9> HTTP/1.1
Host: "onmouseover="window.pwned=11

-- 2.response --
HTTP/1.1 200 OK
Content-Type: text/event-stream

event: <script>window.pwned=12</script>
data: {"jsonrpc":"2.0","id":1,"result":{"</script><script>window.pwned=13</script>":"` + "\u202e" + `<!--"}}

data: <![CDATA[ ]]> --> <textarea><title><noscript><plaintext>

-- 3.request --
POST /rpc HTTP/1.1
Host: booker.example
User-Agent: "</text></svg><script>window.pwned=14</script>

{"jsonrpc":"2.0","id":1,"method":"</text></svg><script>window.pwned=15</script>","params":{"id":"</title><img src=x onerror=window.pwned=16>"}}
-- 4.request --
POST /rpc HTTP/1.1
Host: booker.example
User-Agent: "</text></svg><script>window.pwned=17</script>

{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"</svg><img src=x onerror=window.pwned=18>"}}
-- 5.request --
POST /rpc HTTP/1.1
Host: booker.example

{"jsonrpc":"2.0","id":1,"method":"GetTask","params":{"id":"</svg><img src=x onerror=window.pwned=18>"}}
`

// Traffic that would like to be obeyed is read, and nothing else.
func TestHostilePageInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	if err := os.WriteFile(filepath.Join(s.dir, "c.txtar"), []byte(hostilePage), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := s.execute("a2atap export c.txtar -o page.html"); code != exitOK {
		t.Fatalf("exit %d: %s", code, errs)
	}
	file := filepath.Join(s.dir, "page.html")
	b := openBrowser(t)
	b.size(1200, 900, "light")
	b.open(file)
	b.picture("hostile-folded")
	b.eval(`for (const d of document.querySelectorAll("details")) d.open = true`)
	for _, e := range []string{"h1", "svg", "summary", "pre"} {
		b.eval(`document.querySelector("` + e + `").dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))`)
	}
	if got := b.eval(`String(window.pwned)`); got != "undefined" {
		t.Errorf("what the traffic says was done: %v", got)
	}
	for what, want := range map[string]float64{
		`document.querySelectorAll("script").length`:                                                        1,
		`document.querySelectorAll("img, iframe, base, form, object, embed, link").length`:                  0,
		`[...document.querySelectorAll("a")].filter((a) => !a.getAttribute("href").startsWith("#")).length`: 0,
		`document.querySelectorAll("style").length`:                                                         1,
	} {
		if got := b.eval(what); got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	b.waits(`document.body.textContent.includes("\\u{202e}") && !document.body.textContent.includes("\u202e")`)
	b.waits(`document.body.textContent.includes("<script>window.pwned=5</script>")`)
	b.picture("hostile")
	b.quiet(file)
}
