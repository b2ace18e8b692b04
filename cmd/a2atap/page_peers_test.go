//go:build peers

package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"a2atap/cmd/internal/cli"
	"a2atap/proxy/must"
)

var pictures = flag.String("pictures", "", "write pictures of pages into this folder")

// A user opens the page of the demo, follows a finding to its place, and searches for something else.
func TestPageInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	for _, line := range []string{"a2atap demo -o demo.a2atap", "a2atap check demo.a2atap --format html -o page.html"} {
		if _, errs, code := s.execute(line); code != cli.ExitOK && code != cli.ExitFindings {
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
	b.size(800, 1100, "dark")
	b.eval(`addEventListener("beforeprint", () => {
		window.opened = document.querySelectorAll("details:not([open])").length || "all";
	})`)
	b.paper("paper")
	if got := b.eval(`opened`); got != "all" {
		t.Errorf("on paper %v details are folded", got)
	}
	b.waits(`document.querySelectorAll("details:not([open])").length > 0`)
	b.quiet(file)
}

// Traffic that would like to be obeyed is read, and nothing else.
func TestHostilePageInABrowser(t *testing.T) {
	s := &shell{t: t, dir: t.TempDir()}
	hostile := must.Get(os.ReadFile(filepath.Join("testdata", "hostile-page.txtar")))(t)
	hostile = bytes.ReplaceAll(hostile, []byte("RIGHT-TO-LEFT"), []byte("\u202e"))
	must.Do(t, os.WriteFile(filepath.Join(s.dir, "c.txtar"), hostile, 0o644))
	if _, errs, code := s.execute("a2atap export c.txtar -o page.html"); code != cli.ExitOK {
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
		`document.querySelectorAll("script").length`:                                                 1,
		`document.querySelectorAll("style").length`:                                                  1,
		`document.querySelectorAll("img, iframe, base, form, object, embed, link, textarea").length`: 0,
		`document.querySelectorAll("a:not([href^='#'])").length`:                                     0,
	} {
		if got := b.eval(what); got != want {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	b.waits(`document.body.textContent.includes("\\u{202e}") && !document.body.textContent.includes("\u202e")`)
	b.waits(`document.body.textContent.includes("<script>window.pwned=5</script>")`)
	b.eval(`document.querySelector("svg").scrollIntoView()`)
	b.picture("hostile")
	b.quiet(file)
}
