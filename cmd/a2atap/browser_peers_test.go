//go:build peers

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"a2atap/proxy/must"
)

// A browser is a headless Chromium with one page. The test controls it over a pipe, with the Chrome DevTools Protocol.
type browser struct {
	t       *testing.T
	to      *os.File
	session string

	mu       sync.Mutex
	next     int
	waiting  map[int]chan answer
	loaded   chan struct{}
	requests []string // URLs that the page has asked for
	said     []string // errors and messages of the page
}

// An answer is a message of the browser: an answer, or an event if it has a method.
type answer struct {
	ID     int
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

// browsers are what Chromium is called.
var browsers = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"}

const browserPatience = 30 * time.Second

// openBrowser starts a browser with further flags, which ends with the test.
func openBrowser(t *testing.T, flags ...string) *browser {
	t.Helper()
	var path string
	for _, name := range browsers {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		t.Fatalf("none of %s is there; install Chromium", strings.Join(browsers, ", "))
	}
	theirs, ours, err := os.Pipe()
	must.Do(t, err)
	from, answers, err := os.Pipe()
	must.Do(t, err)
	cmd := exec.Command(path, append(flags, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
		"--no-first-run", "--disable-background-networking", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir())...)
	cmd.ExtraFiles = []*os.File{theirs, answers}
	must.Do(t, cmd.Start())
	theirs.Close()
	answers.Close()
	b := &browser{t: t, to: ours, waiting: make(map[int]chan answer), loaded: make(chan struct{}, 16)}
	var reading sync.WaitGroup
	reading.Go(func() { b.read(from) })
	t.Cleanup(func() {
		b.send("Browser.close", nil)
		ours.Close()
		ended := make(chan struct{})
		go func() {
			cmd.Wait() //nolint:errcheck // it was told to end, however it does
			close(ended)
		}()
		select {
		case <-ended:
		case <-time.After(browserPatience):
			cmd.Process.Kill() //nolint:errcheck // the same
			<-ended
		}
		from.Close()
		reading.Wait()
	})
	b.attach()
	return b
}

// attach opens a page.
func (b *browser) attach() {
	b.t.Helper()
	var target struct{ TargetID string }
	b.into(&target, "Target.createTarget", map[string]any{"url": "about:blank"})
	var attached struct{ SessionID string }
	b.into(&attached, "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true})
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil)
	}
}

// read takes what the browser says until it ends.
func (b *browser) read(from *os.File) {
	r := bufio.NewReader(from)
	for {
		text, err := r.ReadBytes(0)
		if err != nil {
			return
		}
		var a answer
		if json.Unmarshal(bytes.TrimSuffix(text, []byte{0}), &a) != nil {
			continue
		}
		if a.Method != "" {
			b.event(&a)
			continue
		}
		b.mu.Lock()
		if c := b.waiting[a.ID]; c != nil {
			c <- a
			delete(b.waiting, a.ID)
		}
		b.mu.Unlock()
	}
}

// event notes what a page does.
func (b *browser) event(a *answer) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch a.Method {
	case "Page.loadEventFired":
		select {
		case b.loaded <- struct{}{}:
		default:
		}
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		if json.Unmarshal(a.Params, &p) == nil {
			b.requests = append(b.requests, p.Request.URL)
		}
	case "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded", "Page.javascriptDialogOpening":
		b.said = append(b.said, a.Method+": "+string(a.Params))
	}
}

// send says something to the browser, and returns where its answer comes.
func (b *browser) send(method string, params map[string]any) (chan answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.next++
	message := map[string]any{"id": b.next, "method": method}
	if params != nil {
		message["params"] = params
	}
	if b.session != "" && method != "Browser.close" {
		message["sessionId"] = b.session
	}
	text, err := json.Marshal(message)
	if err != nil {
		return nil, err
	}
	c := make(chan answer, 1)
	b.waiting[b.next] = c
	_, err = b.to.Write(append(text, 0))
	return c, err
}

// call asks the browser for something, and returns what it answers.
func (b *browser) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	c, err := b.send(method, params)
	if err != nil {
		b.t.Fatal(err)
	}
	select {
	case a := <-c:
		if a.Error != nil {
			b.t.Fatalf("%s: %s", method, a.Error.Message)
		}
		return a.Result
	case <-time.After(browserPatience):
		b.t.Fatalf("%s: no answer", method)
		return nil
	}
}

func (b *browser) into(v any, method string, params map[string]any) {
	b.t.Helper()
	if err := json.Unmarshal(b.call(method, params), v); err != nil {
		b.t.Fatal(err)
	}
}

