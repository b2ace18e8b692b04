package playback_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/proxy/a2a"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/must"
	"a2atap/replay"
	"a2atap/replay/compare"
	"a2atap/replay/playback"
)

// The recorded sessions are of SDKs and frameworks in four dialects and two bindings. A client that sends other texts
// in the same places receives the recorded answers, except for ids and times.
func TestEachSessionWithOtherWords(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "..", "analyzer", "rules", "testdata", "wild", "*.txtar"))
	if err != nil || len(files) < 50 {
		t.Fatalf("%d recorded sessions, %v; want at least 50", len(files), err)
	}
	said := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			session := must.Get(transcript.ReadFile(file))(t)
			said += retell(t, session.Exchanges, rand.New(rand.NewPCG(0, 0)))
		})
	}
	if said < 500 {
		t.Errorf("%d texts were other ones; want at least 500", said)
	}
}

// retell plays the agents of a session to its client, which sends other texts. It returns the number of those texts.
func retell(t *testing.T, exchanges []*capture.Exchange, random *rand.Rand) int {
	t.Helper()
	words := 0
	was, now := capture.NewMemory(capture.Info{}), capture.NewMemory(capture.Info{})
	for _, x := range exchanges {
		y := *x
		if body, err := x.Request.Content(); err == nil && x.Request.Body.Kept() {
			y.Request.Body.Decoded = true
			y.Request.Body.Data = withOtherTexts(t, body, func() string { words++; return otherText(random) })
			y.Request.Body.Size = capture.NotKnown
		}
		for m, e := range map[*capture.Memory]*capture.Exchange{was: x, now: &y} {
			must.Do(t, m.Append(capture.Steps(e)...))
		}
	}
	agents, _, err := playback.Agents(t.Context(), was)
	must.Do(t, err)
	to, players := map[string]string{}, map[string]*playback.Player{}
	for _, name := range agents {
		p := must.Get(playback.New(t.Context(), was, playback.Options{Agent: name}))(t)
		s := httptest.NewServer(p)
		t.Cleanup(func() {
			s.Close()
			p.Close()
		})
		to[name], players[name] = s.URL+p.Path(), p
	}
	r := must.Get(replay.Run(t.Context(), now, "", replay.Options{Agents: to, Profile: compare.Exact}))(t)
	if !r.Same() {
		t.Errorf("%s", r.Verdict())
	}
	for _, d := range r.Differences {
		t.Errorf("%s: %s", d.Place, d.Message)
	}
	for name, p := range players {
		played := p.Report()
		if played.Missed > 0 || played.Served == 0 || len(played.Unused) > r.LeftOut {
			t.Errorf("%s: %s; misses %v, unused %v", name, played.Verdict(), played.Misses, played.Unused)
		}
	}
	return words
}

// withOtherTexts replaces the values of members called text.
func withOtherTexts(t *testing.T, body []byte, word func() string) []byte {
	doc := a2a.Parse(body)
	if doc.Err != nil {
		return body
	}
	var out []byte
	done := 0
	var walk func(v a2a.Value, text bool)
	walk = func(v a2a.Value, text bool) {
		switch v.Kind() {
		case a2a.Object:
			for name, member := range v.Members() {
				walk(member, name == "text")
			}
		case a2a.Array:
			for _, e := range v.Elems() {
				walk(e, false)
			}
		case a2a.String:
			if !text {
				return
			}
			quoted := must.Get(json.Marshal(word()))(t)
			out = append(append(out, body[done:v.Offset()]...), quoted...)
			done = v.Offset() + len(v.Raw())
		}
	}
	walk(doc.Root, false)
	return append(out, body[done:]...)
}

// otherText is a text that no recording contains, with any characters.
func otherText(random *rand.Rand) string {
	letters := []rune("abc ÄÖ日本語\n\t\"\\/{}[]<>&  🙂")
	text := []rune(fmt.Sprint(random.Uint64()))
	for range random.IntN(80) {
		text = append(text, letters[random.IntN(len(letters))])
	}
	return string(text)
}
