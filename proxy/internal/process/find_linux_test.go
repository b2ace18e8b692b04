package process

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"a2atap/proxy/expect"
	"a2atap/proxy/must"
)

// TestCaller looks at real processes that listen and dial.
func TestCaller(t *testing.T) {
	tap := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer tap.Close()
	to := tap.Addr().(*net.TCPAddr).AddrPort()
	for _, tt := range []struct {
		name   string
		agents []string // how each listens
		dials  string
		agent  int
		want   Relation
	}{
		{"agent", []string{"", "listen"}, "dial", 1, Same},
		{"two agents in one process", []string{"listen", "listen"}, "dial", 0, None},
		{"child of the agent", []string{"listen"}, "child dial", 0, Child},
		{"child of two agents", []string{"listen", "listen"}, "child dial", 0, None},
		{"parent of the agent", []string{"", "child listen"}, "dial", 1, Parent},
		{"parent of two agents", []string{"child listen", "child listen"}, "dial", 0, None},
		{"agent whose child is another", []string{"child listen", "listen"}, "dial", 1, Same},
		{"agent whose parent is another", []string{"child listen", "listen"}, "child dial", 0, Same},
		{"stranger", []string{""}, "dial", 0, None},
	} {
		t.Run(tt.name, func(t *testing.T) {
			other, caller := newHelper(t), newHelper(t)
			var agents [][]netip.AddrPort
			for _, how := range tt.agents {
				if how == "" {
					agents = append(agents, []netip.AddrPort{other.do("listen")})
				} else {
					agents = append(agents, []netip.AddrPort{caller.do(how)})
				}
			}
			pair := Pair{caller.do(tt.dials + " " + to.String()), to}
			var f Finder
			for range 2 { // the second time it knows who listens
				s := must.Get(f.Find(context.Background(), agents, []Pair{pair}))(t)
				if agent, got := s.Caller(0); agent != tt.agent || got != tt.want {
					t.Fatalf("agent %d, %d; want agent %d, %d; %+v", agent, got, tt.agent, tt.want, s)
				}
				for i, holders := range s.Holders {
					if !s.Listening[i] || len(holders) != 1 {
						t.Errorf("agent %d is held by %v", i, holders)
					}
				}
			}
		})
	}
}

// TestNewcomer has a client that does not listen: its process is found while an agent of this machine does not listen
// either, since it may be that one.
func TestNewcomer(t *testing.T) {
	tap := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer tap.Close()
	to := tap.Addr().(*net.TCPAddr).AddrPort()
	caller, other := newHelper(t), newHelper(t)
	pair := Pair{caller.do("dial " + to.String()), to}
	listens, closed := []netip.AddrPort{other.do("listen")}, []netip.AddrPort{netip.MustParseAddrPort("127.0.0.1:1")}
	for _, tt := range []struct {
		name   string
		agents [][]netip.AddrPort
		want   int
	}{
		{"all listen", [][]netip.AddrPort{listens}, 0},
		{"one is on another machine", [][]netip.AddrPort{listens, nil}, 0},
		{"one does not listen", [][]netip.AddrPort{listens, closed}, 1},
	} {
		var f Finder
		s := must.Get(f.Find(context.Background(), tt.agents, []Pair{pair}))(t)
		if got := s.Owners(0); len(got) != tt.want {
			t.Errorf("%s: the owners are %v, want %d", tt.name, got, tt.want)
		}
		if agent, r := s.Caller(0); r != None {
			t.Errorf("%s: it is agent %d", tt.name, agent)
		}
	}
}

// TestOwnSockets has agent and client in this process, which is neither.
func TestOwnSockets(t *testing.T) {
	agent := must.Get(net.Listen("tcp", "[::1]:0"))(t)
	defer agent.Close()
	at := agent.Addr().(*net.TCPAddr).AddrPort()
	client := must.Get(net.Dial("tcp", at.String()))(t)
	defer client.Close()
	var f Finder
	s, err := f.Find(context.Background(), [][]netip.AddrPort{{at}},
		[]Pair{{client.LocalAddr().(*net.TCPAddr).AddrPort(), at}})
	if err != nil || !s.Listening[0] || len(s.Holders[0]) != 0 {
		t.Errorf("%+v, %v", s, err)
	}
	if _, r := s.Caller(0); r != None {
		t.Errorf("it is an agent: %d", r)
	}
}

// A tree is a /proc of a test.
type tree struct {
	t    *testing.T
	root string
}

func newTree(t *testing.T, tcp, tcp6 string) tree {
	p := tree{t, t.TempDir()}
	p.write("net/tcp", tcp)
	p.write("net/tcp6", tcp6)
	return p
}

func (p tree) write(name, text string) {
	p.t.Helper()
	name = filepath.Join(p.root, name)
	must.Do(p.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(p.t, os.WriteFile(name, []byte(text), 0o644))
}

// process adds one with sockets, each with its descriptor.
func (p tree) process(pid, parent int, program string, sockets map[int]int) {
	p.t.Helper()
	p.write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (a) b) S %d 1 1", pid, parent))
	for descriptor, inode := range sockets {
		p.link(fmt.Sprintf("%d/fd/%d", pid, descriptor), fmt.Sprintf("socket:[%d]", inode))
	}
	p.link(fmt.Sprintf("%d/exe", pid), program)
}

