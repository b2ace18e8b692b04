package recorder

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"a2atap/analyzer/analysis"
	"a2atap/cmd/internal/cmdtest"
	"a2atap/proxy"
	"a2atap/proxy/must"
)

// A rule that panics ends only the check, which is reported at once and at the end. Traffic still passes and is
// recorded.
func TestPanickingRuleStopsNothing(t *testing.T) {
	agent := httptest.NewServer(http.NotFoundHandler())
	defer agent.Close()
	address := must.Get(url.Parse(agent.URL))(t)
	wrong := stuck(nil)
	wrong.Check = func(*analysis.Pass) { panic("index out of range") }
	noticed := make(chan string, 10)
	r, err := Start(Options{
		Output: filepath.Join(t.TempDir(), "c.a2atap"), Listener: hears{notice: func(text string) { noticed <- text }},
		Proxy: proxy.Options{Taps: []proxy.TapSpec{{Name: "a", Agent: address, Listen: "127.0.0.1:0"}}}, Rules: []*analysis.Rule{wrong},
	})
	must.Do(t, err)
	client := &http.Client{Timeout: must.Patience}
	defer client.CloseIdleConnections()
	call := func() {
		t.Helper()
		if err := cmdtest.GetTask(client, r.Taps()[0].URL()); err != nil {
			t.Error(err)
		}
	}
	call()
	const want = "checking has stopped, recording continues: a rule panicked: index out of range"
	if text := <-noticed; !strings.HasPrefix(text, want) {
		t.Errorf("noticed %q", text)
	}
	for range 9 {
		call()
	}
	result, stats, err := r.Stop()
	if result != nil || !errors.Is(err, errJudging) || stats.Exchanges != 10 || stats.LostExchanges != 0 {
		t.Errorf("got %v, %+v and %v, want 10 exchanges and no verdict", result, stats, err)
	}
}
