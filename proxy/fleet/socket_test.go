package fleet

import (
	"io"
	"strings"
	"testing"
)

// A guard says the same of what a server sends, in whatever pieces that comes.
func FuzzGuard(f *testing.F) {
	for _, attack := range serverAttacks {
		var sent strings.Builder
		attack(&pieces{&sent}, "_INBOX.a", "1")
		f.Add(sent.String()[:min(sent.Len(), 1000)], 3)
	}
	f.Add("+OK\r\nPING\r\nMSG a 1 2\r\nok\r\nmsg a 1 b 0\r\n\r\nHMSG a 1 12 14\r\nNATS/1.0\r\n\r\nok\r\n-ERR 'x'\r\n", 1)
	f.Fuzz(func(t *testing.T, sent string, size int) {
		var whole, cut guard
		want := whole.look([]byte(sent))
		var got error
		for size = max(size, 1); sent != "" && got == nil; {
			n := min(size, len(sent))
			got = cut.look([]byte(sent[:n]))
			sent = sent[n:]
		}
		if (want == nil) != (got == nil) || want != nil && want.Error() != got.Error() {
			t.Errorf("as a whole it is %v, in pieces %v", want, got)
		}
		if want == nil && (whole.payload != cut.payload || whole.ends != cut.ends || string(whole.line) != string(cut.line)) {
			t.Errorf("as a whole it is %+v, in pieces %+v", whole, cut)
		}
	})
}

// pieces keeps the beginning of what is written.
type pieces struct{ to io.Writer }

func (p *pieces) Write(b []byte) (int, error) {
	p.to.Write(b[:min(len(b), 1000)]) //nolint:errcheck // it is a builder
	return len(b), nil
}
