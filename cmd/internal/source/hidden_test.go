package source

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"a2atap/analyzer/rules"
	"a2atap/analyzer/snapshot"
	"a2atap/cmd/internal/redacted"
	"a2atap/proxy/capture"
	"a2atap/proxy/capture/bolt"
	"a2atap/proxy/capture/redact"
	"a2atap/proxy/must"
)

const namingCard = `{"name":"a","version":"1","securitySchemes":{` +
	`"k":{"apiKeySecurityScheme":{"name":"X-Booking","location":"header"}},` +
	`"q":{"apiKeySecurityScheme":{"name":"seat","location":"query"}}}}`

// cardAtTheEnd makes a capture of so many exchanges, the last of which is a card that names what all others were sent with.
// The first of them were judged, if there is to be a reading of any.
func cardAtTheEnd(t *testing.T, exchanges, judged uint64) string {
	t.Helper()
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := filepath.Join(t.TempDir(), "c.a2atap")
	store := must.Get(bolt.Open(path, bolt.Options{Tool: "test"}))(t)
	sink := (&redacted.Options{Key: redact.NewKey()}).Sink(store)
	for seq := uint64(1); seq <= exchanges; seq++ {
		head, body := "GET /rooms?seat=window HTTP/1.1\r\nHost: a\r\nX-Booking: window\r\n\r\n", `{}`
		if seq == exchanges {
			head, body = "GET /.well-known/agent-card.json HTTP/1.1\r\nHost: a\r\n\r\n", namingCard
		}
		err := sink.Append(
			capture.Step{Seq: seq, What: capture.Opened{
				ID: uuid.New(), Started: time.Unix(1_700_000_000, 0), Agent: capture.Peer{Name: "a"}, Head: []byte(head),
			}},
			capture.Step{Seq: seq, What: capture.RequestEnd{}},
			capture.Step{Seq: seq, What: capture.ResponseHead{Head: []byte("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")}},
			capture.Step{Seq: seq, What: capture.ResponseBody{Data: []byte(body)}},
			capture.Step{Seq: seq, What: capture.ResponseEnd{Size: int64(len(body))}},
			capture.Step{Seq: seq, What: capture.Closed{}},
		)
		must.Do(t, err)
		if seq == judged {
			seal := redacted.Seal(must.Get(store.Info(t.Context()))(t), nil)
			if _, w, err := snapshot.Judge(t.Context(), rules.All, store, seal.Putting(store.Keep), nil); err != nil || w.Err() != nil {
				t.Fatal(err, w.Err())
			}
		}
	}
	must.Do(t, errors.Join(sink.Close(), store.Reader.Close()))
	return path
}

func mustOpen(t *testing.T, path string) capture.Source {
	t.Helper()
	src := must.Get(OpenFile(path))(t)
	t.Cleanup(func() { src.Close() })
	return src
}

// A large capture is opened before its cards were looked at. A glance at it shows nothing that a card may name; whatever
// else is read waits for them.
func TestGlance(t *testing.T) {
	const exchanges = learnedFirst + 10
	path := cardAtTheEnd(t, exchanges, 0)
	hides := map[string]func(src hiddenReader) (head string, err error){
		"Ends": func(src hiddenReader) (head string, err error) {
			for x, err := range src.Ends(t.Context(), 7, 1) {
				return string(x.Request.Head), err
			}
			return "", nil
		},
		"Exchange": func(src hiddenReader) (string, error) {
			x, err := src.Exchange(t.Context(), 7)
			return string(x.Request.Head), err
		},
		"Steps": func(src hiddenReader) (string, error) {
			for s, err := range src.Steps(t.Context(), 1) {
				return string(s.What.(capture.Opened).Head), err
			}
			return "", nil
		},
		"Glance after Learn": func(src hiddenReader) (head string, err error) {
			src.Learn(t.Context())
			for x, err := range src.Glance(t.Context(), 7, 1) {
				return string(x.Request.Head), err
			}
			return "", nil
		},
	}
	for way, read := range hides {
		src, is := mustOpen(t, path).(hiddenReader)
		if !is || src.Known() {
			t.Fatal("the cards of a large capture were looked at before it was opened")
		}
		for x, err := range src.Glance(t.Context(), 7, 1) {
			const want = "GET /rooms HTTP/1.1\r\nHost: a\r\n\r\n"
			if err != nil || x.Seq != 7 || string(x.Request.Head) != want {
				t.Fatalf("a glance shows %q of exchange %d, %v", x.Request.Head, x.Seq, err)
			}
			break
		}
		if src.Known() {
			t.Error("a glance waits for the cards")
		}
		head, err := read(src)
		if err != nil || !src.Known() || strings.Contains(head, "window") || !strings.Contains(head, "X-Booking: redacted.") {
			t.Errorf("%s: %q, %v", way, head, err)
		}
	}
}

// What a card names is hidden, be it that the capture is small, or that it was checked before the card came, or both.
func TestLateCardIsLearned(t *testing.T) {
	for _, c := range []struct{ exchanges, judged uint64 }{{10, 0}, {10, 5}, {stillOpen + 1200, stillOpen + 100}, {learnedFirst + 1200, 5}} {
		x, err := mustOpen(t, cardAtTheEnd(t, c.exchanges, c.judged)).Exchange(t.Context(), 3)
		if err != nil || strings.Contains(string(x.Request.Head), "window") {
			t.Errorf("%d exchanges, of which %d were judged: %v, %q", c.exchanges, c.judged, err, x.Request.Head)
		}
	}
}