// open opens a file.
func (b *browser) open(file string) {
	b.t.Helper()
	path, err := filepath.Abs(file)
	if err != nil {
		b.t.Fatal(err)
	}
	b.visit("file://" + path)
}

// visit opens an address.
func (b *browser) visit(address string) {
	b.t.Helper()
	for len(b.loaded) > 0 {
		<-b.loaded
	}
	b.mu.Lock()
	b.requests, b.said = nil, nil
	b.mu.Unlock()
	b.call("Page.navigate", map[string]any{"url": address})
	select {
	case <-b.loaded:
	case <-time.After(browserPatience):
		b.t.Fatalf("%s was not loaded", address)
	}
}

// eval returns the value of a JavaScript expression in the page.
func (b *browser) eval(expression string) any {
	b.t.Helper()
	var got struct {
		Result           struct{ Value any }
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	b.into(&got, "Runtime.evaluate", map[string]any{
		"expression": expression, "returnByValue": true, "awaitPromise": true, "userGesture": true,
	})
	if e := got.ExceptionDetails; e != nil {
		b.t.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	return got.Result.Value
}

// waits fails unless an expression becomes true.
func (b *browser) waits(expression string) {
	b.t.Helper()
	ok := b.eval(fmt.Sprintf(`new Promise((done) => {
		const end = performance.now() + %d;
		const look = () => (%s) ? done(true) : performance.now() > end ? done(false) : requestAnimationFrame(look);
		look();
	})`, browserPatience.Milliseconds()/2, expression))
	if ok != true {
		b.t.Fatalf("it does not become true: %s", expression)
	}
}

// click clicks with the mouse on the first element that a selector chooses.
func (b *browser) click(selector string) {
	b.t.Helper()
	at, ok := b.eval(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		if (!e) return null;
		e.scrollIntoView({block: "center"});
		const r = e.getClientRects()[0];
		return [r.x + r.width / 2, r.y + r.height / 2];
	})()`, selector)).([]any)
	if !ok {
		b.t.Fatalf("there is no %s", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{
			"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1,
		})
	}
}

// press presses a key.
func (b *browser) press(key string, code int) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		b.call("Input.dispatchKeyEvent", map[string]any{
			"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code,
			"text": map[string]string{"Enter": "\r"}[key],
		})
	}
}

// typed types a text into the focused element, replacing its contents.
func (b *browser) typed(selector, text string) {
	b.t.Helper()
	b.eval(fmt.Sprintf(`(() => { const e = document.querySelector(%q); e.focus(); e.select(); })()`, selector))
	b.call("Input.insertText", map[string]any{"text": text})
	if text == "" {
		b.press("Delete", 46)
	}
}

// size sets how large the page is, in pixels, and whether the reader prefers it dark.
func (b *browser) size(width, height int, scheme string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{
		"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false,
	})
	b.call("Emulation.setEmulatedMedia", map[string]any{
		"media": "", "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}},
	})
}

// picture writes what is seen into a folder, if the tests were given one.
func (b *browser) picture(name string) {
	b.t.Helper()
	if *pictures == "" {
		return
	}
	var got struct{ Data []byte }
	b.into(&got, "Page.captureScreenshot", map[string]any{"format": "png"})
	if err := errors.Join(os.MkdirAll(*pictures, 0o755),
		os.WriteFile(filepath.Join(*pictures, name+".png"), got.Data, 0o644)); err != nil {
		b.t.Fatal(err)
	}
}

// quiet fails if the page has asked for anything but itself, or said anything.
func (b *browser) quiet(file string) {
	b.t.Helper()
	b.asks(func(url string) bool {
		return strings.HasPrefix(url, "file://") && strings.HasSuffix(url, filepath.Base(file))
	})
}

// asks fails if the page has asked for anything but what it may, or said anything.
func (b *browser) asks(may func(url string) bool) {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, url := range b.requests {
		if !may(url) {
			b.t.Errorf("the page asks for %s", url)
		}
	}
	if len(b.requests) == 0 {
		b.t.Error("the page was not asked for: requests are not seen")
	}
	for _, words := range b.said {
		b.t.Errorf("the page says %s", words)
	}
}

// paper prints the page, into a folder if the tests were given one.
func (b *browser) paper(name string) {
	b.t.Helper()
	var got struct{ Data []byte }
	b.into(&got, "Page.printToPDF", map[string]any{"printBackground": true})
	if !bytes.HasPrefix(got.Data, []byte("%PDF-")) {
		b.t.Fatal("it does not print")
	}
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".pdf"), got.Data, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"})
	b.picture(name)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""})
}