func (p tree) link(name, target string) {
	p.t.Helper()
	name = filepath.Join(p.root, name)
	must.Do(p.t, os.MkdirAll(filepath.Dir(name), 0o755))
	must.Do(p.t, os.Symlink(target, name))
}

const (
	tcp = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2329 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 501 1 0 100 0 0 10 0
   1: 0100007F:C001 0100007F:1B59 01 00000000:00000000 00:00000000 00000000  1000        0 601 1 0 20 4 30 10 -1
   2: 0100007F:C002 0100007F:1B59 06 00000000:00000000 03:00000000 00000000     0        0 0 3 0
`
	tcp6 = `  sl  local_address                         remote_address                        st tx_queue
   0: 00000000000000000000000000000000:232A 00000000000000000000000000000000:0000 0A 0:0 00:0 0  1000        0 502 1
   1: 0000000000000000FFFF00000100007F:C003 0000000000000000FFFF00000100007F:1B59 01 0:0 00:0 0  1000        0 603 1
`
)

// TestTables reads the tables of a system whose kernel does not answer, of which lists of children are missing too.
func TestTables(t *testing.T) {
	p := newTree(t, tcp, tcp6)
	p.process(1, 0, "/sbin/init", nil)
	p.process(20, 1, "/usr/bin/agent", map[int]int{3: 501, 4: 77, 9: 601})
	p.process(30, 1, "/usr/bin/server", map[int]int{3: 502})
	p.process(31, 30, "/usr/bin/worker", map[int]int{5: 603})
	p.process(40, 1, "/usr/bin/curl", map[int]int{3: 88})
	f := Finder{root: p.root}
	at := netip.MustParseAddrPort
	agents := [][]netip.AddrPort{{at("127.0.0.1:9001")}, {at("127.0.0.1:9002")}, {at("127.0.0.1:9003")}}
	tap := at("127.0.0.1:7001")
	s, err := f.Find(context.Background(), agents, []Pair{
		{at("127.0.0.1:49153"), tap}, {at("127.0.0.1:49154"), tap}, {at("127.0.0.1:49155"), tap}, {at("[::1]:1"), tap},
	})
	must.Do(t, err)
	expect.Equal(t, "", "[true true false] [[20] [30] []]", fmt.Sprint(s.Listening, s.Holders))
	expect.Equal(t, "they listen on", "[9001] [] [] []", fmt.Sprint(s.Ports(0), s.Ports(1), s.Ports(2), s.Ports(3)))
	for i, want := range []string{"0 1", "0 0", "1 2", "0 0"} {
		agent, relation := s.Caller(i)
		expect.Equal(t, fmt.Sprintf("connection %d is from", i), want, fmt.Sprint(agent, relation))
	}
}

// TestHidden has an agent and a client of another user, whose descriptors may not be read: no process is named, and
// later looks do not examine all processes again.
func TestHidden(t *testing.T) {
	p := newTree(t, tcp, "")
	p.process(20, 1, "/usr/bin/agent", nil)
	now := time.Unix(0, 0)
	f := Finder{root: p.root, now: func() time.Time { return now }}
	at := netip.MustParseAddrPort
	find := func() string {
		s, err := f.Find(context.Background(), [][]netip.AddrPort{{at("127.0.0.1:9001")}},
			[]Pair{{at("127.0.0.1:49153"), at("127.0.0.1:7001")}})
		must.Do(t, err)
		agent, relation := s.Caller(0)
		return fmt.Sprint(s.Listening, s.Holders, agent, relation)
	}
	expect.Equal(t, "", "[true] [[]] 0 0", find())
	p.link("20/fd/3", "socket:[501]")
	p.link("20/fd/4", "socket:[601]")
	expect.Equal(t, "at once", "[true] [[]] 0 0", find())
	now = now.Add(hiddenFor + 1)
	expect.Equal(t, "later", "[true] [[20]] 0 1", find())
	must.Do(t, os.Remove(filepath.Join(p.root, "20/fd/3")))
	expect.Equal(t, "after it has closed its socket", "[true] [[]] 0 0", find())
}

// TestContext looks at nothing when time is up.
func TestContext(t *testing.T) {
	p := newTree(t, tcp, tcp6)
	p.process(20, 1, "/usr/bin/agent", map[int]int{3: 501})
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	f := Finder{root: p.root}
	if s, err := f.Find(ctx, [][]netip.AddrPort{{netip.MustParseAddrPort("127.0.0.1:9001")}}, nil); err == nil {
		t.Errorf("%+v", s)
	}
	f = Finder{root: filepath.Join(p.root, "none")}
	if s, err := f.Find(context.Background(), nil, nil); err == nil {
		t.Errorf("%+v", s)
	}
}

// BenchmarkFind is a look for one connection, on a machine as it is: the agent is known, and is not the client.
func BenchmarkFind(b *testing.B) {
	agent, client := newHelper(b), newHelper(b)
	address := agent.do("listen")
	pair := Pair{client.do("dial " + address.String()), address}
	var f Finder
	for b.Loop() {
		must.Get(f.Find(context.Background(), [][]netip.AddrPort{{address}}, []Pair{pair}))(b)
	}
}

func TestAncestors(t *testing.T) {
	t.Parallel()
	above := Ancestors(os.Getpid())
	if len(above) == 0 || above[0] != os.Getppid() {
		t.Errorf("above this process are %v; its parent is %d", above, os.Getppid())
	}
	if above := Ancestors(1 << 30); len(above) != 0 {
		t.Errorf("above a process that does not exist are %v", above)
	}
}
