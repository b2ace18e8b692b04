package reading_test

import (
	"testing"

	"a2atap/analyzer/reading"
	"a2atap/proxy/a2a"
	"a2atap/proxy/capture/transcript"
	"a2atap/proxy/expect"
)

// A path such as /rest/v1/tasks/7 proves nothing by itself; the interface of a card that was read before does.
func TestReaderKnowsCards(t *testing.T) {
	tr, err := transcript.Parse("cards.txtar", []byte(`-- 1.request --
GET /rest/v1/tasks/7 HTTP/1.1
Host: booker.example

-- 2.request --
GET /.well-known/agent-card.json HTTP/1.1
Host: booker.example

-- 2.response --
HTTP/1.1 200 OK
Content-Type: application/json

{"protocolVersion":"0.3.0","name":"n","description":"d","url":"http://booker.example/rest","preferredTransport":"HTTP+JSON","version":"1","capabilities":{},"defaultInputModes":["text/plain"],"defaultOutputModes":["text/plain"],"skills":[]}
-- 3.request --
GET /rest/v1/tasks/7 HTTP/1.1
Host: booker.example

-- 4.request --
GET /other/v1/tasks/7 HTTP/1.1
Host: booker.example

`))
	if err != nil {
		t.Fatal(err)
	}
	var reader reading.Reader
	for i, want := range []a2a.Operation{a2a.NoOperation, a2a.GetCard, a2a.GetTask, a2a.NoOperation} {
		if got := reader.Read(tr.Exchanges[i]).Call.Operation; got != want {
			t.Errorf("exchange %d: got operation %q, want %q", i+1, got, want)
		}
	}
	expect.Equal(t, "read without cards: operation", a2a.NoOperation, reading.Read(tr.Exchanges[2]).Call.Operation)
}
