package proxy

import (
	"context"
	"io"
	"net/netip"
	"os"
	"testing"

	"a2atap/proxy/expect"
	"a2atap/proxy/internal/process"
	"a2atap/proxy/must"
	"a2atap/proxy/recording"
	"a2atap/proxy/stdio"
)

// The client of a tool is the agent whose process is the nearest above the tool.
func TestClientsOfTools(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		above []int
		want  string
	}{
		"an agent":                        {[]int{50, 10, 20}, "planner (its process started the tool) -> weather"},
		"a program that an agent runs":    {[]int{50, 60, 20, 1}, "booker (its process started the tool) -> weather"},
		"the program of two agents":       {[]int{30, 10}, "client (default) -> weather"},
		"another program":                 {[]int{50, 1}, "client (default) -> weather"},
		"what an agent's recorder starts": {[]int{50, os.Getpid(), 10}, "client (default) -> weather"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := serveCallers(t, quick, recording.Options{}, func(p *Proxy) {
				p.opts.Tools, p.callers.patience = true, must.Patience
				p.openTools()
				p.callers.find = func(_ context.Context, _ [][]netip.AddrPort, pairs []process.Pair) (finding, error) {
					return finding{recognizable: true, agents: [][]int{{10, 30}, {20, 30}}, callers: make([]caller, len(pairs))}, nil
				}
			})
			feed := stdio.NewFeed(stdio.Hello{Name: "weather", Ancestors: c.above}, func() (stdio.Conn, error) {
				return stdio.Dial(r.proxy.Tools())
			}, func(err error) { t.Error(err) })
			in, client, err := os.Pipe()
			must.Do(t, err)
			server, out, err := os.Pipe()
			must.Do(t, err)
			go stdio.Pass(in, out, stdio.Client, feed)
			_, err = client.WriteString(`{"jsonrpc":"2.0","method":"n"}` + "\n")
			must.Do(t, err)
			client.Close()
			must.Get(io.ReadAll(server))(t)
			if !feed.Close(must.Patience) {
				t.Error("the recorder does not read to the end")
			}
			expect.Equal(t, "client", c.want, r.names())
		})
	}
}
