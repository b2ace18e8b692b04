package inspector

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"a2atap/cmd/internal/cmdtest"
	"a2atap/cmd/internal/recorder"
	"a2atap/cmd/internal/source"
	"a2atap/proxy"
	"a2atap/proxy/expect"
	"a2atap/proxy/hold"
	"a2atap/proxy/must"
	"a2atap/tui"
)

// heldOf waits until so many messages are held.
func heldOf(t *testing.T, h *tui.Holder, n int) []tui.HeldMessage {
	t.Helper()
	late := time.After(must.Patience)
	for {
		if held := h.State().Held; len(held) == n {
			return held
		}
		select {
		case <-h.Changed:
		case <-late:
			t.Fatalf("held are %+v, want %d", h.State().Held, n)
		}
	}
}

// What is held is shown and edited without secrets; the agent gets them, and what was changed.
func TestHoldAndEdit(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	got := make(chan string, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		got <- r.URL.Query().Get("api_key") + " " + r.Header.Get("Authorization") + " " + string(body)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"jsonrpc":"2.0","id":"a","result":{"message":{"messageId":"m","role":"ROLE_AGENT","parts":[{"text":"gone"}]}}}`)
	}))
	defer server.Close()
	agent := must.Get(url.Parse(server.URL))(t)
	r, err := recorder.Start(recorder.Options{
		Output: filepath.Join(t.TempDir(), "c.a2atap"),
		Proxy: proxy.Options{
			Taps: []proxy.TapSpec{{Name: "booker", Agent: agent, Listen: "127.0.0.1:0"}}, Hold: hold.NewDesk(),
		},
	})
	must.Do(t, err)
	stopped := false
	defer func() {
		if !stopped {
			cmdtest.Stop(t, r)
		}
	}()
	h := holderOf(r, nil)
	for _, wrong := range []string{"op:", "op:SendMessage rule:x", "dur:>2s"} {
		if err := h.Hold(true, true, wrong); err == nil {
			t.Errorf("%s holds", wrong)
		}
	}
	must.Do(t, h.Hold(true, true, "op:SendMessage"))
	answer := make(chan string, 1)
	go func() {
		body := `{"jsonrpc":"2.0","id":"a","method":"SendMessage","params":{"message":{"messageId":"m-1","role":"ROLE_USER",` +
			`"parts":[{"text":"two seats"}],"metadata":{"password":"pa55"}}}}`
		request, err := http.NewRequest("POST", r.Taps()[0].URL()+"/?api_key=qu3ry", strings.NewReader(body))
		if err != nil {
			answer <- err.Error()
			return
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Authorization", "Bearer t0ken")
		resp, err := http.DefaultClient.Do(request)
		if err != nil {
			answer <- err.Error()
			return
		}
		defer resp.Body.Close()
		text, _ := io.ReadAll(resp.Body)
		answer <- string(text)
	}()

	m := heldOf(t, h, 1)[0]
	text, err := h.Text(m.ID)
	must.Do(t, err)
	shown := m.Words + "\n" + strings.Join(m.Lines, "\n") + "\n" + string(text)
	for _, secret := range []string{"qu3ry", "t0ken", "pa55"} {
		if strings.Contains(shown, secret) {
			t.Errorf("%s is shown:\n%s", secret, shown)
		}
	}
	if m.What != "request" || !strings.HasSuffix(m.Words, " → booker: SendMessage") || !strings.Contains(shown, "two seats") {
		t.Errorf("held is\n%s", shown)
	}
	for _, c := range []struct{ text, want string }{
		{strings.Replace(string(text), "POST /", "POST", 1), "is not a request line"},
		{"nothing of it\n", "expected one section"},
		{strings.Replace(string(text), "Content-Type:", "Content Type", 1), "cannot be sent"},
	} {
		if err := h.Edited(m.ID, []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q is refused with %v, want %s", c.text, err, c.want)
		}
	}
	edit := strings.Replace(string(text), "two seats", "nine seats", 1)
	edit = strings.Replace(edit, "Content-Type:", "X-Api-Key: n3w\nContent-Type:", 1)
	must.Do(t, h.Edited(m.ID, []byte(edit)))
	if words := <-got; !strings.HasPrefix(words, "qu3ry Bearer t0ken {") || !strings.Contains(words, "nine seats") ||
		!strings.Contains(words, `"pa55"`) {
		t.Errorf("the agent got %s", words)
	}

	m = heldOf(t, h, 1)[0]
	if text, err = h.Text(m.ID); err != nil || m.What != "answer" || !strings.Contains(string(text), "-- 1.response --\nHTTP/1.1 200 OK") {
		t.Errorf("held is %+v with the text %s, %v", m, text, err)
	}
	must.Do(t, h.Edited(m.ID, []byte(strings.Replace(string(text), "gone", "here", 1))))
	expect.Contains(t, "the client", `"here"`, <-answer)
	if err := h.LetGo(m.ID); err == nil {
		t.Error("what is gone can be let go")
	}

	stopped = true
	cmdtest.Stop(t, r)
	src := must.Get(source.OpenFile(r.Before().Name))(t)
	defer src.Close()
	x := must.Get(src.Exchange(t.Context(), 1))(t)
	var places []string
	for _, w := range x.Rewrites {
		places = append(places, w.Place)
		for _, secret := range []string{"qu3ry", "t0ken", "pa55", "n3w"} {
			if strings.Contains(w.Was+w.Now, secret) {
				t.Errorf("%s is recorded in %+v", secret, w)
			}
		}
	}
	if want := []string{"request.header[X-Api-Key]", "request.body", "response.body"}; !slices.Equal(places, want) {
		t.Fatalf("rewritten are %q, want %q", places, want)
	}
	for place, words := range map[int][2]string{1: {`"two seats"`, `"nine seats"`}, 2: {`"gone"`, `"here"`}} {
		w := x.Rewrites[place]
		expect.Contains(t, w.Place+" before", words[0], w.Was)
		expect.Contains(t, w.Place+" after", words[1], w.Now)
	}
	expect.Contains(t, "the recorded request", "two seats", string(x.Request.Body.Data))
	expect.Contains(t, "the recorded response", `"here"`, string(x.Response.Body.Data))
}
